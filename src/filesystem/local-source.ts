/** Ranged reads from a local file. */
import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { WrongFileTypeError } from '../errors.js';
import type { ByteSource } from './file-system.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { toNativePath } from './local-path.js';
import type { Path } from './path.js';
import { checkRange, checkTarget, readError } from './ranges.js';

/** So that a cancelled read of gigabytes ends soon. */
const BYTES_PER_CALL = 16 * 1024 * 1024;

// Without O_NONBLOCK, opening a pipe waits for its other end. O_NOATIME exists on Linux only, other systems have no such flag.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const READ_QUIETLY = READ | (constants.O_NOATIME ?? 0);

/** Opens a regular file for reading, without a change of its access time where the system allows that. */
export async function openLocal(path: Path): Promise<ByteSource> {
  const native = toNativePath(path);
  let handle: FileHandle | undefined;
  try {
    // Looked at first: opening a pipe or device does something to it (a writer that waits for a reader would go on).
    checkRegular(await stat(native), path);
    handle = await openQuietly(native);
    const status = await handle.stat();
    checkRegular(status, path);
    return new LocalSource(handle, status.size, path);
  } catch (error) {
    await handle?.close();
    throw fromErrno(error, path, 'open');
  }
}

function checkRegular(status: Stats, path: Path): void {
  if (!status.isFile()) throw new WrongFileTypeError(path.toString(), 'file');
}

async function openQuietly(native: string | Buffer): Promise<FileHandle> {
  try {
    return await open(native, READ_QUIETLY);
  } catch (error) {
    // Only the owner of a file may keep its access time.
    if (errnoOf(error) !== 'EPERM') throw error;
    return open(native, READ);
  }
}

class LocalSource implements ByteSource {
  #handle: FileHandle | undefined;

  constructor(
    handle: FileHandle,
    readonly size: number,
    private readonly path: Path,
  ) {
    this.#handle = handle;
  }

  async read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange(start, end, this.size, this.path);
    const bytes = Buffer.allocUnsafeSlow(end - start);
    await this.readInto(bytes, 0, start, end, signal);
    return bytes;
  }

  async readInto(target: Uint8Array, offset: number, start: number, end: number, signal?: AbortSignal): Promise<void> {
    checkRange(start, end, this.size, this.path);
    checkTarget(target, offset, end - start);
    for (let position = start; position < end; ) {
      signal?.throwIfAborted();
      const length = Math.min(end - position, BYTES_PER_CALL);
      const count = await this.#readSome(target, offset + position - start, length, position);
      if (count === 0) throw readError(this.path, start, end, `the file ends at byte ${position} by now`);
      position += count;
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    try {
      await handle?.close();
    } catch (error) {
      throw fromErrno(error, this.path, 'close');
    }
  }

  async #readSome(target: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    if (this.#handle === undefined) throw readError(this.path, position, position + length, 'the file is closed');
    try {
      return (await this.#handle.read(target, offset, length, position)).bytesRead;
    } catch (error) {
      throw fromErrno(error, this.path, `read of bytes ${position} to ${position + length}`);
    }
  }
}
