/** Lists every checkpoint and savepoint below some directories: names and headers, with sizes on request the metadata too. */
import { asError, CkptError, NotFoundError, WrongFileTypeError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type CheckpointDirectory, jobOf, outermost, scanArea } from '../area/scan.js';
import { COPY_MARKER } from '../copy/marker.js';
import { isJobId } from '../layout.js';
import type { ListEntry, ListResult } from './entry.js';
import { type EntriesOfJob, entriesByJob, mayBeOfJob, summarizeJob } from './jobs.js';
import { lookAtCheckpoint, unlistableEntry } from './look.js';
import { addSizes } from './sizes.js';

/** Options of {@link listCheckpoints}. */
export interface ListOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds: a directory without metadata that changed since is in progress. */
  readonly minAge: number;
  /** Read all metadata for sizes and operator names. */
  readonly sizes?: boolean | undefined;
  /** Only this job: its id or the first digits of it. */
  readonly job?: string | undefined;
  /** Told of each entry as it is found; with sizes when all is known, job by job. */
  readonly onEntry?: ((entry: ListEntry) => void | Promise<void>) | undefined;
  /** Told how many checkpoints were found, or of how many the metadata was read. */
  readonly onProgress?: ((phase: 'finding' | 'reading', done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Item {
  readonly checkpoint: CheckpointDirectory;
  entry: ListEntry;
}

/**
 * Lists what is below the roots. What cannot be read is an entry with its error; a root that cannot be listed is among
 * `failed`.
 * @param roots qualified, as the metadata names them
 * @throws the signal's reason; what the callbacks throw
 */
export async function listCheckpoints(
  fileSystems: FileSystems,
  roots: readonly Path[],
  options: ListOptions,
): Promise<ListResult> {
  const { signal, onEntry, onProgress } = options;
  let found: Item[] = [];
  const streamed = options.sizes !== true;
  const tell = async ({ entry }: Item): Promise<void> => {
    if (streamed && isWanted(entry, jobOfEntry(entry), options)) await onEntry?.(entry);
  };
  const add = async (item: Item): Promise<void> => {
    found.push(item);
    onProgress?.('finding', found.length, 0);
    // Whether others are checkpoints of their own is known in the end.
    if (item.entry.leftFiles === null) await tell(item);
  };
  const copied = new Map<string, Path>();
  const scan = await scanArea(fileSystems, roots, {
    signal,
    async onCheckpoint(checkpoint) {
      const entry = await lookAtCheckpoint(fileSystems, checkpoint, options);
      if (entry) await add({ checkpoint, entry });
    },
    onEntries(directory, entries) {
      if (entries.some(({ name }) => name === COPY_MARKER)) copied.set(directory.toString(), directory);
    },
  });
  // Where a copy is to become a checkpoint, whatever the directory is called.
  for (const { directory } of scan.checkpoints) copied.delete(directory.toString());
  for (const directory of copied.values()) {
    const nothing = { hasMetadata: false, hasTombstone: false, files: 0, others: 0 };
    const checkpoint: CheckpointDirectory = { directory, ...nothing, ...jobOf(directory) };
    const entry = await lookAtCheckpoint(fileSystems, checkpoint, options);
    if (entry) await add({ checkpoint, entry });
  }
  const failed = await missingInnerRoots(fileSystems, roots);
  for (const { path, error } of scan.unlistable) {
    if (!(error instanceof CkptError)) throw asError(error);
    if (roots.some((root) => root.equals(path))) failed.push({ path: path.toString(), error });
    // A directory that vanished meanwhile has nothing to tell.
    else if (!(error instanceof NotFoundError)) await add(unlistable(path, error));
  }
  found = withoutScattered(found);
  for (const item of found) if (item.entry.leftFiles !== null) await tell(item);
  const jobIds = scan.jobDirectories.map(({ name }) => name);
  let groups = entriesByJob(found, ({ entry }) => entry, jobIds);
  let jobBytes: readonly (number | null)[] = groups.map(() => null);
  let unread: ListResult['unread'] = [];
  if (options.sizes) {
    const sized = groups.flatMap(({ items }, job) => items.map((item) => ({ ...item, job })));
    const sizes = await addSizes(fileSystems, sized, groups.length, {
      signal,
      onProgress: onProgress && ((done, total) => onProgress('reading', done, total)),
    });
    jobBytes = sizes.jobBytes;
    unread = sizes.unread;
    groups = withEntries(groups, sizes.entries);
  }
  const wanted = groups.map(({ job, items }) => ({
    job,
    entries: items.map(({ entry }) => entry).filter((entry) => isWanted(entry, job, options)),
    shown: options.job === undefined || mayBeShown(job, options.job),
  }));
  const entries = wanted.flatMap((group) => group.entries);
  if (!streamed) for (const entry of entries) await onEntry?.(entry);
  return {
    roots: roots.map(String),
    entries,
    jobs: wanted.flatMap((group, i) =>
      group.entries.length > 0 || group.shown ? [summarizeJob(group.job, group.entries, jobBytes[i] ?? null)] : [],
    ),
    failed,
    unread,
  };
}

function withEntries(groups: readonly EntriesOfJob<Item>[], entries: readonly ListEntry[]): EntriesOfJob<Item>[] {
  let next = 0;
  return groups.map(({ job, items }) => ({
    job,
    items: items.map((item) => ({ ...item, entry: entries[next++] ?? item.entry })),
  }));
}

/** Roots below other ones are not scanned for themselves; one that does not exist is a mistake all the same. */
async function missingInnerRoots(
  fileSystems: FileSystems,
  roots: readonly Path[],
): Promise<{ path: string; error: CkptError }[]> {
  const scanned = outermost(roots);
  const failed: { path: string; error: CkptError }[] = [];
  for (const root of roots) {
    if (scanned.includes(root)) continue;
    try {
      const { type } = await (await fileSystems.get(root)).getFileStatus(root);
      if (type !== 'directory') throw new WrongFileTypeError(root.toString(), 'directory');
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
      failed.push({ path: root.toString(), error });
    }
  }
  return failed;
}

/**
 * Without the directories in which only files of a complete checkpoint lie: where paths carry entropy, the files of `chk-N`
 * are in many directories of this name, and the metadata in another one.
 */
function withoutScattered(items: readonly Item[]): Item[] {
  const key = ({ jobId, checkpointId }: ListEntry): string | null => jobId && `${jobId} ${checkpointId}`;
  const complete = new Set(items.flatMap(({ entry }) => (entry.status === 'complete' ? key(entry) : null) ?? []));
  return items.filter(({ entry }) => entry.leftFiles === null || !complete.has(key(entry) ?? ''));
}

function unlistable(directory: Path, error: CkptError): Item {
  const { jobIdPrefix } = jobOf(directory);
  const unknown = { hasMetadata: false, hasTombstone: false, files: 0, others: 0 };
  const checkpoint = { directory, ...unknown, jobId: jobAround(directory), jobIdPrefix };
  return { checkpoint, entry: unlistableEntry(checkpoint, error) };
}

/** The job in whose directory something lies. */
function jobAround(directory: Path): string | null {
  for (let path = directory.parent; path && path.name !== ''; path = path.parent)
    if (isJobId(path.name)) return path.name;
  return null;
}

function jobOfEntry({ jobId, jobIdPrefix }: ListEntry): string | null {
  return jobId ?? jobIdPrefix;
}

function isWanted(entry: ListEntry, group: string | null, { job }: ListOptions): boolean {
  return job === undefined || mayBeOfJob(entry, group, job);
}

function mayBeShown(job: string | null, wanted: string): boolean {
  return job?.startsWith(wanted) === true;
}
