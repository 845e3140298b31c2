/**
 * Putting a finished local file under its name without ever replacing another one. POSIX `rename` replaces, so the file
 * is linked to the new name, which fails if that is taken, and then unlinked from the old one. After a kill in between it
 * has both names.
 *
 * Not every file system has hard links (FAT, many of FUSE), and not every user may link every file (Linux protects files of
 * others). Then a marker file beside the target is created exclusively, the target is looked for, and the file renamed. The
 * target itself as marker would be an empty file under the final name after a kill. Among programs that keep to the marker
 * exactly one wins; one that does not know it (Flink) could create the target between the look and the rename. A marker
 * that a killed run has left is never taken away automatically: two runs could each take away the other's.
 */
import type { FileHandle } from 'node:fs/promises';
import { link, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AlreadyExistsError, IoError } from '../errors.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { joinNative } from './local-path.js';
import type { Path } from './path.js';
import { markerName } from './temporary-name.js';

/** Whether to use hard links where they work. `avoid` is for stores on which they only seem to. */
export type HardLinks = 'use' | 'avoid';

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);
const CANNOT_SYNC = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR', 'EBADF']);
// Two seconds in all: a marker is held for as long as one look and one rename take.
const MARKER_ATTEMPTS = 100;
const MARKER_WAIT_MS = 20;

/** A file as the system and as errors name it. */
export interface NativeFile {
  readonly native: string | Buffer;
  readonly path: Path;
}

/**
 * Gives a file another name if nothing has that one.
 * @throws AlreadyExistsError; the file is then where it was
 */
export async function moveWithoutReplacing(from: NativeFile, to: NativeFile, hardLinks: HardLinks): Promise<void> {
  if (hardLinks === 'avoid') return moveUnderMarker(from, to);
  try {
    await link(from.native, to.native);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error) ?? '')) throw fromErrno(error, to.path, 'create');
    return moveUnderMarker(from, to);
  }
  try {
    await unlink(from.native);
  } catch (error) {
    // Also if it is gone: of two who move one file to different places, the one that unlinks it has moved it.
    await unlink(to.native);
    throw fromErrno(error, from.path, 'removal of the old name');
  }
}

/** Makes names within a directory durable, where the system can do that. */
export async function syncDirectory(directory: string | Buffer): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(directory, 'r');
    await handle.sync();
  } catch (error) {
    if (!CANNOT_SYNC.has(errnoOf(error) ?? '')) throw error;
  } finally {
    await handle?.close();
  }
}

/** The directory of a native path. */
export function nativeParent(path: string | Buffer): string | Buffer {
  if (typeof path === 'string') return dirname(path);
  const slash = path.lastIndexOf('/');
  return path.subarray(0, slash === 0 ? 1 : slash);
}

async function moveUnderMarker(from: NativeFile, to: NativeFile): Promise<void> {
  const { native } = to;
  const name = typeof native === 'string' ? basename(native) : native.subarray(native.lastIndexOf('/') + 1);
  const marker = joinNative(nativeParent(native), markerName(name));
  await takeMarker(marker, to);
  try {
    if (await exists(native)) throw new AlreadyExistsError(to.path.toString());
    await rename(from.native, native);
  } catch (error) {
    throw fromErrno(error, to.path, 'create');
  } finally {
    await unlink(marker).catch(() => undefined);
  }
}

async function takeMarker(marker: string | Buffer, to: NativeFile): Promise<void> {
  for (let attempt = 0; attempt < MARKER_ATTEMPTS; attempt++) {
    try {
      const handle = await open(marker, 'wx');
      await handle.close();
      return;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw fromErrno(error, to.path, 'create');
    }
    // Its holder is about to decide: if the target comes into being, this caller has lost.
    if (await exists(to.native)) throw new AlreadyExistsError(to.path.toString());
    await sleep(MARKER_WAIT_MS);
  }
  const cause = new Error(
    `another run is creating it, or was killed and left ${marker.toString()}, which can be removed`,
  );
  throw new IoError(to.path.toString(), 'create', { cause });
}

async function exists(native: string | Buffer): Promise<boolean> {
  try {
    await lstat(native);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
