/** What `ckpt discard` and `ckpt prune` show: what goes and what stays before anything happens, and what was done. */
import type { KeepReason, KeptFile, PlannedDeletion, SearchReach } from '../operations/discard/types.js';
import { formatBytes, formatCount, plural } from './format.js';
import { printable } from './printable.js';
import { renderTable, tableLines } from './table.js';
import { renderTitle } from './title.js';
import type { Renderer, View } from './view.js';

/** One pointer of a discard. */
export interface DiscardedPointer {
  /** The external pointer; of one that leads nowhere its qualified path. */
  readonly pointer: string;
  /** Why nothing of it was discarded; null if it was, or will be. */
  readonly error: object | null;
}

/** A path and what went wrong there. */
export interface DiscardErrorBody {
  readonly path: string;
  readonly message: string;
}

/** The document of `ckpt discard` and `ckpt prune`. */
export interface DiscardDocument {
  readonly pointers: readonly DiscardedPointer[];
  readonly plan: { readonly delete: readonly PlannedDeletion[]; readonly keep: readonly KeptFile[] };
  /** True if everything planned was done. */
  readonly done: boolean;
  readonly dryRun: boolean;
  readonly interrupted: boolean;
  readonly deletedFiles: number;
  readonly deletedBytes: number;
  readonly alreadyGone: number;
  readonly strayEntries: readonly string[];
  readonly error: DiscardErrorBody | null;
  readonly suppressed: readonly DiscardErrorBody[];
  /** Where files were moved to; null if they were deleted. */
  readonly movedTo: string | null;
  /** How far the search for others who use the files has reached. */
  readonly search: SearchReach;
}

/** More rows than this are summed up by directory, unless all were asked for. */
const MANY_ROWS = 60;
const SHOWN_USERS = 3;
const SHOWN_FAILURES = 20;
const SHOWN_UNREADABLE = 5;

const reasons: Readonly<Record<KeepReason, string>> = {
  'used-by-other': 'another checkpoint uses it',
  'shared-segment': 'others have a part of it',
  'outside-tree': 'outside of what may be deleted',
  young: 'too young, a job may be writing it (ckpt gc finds it later)',
};

/** The plan, every file of it. */
export const renderWholePlan: Renderer<DiscardDocument> = (document, view) => planText(document, view, 'all');

/** The plan as it is shown before a question, summed up where it is long. */
export const renderPlan: Renderer<DiscardDocument> = (document, view) =>
  planText(document, view, view.verbose ? 'all' : 'summary');

function* planText(document: DiscardDocument, view: View, extent: 'all' | 'summary'): Generator<string> {
  const { plan, alreadyGone, strayEntries, search } = document;
  const pointers = document.pointers.filter(({ error }) => error === null);
  yield renderTitle(plural(pointers.length, 'checkpoint'), view);
  for (const { pointer } of pointers) yield `  ${view.style.name(printable(pointer))}\n`;
  const files = plan.delete.filter(({ step, path }) => step !== 'location' && path !== '');
  const bytes = plan.delete.reduce((sum, entry) => sum + entry.bytes, 0);
  const verb = document.movedTo === null ? 'Goes' : `Moves to ${printable(document.movedTo)}`;
  yield `\n${renderTitle(`${verb}: ${plural(files.length, 'file')}, ${formatBytes(bytes)}`, view)}`;
  yield* deletions(plan.delete, view, extent);
  yield* kept(plan.keep, view, extent);
  if (alreadyGone > 0) yield `\n${plural(alreadyGone, 'file')} of the checkpoint ${be(alreadyGone)} gone already\n`;
  if (strayEntries.length > 0) {
    yield `\n${renderTitle('In the directory, and not of the checkpoint: stays, and keeps the directory', view)}`;
    for (const path of strayEntries) yield `  ${view.style.warning(printable(path))}\n`;
  }
  yield* reach(search, view);
}

function* deletions(entries: readonly PlannedDeletion[], view: View, extent: 'all' | 'summary'): Generator<string> {
  if (extent === 'summary' && entries.length > MANY_ROWS) {
    const groups = sumUp(entries, ({ path, step }) => (step === 'location' ? path : directoryOf(path)));
    yield renderTable(
      [
        { heading: 'Files', cell: ({ files }) => formatCount(files), align: 'right' },
        { heading: 'Bytes', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
        { heading: 'Directory', cell: ({ name }) => name, minimum: 24 },
      ],
      groups,
      view,
    );
    return;
  }
  yield* tableLines(
    [
      { heading: 'Step', cell: ({ step }) => step },
      { heading: 'Bytes', cell: ({ bytes, step }) => (step === 'location' ? '' : formatBytes(bytes)), align: 'right' },
      { heading: 'Path', cell: ({ path }) => path, minimum: 24, paint: (_row, { style }) => style.bad },
    ],
    entries,
    view,
  );
}

function* kept(entries: readonly KeptFile[], view: View, extent: 'all' | 'summary'): Generator<string> {
  if (entries.length === 0) return;
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  yield `\n${renderTitle(`Stays: ${plural(entries.length, 'file')}, ${formatBytes(bytes)}`, view)}`;
  if (extent === 'summary' && entries.length > MANY_ROWS) {
    const groups = sumUp(entries, ({ path, reason, usedBy }) =>
      JSON.stringify([directoryOf(path), reasons[reason], usersText(usedBy)]),
    ).map(({ name, ...rest }) => ({ ...rest, parts: JSON.parse(name) as [string, string, string] }));
    yield renderTable(
      [
        { heading: 'Files', cell: ({ files }) => formatCount(files), align: 'right' },
        { heading: 'Bytes', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
        { heading: 'Directory', cell: ({ parts }) => parts[0], minimum: 24 },
        { heading: 'Why', cell: ({ parts }) => parts[1] },
        { heading: 'Used by', cell: ({ parts }) => parts[2], optional: true, priority: 1 },
      ],
      groups,
      view,
    );
    return;
  }
  yield* tableLines(
    [
      { heading: 'Bytes', cell: (entry) => formatBytes(entry.bytes), align: 'right' },
      { heading: 'Path', cell: ({ path }) => path, minimum: 24 },
      { heading: 'Why', cell: ({ reason }) => `${reason}: ${reasons[reason]}` },
      { heading: 'Used by', cell: ({ usedBy }) => usersText(usedBy), optional: true, priority: 1 },
    ],
    entries,
    view,
  );
}

function* reach(search: SearchReach, view: View): Generator<string> {
  if (!search.searched) {
    yield `\n${view.style.warning('Others who may use these files were not looked for')}\n`;
    return;
  }
  const where = search.roots.map(printable).join(', ');
  yield `\nOther users were looked for below ${where}: ${plural(search.checkpoints, 'checkpoint directory', 'checkpoint directories')}, ${plural(search.metadataFiles, 'metadata file')} of others read\n`;
  const { unreadable } = search;
  if (unreadable.length === 0) return;
  yield view.style.warning(`${formatCount(unreadable.length)} could not be read, and may use what is shared:`);
  yield '\n';
  for (const { message } of unreadable.slice(0, SHOWN_UNREADABLE)) yield `  ${printable(message)}\n`;
  if (unreadable.length > SHOWN_UNREADABLE) yield `  and ${formatCount(unreadable.length - SHOWN_UNREADABLE)} more\n`;
}

/** What was done, after the plan was shown. */
export const renderDiscardResult: Renderer<DiscardDocument> = function* (document, view) {
  const { style } = view;
  const { deletedFiles, deletedBytes, alreadyGone, strayEntries, error, suppressed, plan } = document;
  const verb = document.movedTo === null ? 'deleted' : 'moved';
  const freed = document.movedTo === null ? `, ${formatBytes(deletedBytes)} freed` : `, ${formatBytes(deletedBytes)}`;
  const gone = alreadyGone > 0 ? `, ${formatCount(alreadyGone)} gone already` : '';
  const stay = plan.keep.length > 0 ? `, ${formatCount(plan.keep.length)} kept` : '';
  const counts = `${plural(deletedFiles, 'file')} ${verb}${freed}${gone}${stay}`;
  if (document.done) {
    yield `${style.good('Discarded')}: ${counts}\n`;
    return;
  }
  const left = plan.delete.filter(({ step }) => step !== 'location').length - deletedFiles;
  yield `${style.bad(document.interrupted ? 'Interrupted' : 'Not all could be done')}: ${counts}\n`;
  if (document.interrupted) yield `${plural(Math.max(left, 0), 'file')} left; the same command goes on from here\n`;
  if (error) yield `${style.bad(printable(named(error)))}\n`;
  const shown = view.verbose ? suppressed : suppressed.slice(0, SHOWN_FAILURES);
  for (const failure of shown) yield `  suppressed: ${printable(named(failure))}\n`;
  if (suppressed.length > shown.length) {
    yield `  suppressed: ${formatCount(suppressed.length - shown.length)} more (--verbose shows all)\n`;
  }
  for (const path of strayEntries) yield `  not of the checkpoint, left: ${style.warning(printable(path))}\n`;
};

function named({ path, message }: DiscardErrorBody): string {
  return message.includes(path) ? message : `${path}: ${message}`;
}

function usersText(users: readonly string[]): string {
  const more = users.length > SHOWN_USERS ? ` and ${formatCount(users.length - SHOWN_USERS)} more` : '';
  return users.slice(0, SHOWN_USERS).join(', ') + more;
}

interface Sum {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

function sumUp<T extends { readonly bytes: number; readonly step?: string }>(
  entries: readonly T[],
  nameOf: (entry: T) => string,
): Sum[] {
  const sums = new Map<string, { name: string; files: number; bytes: number }>();
  let sum = { name: '', files: 0, bytes: 0 };
  for (const entry of entries) {
    const name = nameOf(entry);
    // Neighbours nearly always lie in one directory.
    if (name !== sum.name) {
      sum = sums.get(name) ?? { name, files: 0, bytes: 0 };
      sums.set(name, sum);
    }
    if (entry.step !== 'location') sum.files++;
    sum.bytes += entry.bytes;
  }
  return [...sums.values()].filter(({ files }) => files > 0);
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function be(count: number): string {
  return count === 1 ? 'is' : 'are';
}
