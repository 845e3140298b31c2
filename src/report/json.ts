/**
 * Results as JSON text, under the rules that all documents share: integers beyond ±(2^53-1) are strings, a time is what
 * `toISOString` makes of it, absent fields are left out.
 */

/** How a document is laid out. */
export interface JsonLayout {
  /** Blanks for each level; 0 puts the document on one line. */
  readonly indent: number;
}

/** Down to this depth containers are written piece by piece, so that a list of a million entries is never one string. */
const piecewiseDepth = 3;

/** Roughly how long a piece is, in UTF-16 units. */
const pieceLength = 64 * 1024;

/**
 * The text of a document in pieces of bounded size (as long as no single entry is huge), ended by a newline. A `bigint`
 * is written as a number where a reader that uses doubles keeps it exactly, else as a string.
 */
export function* jsonPieces(document: unknown, layout: JsonLayout): Generator<string, void, undefined> {
  let piece = '';
  for (const token of tokens(document, layout.indent, 0)) {
    piece += token;
    if (piece.length >= pieceLength) {
      yield piece;
      piece = '';
    }
  }
  yield `${piece}\n`;
}

/** One value as a line of its own, for JSON lines. */
export function jsonLine(value: unknown): string {
  return `${text(value, 0) ?? 'null'}\n`;
}

function* tokens(value: unknown, indent: number, depth: number): Generator<string, void, undefined> {
  const list = Array.isArray(value);
  if (depth >= piecewiseDepth || !(list || isPlainObject(value))) {
    const whole = text(value, indent) ?? 'null';
    // A line end inside a string is escaped, so every one here belongs to the layout.
    yield indent === 0 || depth === 0 ? whole : whole.replaceAll('\n', `\n${' '.repeat(indent * depth)}`);
    return;
  }
  const newline = indent === 0 ? '' : `\n${' '.repeat(indent * (depth + 1))}`;
  let separator = list ? '[' : '{';
  for (const [key, member] of list ? value.entries() : Object.entries(value)) {
    if (!list && !hasText(member)) continue;
    yield separator + newline;
    if (!list) yield JSON.stringify(key) + (indent === 0 ? ':' : ': ');
    yield* tokens(member, indent, depth + 1);
    separator = ',';
  }
  if (separator !== ',') yield list ? '[]' : '{}';
  else yield (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`) + (list ? ']' : '}');
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !('toJSON' in value && typeof value.toJSON === 'function');
}

function hasText(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

function text(value: unknown, indent: number): string | undefined {
  return JSON.stringify(value, withoutBigInts, indent);
}

function withoutBigInts(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
