import { describe, expect, it } from 'vitest';
import { categoryOf, Exit, type ExitCode, exitCodeOf, highestExit } from '../../../src/cli/exit-code.js';
import {
  AlreadyExistsError,
  CkptError,
  CorruptMetadataError,
  DirectoryNotEmptyError,
  type ErrorCategory,
  InterruptedError,
  InvalidDocumentError,
  InvalidPathError,
  IoError,
  NoCheckpointError,
  NoMetadataError,
  NotFoundError,
  NotMetadataError,
  OperatorNotFoundError,
  PermissionError,
  PointerNotFoundError,
  RefusedError,
  UnknownSchemeError,
  UnsupportedOperationError,
  UnsupportedVersionError,
  UnwritableMetadataError,
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
  readonly code = 'NOT_FOUND';
  readonly data = {};
  constructor(override readonly category: ErrorCategory) {
    super('an error that knows better');
  }
}

describe('exitCodeOf', () => {
  it.each<[unknown, ExitCode]>([
    [new UsageError('x'), 2],
    [new NotFoundError('p'), 3],
    [new PermissionError('p'), 3],
    [new UnknownSchemeError('p', 'x', []), 3],
    [new InvalidPathError('p', 'r'), 3],
    [new WrongFileTypeError('p', 'file'), 3],
    [new PointerNotFoundError('p', 'nothing there', []), 3],
    [new NoMetadataError('p', 'no metadata'), 3],
    [new NoCheckpointError('p', 'none'), 3],
    [new OperatorNotFoundError('o', 'not there', []), 2],
    [new CorruptMetadataError({ location: 'p', offset: 0, record: 'header', expected: 'a count', found: '-1' }), 4],
    [new NotMetadataError('p', 0, 'empty'), 4],
    [new UnsupportedVersionError('p', 99, [1], 'too new'), 4],
    [new InvalidDocumentError('', 'no object'), 4],
    [new UnwritableMetadataError('path', 'too long'), 5],
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
    expect(categoryOf(new CodedError('NOT_FOUND'))).toBe('unresolved');
  });
});

describe('highestExit', () => {
  it('is the highest, and 0 of none', () => {
    expect(highestExit([])).toBe(0);
    expect(highestExit([1, 4, 3])).toBe(4);
  });
});
