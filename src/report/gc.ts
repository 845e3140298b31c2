/** What `ckpt gc` shows: what nobody names, what stays all the same, and what was removed. */
import type {
  BlockedPath,
  GcEntry,
  GcFailure,
  GcGroup,
  SparedPath,
  SparedReason,
  TaskOwnedFile,
} from '../operations/gc/types.js';
import { formatBytes, formatCount, formatTime, plural } from './format.js';
import { printable } from './printable.js';
import { renderTable, tableLines } from './table.js';
import { renderTitle } from './title.js';
import type { Renderer, View } from './view.js';

/** The document of `ckpt gc`. */
export interface GcDocument {
  readonly roots: readonly string[];
  readonly unreferenced: readonly GcEntry[];
  readonly totals: { readonly files: number; readonly bytes: number };
  /** The same files summed up by directory, the largest first. */
  readonly groups: readonly GcGroup[];
  readonly spared: readonly SparedPath[];
  readonly taskowned: readonly TaskOwnedFile[];
  readonly blocked: readonly BlockedPath[];
  /** Directories that are, or will be, empty; only if asked for. */
  readonly emptyDirectories: readonly string[];
  /** Plain files below the roots. */
  readonly files: number;
  /** Metadata files that were read. */
  readonly checkpoints: number;
  readonly dryRun: boolean;
  readonly interrupted: boolean;
  readonly deletedFiles: number;
  readonly deletedBytes: number;
  readonly deletedDirectories: number;
  readonly alreadyGone: number;
  readonly failed: readonly GcFailure[];
  /** Where files were moved to; null if they were deleted, or nothing was done. */
  readonly movedTo: string | null;
}

const SHOWN_GROUPS = 12;
const SHOWN_PATHS = 12;
const SHOWN_FAILURES = 20;

const reasons: Readonly<Record<SparedReason, string>> = {
  young: 'younger than --min-age: it may be in progress',
  'may-be-claimed':
    'a savepoint without metadata may have been claimed by another job: say with --used-by where that one is',
  'working-directory': 'a ForSt backend may work there: --working-directories if none does',
  'in-state': 'the state of an operator names it',
  'state-unread': 'the state of an operator could not be searched for its name',
  'job-unknown': 'no checkpoint was found that could name it: say with --used-by where they are',
  'outside-roots': 'a link leads out of the roots to it',
  'assumed-dead': 'it belongs to a checkpoint that was taken out: "ckpt discard --unreadable" removes it',
  'in-use-now': 'a checkpoint that has come meanwhile names it',
  changed: 'something has happened there meanwhile',
  'half-discarded': 'the discard of which it is left cannot be finished now',
};

/** Everything, with a line for how to go on: the dry run. */
export const renderGc: Renderer<GcDocument> = function* (document, view) {
  if (document.blocked.length > 0) {
    yield* blockedText(document.blocked, view);
    return;
  }
  yield* findings(document, view);
  if (document.dryRun && (document.totals.files > 0 || document.emptyDirectories.length > 0)) {
    yield `\n${view.style.muted('Nothing was changed. --delete deletes, --move-to DIR moves away.')}\n`;
  }
};

/** What is about to go: before the question. */
export const renderGcPlan: Renderer<GcDocument> = function* (document, view) {
  yield* findings(document, view);
};

/** What was done, after the findings were shown. */
export const renderGcResult: Renderer<GcDocument> = function* (document, view) {
  const { style, verbose } = view;
  const { deletedFiles, deletedBytes, deletedDirectories, alreadyGone, failed, movedTo, interrupted } = document;
  const verb = movedTo === null ? 'deleted' : `moved to ${printable(movedTo)}`;
  const gone = alreadyGone > 0 ? `, ${formatCount(alreadyGone)} gone already` : '';
  const directories =
    deletedDirectories > 0 ? `, ${plural(deletedDirectories, 'empty directory', 'empty directories')} removed` : '';
  const counts = `${plural(deletedFiles, 'file')} ${verb}, ${formatBytes(deletedBytes)}${gone}${directories}`;
  const isDone = failed.length === 0 && !interrupted && document.blocked.length === 0;
  if (isDone) yield `${style.good('Done')}: ${counts}\n`;
  else yield `${style.bad(interrupted ? 'Interrupted' : 'Not all could be done')}: ${counts}\n`;
  if (document.blocked.length > 0) yield* blockedText(document.blocked, view);
  const late = document.spared.filter(({ reason }) => reason === 'in-use-now' || reason === 'changed');
  if (late.length > 0) yield* spared(late, view);
  for (const failure of verbose ? failed : failed.slice(0, SHOWN_FAILURES)) {
    yield `  ${style.bad(printable(named(failure)))}\n`;
  }
  if (!verbose && failed.length > SHOWN_FAILURES) {
    yield `  and ${formatCount(failed.length - SHOWN_FAILURES)} more (--verbose shows all)\n`;
  }
};

function* findings(document: GcDocument, view: View): Generator<string> {
  const { totals, unreferenced, groups, files, checkpoints, roots } = document;
  const looked = `${plural(files, 'file')} below ${roots.map(printable).join(', ')}; ${plural(checkpoints, 'metadata file')} read`;
  if (totals.files === 0) {
    yield `${view.style.good('No garbage')} among ${looked}\n`;
  } else {
    const title = `${plural(totals.files, 'file')}, ${formatBytes(totals.bytes)}, that no metadata names`;
    yield renderTitle(title, view, `, of ${looked}`);
    if (view.verbose) yield* everyFile(unreferenced, view);
    else yield* largestGroups(groups, view);
  }
  yield* emptyDirectories(document.emptyDirectories, view);
  yield* taskOwned(document.taskowned, view);
  yield* spared(document.spared, view);
}

function* everyFile(entries: readonly GcEntry[], view: View): Generator<string> {
  yield* tableLines(
    [
      { heading: 'Kind', cell: ({ kind }) => kind },
      { heading: 'Bytes', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
      { heading: 'Modified', cell: ({ modificationTime }) => formatTime(modificationTime), priority: 1 },
      { heading: 'Path', cell: ({ path }) => path, minimum: 24, paint: (_row, { style }) => style.bad },
    ],
    entries,
    view,
  );
}

function* largestGroups(groups: readonly GcGroup[], view: View): Generator<string> {
  yield renderTable(
    [
      { heading: 'Files', cell: ({ files }) => formatCount(files), align: 'right' },
      { heading: 'Bytes', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
      { heading: 'Kind', cell: ({ kind }) => kind },
      { heading: 'Directory', cell: ({ path }) => path, minimum: 24, paint: (_row, { style }) => style.bad },
    ],
    groups.slice(0, SHOWN_GROUPS),
    view,
  );
  const rest = groups.slice(SHOWN_GROUPS);
  const files = rest.reduce((sum, group) => sum + group.files, 0);
  const more =
    rest.length === 0 ? '' : `${plural(files, 'file')} more in ${plural(rest.length, 'directory', 'directories')}; `;
  yield `${view.style.muted(`${more}--verbose lists every file`)}\n`;
}

function* emptyDirectories(paths: readonly string[], view: View): Generator<string> {
  if (paths.length === 0) return;
  yield `\n${renderTitle(`${plural(paths.length, 'directory', 'directories')} with nothing in ${paths.length === 1 ? 'it' : 'them'}`, view)}`;
  yield* shortList(paths, view);
}

function* taskOwned(files: readonly TaskOwnedFile[], view: View): Generator<string> {
  if (files.length === 0) return;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  yield `\n${renderTitle(`${plural(files.length, 'file')}, ${formatBytes(bytes)}, in taskowned/ that no handle names`, view)}`;
  const counts = { named: 0, unnamed: 0, unknown: 0 };
  for (const { inState } of files) counts[inState === null ? 'unknown' : inState ? 'named' : 'unnamed']++;
  if (counts.named > 0) yield `  ${formatCount(counts.named)} are named by the state of an operator: they are in use\n`;
  if (counts.unnamed > 0) {
    yield `  ${formatCount(counts.unnamed)} are named by the state of no operator: --taskowned offers them\n`;
  }
  if (counts.unknown > 0) yield `  ${formatCount(counts.unknown)}: the state of an operator could not be searched\n`;
  if (!view.verbose) return;
  yield* tableLines(
    [
      { heading: 'In state', cell: ({ inState }) => (inState === null ? 'unknown' : inState ? 'yes' : 'no') },
      { heading: 'Bytes', cell: (file) => formatBytes(file.bytes), align: 'right' },
      { heading: 'Path', cell: ({ path }) => path, minimum: 24 },
    ],
    files,
    view,
  );
}

function* spared(paths: readonly SparedPath[], view: View): Generator<string> {
  const byReason = new Map<SparedReason, string[]>();
  for (const { path, reason } of paths) {
    const known = byReason.get(reason);
    if (known) known.push(path);
    else byReason.set(reason, [path]);
  }
  for (const [reason, members] of byReason) {
    yield `\n${renderTitle(`Stays (${reason}), ${reasons[reason]}`, view)}`;
    yield* shortList(members, view);
  }
}

function* blockedText(blocked: readonly BlockedPath[], view: View): Generator<string> {
  yield renderTitle('Nothing is offered: it cannot be told what is in use', view);
  for (const { path, reason, message } of view.verbose ? blocked : blocked.slice(0, SHOWN_PATHS)) {
    yield `  ${view.style.bad(printable(path))} (${reason})\n`;
    yield `    ${printable(message)}\n`;
  }
  if (!view.verbose && blocked.length > SHOWN_PATHS) {
    yield `  and ${formatCount(blocked.length - SHOWN_PATHS)} more (--verbose shows all)\n`;
  }
}

function* shortList(paths: readonly string[], view: View): Generator<string> {
  for (const path of view.verbose ? paths : paths.slice(0, SHOWN_PATHS)) yield `  ${printable(path)}\n`;
  if (!view.verbose && paths.length > SHOWN_PATHS) {
    yield `  and ${formatCount(paths.length - SHOWN_PATHS)} more (--verbose shows all)\n`;
  }
}

function named({ path, message }: GcFailure): string {
  return message.includes(path) ? message : `${path}: ${message}`;
}
