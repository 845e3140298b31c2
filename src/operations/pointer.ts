/**
 * From what a user writes after `-s` to the metadata file it means: Flink's
 * `AbstractFsCheckpointStorageAccess.resolveCheckpointPointer`, with errors that say what is there instead.
 */
import {
  NoMetadataError,
  NotFoundError,
  PermissionError,
  PointerNotFoundError,
  WrongFileTypeError,
} from '../errors.js';
import type { ByteSource, DirectoryEntry, FileStatus } from '../filesystem/file-system.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { checkpointNumber, METADATA_FILE, savepointJobIdPrefix, TOMBSTONE_FILE } from './layout.js';
import { nearestNames } from './near-names.js';

/** A pointer that leads to metadata. */
export interface ResolvedPointer {
  /** As the user wrote it. */
  readonly given: string;
  /** The directory, qualified: what Flink calls the external pointer, and what relative handles are relative to. */
  readonly directory: Path;
  /** The metadata file, qualified. */
  readonly metadataPath: Path;
  readonly metadata: FileStatus;
}

/** Flink's pointer of checkpoints that are kept in the memory of the job manager. */
const NOT_ADDRESSABLE = '<checkpoint-not-externally-addressable>';
/** `${VAR}`, `{{ x }}`, `<path>`: what a script leaves when nobody fills it in. */
const PLACEHOLDER = /^(?:<[^/]*>|\$\{.*\}|\{\{.*\}\}|\$[A-Z_]+)$/;
const MAX_NEARBY = 5;

/**
 * Resolves a pointer.
 * @throws PointerNotFoundError, NoMetadataError, PermissionError, UnknownSchemeError, InvalidPathError; WrongFileTypeError
 *   if the metadata is no regular file
 */
export async function resolvePointer(fileSystems: FileSystems, pointer: string): Promise<ResolvedPointer> {
  const path = fileSystems.nameOf(Path.parse(pointer));
  const fileSystem = await fileSystems.get(path);
  const status = await statusOf(fileSystems, path, pointer);
  if (status.type === 'file') {
    return { given: pointer, directory: path.parent ?? path, metadataPath: path, metadata: status };
  }
  if (status.type !== 'directory') throw new WrongFileTypeError(path.toString(), 'file');
  const metadataPath = path.child(METADATA_FILE);
  let metadata: FileStatus;
  try {
    metadata = await fileSystem.getFileStatus(metadataPath);
  } catch (error) {
    if (error instanceof NotFoundError) throw await noMetadata(fileSystems, path);
    throw error;
  }
  if (metadata.type !== 'file') throw new WrongFileTypeError(metadataPath.toString(), 'file');
  return { given: pointer, directory: path, metadataPath, metadata };
}

/** Opens the metadata of a pointer. The caller closes it. */
export async function openMetadata(fileSystems: FileSystems, pointer: ResolvedPointer): Promise<ByteSource> {
  return (await fileSystems.get(pointer.metadataPath)).open(pointer.metadataPath);
}

async function statusOf(fileSystems: FileSystems, path: Path, pointer: string): Promise<FileStatus> {
  try {
    return await (await fileSystems.get(path)).getFileStatus(path);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw await notFound(fileSystems, path, pointer, error);
  }
}

async function notFound(fileSystems: FileSystems, path: Path, pointer: string, cause: Error): Promise<Error> {
  const name = pointer.trim();
  if (name === NOT_ADDRESSABLE) {
    const reason =
      "this is Flink's marker for a checkpoint that exists in the memory of the job manager only; there is no file";
    return new PointerNotFoundError(pointer, reason, [], { cause });
  }
  if (PLACEHOLDER.test(name)) {
    return new PointerNotFoundError(pointer, 'this looks like a placeholder that nobody has filled in', [], { cause });
  }
  const lookedUp = fileSystems.lookUp(path).toString();
  const place = lookedUp === path.toString() ? {} : { lookedUpAt: lookedUp };
  const where = place.lookedUpAt === undefined ? '' : ` (looked up at ${lookedUp})`;
  const { missing, nearby } = await nearbyPointers(fileSystems, path);
  const hint = nearby.length > 0 ? `; there is ${nearby.join(', ')}` : '';
  const what = missing === undefined ? '' : `; its directory ${missing} does not exist either`;
  return new PointerNotFoundError(path.toString(), `no such file or directory${where}${what}${hint}`, nearby, {
    cause,
    ...place,
  });
}

/** What stands beside a path that does not exist: other checkpoints, or names like it. */
async function nearbyPointers(fileSystems: FileSystems, path: Path): Promise<{ missing?: string; nearby: string[] }> {
  const { parent } = path;
  if (!parent) return { nearby: [] };
  let names: string[];
  try {
    names = await directoryNames(fileSystems, parent);
  } catch (error) {
    return error instanceof NotFoundError ? { missing: parent.toString(), nearby: [] } : { nearby: [] };
  }
  const number = checkpointNumber(path.name);
  const close = number === undefined ? nearestNames(path.name, names) : nearestCheckpoints(number, names);
  const withMetadata: string[] = [];
  for (const name of close) {
    if (withMetadata.length >= MAX_NEARBY) break;
    const sibling = parent.entry(name);
    if (await hasMetadata(fileSystems, sibling)) withMetadata.push(sibling.toString());
  }
  return { nearby: withMetadata };
}

function nearestCheckpoints(number: bigint, names: readonly string[]): string[] {
  const distance = (name: string): bigint => {
    const other = checkpointNumber(name) ?? 0n;
    return other > number ? other - number : number - other;
  };
  return names
    .filter((name) => checkpointNumber(name) !== undefined)
    .sort((a, b) => Number(distance(a) - distance(b)))
    .slice(0, MAX_NEARBY * 2);
}

async function directoryNames(fileSystems: FileSystems, directory: Path): Promise<string[]> {
  const names: string[] = [];
  for await (const entries of (await fileSystems.get(directory)).list(directory)) {
    for (const entry of entries) if (entry.type === 'directory') names.push(entry.name);
  }
  return names;
}

/** True if the directory has a metadata file; false also where that cannot be seen. */
async function hasMetadata(fileSystems: FileSystems, directory: Path): Promise<boolean> {
  try {
    const path = directory.child(METADATA_FILE);
    return (await (await fileSystems.get(path)).getFileStatus(path)).type === 'file';
  } catch {
    return false;
  }
}

/** Why a directory is no checkpoint. */
async function noMetadata(fileSystems: FileSystems, directory: Path): Promise<Error> {
  const pointer = directory.toString();
  let entries: DirectoryEntry[];
  try {
    entries = [];
    for await (const batch of (await fileSystems.get(directory)).list(directory)) entries.push(...batch);
  } catch (error) {
    if (error instanceof PermissionError) return error;
    entries = [];
  }
  if (entries.some(({ name }) => name === TOMBSTONE_FILE)) {
    const reason = 'this checkpoint is being discarded, or its discard was interrupted; "ckpt discard" finishes it';
    return new NoMetadataError(pointer, reason, { halfDiscarded: true });
  }
  const isCheckpoint =
    checkpointNumber(directory.name) !== undefined || savepointJobIdPrefix(directory.name) !== undefined;
  if (isCheckpoint) return lostMetadata(fileSystems, directory, entries.length);
  const { findLatest } = await import('./latest.js');
  const latest = await findLatest(fileSystems, directory).catch(() => undefined);
  if (latest?.newest) {
    const newest = latest.newest.pointer.toString();
    const reason = `this is a directory above checkpoints, not one of them; the newest complete one is ${newest} (--latest takes it)`;
    return new NoMetadataError(pointer, reason, { nearby: [newest] });
  }
  return new NoMetadataError(
    pointer,
    `no ${METADATA_FILE} in this directory, nor below it; a metadata file of another name can be given itself`,
  );
}

async function lostMetadata(fileSystems: FileSystems, directory: Path, entries: number): Promise<Error> {
  const { nearby } = await nearbyPointers(fileSystems, directory);
  const left =
    entries === 0
      ? 'the directory is empty'
      : `${entries === 1 ? 'one file is' : `${entries} files are`} there without it`;
  const hint = nearby.length > 0 ? `; complete: ${nearby.join(', ')}` : '';
  const reason = `no ${METADATA_FILE} in this directory (${left}): the checkpoint never completed, or Flink has discarded it${hint}`;
  return new NoMetadataError(directory.toString(), reason, { nearby });
}
