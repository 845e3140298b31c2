/** The entries of a listing by job, in order, and what each job comes to. */
import { groupByJob, type JobHints, matchesJob } from '../job-groups.js';
import { isJobId } from '../layout.js';
import type { ListEntry, ListJob } from './entry.js';

/** Entries of one job, in order. */
export interface EntriesOfJob<T> {
  readonly job: string | null;
  readonly items: readonly T[];
}

/** How entries are ordered: by job and checkpoint id, or all together with the newest or the biggest first. */
export const LIST_ORDERS = ['id', 'time', 'size', 'exclusive'] as const;
/** One of {@link LIST_ORDERS}. */
export type ListOrder = (typeof LIST_ORDERS)[number];

/**
 * Groups entries by job. Within a job the lowest checkpoint id comes first; the job that was written to last comes last, so
 * that the end of a long listing is what is most often looked for. Jobs without entries come first.
 * @param entryOf the entry of an item
 */
export function entriesByJob<T>(
  items: readonly T[],
  entryOf: (item: T) => ListEntry,
  jobIds: Iterable<string>,
): EntriesOfJob<T>[] {
  const hintsOf = (item: T): JobHints => {
    const { jobId, jobIdPrefix, pointer } = entryOf(item);
    return { jobId, jobIdPrefix, parent: parentOf(pointer) };
  };
  const groups = groupByJob(items, hintsOf, jobIds);
  for (const { items: members } of groups) members.sort((a, b) => compareById(entryOf(a), entryOf(b)));
  const lastWritten = ({ items: members }: EntriesOfJob<T>): string =>
    members
      .map((item) => entryOf(item).time ?? '')
      .sort()
      .at(-1) ?? '';
  const keyed = groups.map((group) => ({ group, key: `${lastWritten(group)} ${group.job ?? ''}` }));
  return keyed.sort((a, b) => compareText(a.key, b.key)).map(({ group }) => group);
}

/** The entries in another order than that of {@link entriesByJob}. */
export function sortEntries(entries: readonly ListEntry[], order: ListOrder): readonly ListEntry[] {
  switch (order) {
    case 'id':
      return entries;
    case 'time':
      return [...entries].sort((a, b) => compareText(b.time ?? '', a.time ?? '') || compareById(b, a));
    case 'size':
      return [...entries].sort((a, b) => (b.totalBytes ?? -1) - (a.totalBytes ?? -1));
    case 'exclusive':
      return [...entries].sort((a, b) => (b.exclusiveBytes ?? -1) - (a.exclusiveBytes ?? -1));
  }
}

/** Numbers first, in their order; then by time and name. */
function compareById(a: ListEntry, b: ListEntry): number {
  if (a.checkpointId !== null && b.checkpointId !== null) {
    const [first, second] = [BigInt(a.checkpointId), BigInt(b.checkpointId)];
    if (first !== second) return first < second ? -1 : 1;
  } else if (a.checkpointId !== b.checkpointId) {
    return a.checkpointId === null ? 1 : -1;
  }
  return compareText(a.time ?? '', b.time ?? '') || compareText(a.pointer, b.pointer);
}

/** True if an entry may be of the wanted job; a directory that cannot be listed may hold anything of any. */
export function mayBeOfJob(entry: ListEntry, group: string | null, wanted: string): boolean {
  const unknown = entry.status === 'broken' && entry.metadataBytes === null && group === null;
  return unknown || matchesJob(group, wanted);
}

/**
 * What a job comes to.
 * @param entries in their order
 * @param totalBytes each file once; null if sizes were not asked for
 */
export function summarizeJob(job: string | null, entries: readonly ListEntry[], totalBytes: number | null): ListJob {
  const count = (status: ListEntry['status']): number => entries.filter((entry) => entry.status === status).length;
  const newest = newestOf(entries);
  const place = newest ?? entries.at(-1);
  return {
    jobId: job !== null && isJobId(job) ? job : null,
    jobIdPrefix: job !== null && !isJobId(job) ? job : null,
    directory: place ? parentOf(place.pointer) : null,
    newest: newest?.pointer ?? null,
    time: newest?.time ?? null,
    complete: count('complete'),
    incomplete: count('incomplete'),
    inProgress: count('in-progress'),
    halfDiscarded: count('half-discarded'),
    broken: count('broken'),
    metadataBytes: entries.reduce((sum, { metadataBytes }) => sum + (metadataBytes ?? 0), 0),
    totalBytes,
    operatorNames: newest?.operatorNames ?? null,
  };
}

/** The newest complete one of a job's entries in their order. */
export function newestOf(entries: readonly ListEntry[]): ListEntry | undefined {
  for (let i = entries.length - 1; i >= 0; i--) if (entries[i]?.status === 'complete') return entries[i];
  return undefined;
}

function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(pointer.lastIndexOf('/'), 0));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
