/** What the operating system says, as errors of ours. The one place that knows errno names. */
import type { CkptError } from '../errors.js';
import {
  AlreadyExistsError,
  CkptError as CkptErrorClass,
  DirectoryNotEmptyError,
  IoError,
  NotFoundError,
  PermissionError,
  WrongFileTypeError,
} from '../errors.js';
import type { Path } from './path.js';

/** The errno name of an error of `node:fs` (`ENOENT`), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * The error to reject with after a system call on `path` failed, the original as its cause.
 * @param action what was tried, for the message of an `IoError`: `list`, `read`
 */
export function fromErrno(error: unknown, path: Path, action: string): CkptError {
  if (error instanceof CkptErrorClass) return error;
  const name = path.toString();
  const options = { cause: error };
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new NotFoundError(name, options);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new PermissionError(name, options);
    case 'EEXIST':
      return new AlreadyExistsError(name, options);
    case 'EISDIR':
      return new WrongFileTypeError(name, 'file', options);
    case 'ENOTEMPTY':
      return new DirectoryNotEmptyError(name, options);
    default:
      return new IoError(name, action, options);
  }
}
