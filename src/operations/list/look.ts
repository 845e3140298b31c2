/** One look at a directory that is a checkpoint, was one, or is to become one: its header, its times, nothing more. */
import { CkptError, MetadataError, NotFoundError, WrongFileTypeError } from '../../errors.js';
import type { DirectoryEntry, FileStatus } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { loadMetadataHeader } from '../../format/metadata/read.js';
import type { CheckpointDirectory } from '../area/scan.js';
import { COPY_MARKER, isBeingCopied } from '../copy/marker.js';
import { int64 } from '../document/values.js';
import { checkpointNumber, METADATA_FILE, TOMBSTONE_FILE } from '../layout.js';
import type { ListEntry } from './entry.js';
import { loadKind } from './kind.js';

/** When a directory without metadata counts as in progress. */
export interface LookOptions {
  readonly now: number;
  /** Milliseconds; what changed since then is in progress. */
  readonly minAge: number;
  readonly signal?: AbortSignal | undefined;
}

/** What the names alone tell. */
function nameEntry(checkpoint: Pick<CheckpointDirectory, 'directory' | 'jobId' | 'jobIdPrefix'>): ListEntry {
  const { directory, jobId, jobIdPrefix } = checkpoint;
  const number = checkpointNumber(directory.name);
  return {
    pointer: directory.toString(),
    jobId,
    jobIdPrefix,
    kind: number !== undefined ? 'checkpoint' : jobIdPrefix !== null ? 'savepoint' : 'unknown',
    checkpointId: number === undefined ? null : int64(number),
    status: 'broken',
    time: null,
    version: null,
    metadataBytes: null,
    totalBytes: null,
    exclusiveBytes: null,
    operatorNames: null,
    leftFiles: null,
    leftBytes: null,
    error: null,
  };
}

/** The entry of a directory that could not be listed: it may hold metadata, and nobody knows. */
export function unlistableEntry(
  checkpoint: Pick<CheckpointDirectory, 'directory' | 'jobId' | 'jobIdPrefix'>,
  error: CkptError,
): ListEntry {
  return { ...nameEntry(checkpoint), error };
}

/**
 * Looks at a directory. What is wrong with it is part of the entry.
 * @returns undefined if it has vanished
 * @throws the signal's reason
 */
export async function lookAtCheckpoint(
  fileSystems: FileSystems,
  checkpoint: CheckpointDirectory,
  options: LookOptions,
): Promise<ListEntry | undefined> {
  const entry = nameEntry(checkpoint);
  const { directory, hasMetadata, hasTombstone } = checkpoint;
  if (hasMetadata) {
    const found = await lookAtMetadata(fileSystems, entry, directory.child(METADATA_FILE), options);
    if (found) return found.error ? found : { ...found, status: 'complete' };
  }
  if (hasTombstone) {
    const found = await lookAtMetadata(fileSystems, entry, directory.child(TOMBSTONE_FILE), options);
    if (found) return { ...found, status: 'half-discarded' };
  }
  return lookAtFiles(fileSystems, entry, directory, options);
}

/** @returns undefined if the file has vanished */
async function lookAtMetadata(
  fileSystems: FileSystems,
  entry: ListEntry,
  path: Path,
  { signal }: LookOptions,
): Promise<ListEntry | undefined> {
  let found = entry;
  try {
    const fileSystem = await fileSystems.get(path);
    const status = await fileSystem.getFileStatus(path);
    found = { ...found, time: timeOf(status) };
    if (status.type !== 'file') throw new WrongFileTypeError(path.toString(), 'file');
    found = { ...found, metadataBytes: status.size };
    const source = await fileSystem.open(path);
    try {
      const { version, checkpointId } = await loadMetadataHeader(source, path.toString(), signal);
      const kind = entry.kind === 'unknown' ? await loadKind(source, version, signal) : entry.kind;
      return { ...found, version, checkpointId: int64(checkpointId), kind };
    } finally {
      await source.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    // A version that cannot be read is known all the same.
    if (error instanceof MetadataError && typeof error.data.version === 'number') {
      found = { ...found, version: error.data.version };
    }
    if (error instanceof NotFoundError) return undefined;
    if (!(error instanceof CkptError)) throw error;
    return { ...found, error };
  }
}

/** A directory without metadata: what is in it, and when it changed. */
async function lookAtFiles(
  fileSystems: FileSystems,
  entry: ListEntry,
  directory: Path,
  { now, minAge, signal }: LookOptions,
): Promise<ListEntry | undefined> {
  let modified = 0;
  let newest = 0;
  let files = 0;
  let bytes = 0;
  let isCopied = false;
  try {
    const fileSystem = await fileSystems.get(directory);
    const note = (status: Pick<FileStatus, 'modificationTime' | 'newestTime'>): void => {
      modified = Math.max(modified, status.modificationTime);
      newest = Math.max(newest, status.newestTime, status.modificationTime);
    };
    const own = await statusIfThere(fileSystems, directory);
    if (own) note(own);
    await forEachConcurrently(
      filesIn(fileSystem.list(directory, signal)),
      async ({ name, size, modificationTime }) => {
        let status = { size, modificationTime };
        if (size === undefined || modificationTime === undefined) {
          const looked = await statusIfThere(fileSystems, directory.entry(name));
          if (!looked) return;
          note(looked);
          status = looked;
        } else {
          note({ modificationTime, newestTime: modificationTime });
        }
        if (name === COPY_MARKER) isCopied = true;
        files++;
        bytes += status.size ?? 0;
      },
      { signal },
    );
    signal?.throwIfAborted();
    // Left by a copy that was killed, it says nothing: then the times do.
    isCopied &&= await isBeingCopied(fileSystems, directory, now);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NotFoundError) return undefined;
    if (!(error instanceof CkptError)) throw error;
    return { ...entry, error };
  }
  return {
    ...entry,
    // A time in the future is young.
    status: isCopied || now - newest < minAge ? 'in-progress' : 'incomplete',
    time: modified > 0 ? timeOf({ modificationTime: modified }) : null,
    leftFiles: files,
    leftBytes: bytes,
  };
}

/** Files of a listing one by one. */
export async function* filesIn(batches: AsyncIterable<readonly DirectoryEntry[]>): AsyncGenerator<DirectoryEntry> {
  for await (const entries of batches) for (const entry of entries) if (entry.type === 'file') yield entry;
}

async function statusIfThere(fileSystems: FileSystems, path: Path): Promise<FileStatus | undefined> {
  try {
    return await (await fileSystems.get(path)).getFileStatus(path);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function timeOf({ modificationTime }: Pick<FileStatus, 'modificationTime'>): string | null {
  const date = new Date(modificationTime);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
