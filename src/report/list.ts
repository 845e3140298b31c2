/** What `ckpt list` shows: for each job what it comes to, then its checkpoints in the order of their numbers. */
import type { ListEntry, ListJob, ListResult } from '../operations/list/entry.js';
import { formatAge, formatBytes, formatTime, plural } from './format.js';
import { printable } from './printable.js';
import type { Paint } from './style.js';
import { type Column, renderTable } from './table.js';
import type { Renderer, View } from './view.js';
import { textWidth, wrapText } from './wrap.js';

/** Why something could not be read. */
interface Failure {
  readonly code: string;
  readonly message: string;
}

/** An entry as the document has it. */
export interface ListDocumentEntry extends Omit<ListEntry, 'error'> {
  readonly error: Failure | null;
}

/** The document of `ckpt list`. */
export interface ListDocument extends Omit<ListResult, 'entries' | 'failed' | 'unread'> {
  readonly entries: readonly ListDocumentEntry[];
  readonly failed: readonly { readonly path: string; readonly error: Failure }[];
  readonly unread: readonly { readonly path: string; readonly error: Failure }[];
}

/** Operator names shown for a job; they are a hint, `inspect` has them all. */
const SHOWN_OPERATORS = 4;
/** Columns besides the pointers, roughly: a terminal with this much more room shows them whole. */
const OTHER_COLUMNS = 110;

/** Job by job. */
export const renderList: Renderer<ListDocument> = function* (document, view) {
  const { jobs, entries, roots } = document;
  if (jobs.length === 0 && entries.length === 0) {
    yield `No checkpoints or savepoints below ${roots.map(printable).join(', ')}.\n`;
    return;
  }
  let next = 0;
  for (const [index, job] of jobs.entries()) {
    if (index > 0) yield '\n';
    const members = entries.slice(next, next + entriesOf(job));
    next += members.length;
    yield jobHeader(job, view);
    yield renderTable(columns(members, job.directory, view), members, view);
  }
  if (jobs.length > 1) yield `\n${summary(document, view)}\n`;
};

/** All entries in one table, in their order. */
export const renderSortedList: Renderer<ListDocument> = (document, view) => {
  const { entries } = document;
  if (entries.length === 0) return `No checkpoints or savepoints below ${document.roots.map(printable).join(', ')}.\n`;
  return `${renderTable(columns(entries, null, view), entries, view)}\n${summary(document, view)}\n`;
};

/** Nothing but the pointer; for a script letter by letter. */
export const renderNewest: Renderer<ListDocument> = ({ entries }, { width }) =>
  entries.map(({ pointer }) => `${Number.isFinite(width) ? printable(pointer) : pointer}\n`).join('');

function entriesOf({ complete, incomplete, inProgress, halfDiscarded, broken }: ListJob): number {
  return complete + incomplete + inProgress + halfDiscarded + broken;
}

function jobHeader(job: ListJob, view: View): string {
  const { style } = view;
  const { jobId, jobIdPrefix, directory } = job;
  const name =
    jobId !== null
      ? `Job ${jobId}`
      : jobIdPrefix !== null
        ? `Savepoints of a job ${jobIdPrefix}…`
        : 'Job not known from the path';
  let text = `${style.title(name)}\n`;
  if (directory !== null) text += `${style.muted(printable(directory))}\n`;
  const parts = counts(job);
  if (job.newest !== null) {
    const age = job.time === null ? '' : ` (${formatAge(Date.parse(job.time), view.now)})`;
    parts.push(`newest ${printable(nameIn(job.newest, directory))}${age}`);
  }
  if (job.totalBytes !== null && job.totalBytes > 0) parts.push(`${formatBytes(job.totalBytes)} in all`);
  for (const line of wrapText(parts.join(', '), view.width)) text += `${line.trimEnd()}\n`;
  const names = job.operatorNames ?? [];
  if (names.length > 0) {
    const more = names.length > SHOWN_OPERATORS ? `, and ${names.length - SHOWN_OPERATORS} more` : '';
    const hint = `operators: ${names.slice(0, SHOWN_OPERATORS).map(printable).join(', ')}${more}`;
    for (const line of wrapText(hint, view.width)) text += `${line.trimEnd()}\n`;
  }
  return text;
}

function counts(job: Pick<ListJob, 'complete' | 'incomplete' | 'inProgress' | 'halfDiscarded' | 'broken'>): string[] {
  const named: readonly (readonly [number, string])[] = [
    [job.complete, 'complete'],
    [job.incomplete, 'incomplete'],
    [job.inProgress, 'in progress'],
    [job.halfDiscarded, 'half discarded'],
    [job.broken, 'broken'],
  ];
  const parts = named.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return parts.length > 0 ? parts : ['no checkpoints'];
}

function summary({ jobs, entries }: ListDocument, view: View): string {
  const sum = (pick: (job: ListJob) => number): number => jobs.reduce((total, job) => total + pick(job), 0);
  const all = {
    complete: sum(({ complete }) => complete),
    incomplete: sum(({ incomplete }) => incomplete),
    inProgress: sum(({ inProgress }) => inProgress),
    halfDiscarded: sum(({ halfDiscarded }) => halfDiscarded),
    broken: sum(({ broken }) => broken),
  };
  const shown = entries.length === entriesOf({ ...EMPTY, ...all }) ? '' : ` (${entries.length} shown)`;
  return view.style.muted(`${plural(jobs.length, 'job')}: ${counts({ ...EMPTY, ...all }).join(', ')}${shown}`);
}

const EMPTY: ListJob = {
  jobId: null,
  jobIdPrefix: null,
  directory: null,
  newest: null,
  time: null,
  complete: 0,
  incomplete: 0,
  inProgress: 0,
  halfDiscarded: 0,
  broken: 0,
  metadataBytes: 0,
  totalBytes: null,
  operatorNames: null,
};

/** A pointer by what follows the directory; the whole of it if it lies elsewhere. */
function nameIn(pointer: string, directory: string | null): string {
  return directory !== null && pointer.startsWith(`${directory}/`) ? pointer.slice(directory.length + 1) : pointer;
}

function columns(
  entries: readonly ListDocumentEntry[],
  directory: string | null,
  view: View,
): Column<ListDocumentEntry>[] {
  const longest = entries.reduce((length, { pointer }) => Math.max(length, textWidth(printable(pointer))), 0);
  const whole = directory === null || view.width >= longest + OTHER_COLUMNS;
  const wide = view.width >= OTHER_COLUMNS;
  const sized = entries.some(({ totalBytes }) => totalBytes !== null);
  const bytes = (count: number | null): string => (count === null ? '' : formatBytes(count));
  const written: Column<ListDocumentEntry> = {
    heading: 'Written',
    cell: ({ time }) => (time === null ? '' : formatTime(Date.parse(time))),
    minimum: 20,
  };
  const age: Column<ListDocumentEntry> = {
    heading: 'Age',
    cell: ({ time }) => (time === null ? '' : formatAge(Date.parse(time), view.now)),
    minimum: 10,
  };
  const metadata: Column<ListDocumentEntry> = {
    heading: 'Metadata',
    cell: ({ metadataBytes }) => bytes(metadataBytes),
    align: 'right',
    optional: true,
  };
  return [
    { heading: 'Id', cell: ({ checkpointId }) => `${checkpointId ?? ''}`, align: 'right' },
    {
      heading: 'Kind',
      cell: ({ kind, pointer }) =>
        directory !== null && !wide && lastName(pointer).startsWith(kindPrefix(kind)) ? '' : kind,
      minimum: 10,
      optional: true,
    },
    { heading: 'Status', cell: ({ status }) => status, minimum: 14, paint: ({ status }) => paintOf(status, view) },
    ...(wide ? [written, age, metadata] : sized ? [age] : [written, metadata]),
    { heading: 'Bytes', cell: (entry) => bytes(entry.totalBytes ?? entry.leftBytes), align: 'right', optional: true },
    {
      heading: 'Only here',
      cell: ({ exclusiveBytes }) => bytes(exclusiveBytes),
      align: 'right',
      optional: true,
      paint: () => view.style.name,
    },
    // Never broken in two: a pointer is there to be copied.
    whole
      ? { heading: 'Pointer', cell: ({ pointer }) => pointer, minimum: longest, priority: 1 }
      : { heading: 'Directory', cell: ({ pointer }) => nameIn(pointer, directory), minimum: 32, priority: 1 },
    {
      heading: 'Error',
      cell: ({ error }) => error?.message ?? '',
      minimum: 60,
      optional: true,
      priority: 0,
      paint: () => view.style.bad,
    },
  ];
}

function lastName(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1);
}

/** How Flink names the directories of a kind. */
function kindPrefix(kind: ListEntry['kind']): string {
  return kind === 'checkpoint' ? 'chk-' : `${kind}-`;
}

function paintOf(status: ListEntry['status'], { style }: View): Paint {
  switch (status) {
    case 'complete':
      return style.good;
    case 'broken':
    case 'half-discarded':
      return style.bad;
    case 'incomplete':
      return style.warning;
    case 'in-progress':
      return style.muted;
  }
}
