/** Prints document values as JSON text in pieces of bounded size, equal to what `JSON.stringify` prints where that can. */
import type { DocumentValue } from './values.js';
import { int64 } from './values.js';

/** Characters after which a piece is handed out. */
const PIECE = 64 * 1024;
/** Bytes encoded to base64 at once; a multiple of 3. */
const BASE64_STEP = 48 * 1024;
const NUMBERS_STEP = 4096;

/** See the file comment. */
export interface JsonTextOptions {
  /** Indents by one blank a level and puts a blank after colons; runs of numbers stay on one line. */
  readonly pretty: boolean;
  /** Levels that the text stands inside of. */
  readonly depth?: number;
}

/** The start of a line at a depth. */
export function lineBreak(options: JsonTextOptions, depth: number): string {
  return options.pretty ? `\n${' '.repeat(depth)}` : '';
}

function isNumberRun(value: readonly DocumentValue[]): boolean {
  return (
    typeof value[0] === 'number' || (typeof value[0] === 'string' && value.every((item) => typeof item !== 'object'))
  );
}

/** The text of a value. */
export function* jsonText(value: DocumentValue, options: JsonTextOptions): Generator<string, void, void> {
  let text = '';
  for (const piece of tokens(value, options, options.depth ?? 0)) {
    text += piece;
    if (text.length >= PIECE) {
      yield text;
      text = '';
    }
  }
  if (text !== '') yield text;
}

function* tokens(value: DocumentValue, options: JsonTextOptions, depth: number): Generator<string, void, void> {
  if (value instanceof Uint8Array) {
    yield '"';
    for (let at = 0; at < value.length; at += BASE64_STEP) {
      const end = Math.min(value.length, at + BASE64_STEP);
      yield Buffer.from(value.buffer, value.byteOffset + at, end - at).toString('base64');
    }
    yield '"';
  } else if (value instanceof BigInt64Array) {
    yield '[';
    const separator = options.pretty ? ', ' : ',';
    for (let at = 0; at < value.length; at += NUMBERS_STEP) {
      const items = Array.from(value.subarray(at, at + NUMBERS_STEP), (item) => JSON.stringify(int64(item)));
      yield (at > 0 ? separator : '') + items.join(separator);
    }
    yield ']';
  } else if (Array.isArray(value)) {
    yield* arrayTokens(value, options, depth);
  } else if (typeof value === 'object' && value !== null) {
    yield* objectTokens(value as { readonly [key: string]: DocumentValue }, options, depth);
  } else {
    yield JSON.stringify(value);
  }
}

function* arrayTokens(
  value: readonly DocumentValue[],
  options: JsonTextOptions,
  depth: number,
): Generator<string, void, void> {
  const oneLine = isNumberRun(value);
  yield '[';
  for (const [index, item] of value.entries()) {
    if (index > 0) yield oneLine && options.pretty ? ', ' : ',';
    if (!oneLine) yield lineBreak(options, depth + 1);
    yield* tokens(item, options, depth + 1);
  }
  if (!oneLine && value.length > 0) yield lineBreak(options, depth);
  yield ']';
}

function* objectTokens(
  value: { readonly [key: string]: DocumentValue },
  options: JsonTextOptions,
  depth: number,
): Generator<string, void, void> {
  let first = true;
  yield '{';
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    if (!first) yield ',';
    first = false;
    yield `${lineBreak(options, depth + 1)}${JSON.stringify(key)}:${options.pretty ? ' ' : ''}`;
    yield* tokens(item, options, depth + 1);
  }
  if (!first) yield lineBreak(options, depth);
  yield '}';
}
