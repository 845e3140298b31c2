/** Copying a local file by the system call for it. */
import { open } from 'node:fs/promises';
import { NotFoundError, WrongFileTypeError } from '../errors.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { toNativePath } from './local-path.js';
import type { Path } from './path.js';

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
    const isAboutTarget = errnoOf(error) === 'ENOENT' && (await fs.stat(source).catch(() => undefined)) !== undefined;
    if (isAboutTarget) throw new NotFoundError(to.toString(), { cause: error });
    throw fromErrno(error, from, 'copying');
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
