/** Copying a local file by the system call for it. */
import { open } from 'node:fs/promises';
import { WrongFileTypeError } from '../errors.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { toNativePath } from './local-path.js';
import type { Path } from './path.js';

/** What can only be about the place that is written to. */
const ABOUT_TARGET = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG', 'EISDIR', 'ETXTBSY']);

/** See `FileSystem.copyFile`. */
export async function copyLocalFile(from: Path, to: Path, options: { readonly sync?: boolean } = {}): Promise<void> {
  // Its copyFile waits where too many files are open, which a copy of thousands must survive.
  const { default: fs } = await import('fs-extra');
  const source = toNativePath(from);
  const target = toNativePath(to);
  try {
    if (!(await fs.stat(source)).isFile()) throw new WrongFileTypeError(from.toString(), 'file');
    await fs.copyFile(source, target);
    if (options.sync) await syncFile(target);
  } catch (error) {
    if (error instanceof WrongFileTypeError) throw error;
    throw fromErrno(error, (await isAboutTarget(error, source)) ? to : from, 'copying');
  }
}

/** The system says what went wrong, not with which of the two files. */
async function isAboutTarget(error: unknown, source: string | Buffer): Promise<boolean> {
  const code = errnoOf(error);
  if (code === undefined || code === 'EIO') return false;
  if (ABOUT_TARGET.has(code)) return true;
  try {
    // Whoever can open it and failed nevertheless failed at the other one.
    await (await open(source, 'r')).close();
    return true;
  } catch {
    return false;
  }
}

async function syncFile(native: string | Buffer): Promise<void> {
  const file = await open(native, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
