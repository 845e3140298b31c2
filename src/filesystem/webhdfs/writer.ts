/**
 * Writing a file of HDFS that appears under its name only when it is whole. Files there can only be appended to, and an upload
 * that broke must be made again: so the bytes are kept here until the commit, in memory or a temporary file, sent to a file
 * with a name of its own beside the final one, and renamed, which is atomic.
 */
import { IoError, WrongFileTypeError } from '../../errors.js';
import type { AtomicOptions, AtomicWriter } from '../file-system.js';
import type { Path } from '../path.js';
import { checkPatch } from '../ranges.js';
import { Spool } from '../spool.js';
import { temporaryName } from '../temporary-name.js';
import { toCkptError } from './remote-failure.js';
import { moveFile } from './rename.js';
import type { RemoteStatus } from './status.js';
import type { HdfsStore, KnownFile } from './store.js';
import { removeQuietly, send } from './upload.js';

/** Kept in memory of each file; many are written at once. */
const MEMORY_BYTES = 4 * 1024 * 1024;
/** Up to this size a file is sent as one piece, with its length in front. */
const SMALL_BYTES = 64 * 1024;

interface Patch {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** See the file comment. */
export class HdfsWriter implements AtomicWriter {
  readonly #spool = new Spool(MEMORY_BYTES);
  readonly #patches: Patch[] = [];
  #position = 0;
  #isDone = false;
  #failure: unknown;
  #queue: Promise<void> = Promise.resolve();

  /** @param existing what is to be overwritten: the new file gets its permission */
  constructor(
    private readonly store: HdfsStore,
    private readonly path: Path,
    private readonly options: AtomicOptions,
    private readonly existing: RemoteStatus | undefined,
  ) {}

  get position(): number {
    return this.#position;
  }

  write(chunk: Uint8Array): Promise<void> {
    const copy = chunk.slice();
    this.#position += chunk.byteLength;
    return this.#enqueue('write', () => this.#spool.append(copy));
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    checkPatch(position, bytes.byteLength, this.#position);
    const copy = bytes.slice();
    return this.#enqueue('write', async () => {
      this.#patches.push({ position, bytes: copy });
    });
  }

  async commit(): Promise<void> {
    await this.#queue;
    try {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) throw this.#isOver('commit');
      await this.#publish();
    } catch (error) {
      throw toCkptError(error, { path: this.path, action: 'write', isCreation: true });
    } finally {
      await this.abort();
    }
  }

  async abort(): Promise<void> {
    await this.#queue;
    this.#isDone = true;
    await this.#spool.close().catch(() => undefined);
  }

  async #publish(): Promise<void> {
    const temporary = await this.#upload();
    const mode = this.options.overwrite === true ? 'OVERWRITE' : 'NONE';
    try {
      await moveFile(this.store, { path: temporary, status: this.#uploaded() }, this.path, mode);
    } catch (error) {
      await removeQuietly(this.store, temporary);
      throw await this.#explain(error);
    }
  }

  /** Nobody else knows the name of the temporary file: its size is enough to know it again. */
  #uploaded(): KnownFile {
    return { type: 'file', size: this.#position, identity: undefined, modificationTime: undefined };
  }

  /** Each attempt has a name of its own: a data node may still be at work on the file of one that broke. */
  async #upload(): Promise<Path> {
    const { requests } = this.store.client;
    const directory = this.path.parent ?? this.path;
    const used: Path[] = [];
    try {
      const uploaded = await requests.run(`CREATE ${this.path}`, async () => {
        const temporary = directory.entry(temporaryName());
        used.push(temporary);
        await send(this.store, temporary, () => this.#body(), {
          sync: this.options.sync !== false,
          parents: true,
          permission: this.existing?.permission,
        });
        return temporary;
      });
      for (const left of used) if (left !== uploaded) await removeQuietly(this.store, left);
      return uploaded;
    } catch (error) {
      for (const left of used) await removeQuietly(this.store, left);
      throw error;
    }
  }

  async #body(): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
    if (this.#position > SMALL_BYTES) return this.#contents();
    const pieces: Uint8Array[] = [];
    for await (const piece of this.#contents()) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** What was written, with the patches in their places. */
  async *#contents(): AsyncGenerator<Uint8Array, void> {
    let at = 0;
    for await (const piece of this.#spool.read(0, this.#position)) {
      yield patched(piece, at, this.#patches);
      at += piece.byteLength;
    }
  }

  async #explain(error: unknown): Promise<unknown> {
    if (this.options.overwrite !== true) return error;
    const found = await this.store.find(this.path).catch(() => undefined);
    return found?.type === 'directory' ? new WrongFileTypeError(this.path.toString(), 'file', { cause: error }) : error;
  }

  #enqueue(action: string, work: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(() => {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isDone) throw this.#isOver(action);
      return work();
    });
    this.#queue = result.catch((error: unknown) => {
      this.#failure ??= error;
    });
    return result;
  }

  #isOver(action: string): IoError {
    const cause = new Error('the file was committed or aborted before');
    return new IoError(this.path.toString(), action, { cause });
  }
}

function patched(piece: Uint8Array, start: number, patches: readonly Patch[]): Uint8Array {
  const end = start + piece.byteLength;
  const inside = patches.filter(({ position, bytes }) => position < end && position + bytes.byteLength > start);
  if (inside.length === 0) return piece;
  const copy = piece.slice();
  for (const { position, bytes } of inside) {
    const from = Math.max(position, start);
    const to = Math.min(position + bytes.byteLength, end);
    copy.set(bytes.subarray(from - position, to - position), from - start);
  }
  return copy;
}
