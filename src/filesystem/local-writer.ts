/** Writing a local file that appears under its name only when it is complete. */
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { WrongFileTypeError } from '../errors.js';
import type { AtomicOptions, AtomicWriter } from './file-system.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { joinNative, toNativePath } from './local-path.js';
import type { HardLinks } from './local-publish.js';
import { moveWithoutReplacing, nativeParent, syncDirectory } from './local-publish.js';
import type { Path } from './path.js';
import { checkPatch } from './ranges.js';
import { temporaryName } from './temporary-name.js';

/** Starts a file in the directory of `path`, which must exist. */
export async function startLocalFile(path: Path, options: AtomicOptions, hardLinks: HardLinks): Promise<AtomicWriter> {
  const temporary = joinNative(nativeParent(toNativePath(path)), temporaryName());
  try {
    return new LocalWriter(await open(temporary, 'wx'), temporary, path, options, hardLinks);
  } catch (error) {
    throw fromErrno(error, path, 'create');
  }
}

class LocalWriter implements AtomicWriter {
  #position = 0;
  #isDone = false;
  /** Undefined once it is closed. */
  #handle: FileHandle | undefined;
  /** What was asked for so far; calls that are not awaited still run one after another. */
  #queue: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(
    handle: FileHandle,
    private readonly temporary: string | Buffer,
    private readonly path: Path,
    private readonly options: AtomicOptions,
    private readonly hardLinks: HardLinks,
  ) {
    this.#handle = handle;
  }

  get position(): number {
    return this.#position;
  }

  write(chunk: Uint8Array): Promise<void> {
    const start = this.#position;
    this.#position += chunk.byteLength;
    return this.#enqueue(() => this.#writeAt(start, chunk));
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    checkPatch(position, bytes.byteLength, this.#position);
    return this.#enqueue(() => this.#writeAt(position, bytes));
  }

  async commit(): Promise<void> {
    await this.#queue;
    try {
      if (this.#isDone) throw new Error('the file was committed or aborted before');
      // A chunk that was lost must not become a hole in a file that looks whole.
      if (this.#failure !== undefined) throw this.#failure;
      await this.#publish();
      this.#isDone = true;
    } catch (error) {
      await this.abort();
      throw fromErrno(error, this.path, 'write');
    }
    if (this.options.sync !== false) await this.#syncName();
  }

  async abort(): Promise<void> {
    await this.#queue;
    if (this.#isDone) return;
    this.#isDone = true;
    await this.#close().catch(() => undefined);
    await unlink(this.temporary).catch(() => undefined);
  }

  async #publish(): Promise<void> {
    const final = toNativePath(this.path);
    if (this.options.overwrite === true) await this.#keepAccess(final);
    if (this.options.sync !== false) await this.#handle?.sync();
    // Before the file gets its name: some stores say only now that they have lost something.
    await this.#close();
    if (this.options.overwrite === true) return rename(this.temporary, final);
    const temporary = { native: this.temporary, path: this.path };
    await moveWithoutReplacing(temporary, { native: final, path: this.path }, this.hardLinks);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** A replaced file stays readable for those who could read it, whoever runs this program. */
  async #keepAccess(final: string | Buffer): Promise<void> {
    try {
      const old = await lstat(final);
      if (old.isDirectory()) throw new WrongFileTypeError(this.path.toString(), 'file');
      if (!old.isFile()) return;
      await this.#handle?.chown(old.uid, old.gid).catch(() => undefined);
      await this.#handle?.chmod(old.mode & 0o777).catch(() => undefined);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }

  async #syncName(): Promise<void> {
    try {
      await syncDirectory(nativeParent(this.temporary));
    } catch (error) {
      throw fromErrno(error, this.path, 'sync of the directory');
    }
  }

  async #writeAt(position: number, bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.byteLength; ) {
        if (this.#handle === undefined) throw new Error('the file was committed or aborted before');
        const { bytesWritten } = await this.#handle.write(bytes, done, bytes.byteLength - done, position + done);
        done += bytesWritten;
      }
    } catch (error) {
      throw fromErrno(error, this.path, `write of bytes ${position} to ${position + bytes.byteLength}`);
    }
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(() => {
      if (this.#failure !== undefined) throw this.#failure;
      return work();
    });
    this.#queue = result.catch((error: unknown) => {
      this.#failure ??= error;
    });
    return result;
  }
}
