/** What `ckpt verify` shows: the answer first, then each fault with who needs the file, then what was checked and what not. */

import type { RootResult, VerifyResult } from '../operations/verify/verify-all.js';
import type { CheckpointVerification, VerifyFault } from '../operations/verify.js';
import { formatBytes, formatCount, plural } from './format.js';
import { printable } from './printable.js';
import { renderTable } from './table.js';
import type { Renderer, View } from './view.js';
import { wrapText } from './wrap.js';

/** Why something could not be read. */
interface Failure {
  readonly code: string;
  readonly message: string;
}

/** One checkpoint as the document has it. */
export interface VerifyPointer extends Omit<CheckpointVerification, 'error' | 'metadataPath'> {
  /** Null for an argument that leads to no metadata. */
  readonly metadataPath: string | null;
  readonly error: Failure | null;
}

/** The document of `ckpt verify`. */
export interface VerifyDocument extends Omit<VerifyResult, 'pointers'> {
  /** True if the contents of the files were checked. */
  readonly deep: boolean;
  readonly pointers: readonly VerifyPointer[];
  /** The error of the first pointer, if there was metadata to read nowhere. */
  readonly error?: Failure;
}

/** Faults of one checkpoint that are shown without `--verbose`. */
const SHOWN_FAULTS = 50;
/** The same where many checkpoints are told of, and the broken files follow. */
const SHOWN_FAULTS_OF_MANY = 8;
const SHOWN_FILES = 20;
const SHOWN_POINTERS = 5;

/** The whole text. */
export const renderVerify: Renderer<VerifyDocument> = function* (document, view) {
  const { pointers, roots, moved, brokenFiles } = document;
  const limit = roots.length > 0 ? SHOWN_FAULTS_OF_MANY : SHOWN_FAULTS;
  for (const pointer of pointers) yield* renderPointer(pointer, view.verbose ? Infinity : limit, view);
  if (roots.length > 0 && brokenFiles.length > 0) yield* renderBrokenFiles(document, view);
  if (moved) yield `\n${renderMoved(moved, view)}`;
  for (const root of roots) yield `\n${renderRoot(root, view)}`;
  yield `\n${paragraph(whatWasChecked(document), view)}`;
};

function* renderPointer(result: VerifyPointer, limit: number, view: View): Generator<string> {
  const { style } = view;
  const name = printable(result.pointer);
  if (result.error !== null) {
    yield `${style.bad('unreadable')}  ${name}\n`;
    yield paragraph(printable(result.error.message), view, '    ');
    return;
  }
  const size = `${plural(result.files, 'file')}, ${formatBytes(result.bytes)}`;
  if (result.ok) {
    yield `${style.good('whole')}       ${name}  ${style.muted(size)}\n`;
    return;
  }
  const broken = new Set(result.faults.map(({ path }) => path)).size;
  yield `${style.bad('broken')}      ${name}  ${style.bad(`${plural(broken, 'file')} of ${formatCount(result.files)}`)}\n`;
  const rows = groupFaults(result.faults);
  const shown = rows.slice(0, limit);
  yield renderTable(
    [
      { heading: 'Fault', cell: ({ fault }) => fault.fault, paint: () => style.bad, minimum: 10 },
      { heading: 'Operator', cell: ({ fault }) => operator(fault), minimum: 16 },
      { heading: 'Subtasks', cell: ({ subtasks }) => subtasks, minimum: 8 },
      { heading: 'Expected', cell: ({ fault }) => told(fault.expected), minimum: 16, optional: true, priority: 3 },
      { heading: 'Found', cell: ({ fault }) => told(fault.found), minimum: 16, optional: true, priority: 3 },
      { heading: 'File', cell: ({ fault }) => fault.path, minimum: 24, priority: 2 },
      {
        heading: 'Looked up at',
        cell: ({ fault }) => (fault.lookedUpAt === fault.path ? '' : fault.lookedUpAt),
        optional: true,
        priority: 1,
      },
      { heading: 'There is', cell: ({ fault }) => fault.foundAt ?? '', optional: true, priority: 1 },
    ],
    shown,
    view,
  );
  if (shown.length < rows.length) {
    yield `${style.muted(`and ${plural(rows.length - shown.length, 'fault')} more; --verbose lists all`)}\n`;
  }
}

interface FaultRow {
  readonly fault: VerifyFault;
  readonly subtasks: string;
}

/** Faults that differ in the subtask only, as one row. */
function groupFaults(faults: readonly VerifyFault[]): FaultRow[] {
  const groups = new Map<string, { readonly fault: VerifyFault; readonly subtasks: (number | null)[] }>();
  for (const fault of faults) {
    const key = `${fault.fault} ${fault.operatorId} ${fault.expected} ${fault.path}`;
    const group = groups.get(key);
    if (group) group.subtasks.push(fault.subtask);
    else groups.set(key, { fault, subtasks: [fault.subtask] });
  }
  return [...groups.values()].map(({ fault, subtasks }) => ({ fault, subtasks: ranges(subtasks, fault) }));
}

/** `0-3, 7`. */
function ranges(subtasks: readonly (number | null)[], fault: VerifyFault): string {
  const numbers = subtasks.filter((subtask) => subtask !== null).sort((a, b) => a - b);
  if (numbers.length === 0) return fault.operatorId === null ? '' : 'coordinator';
  const parts: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    let k = i;
    while (numbers[k + 1] === (numbers[k] ?? 0) + 1) k++;
    parts.push(k > i ? `${numbers[i]}-${numbers[k]}` : `${numbers[i]}`);
    i = k + 1;
  }
  return parts.join(', ');
}

function operator({ operatorId, operatorName }: VerifyFault): string {
  if (operatorId === null) return 'the metadata';
  return operatorName === null ? operatorId : `${operatorName} (${operatorId})`;
}

function told(value: VerifyFault['expected']): string {
  if (value === null) return '';
  return typeof value === 'number' ? plural(value, 'byte') : value;
}

function* renderBrokenFiles({ brokenFiles, pointers }: VerifyDocument, view: View): Generator<string> {
  const shown = view.verbose ? brokenFiles : brokenFiles.slice(0, SHOWN_FILES);
  const others = new Map(pointers.map(({ pointer }) => [pointer, lastNames(pointer)]));
  yield `\n${view.style.title(plural(brokenFiles.length, 'broken file'))}${view.style.muted(', the ones that break the most checkpoints first')}\n`;
  yield renderTable(
    [
      { heading: 'Breaks', cell: ({ pointers: broken }) => formatCount(broken.length), align: 'right' },
      { heading: 'Fault', cell: ({ faults }) => faults.join(', '), minimum: 10 },
      { heading: 'File', cell: ({ path }) => path, minimum: 24 },
      { heading: 'There is', cell: ({ foundAt }) => foundAt ?? '', optional: true, priority: 1 },
      {
        heading: 'Checkpoints',
        cell: ({ pointers: broken }) => {
          const names = broken.slice(0, SHOWN_POINTERS).map((pointer) => others.get(pointer) ?? pointer);
          return broken.length > names.length
            ? `${names.join(', ')}, and ${broken.length - names.length} more`
            : names.join(', ');
        },
        minimum: 16,
        priority: 2,
      },
    ],
    shown,
    view,
  );
  if (shown.length < brokenFiles.length) {
    yield `${view.style.muted(`and ${plural(brokenFiles.length - shown.length, 'file')} more; --verbose lists all`)}\n`;
  }
}

function lastNames(pointer: string): string {
  return pointer.split('/').slice(-2).join('/');
}

function renderRoot({ root, checkpoints, whole, incomplete, vanished }: RootResult, view: View): string {
  const { style } = view;
  const paint = whole === checkpoints ? style.good : style.bad;
  const parts = [paint(`${formatCount(whole)} of ${plural(checkpoints, 'checkpoint')} whole`)];
  if (incomplete.length > 0) {
    parts.push(`${plural(incomplete.length, 'directory', 'directories')} without metadata (ckpt list shows them)`);
  }
  if (vanished.length > 0) parts.push(`${formatCount(vanished.length)} went away meanwhile`);
  return `${style.title(printable(root))}: ${parts.join(', ')}\n`;
}

/** The tree was moved, or is reached by another name. */
function renderMoved({ old, new: place }: NonNullable<VerifyDocument['moved']>, view: View): string {
  const text = `Missing files lie elsewhere under the same names. To look them up there: --map ${printable(old)}=${printable(place)}; "ckpt rebase" changes the metadata for good.`;
  return wrapText(text, view.width)
    .map((line) => `${view.style.warning(line.trimEnd())}\n`)
    .join('');
}

/** What was looked at and what was not. It never says that a job will restore: that depends on more than files. */
function whatWasChecked({ deep, pointers }: VerifyDocument): string {
  const sum = (pick: (pointer: VerifyPointer) => number): number => pointers.reduce((all, one) => all + pick(one), 0);
  const unknown = sum(({ unknownSizes }) => unknownSizes);
  const merged = sum(({ mergedFiles }) => mergedFiles);
  const opened = sum(({ opened }) => opened);
  const checked = ['that the metadata reads to its last byte', 'that every file it names is there'];
  checked.push(
    unknown === 0 ? 'and is as long as recorded' : `and as long as recorded (of ${formatCount(unknown)} no length is)`,
  );
  let text = `Checked: ${checked.join(', ')}`;
  if (merged > 0) text += `; of merged files that their parts lie inside, not what is behind the last one`;
  text += deep
    ? `; in ${plural(opened, 'piece')} of state: headers, key-group offsets, framing, and the checksums where the format has some. Not checked: single values, which mostly have no checksum`
    : '. Not checked: what is in the files (--deep opens them)';
  return `${text}; anything outside Flink's own files, such as tables, topics and transactions; whether a job fits this state.`;
}

function paragraph(text: string, view: View, indent = ''): string {
  return wrapText(text, Math.max(20, view.width - indent.length))
    .map((line) => `${indent}${view.style.muted(line.trimEnd())}\n`)
    .join('');
}
