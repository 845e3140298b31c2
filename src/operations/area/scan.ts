/** Finds every checkpoint below some directories, whole or not, and what else lies there. */
import type { DirectoryEntry } from '../../filesystem/file-system.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { checkpointNumber, isJobId, METADATA_FILE, savepointJobIdPrefix, TOMBSTONE_FILE } from '../layout.js';
import { walkTree } from '../tree.js';

/** A directory that is a checkpoint, was one, or is to become one. */
export interface CheckpointDirectory {
  /** As it is named, qualified. */
  readonly directory: Path;
  /** True if `_metadata` is in it. */
  readonly hasMetadata: boolean;
  /** True if a tombstone is in it: a discard was begun. */
  readonly hasTombstone: boolean;
  /** Plain files in it. */
  readonly files: number;
  /** Everything else in it. */
  readonly others: number;
  /** Job id, from the name of the parent; null if it does not tell. */
  readonly jobId: string | null;
  /** First digits of the job id, from the name of a savepoint directory; else null. */
  readonly jobIdPrefix: string | null;
}

/** A directory or file that could not be looked at. */
export interface Unreadable {
  readonly path: Path;
  readonly error: unknown;
}

/** What a scan found. */
export interface AreaScan {
  /** In no particular order. */
  readonly checkpoints: readonly CheckpointDirectory[];
  /** Directories named like job ids. */
  readonly jobDirectories: readonly Path[];
  readonly unlistable: readonly Unreadable[];
}

/** Options of {@link scanArea}. */
export interface ScanOptions {
  readonly signal?: AbortSignal | undefined;
  /** Directories that are not entered, and of which nothing is told but what their parents list. */
  readonly skip?: ((directory: Path) => boolean) | undefined;
  /** Told of every entry of every directory, in batches. */
  readonly onEntries?: ((directory: Path, entries: readonly DirectoryEntry[]) => void | Promise<void>) | undefined;
  /** Told when a directory has been listed to its end. */
  readonly onDirectory?: ((directory: Path) => void | Promise<void>) | undefined;
  /** Told of each checkpoint directory as it is found. */
  readonly onCheckpoint?: ((checkpoint: CheckpointDirectory) => void | Promise<void>) | undefined;
}

interface Tally {
  hasMetadata: boolean;
  hasTombstone: boolean;
  files: number;
  others: number;
}

/**
 * Scans directories and everything below them; of two roots inside each other the inner one is part of the outer. Links to
 * directories are followed. Reads names only.
 * @throws the signal's reason; what the callbacks throw
 */
export async function scanArea(
  fileSystems: FileSystems,
  roots: readonly Path[],
  options: ScanOptions = {},
): Promise<AreaScan> {
  const checkpoints: CheckpointDirectory[] = [];
  const jobDirectories: Path[] = [];
  const unlistable: Unreadable[] = [];
  const open = new Map<string, Tally>();
  const tallyOf = (directory: Path): Tally => {
    const key = directory.toString();
    const known = open.get(key);
    if (known) return known;
    const tally: Tally = { hasMetadata: false, hasTombstone: false, files: 0, others: 0 };
    open.set(key, tally);
    return tally;
  };
  const close = async (directory: Path): Promise<void> => {
    const tally = tallyOf(directory);
    open.delete(directory.toString());
    if (isJobId(directory.name)) jobDirectories.push(directory);
    if (!tally.hasMetadata && !tally.hasTombstone && !isNamedLikeCheckpoint(directory)) return;
    const checkpoint = { directory, ...tally, ...jobOf(directory) };
    checkpoints.push(checkpoint);
    await options.onCheckpoint?.(checkpoint);
  };
  for (const root of outermost(roots)) {
    await walkTree(
      fileSystems,
      root,
      {
        async entries(directory, entries) {
          count(tallyOf(directory), entries);
          await options.onEntries?.(directory, entries);
        },
        async endDirectory(directory) {
          await close(directory);
          await options.onDirectory?.(directory);
        },
        unlistable(path, error) {
          open.delete(path.toString());
          unlistable.push({ path, error });
        },
      },
      { signal: options.signal, ...(options.skip && { skip: options.skip }) },
    );
  }
  return { checkpoints, jobDirectories, unlistable };
}

function count(tally: Tally, entries: readonly DirectoryEntry[]): void {
  for (const { name, type } of entries) {
    if (type === 'file') tally.files++;
    else tally.others++;
    if (name === METADATA_FILE) tally.hasMetadata = true;
    else if (name === TOMBSTONE_FILE && type === 'file') tally.hasTombstone = true;
  }
}

function isNamedLikeCheckpoint(directory: Path): boolean {
  return checkpointNumber(directory.name) !== undefined || savepointJobIdPrefix(directory.name) !== undefined;
}

/** What the names of a checkpoint directory and its parent tell of the job. */
export function jobOf(directory: Path): Pick<CheckpointDirectory, 'jobId' | 'jobIdPrefix'> {
  const { parent } = directory;
  const isCheckpoint = checkpointNumber(directory.name) !== undefined;
  const jobId = isCheckpoint && parent && isJobId(parent.name) ? parent.name : null;
  return { jobId, jobIdPrefix: savepointJobIdPrefix(directory.name) ?? null };
}

/** Without the roots that lie in another one. */
export function outermost(roots: readonly Path[]): Path[] {
  return roots.filter(
    (root, i) =>
      !roots.some((other, k) =>
        k < i ? root.startsWith(other) : k > i && root.startsWith(other) && !root.equals(other),
      ),
  );
}
