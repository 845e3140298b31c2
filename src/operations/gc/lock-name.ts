import { LOCK_FILE } from '../discard/lock.js';

/** True for the lock of a run that deletes, also while it is taken over: no part of a tree, and no change of one. */
export function isLockName(name: string): boolean {
  return name === LOCK_FILE || name.startsWith(`${LOCK_FILE}.`);
}
