import { describe, expect, it } from 'vitest';
import { categoryOf, Exit, type ExitCode, exitCodeOf, highestExit } from '../../../src/cli/exit-code.js';
import {
  AlreadyExistsError,
  CkptError,
  DirectoryNotEmptyError,
  type ErrorCategory,
  InterruptedError,
  InvalidPathError,
  IoError,
  NotFoundError,
  PermissionError,
  RefusedError,
  UnknownSchemeError,
  UnsupportedOperationError,
  UsageError,
  WrongFileTypeError,
} from '../../../src/errors.js';

class CodedError extends CkptError {
  readonly data = {};
  constructor(readonly code: string) {
    super(code);
  }
}

class CategorizedError extends CkptError {
  readonly code = 'CORRUPT_METADATA';
  readonly data = {};
  constructor(override readonly category: ErrorCategory) {
    super('an error that knows better');
  }
}

describe('exitCodeOf', () => {
  it.each<[unknown, ExitCode]>([
    [new UsageError('x'), 2],
    [new CodedError('INVALID_VALUE'), 2],
    [new NotFoundError('p'), 3],
    [new PermissionError('p'), 3],
    [new UnknownSchemeError('p', 'x', []), 3],
    [new InvalidPathError('p', 'r'), 3],
    [new WrongFileTypeError('p', 'file'), 3],
    [new CodedError('NO_METADATA'), 3],
    [new CodedError('UNRESOLVED'), 3],
    [new CodedError('CORRUPT_METADATA'), 4],
    [new CodedError('NOT_A_FLINK_FILE'), 4],
    [new CodedError('UNSUPPORTED_VERSION'), 4],
    [new RefusedError('x'), 5],
    [new CodedError('REFUSED_BY_A_LATER_RULE'), 5],
    [new AlreadyExistsError('p'), 5],
    [new DirectoryNotEmptyError('p'), 5],
    [new IoError('p', 'reading'), 1],
    [new UnsupportedOperationError('p', 'rename'), 1],
    [new CodedError('SOMETHING_NEW'), 1],
    [new CodedError('toString'), 1],
    [new InterruptedError('SIGINT'), 130],
    [new InterruptedError('SIGTERM'), 143],
    [new TypeError('undefined is not a function'), 70],
    ['thrown text', 70],
    [undefined, 70],
  ])('of %s is %i', (error, exit) => {
    expect(exitCodeOf(error)).toBe(exit);
  });

  it('believes an error that carries its category', () => {
    expect(exitCodeOf(new CategorizedError('refused'))).toBe(Exit.Refused);
    expect(exitCodeOf(new CategorizedError('failed'))).toBe(Exit.No);
    expect(categoryOf(new CodedError('CORRUPT_METADATA'))).toBe('unreadable');
  });
});

describe('highestExit', () => {
  it('is the highest, and 0 of none', () => {
    expect(highestExit([])).toBe(0);
    expect(highestExit([1, 4, 3])).toBe(4);
  });
});
