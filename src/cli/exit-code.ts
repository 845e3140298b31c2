/**
 * Exit codes, decided in one place: what each number means, and which error gives which number.
 */
import { CkptError, type ErrorCategory } from '../errors.js';

/** The exit codes of `ckpt`, by name. */
export const Exit = {
  /** Done, nothing wrong. */
  Ok: 0,
  /** Done and the answer is no, or not everything could be done. */
  No: 1,
  /** Wrong use of the command line. */
  Usage: 2,
  /** The pointer or directory does not resolve. */
  Unresolved: 3,
  /** There is metadata, but it cannot be read. */
  Unreadable: 4,
  /** Refused for safety; nothing was changed. */
  Refused: 5,
  /** A bug of ours. */
  Bug: 70,
  /** Stopped by Ctrl-C (SIGINT). */
  Interrupted: 130,
  /** Stopped by SIGTERM. */
  Terminated: 143,
} as const;

/** One of the numbers of {@link Exit}. */
export type ExitCode = (typeof Exit)[keyof typeof Exit];

/** What an exit code means in general; a command's spec may say it more exactly. */
export const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'done, nothing wrong',
  1: 'done, and the answer is no, or not everything could be done',
  2: 'wrong use: unknown option, missing argument, bad value',
  3: 'the pointer or directory does not resolve',
  4: 'there is metadata, but it cannot be read',
  5: 'refused for safety, nothing changed',
  70: 'a bug of ckpt',
  130: 'interrupted (Ctrl-C)',
  143: 'terminated (SIGTERM)',
};

const exitOfCategory: Readonly<Record<Exclude<ErrorCategory, 'interrupted'>, ExitCode>> = {
  usage: Exit.Usage,
  unresolved: Exit.Unresolved,
  unreadable: Exit.Unreadable,
  refused: Exit.Refused,
  failed: Exit.No,
};

/**
 * Category of the codes whose classes do not carry one: for these, what a failure means is up to the command, and this is
 * what it means if it ends the command. A code that is neither here nor has a category counts as `failed`:
 * an expected error of which nothing more is known was something that could not be done.
 */
const categoryOfCode: Readonly<Record<string, ErrorCategory>> = {
  USAGE: 'usage',

  NOT_FOUND: 'unresolved',
  PERMISSION_DENIED: 'unresolved',
  UNKNOWN_SCHEME: 'unresolved',
  INVALID_PATH: 'unresolved',
  WRONG_FILE_TYPE: 'unresolved',

  REFUSED: 'refused',
  ALREADY_EXISTS: 'refused',
  DIRECTORY_NOT_EMPTY: 'refused',

  IO_ERROR: 'failed',
  UNSUPPORTED_OPERATION: 'failed',

  INTERRUPTED: 'interrupted',
};

/**
 * What an error means for the caller: the category it carries itself, else that of its code; a code that begins with
 * `REFUSED` is a refusal.
 * @returns undefined for anything that is no `CkptError`, which is a bug of ours
 */
export function categoryOf(error: unknown): ErrorCategory | undefined {
  if (!(error instanceof CkptError)) return undefined;
  if (error.category !== undefined) return error.category;
  if (error.code.startsWith('REFUSED')) return 'refused';
  return Object.hasOwn(categoryOfCode, error.code) ? categoryOfCode[error.code] : 'failed';
}

/** The exit code that an error which ends a command leads to; {@link Exit.Bug} for anything unexpected. */
export function exitCodeOf(error: unknown): ExitCode {
  const category = categoryOf(error);
  if (category === undefined) return Exit.Bug;
  if (category !== 'interrupted') return exitOfCategory[category];
  const terminated = error instanceof CkptError && error.data.signal === 'SIGTERM';
  return terminated ? Exit.Terminated : Exit.Interrupted;
}

/** The highest of some exit codes, {@link Exit.Ok} if there are none: the code of a command with several pointers. */
export function highestExit(codes: Iterable<ExitCode>): ExitCode {
  let highest: ExitCode = Exit.Ok;
  for (const code of codes) if (code > highest) highest = code;
  return highest;
}
