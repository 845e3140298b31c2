/** Which checkpoints and savepoints belong to one job, as far as names tell. */

/** What the place of a checkpoint tells of its job. */
export interface JobHints {
  /** Job id; null if the place does not tell. */
  readonly jobId: string | null;
  /** First digits of the job id, from the name of a savepoint directory; else null. */
  readonly jobIdPrefix: string | null;
  /** Where it lies: tells apart what nothing else does. */
  readonly parent: string;
}

/** The checkpoints of one job. */
export interface JobGroup<T> {
  /** Job id, the prefix of one, or null where nothing tells. */
  readonly job: string | null;
  readonly items: T[];
}

/**
 * Groups by job id; a savepoint belongs to the one job whose id begins as its name says, if there is just one. Where nothing
 * tells the job, what lies in one directory belongs together.
 * @param jobIds further jobs that are known, even if they have nothing
 */
export function groupByJob<T>(
  items: readonly T[],
  hintsOf: (item: T) => JobHints,
  jobIds: Iterable<string> = [],
): JobGroup<T>[] {
  const known = new Set(jobIds);
  for (const item of items) {
    const { jobId } = hintsOf(item);
    if (jobId !== null) known.add(jobId);
  }
  const groups = new Map<string, JobGroup<T>>();
  const owners = new Map<string, readonly string[]>();
  const ownersOf = (prefix: string): readonly string[] => {
    const found = owners.get(prefix) ?? [...known].filter((id) => id.startsWith(prefix));
    owners.set(prefix, found);
    return found;
  };
  for (const id of known) groups.set(id, { job: id, items: [] });
  for (const item of items) {
    const { jobId, jobIdPrefix, parent } = hintsOf(item);
    const [owner, second] = jobIdPrefix === null ? [] : ownersOf(jobIdPrefix);
    const job = jobId ?? (owner !== undefined && second === undefined ? owner : jobIdPrefix);
    const key = job ?? `in ${parent}`;
    const group = groups.get(key);
    if (group) group.items.push(item);
    else groups.set(key, { job, items: [item] });
  }
  return [...groups.values()];
}

/**
 * True if a job is the wanted one, as far as both are known.
 * @param job id or prefix of one; null for an unknown job, which is never the wanted one
 * @param wanted id or the first digits of it
 */
export function matchesJob(job: string | null, wanted: string): boolean {
  return job !== null && (job.startsWith(wanted) || wanted.startsWith(job));
}
