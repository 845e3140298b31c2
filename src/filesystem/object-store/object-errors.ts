/** From the errors of an object store to those of a file system. */
import type { CkptError } from '../../errors.js';
import {
  AlreadyExistsError,
  asError,
  CkptError as BaseError,
  IoError,
  NotFoundError,
  PermissionError,
  UnsupportedOperationError,
} from '../../errors.js';
import type { Path } from '../path.js';
import { ObjectStoreError } from './object-store.js';

/**
 * The error to throw in place of what a request was refused with.
 * @param action what was tried, for an `IoError`
 */
export function toFileSystemError(thrown: unknown, path: Path, action: string): CkptError {
  if (thrown instanceof BaseError) return thrown;
  const error = asError(thrown);
  const name = path.toString();
  if (!(error instanceof ObjectStoreError)) return new IoError(name, action, { cause: error });
  switch (error.kind) {
    case 'missing':
      return new NotFoundError(name, { cause: error });
    case 'denied':
      return new PermissionError(name, { cause: error });
    case 'precondition':
      return new AlreadyExistsError(name, { cause: error });
    case 'unsupported':
      return new UnsupportedOperationError(name, action, { cause: error });
    case 'other':
      return new IoError(name, action, { cause: error });
  }
}

/** True if the store refused for this reason. */
export function isRefusal(thrown: unknown, kind: ObjectStoreError['kind']): boolean {
  return thrown instanceof ObjectStoreError && thrown.kind === kind;
}
