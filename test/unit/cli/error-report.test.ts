import { describe, expect, it } from 'vitest';
import { bugLines, describeError, errorLines } from '../../../src/cli/error-report.js';
import { IoError, NotFoundError, UsageError } from '../../../src/errors.js';

function nested(): IoError {
  const cause = new Error('connection lost', { cause: new Error('ECONNRESET') });
  const error = new IoError('s3://b/chk-1/_metadata', 'reading', { cause });
  error.suppressed.push(new NotFoundError('s3://b/shared/1'), new Error('two\nlines'));
  return error;
}

describe('describeError', () => {
  it('has the code, the facts, the causes and what followed', () => {
    expect(describeError(nested())).toEqual({
      code: 'IO_ERROR',
      message: 's3://b/chk-1/_metadata: reading failed: connection lost',
      data: { path: 's3://b/chk-1/_metadata', action: 'reading' },
      causes: ['connection lost', 'ECONNRESET'],
      suppressed: ['s3://b/shared/1: no such file or directory', 'two\nlines'],
    });
  });

  it('calls anything unexpected a bug', () => {
    expect(describeError(new TypeError('x is not a function'))).toMatchObject({
      code: 'BUG',
      message: 'x is not a function',
    });
    expect(describeError('text')).toMatchObject({ code: 'BUG', message: 'text' });
    expect(describeError(new RangeError())).toMatchObject({ message: 'RangeError' });
  });

  it('ends with causes that run in a circle', () => {
    const error = new Error('a');
    error.cause = new Error('b', { cause: error });
    expect(describeError(error).causes.length).toBeLessThan(100);
  });

  it('finds a message in what failed several times', () => {
    const cause = new AggregateError([new Error('IPv4 refused'), new Error('IPv6 refused')]);
    expect(describeError(new IoError('p', 'opening', { cause })).causes).toEqual(['IPv4 refused; IPv6 refused']);
  });
});

describe('errorLines', () => {
  it('is one line, then one for each cause', () => {
    expect(errorLines(nested(), { verbose: false })).toBe(
      [
        'ckpt: s3://b/chk-1/_metadata: reading failed: connection lost',
        '  caused by: connection lost',
        '  caused by: ECONNRESET',
        '  suppressed: s3://b/shared/1: no such file or directory',
        '  suppressed: two\\nlines',
        '',
      ].join('\n'),
    );
  });

  it('names the pointer if the message does not', () => {
    const error = new NotFoundError('file:/data/chk-1');
    expect(errorLines(error, { verbose: false, pointer: '/data/chk-1/' })).toBe(
      'ckpt: file:/data/chk-1: no such file or directory\n',
    );
    expect(errorLines(error, { verbose: false, pointer: 'other' })).toBe(
      'ckpt: other: file:/data/chk-1: no such file or directory\n',
    );
  });

  it('sums up long lists of further failures', () => {
    const error = new IoError('p', 'deleting');
    for (let index = 0; index < 100; index++) error.suppressed.push(new Error(`${index}`));
    expect(errorLines(error, { verbose: false })).toMatch(
      /suppressed: 19\n {2}suppressed: 80 more \(see --verbose\)\n$/,
    );
    expect(errorLines(error, { verbose: true })).toContain('suppressed: 99\n');
  });

  it('has a stack only if asked', () => {
    const error = new UsageError('no');
    expect(errorLines(error, { verbose: false })).toBe('ckpt: no\n');
    expect(errorLines(error, { verbose: true })).toMatch(/^ckpt: no\n {4}at .*error-report\.test\.ts/);
  });

  it('lets no message act on the terminal', () => {
    expect(errorLines(new UsageError('\u001b[2J\nckpt: all is well'), { verbose: false })).toBe(
      'ckpt: \\x1b[2J\\nckpt: all is well\n',
    );
  });
});

describe('bugLines', () => {
  it('says whose fault it is, with the stack', () => {
    expect(bugLines(new TypeError('oops'))).toMatch(/^ckpt: this is a bug of ours.*oops\n {4}at .*error-report\.test/);
    expect(bugLines(undefined)).toBe('ckpt: this is a bug of ours, please report it: undefined\n');
  });
});
