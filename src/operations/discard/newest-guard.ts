/** Keeps a running job's footing: the newest complete checkpoint of a job whose files have changed lately. */
import { CkptError, RefusedError } from '../../errors.js';
import type { DirectoryEntry } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { loadMetadataHeader } from '../../format/metadata/read.js';
import type { CheckpointDirectory } from '../area/scan.js';
import { groupByJob } from '../job-groups.js';
import { checkpointNumber, isJobId, METADATA_FILE, savepointJobIdPrefix } from '../layout.js';
import { type TreeVisitor, walkTree } from '../tree.js';
import { isLockName } from './lock.js';
import { isStatus } from './targets.js';
import type { DiscardTarget } from './types.js';

/** Options of {@link requireNotNewest}. */
export interface NewestGuardOptions {
  /** A change at this time or later is one of lately, ms since the epoch. */
  readonly youngFrom: number;
  readonly signal?: AbortSignal | undefined;
}

interface Complete {
  readonly checkpoint: CheckpointDirectory;
  readonly checkpointId: bigint;
  readonly time: number;
}

/**
 * Refuses the newest complete checkpoint of a job if something below the job's directory has changed lately.
 * @param isTarget whether a directory is that of the checkpoint
 * @throws RefusedError
 */
export async function requireNotNewest(
  fileSystems: FileSystems,
  checkpoints: readonly CheckpointDirectory[],
  targets: readonly DiscardTarget[],
  isTarget: (checkpoint: CheckpointDirectory, target: DiscardTarget) => boolean,
  options: NewestGuardOptions,
): Promise<void> {
  const guarded = targets.filter(
    ({ state, metadataPath }) => state === 'complete' && metadataPath.name === METADATA_FILE,
  );
  const groups = groupByJob(
    checkpoints.filter(({ hasMetadata }) => hasMetadata),
    ({ jobId, jobIdPrefix, directory }) => ({ jobId, jobIdPrefix, parent: `${directory.parent}` }),
  );
  for (const { items } of groups) {
    const own = guarded.filter((target) => items.some((checkpoint) => isTarget(checkpoint, target)));
    if (own.length === 0) continue;
    const newest = await newestOf(fileSystems, items, options.signal);
    const target = newest && own.find((candidate) => isTarget(newest, candidate));
    if (!newest || !target) continue;
    for (const tree of treesOf(items)) {
      const changed = await firstYoung(fileSystems, tree, options);
      if (changed) throw refusal(target, changed);
    }
  }
}

function refusal({ directory }: DiscardTarget, changed: Path): RefusedError {
  return new RefusedError(
    `${directory}: this is the newest complete checkpoint of its job, and a running job may build on it, for ${changed} has changed lately; say --job-stopped if no job runs (or a smaller --min-age), nothing was changed`,
    { pointer: directory.toString(), reason: 'newest', changed: changed.toString() },
  );
}

async function newestOf(
  fileSystems: FileSystems,
  items: readonly CheckpointDirectory[],
  signal: AbortSignal | undefined,
): Promise<CheckpointDirectory | undefined> {
  const found: Complete[] = [];
  await forEachConcurrently(
    items,
    async (checkpoint) => {
      const path = checkpoint.directory.child(METADATA_FILE);
      try {
        const fileSystem = await fileSystems.get(path);
        const { modificationTime } = await fileSystem.getFileStatus(path);
        const source = await fileSystem.open(path);
        try {
          const { checkpointId } = await loadMetadataHeader(source, path.toString());
          found.push({ checkpoint, checkpointId, time: modificationTime });
        } finally {
          await source.close();
        }
      } catch (error) {
        // Without a header it is not complete.
        if (!(error instanceof CkptError)) throw error;
      }
    },
    { signal },
  );
  signal?.throwIfAborted();
  return found.sort(newestFirst)[0]?.checkpoint;
}

function newestFirst(a: Complete, b: Complete): number {
  if (a.checkpointId !== b.checkpointId) return a.checkpointId > b.checkpointId ? -1 : 1;
  return b.time - a.time;
}

/** The directories that a job writes to, as far as the places of its checkpoints tell. */
function treesOf(items: readonly CheckpointDirectory[]): Path[] {
  const trees = new Map<string, Path>();
  for (const { directory } of items) {
    const isCheckpoint = checkpointNumber(directory.name) !== undefined;
    const tree = isCheckpoint ? (directory.parent ?? directory) : directory;
    trees.set(tree.toString(), tree);
  }
  return [...trees.values()];
}

/** A file below that has changed lately, or an empty `chk-N` that was made lately. */
async function firstYoung(
  fileSystems: FileSystems,
  tree: Path,
  { youngFrom, signal }: NewestGuardOptions,
): Promise<Path | undefined> {
  const search = new YoungSearch(fileSystems, youngFrom, signal);
  const isOthers = ({ name }: Path): boolean => isJobId(name) || savepointJobIdPrefix(name) !== undefined;
  await walkTree(fileSystems, tree, search, {
    signal,
    skip: (directory) => search.found !== undefined || isOthers(directory),
  });
  return search.found;
}

class YoungSearch implements TreeVisitor {
  found: Path | undefined;
  private readonly filled = new Set<string>();

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly youngFrom: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async entries(directory: Path, entries: readonly DirectoryEntry[]): Promise<void> {
    if (entries.length > 0) this.filled.add(directory.toString());
    if (this.found) return;
    const untold: string[] = [];
    for (const { name, type, modificationTime } of entries) {
      if (type !== 'file' || isLockName(name)) continue;
      if (modificationTime === undefined) untold.push(name);
      else if (modificationTime >= this.youngFrom) this.found ??= directory.entry(name);
    }
    const fileSystem = await this.fileSystems.get(directory);
    const statuses = await fileSystem.getFileStatuses(directory, untold, this.signal);
    const young = statuses.findIndex((status) => isStatus(status) && status.modificationTime >= this.youngFrom);
    if (young >= 0) this.found ??= directory.entry(untold[young] ?? '');
  }

  async endDirectory(directory: Path): Promise<void> {
    const isEmpty = !this.filled.delete(directory.toString());
    if (!isEmpty || this.found || checkpointNumber(directory.name) === undefined) return;
    try {
      const { modificationTime } = await (await this.fileSystems.get(directory)).getFileStatus(directory);
      if (modificationTime >= this.youngFrom) this.found ??= directory;
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
    }
  }

  /** What cannot be listed is dealt with by those who look for users. */
  unlistable(): void {}
}
