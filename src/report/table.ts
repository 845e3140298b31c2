/**
 * The one table of all reports: no lines, two blanks between columns, as wide as the terminal allows and no wider. What
 * does not fit is wrapped or moved below its row, never cut: two names that differ in their last character must not look
 * alike.
 *
 * Rows are put together here: the time of cli-table3, which lays out the short blocks of labels and values, grows with the
 * square of the rows, and listings have hundreds of thousands.
 */
import Table from 'cli-table3';
import { printable } from './printable.js';
import type { Paint } from './style.js';
import type { View } from './view.js';
import { textWidth, wrapText } from './wrap.js';

/** One column of a table. */
export interface Column<Row> {
  readonly heading: string;
  /** The text of a cell as it is; the table escapes it (see `printable`). */
  readonly cell: (row: Row) => string;
  /** `right` for numbers; such a column is never wrapped. Default `left`. */
  readonly align?: 'left' | 'right';
  /** Columns that a left-aligned column may be narrowed to by wrapping; default 16. */
  readonly minimum?: number;
  /** If the table is too wide, columns with the lowest priority move below their row first. Without one it stays. */
  readonly priority?: number;
  /** Leave the column out if all its cells are empty. */
  readonly optional?: boolean;
  /** Colour of a cell by its row. */
  readonly paint?: (row: Row, view: View) => Paint;
}

interface Layout<Row> {
  readonly shown: readonly LaidOut<Row>[];
  readonly below: readonly LaidOut<Row>[];
}

interface LaidOut<Row> {
  readonly column: Column<Row>;
  readonly natural: number;
  readonly least: number;
  /** Printable cells, one for each row. */
  readonly cells: readonly string[];
}

const gap = '  ';
const belowIndent = '    ';

/** The table as one text; empty if there are no rows. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], view: View): string {
  let text = '';
  for (const line of tableLines(columns, rows, view)) text += line;
  return text;
}

/** The lines of the table, each ended by a newline; for tables that should not be one string. */
export function* tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  view: View,
): Generator<string, void, undefined> {
  if (rows.length === 0) return;
  const laidOut = columns.map((column) => layOut(column, rows)).filter(({ column, cells }) => keep(column, cells));
  const layout = place(laidOut, view.width);
  if (layout === undefined) {
    yield* records(laidOut, rows, view);
    return;
  }
  const widths = shareWidth(layout.shown, view.width);
  const headings = layout.shown.map(({ column }, index) => ({
    lines: [column.heading],
    width: widths[index] ?? 0,
    align: column.align,
    paint: view.style.title,
  }));
  yield* joined(headings);
  for (const [index, row] of rows.entries()) {
    yield* joined(
      layout.shown.map(({ column, cells }, position) => ({
        lines: wrapText(cells[index] ?? '', widths[position] ?? 0),
        width: widths[position] ?? 0,
        align: column.align,
        paint: column.paint?.(row, view),
      })),
    );
    yield* detailLines(layout.below, index, view);
  }
}

/** No lines around or between the cells of a block of labels and values. */
const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .map((part) => [part, '']),
);

/** Label and value pairs as two columns; values are escaped and wrapped. Pairs without a value are left out. */
export function renderFields(
  fields: readonly (readonly [label: string, value: string | undefined, paint?: Paint])[],
  view: View,
): string {
  const present = fields.filter(([, value]) => value !== undefined);
  if (present.length === 0) return '';
  const labelWidth = Math.max(...present.map(([label]) => textWidth(label)));
  const valueWidth = Math.max(8, view.width - labelWidth - gap.length);
  const table = new Table({
    chars: { ...noLines, middle: gap },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  for (const [label, value, paint] of present) {
    const lines = wrapText(printable(value ?? ''), valueWidth).map((line) => line.trimEnd());
    table.push([view.style.muted(label), (paint ? lines.map((line) => paint(line)) : lines).join('\n')]);
  }
  return table
    .toString()
    .split('\n')
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function layOut<Row>(column: Column<Row>, rows: readonly Row[]): LaidOut<Row> {
  const cells = rows.map((row) => printable(column.cell(row)));
  let natural = textWidth(column.heading);
  for (const cell of cells) natural = Math.max(natural, textWidth(cell));
  const narrow = Math.max(column.minimum ?? 16, textWidth(column.heading));
  return { column, cells, natural, least: column.align === 'right' ? natural : Math.min(natural, narrow) };
}

function keep<Row>(column: Column<Row>, cells: readonly string[]): boolean {
  return column.optional !== true || cells.some((cell) => cell !== '');
}

/** Which columns stand in the row and which below; undefined if not even the ones that must stay fit. */
function place<Row>(columns: readonly LaidOut<Row>[], width: number): Layout<Row> | undefined {
  let shown = [...columns];
  const below: LaidOut<Row>[] = [];
  while (totalWidth(shown.map(({ least }) => least)) > width) {
    const lowest = shown
      .filter(({ column }) => column.priority !== undefined)
      .reduce<LaidOut<Row> | undefined>((low, next) => (isLower(next, low) ? next : low), undefined);
    if (lowest === undefined) return undefined;
    shown = shown.filter((column) => column !== lowest);
    below.push(lowest);
  }
  return { shown, below: columns.filter((column) => below.includes(column)) };
}

function isLower<Row>(one: LaidOut<Row>, other: LaidOut<Row> | undefined): boolean {
  return other === undefined || (one.column.priority ?? 0) <= (other.column.priority ?? 0);
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * Math.max(0, widths.length - 1));
}

/** Gives what is left of the width to the wrapped columns, one blank at a time to the narrowest, until none wants more. */
function shareWidth<Row>(columns: readonly LaidOut<Row>[], width: number): number[] {
  if (totalWidth(columns.map(({ natural }) => natural)) <= width) return columns.map(({ natural }) => natural);
  const widths = columns.map(({ least }) => least);
  for (let left = width - totalWidth(widths); left > 0; left--) {
    let narrowest: number | undefined;
    for (const [index, { natural }] of columns.entries()) {
      const current = widths[index] ?? 0;
      if (current < natural && (narrowest === undefined || current < (widths[narrowest] ?? 0))) narrowest = index;
    }
    if (narrowest === undefined) break;
    widths[narrowest] = (widths[narrowest] ?? 0) + 1;
  }
  return widths;
}

interface Block {
  readonly lines: readonly string[];
  readonly width: number;
  readonly align?: 'left' | 'right' | undefined;
  readonly paint?: Paint | undefined;
}

/** Lines of blocks that stand side by side. */
function* joined(blocks: readonly Block[]): Generator<string, void, undefined> {
  const height = Math.max(1, ...blocks.map(({ lines }) => lines.length));
  for (let index = 0; index < height; index++) {
    let line = '';
    // Blanks are added only before the next text, so that no line ends with them.
    let blanks = 0;
    for (const { lines, width, align, paint } of blocks) {
      const text = (lines[index] ?? '').trimEnd();
      const missing = Number.isFinite(width) ? Math.max(0, width - textWidth(text)) : 0;
      if (text !== '') {
        line += ' '.repeat(blanks + (align === 'right' ? missing : 0)) + (paint === undefined ? text : paint(text));
        blanks = align === 'right' ? 0 : missing;
      } else {
        blanks += missing;
      }
      blanks += gap.length;
    }
    yield `${line}\n`;
  }
}

/** The cells that found no place in their row: `heading: value`, as many on a line as fit. */
function* detailLines<Row>(
  columns: readonly LaidOut<Row>[],
  index: number,
  view: View,
): Generator<string, void, undefined> {
  const width = Math.max(8, view.width - belowIndent.length);
  let line = '';
  for (const { column, cells } of columns) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const item = `${column.heading}: ${cell}`;
    if (line !== '' && textWidth(line) + gap.length + textWidth(item) <= width) {
      line += gap + item;
      continue;
    }
    if (line !== '') yield* mutedLines(line, width, view);
    line = item;
  }
  if (line !== '') yield* mutedLines(line, width, view);
}

function* mutedLines(text: string, width: number, view: View): Generator<string, void, undefined> {
  for (const line of wrapText(text, width)) yield `${belowIndent}${view.style.muted(line.trimEnd())}\n`;
}

/** Each row as a block of labelled lines, for terminals too narrow for any table. */
function* records<Row>(
  columns: readonly LaidOut<Row>[],
  rows: readonly Row[],
  view: View,
): Generator<string, void, undefined> {
  const labelWidth = Math.max(...columns.map(({ column }) => textWidth(column.heading)));
  const valueWidth = Math.max(8, view.width - labelWidth - gap.length);
  for (const [index, row] of rows.entries()) {
    if (index > 0) yield '\n';
    for (const { column, cells } of columns) {
      const cell = cells[index] ?? '';
      if (cell === '') continue;
      yield* joined([
        { lines: [column.heading], width: labelWidth, paint: view.style.muted },
        { lines: wrapText(cell, valueWidth), width: valueWidth, paint: column.paint?.(row, view) },
      ]);
    }
  }
}
