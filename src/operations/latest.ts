/** Finds the newest complete checkpoint or savepoint below a directory, from names and headers alone. */
import pMap from 'p-map';
import { CkptError, NoCheckpointError, NoMetadataError } from '../errors.js';
import type { DirectoryEntry, FileStatus } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { loadMetadataHeader } from '../format/metadata/read.js';
import { groupByJob, type JobHints, matchesJob } from './job-groups.js';
import { checkpointNumber, jobIdOf, METADATA_FILE, misnamedReason, savepointJobIdPrefix } from './layout.js';
import { walkTree } from './tree.js';

const CONCURRENT_HEADERS = 16;

/** A directory with metadata whose header can be read. */
export interface FoundCheckpoint {
  readonly pointer: Path;
  readonly metadataPath: Path;
  readonly metadata: FileStatus;
  readonly checkpointId: bigint;
  /** From the path; null if it does not tell. */
  readonly jobId: string | null;
  /** First six digits of the job id, from the name of a savepoint directory; else null. */
  readonly jobIdPrefix: string | null;
}

/** All checkpoints of one job, as far as names tell them apart. */
export interface JobCheckpoints {
  /** Job id, the prefix of one, or null where nothing tells. */
  readonly job: string | null;
  readonly newest: FoundCheckpoint;
  /** Newest first. */
  readonly checkpoints: readonly FoundCheckpoint[];
}

/** What a search came to. */
export interface LatestResult {
  /** Undefined if there is no complete checkpoint. */
  readonly newest: FoundCheckpoint | undefined;
  /** The job with the newest metadata first. */
  readonly jobs: readonly JobCheckpoints[];
  /** Directories that could not be listed and metadata that could not be read, with the reasons. */
  readonly unreadable: readonly { readonly path: Path; readonly error: unknown }[];
}

/** Options of {@link findLatest}. */
export interface LatestOptions {
  /** Only checkpoints of this job (32 hex digits, or the first ones of them). */
  readonly job?: string | undefined;
  /** Asked for each checkpoint from the newest on, until it says yes. */
  readonly accept?: ((found: FoundCheckpoint) => Promise<boolean>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how much has been listed, in pieces of directories, and how many checkpoints were seen. */
  readonly onProgress?: ((listed: number, found: number) => void) | undefined;
}

/**
 * Searches a directory for complete checkpoints: those with a metadata file whose header is sound. Within a job the highest
 * checkpoint id is the newest, between jobs the metadata that was written last.
 * @throws the signal's reason. A root that cannot be listed is among `unreadable`.
 */
export async function findLatest(
  fileSystems: FileSystems,
  root: Path,
  options: LatestOptions = {},
): Promise<LatestResult> {
  const { signal } = options;
  const unreadable: { path: Path; error: unknown }[] = [];
  const candidates: Path[] = [];
  let listed = 0;
  await walkTree(
    fileSystems,
    root,
    {
      entries(directory, entries) {
        const named = entries.filter(({ name }) => name === METADATA_FILE);
        const [first] = named;
        if (named.some(({ type }) => type === 'file')) candidates.push(directory);
        else if (first) unreadable.push({ path: directory, error: noFile(directory, first) });
        options.onProgress?.(++listed, candidates.length);
      },
      unlistable: (path, error) => unreadable.push({ path, error }),
    },
    { signal },
  );
  const found = await pMap(
    candidates,
    async (directory) => {
      try {
        return await loadFound(fileSystems, directory);
      } catch (error) {
        if (!(error instanceof CkptError)) throw error;
        unreadable.push({ path: directory, error });
        return undefined;
      }
    },
    { concurrency: CONCURRENT_HEADERS, ...(signal && { signal }) },
  );
  const all = sortedJobs(found.filter((item) => item !== undefined));
  const jobs = options.job === undefined ? all : all.filter(({ job }) => matchesJob(job, options.job ?? ''));
  unreadable.sort((a, b) => compareText(a.path.toString(), b.path.toString()));
  return { newest: jobs[0]?.newest, jobs, unreadable };
}

function noFile(directory: Path, entry: DirectoryEntry): NoMetadataError {
  return new NoMetadataError(directory.toString(), misnamedReason(entry));
}

/**
 * The newest complete checkpoint below a directory.
 * @throws NoCheckpointError; the error of the root if it cannot be listed
 */
export async function latestCheckpoint(
  fileSystems: FileSystems,
  root: Path,
  options: LatestOptions = {},
): Promise<LatestResult & { newest: FoundCheckpoint }> {
  const result = await findLatest(fileSystems, root, options);
  const { unreadable } = result;
  const newest = options.accept ? await firstAccepted(result.jobs, options.accept) : result.newest;
  if (newest) return { ...result, newest };
  const rootError = unreadable.find(({ path }) => path.equals(root));
  if (rootError) throw rootError.error;
  const of = options.job === undefined ? '' : ` of job ${options.job}`;
  const but =
    unreadable.length > 0 ? `; ${unreadable.length} could not be read, the first: ${unreadable[0]?.path}` : '';
  const what = result.newest ? 'whole' : 'complete';
  throw new NoCheckpointError(root.toString(), `no ${what} checkpoint or savepoint${of} below this directory${but}`);
}

/** Within a job from the highest id down; the jobs take turns by the time of what each offers next. */
async function firstAccepted(
  jobs: readonly JobCheckpoints[],
  accept: (found: FoundCheckpoint) => Promise<boolean>,
): Promise<FoundCheckpoint | undefined> {
  const queues = jobs.map(({ checkpoints }) => [...checkpoints]);
  for (;;) {
    const next = queues
      .filter((queue) => queue.length > 0)
      .sort((a, b) => (b[0]?.metadata.modificationTime ?? 0) - (a[0]?.metadata.modificationTime ?? 0))[0];
    const found = next?.shift();
    if (!found) return undefined;
    if (await accept(found)) return found;
  }
}

async function loadFound(fileSystems: FileSystems, directory: Path): Promise<FoundCheckpoint> {
  const metadataPath = directory.child(METADATA_FILE);
  const fileSystem = await fileSystems.get(metadataPath);
  const metadata = await fileSystem.getFileStatus(metadataPath);
  const source = await fileSystem.open(metadataPath);
  try {
    const { checkpointId } = await loadMetadataHeader(source, metadataPath.toString());
    const jobIdPrefix = savepointJobIdPrefix(directory.name) ?? null;
    return { pointer: directory, metadataPath, metadata, checkpointId, jobId: jobIdOf(directory), jobIdPrefix };
  } finally {
    await source.close();
  }
}

const newestFirst = (a: FoundCheckpoint, b: FoundCheckpoint): number =>
  compareIds(b.checkpointId, a.checkpointId) ||
  compareIds(numberOf(b), numberOf(a)) ||
  writtenLater(a, b) ||
  compareText(a.pointer.toString(), b.pointer.toString());

/** The jobs with their checkpoints, the newest first. */
function sortedJobs(found: readonly FoundCheckpoint[]): JobCheckpoints[] {
  const hintsOf = ({ jobId, jobIdPrefix, pointer }: FoundCheckpoint): JobHints => ({
    jobId,
    jobIdPrefix,
    parent: `${pointer.parent}`,
  });
  const jobs: JobCheckpoints[] = [];
  for (const { job, items } of groupByJob(found, hintsOf)) {
    items.sort(newestFirst);
    const newest = items[0];
    if (newest) jobs.push({ job, newest, checkpoints: items });
  }
  return jobs.sort(
    (a, b) => writtenLater(a.newest, b.newest) || compareText(a.newest.pointer.toString(), b.newest.pointer.toString()),
  );
}

/** The number in the name of the directory: a copy of a checkpoint under another name has the id of the original. */
function numberOf({ pointer }: FoundCheckpoint): bigint {
  return checkpointNumber(pointer.name) ?? -1n;
}

function writtenLater(a: FoundCheckpoint, b: FoundCheckpoint): number {
  return b.metadata.modificationTime - a.metadata.modificationTime;
}

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
