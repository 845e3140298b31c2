/** Making a local directory with its parents. */
import { lstat, mkdir, stat } from 'node:fs/promises';
import { errnoOf } from './local-errors.js';
import { nativeParent, syncDirectory } from './local-publish.js';

/** Parents may be removed by others between their creation and ours; this often it is tried again. */
const ATTEMPTS = 10;
/** Answers that a system may give for a directory that exists, before or instead of `EEXIST`. */
const MAYBE_THERE = new Set(['EEXIST', 'EACCES', 'EPERM', 'EROFS', 'EISDIR']);

/**
 * `mkdir -p`, and durable.
 * @returns true if this very call made the last directory
 * @throws the error of the system; `EEXIST` or `ENOTDIR` if something that is no directory is at the path or in its way
 */
export async function makeLocalDirectory(native: string | Buffer): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(native);
      await syncDirectory(nativeParent(native));
      return true;
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      const isLast = attempt === ATTEMPTS;
      if (MAYBE_THERE.has(errno)) {
        if (await isDirectory(native)) return false;
        // A dangling link is in the way for good; if nothing is there, somebody has just removed it.
        if (isLast || errno !== 'EEXIST' || (await isAnything(native))) throw error;
      } else if (errno === 'ENOENT' && !isLast && nativeParent(native).length < native.length) {
        await makeLocalDirectory(nativeParent(native));
      } else {
        throw error;
      }
    }
  }
}

async function isDirectory(native: string | Buffer): Promise<boolean> {
  return stat(native).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

async function isAnything(native: string | Buffer): Promise<boolean> {
  return lstat(native).then(
    () => true,
    (error: unknown) => errnoOf(error) !== 'ENOENT',
  );
}
