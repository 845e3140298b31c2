/** From what the user names to the checkpoints that are to go, complete or half-discarded, and where others are looked for. */
import { CkptError, IllegalStateError, NotFoundError, RefusedError, UsageError } from '../../errors.js';
import type { EntryStatus, FileStatus } from '../../filesystem/file-system.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { Area } from '../area/area.js';
import { outermost } from '../area/scan.js';
import { checkpointNumber, isJobId, METADATA_FILE, savepointJobIdPrefix } from '../layout.js';
import { resolvePointer } from '../pointer.js';
import { readLock } from './lock.js';
import type { DiscardTarget, FailedPointer } from './types.js';

/** What is added to the name of a metadata file when its checkpoint is being discarded. */
export const TOMBSTONE_SUFFIX = '.discarding';

/** Options of {@link resolveTargets}. */
export interface TargetOptions {
  /** The area; default for each checkpoint the directory above that of its job, or above its own if no job has one. */
  readonly roots?: readonly Path[] | undefined;
  /** Directories that belong to the area as well. */
  readonly allowOutside?: readonly Path[] | undefined;
  /** Groups of schemes that the user says are one store. */
  readonly aliases?: readonly (readonly string[])[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link resolveTargets} has found. */
export interface DiscardTargets {
  readonly targets: readonly DiscardTarget[];
  readonly failed: readonly FailedPointer[];
  readonly area: Area;
}

/**
 * Resolves pointers. One that leads nowhere is among `failed`; a checkpoint named twice counts once.
 * @throws NotFoundError and the like for a root that cannot be looked at; RefusedError for a checkpoint outside the area, or
 *   one right below the root of this machine's files if no root was given
 */
export async function resolveTargets(
  fileSystems: FileSystems,
  pointers: readonly string[],
  options: TargetOptions = {},
): Promise<DiscardTargets> {
  const found: DiscardTarget[] = [];
  const failed: FailedPointer[] = [];
  for (const given of pointers) {
    try {
      const target = await resolveTarget(fileSystems, given, options);
      if (!found.some(({ metadataPath }) => metadataPath.equals(target.metadataPath))) found.push(target);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof CkptError) || error.category === 'refused' || error instanceof RefusedError) throw error;
      failed.push({ given, error });
    }
  }
  const chosen = options.roots ?? [];
  const roots = outermost([
    ...(chosen.length > 0 ? chosen : found.map(({ directory }) => defaultRoot(fileSystems, directory))),
    ...(options.allowOutside ?? []),
  ]);
  const area = await Area.of(fileSystems, roots, options.aliases ?? []);
  for (const { directory } of found) {
    if (roots.some((root) => root.startsWith(directory))) {
      throw new UsageError(`--root ${directory}: a directory above the checkpoint is needed, this is the checkpoint`);
    }
    await requireInArea(fileSystems, area, directory);
  }
  return { targets: found, failed, area };
}

/**
 * Where files of a checkpoint may be deleted and others are looked for unless it is said: the directory above that of the
 * job; for a savepoint, or if the job has no directory, the one above the checkpoint.
 * @throws RefusedError if that is the root of this machine's files
 */
export function defaultRoot(fileSystems: FileSystems, directory: Path): Path {
  const parent = directory.parent ?? directory;
  const isInJobDirectory = isJobId(parent.name) && savepointJobIdPrefix(directory.name) === undefined;
  const root = isInJobDirectory ? (parent.parent ?? parent) : parent;
  const { scheme, path } = fileSystems.lookUp(root);
  if (scheme === 'file' && path === '/') {
    throw new RefusedError(
      `${directory}: everything on this machine would be searched for other users of its files; say --root`,
      { pointer: directory.toString(), reason: 'root' },
    );
  }
  return root;
}

async function requireInArea(fileSystems: FileSystems, area: Area, directory: Path): Promise<void> {
  const real = await (await fileSystems.get(directory)).resolveLinks(directory);
  if (area.containsReal(real)) return;
  const reason = area.contains(directory) ? 'a link leads out of the directories' : 'it lies outside the directories';
  throw new RefusedError(
    `${directory}: ${reason} below which files may be deleted (${area.roots.join(', ')}), nothing was changed`,
    { pointer: directory.toString(), reason: 'outside', roots: area.roots.map(String) },
  );
}

async function resolveTarget(fileSystems: FileSystems, given: string, options: TargetOptions): Promise<DiscardTarget> {
  const path = fileSystems.nameOf(Path.parse(given));
  const fileSystem = await fileSystems.get(path);
  const status = await statusOrUndefined(fileSystem.getFileStatus(path));
  if (status === undefined) {
    const tombstone = tombstoneOf(path);
    if (await isFile(fileSystems, tombstone)) return targetOf(given, path, 'half-discarded', true);
  } else if (status.type === 'file') {
    return targetOfFile(fileSystems, given, path);
  } else if (status.type === 'directory') {
    const directory = status.isLink ? fileSystems.nameOf(await fileSystem.resolveLinks(path)) : path;
    const found = await targetOfDirectory(fileSystems, given, directory, options);
    if (found) return found;
  }
  await resolvePointer(fileSystems, given, { signal: options.signal });
  throw new IllegalStateError(`${given}: it has come into being just now`);
}

async function targetOfFile(fileSystems: FileSystems, given: string, path: Path): Promise<DiscardTarget> {
  const { name, parent } = path;
  if (parent && name.endsWith(TOMBSTONE_SUFFIX) && name !== TOMBSTONE_SUFFIX) {
    // Metadata that stands beside it may be that of another checkpoint by now: it counts as any other user.
    return targetOf(given, parent.entry(name.slice(0, -TOMBSTONE_SUFFIX.length)), 'half-discarded', true);
  }
  return targetOf(given, path, 'complete', await isFile(fileSystems, tombstoneOf(path)));
}

async function targetOfDirectory(
  fileSystems: FileSystems,
  given: string,
  directory: Path,
  options: TargetOptions,
): Promise<DiscardTarget | undefined> {
  const fileSystem = await fileSystems.get(directory);
  const metadataPath = directory.child(METADATA_FILE);
  const metadata = await statusOrUndefined(fileSystem.getFileStatus(metadataPath));
  const hasTombstone = await isFile(fileSystems, tombstoneOf(metadataPath));
  if (metadata?.type === 'file') return targetOf(given, metadataPath, 'complete', hasTombstone);
  if (metadata === undefined && hasTombstone) return targetOf(given, metadataPath, 'half-discarded', true);
  if (metadata === undefined && (await wasEmptied(fileSystems, directory, options))) {
    return targetOf(given, metadataPath, 'emptied', false);
  }
  return undefined;
}

/**
 * True if nothing is left of a checkpoint but its directory because the process that discarded it was killed: its lock then
 * still names the checkpoint. Any other empty directory may be a checkpoint that is about to be written.
 */
async function wasEmptied(fileSystems: FileSystems, directory: Path, options: TargetOptions): Promise<boolean> {
  if (checkpointNumber(directory.name) === undefined && savepointJobIdPrefix(directory.name) === undefined)
    return false;
  const fileSystem = await fileSystems.get(directory);
  for await (const entries of fileSystem.list(directory, options.signal)) if (entries.length > 0) return false;
  const roots = options.roots?.length ? options.roots : [defaultRoot(fileSystems, directory)];
  for (const root of roots) {
    const lock = await readLock(fileSystems, root).catch(() => undefined);
    if (lock?.pointers.includes(directory.toString())) return true;
  }
  return false;
}

function targetOf(
  given: string,
  metadataPath: Path,
  state: DiscardTarget['state'],
  hasTombstone: boolean,
): DiscardTarget {
  const directory = metadataPath.parent ?? metadataPath;
  return { given, directory, metadataPath, tombstonePath: tombstoneOf(metadataPath), state, hasTombstone };
}

/** The tombstone of a metadata file. */
export function tombstoneOf(metadataPath: Path): Path {
  return (metadataPath.parent ?? metadataPath).entry(metadataPath.name + TOMBSTONE_SUFFIX);
}

/** The file that holds the metadata of a target now; undefined if none is left. */
export function presentMetadata(target: DiscardTarget): Path | undefined {
  if (target.state === 'emptied') return undefined;
  return target.state === 'complete' ? target.metadataPath : target.tombstonePath;
}

async function isFile(fileSystems: FileSystems, path: Path): Promise<boolean> {
  const fileSystem = await fileSystems.get(path);
  return (await statusOrUndefined(fileSystem.getFileStatus(path)))?.type === 'file';
}

async function statusOrUndefined(status: Promise<FileStatus>): Promise<FileStatus | undefined> {
  try {
    return await status;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** True for a result of a look at many files that is a status. */
export function isStatus(found: EntryStatus | CkptError | undefined): found is EntryStatus {
  return found !== undefined && !(found instanceof CkptError);
}
