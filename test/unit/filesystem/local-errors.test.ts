import { expect, it } from 'vitest';
import type { FileSystemError } from '../../../src/errors.js';
import { WrongFileTypeError } from '../../../src/errors.js';
import { errnoOf, fromErrno } from '../../../src/filesystem/local-errors.js';
import { Path } from '../../../src/filesystem/path.js';

const path = Path.parse('file:/a');
const failure = (code: string) => Object.assign(new Error(`${code}: it says`), { code });

it.each([
  ['ENOENT', 'NOT_FOUND'],
  ['ENOTDIR', 'NOT_FOUND'],
  ['EACCES', 'PERMISSION_DENIED'],
  ['EPERM', 'PERMISSION_DENIED'],
  ['EROFS', 'PERMISSION_DENIED'],
  ['EEXIST', 'ALREADY_EXISTS'],
  ['EISDIR', 'WRONG_FILE_TYPE'],
  ['ENOTEMPTY', 'DIRECTORY_NOT_EMPTY'],
  ['ENOSPC', 'IO_ERROR'],
  ['EIO', 'IO_ERROR'],
  ['EMFILE', 'IO_ERROR'],
  ['ENAMETOOLONG', 'IO_ERROR'],
  ['ELOOP', 'IO_ERROR'],
  ['ESTALE', 'IO_ERROR'],
])('%s is %s', (errno, code) => {
  const cause = failure(errno);
  const error = fromErrno(cause, path, 'work') as FileSystemError;
  expect(error).toMatchObject({ code, cause, data: { path: 'file:/a' } });
  if (code === 'IO_ERROR') expect(error.message).toBe(`file:/a: work failed: ${errno}: it says`);
});

it('leaves an error of ours as it is', () => {
  const error = new WrongFileTypeError('file:/a', 'file');
  expect(fromErrno(error, path, 'work')).toBe(error);
});

it('takes anything that is thrown', () => {
  expect(fromErrno('a string', path, 'work')).toMatchObject({ code: 'IO_ERROR', cause: 'a string' });
  expect(errnoOf(failure('EIO'))).toBe('EIO');
  expect(errnoOf(new Error('plain'))).toBeUndefined();
  expect(errnoOf({ code: 'EIO' })).toBeUndefined();
});
