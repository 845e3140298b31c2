/**
 * Errors as users see them: lines on standard error, and the `error` document on standard output with `--json`.
 */
import { CkptError } from '../errors.js';
import { type JsonLayout, jsonPieces } from '../report/json.js';
import { printable } from '../report/printable.js';

/** An error as a document has it, alone or in the entry of one pointer. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** What led to it, the nearest cause first. */
  readonly causes: readonly string[];
  /** What failed after it, in order. */
  readonly suppressed: readonly string[];
}

/** A chain of causes longer than this is cut; it would be a loop. */
const longestChain = 32;

/** Further failures of one error that are printed without `--verbose`. */
const shownSuppressed = 20;

/** The facts of an error; of anything that is no `CkptError` with the code `BUG`. */
export function describeError(error: unknown): ErrorBody {
  const expected = error instanceof CkptError;
  return {
    code: expected ? error.code : 'BUG',
    message: messageOf(error),
    data: expected ? error.data : {},
    causes: causesOf(error).map(messageOf),
    suppressed: expected ? error.suppressed.map(messageOf) : [],
  };
}

/** The document of an error that ended the command, in pieces. */
export function errorDocument(error: unknown, layout: JsonLayout): Iterable<string> {
  return jsonPieces({ error: describeError(error) }, layout);
}

/** How an error is printed. */
export interface ErrorLinesOptions {
  /** Adds the stack, and every suppressed failure. */
  readonly verbose: boolean;
  /** What the user called the thing that failed; put in front if the message does not name it. */
  readonly pointer?: string | undefined;
}

/**
 * The lines of an expected error: one that names the pointer, then one for each cause and each failure that followed.
 * Each is ended by a newline and safe to print.
 */
export function errorLines(error: unknown, options: ErrorLinesOptions): string {
  const lines = [`ckpt: ${printable(named(messageOf(error), options.pointer))}`];
  for (const cause of causesOf(error)) lines.push(`  caused by: ${printable(messageOf(cause))}`);
  const suppressed = error instanceof CkptError ? error.suppressed : [];
  const shown = options.verbose ? suppressed : suppressed.slice(0, shownSuppressed);
  for (const failure of shown) lines.push(`  suppressed: ${printable(messageOf(failure))}`);
  if (shown.length < suppressed.length)
    lines.push(`  suppressed: ${suppressed.length - shown.length} more (see --verbose)`);
  if (options.verbose) lines.push(...stackLines(error));
  return `${lines.join('\n')}\n`;
}

/** The lines of something unexpected: a bug of ours, with its stack. */
export function bugLines(error: unknown): string {
  const lines = [`ckpt: this is a bug of ours, please report it: ${printable(messageOf(error))}`, ...stackLines(error)];
  for (const cause of causesOf(error)) {
    lines.push(`  caused by: ${printable(messageOf(cause))}`, ...stackLines(cause));
  }
  return `${lines.join('\n')}\n`;
}

function stackLines(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => `    ${printable(line.trim())}`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several attempts to connect fail together with an empty message.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error.message === '' ? error.name : error.message;
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let current = error instanceof Error ? error.cause : undefined;
  while (current !== undefined && current !== null && causes.length < longestChain) {
    causes.push(current);
    current = current instanceof Error ? current.cause : undefined;
  }
  return causes;
}

function named(message: string, pointer: string | undefined): string {
  const name = pointer?.replace(/\/+$/, '') ?? '';
  return name === '' || message.includes(name) ? message : `${pointer}: ${message}`;
}
