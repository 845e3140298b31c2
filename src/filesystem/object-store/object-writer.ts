/** A file that is being written to an object store: nothing is at its key before the commit. */
import { asError, IoError } from '../../errors.js';
import type { AtomicWriter } from '../file-system.js';
import type { Path } from '../path.js';
import { checkPatch } from '../ranges.js';
import { Spool } from '../spool.js';
import type { ConditionalPut } from './conditional-put.js';
import type { ObjectBucket } from './object-bucket.js';
import { toFileSystemError } from './object-errors.js';
import { PartUpload, partBytes } from './object-upload.js';

/** Up to here one request writes the whole file. */
const SINGLE_PUT_BYTES = 8 * 1024 * 1024;

/** What a writer works with. */
export interface WriterTarget {
  readonly bucket: ObjectBucket;
  readonly key: string;
  readonly path: Path;
  /** Undefined: what is there is replaced. */
  readonly condition: ConditionalPut | undefined;
}

/**
 * Base of both writers: one operation after another, none after a failure or the end.
 */
abstract class SerialWriter implements AtomicWriter {
  #position = 0;
  #state: 'open' | 'committed' | 'aborted' = 'open';
  #failure: unknown;
  #last: Promise<unknown> = Promise.resolve();

  constructor(protected readonly target: WriterTarget) {}

  get position(): number {
    return this.#position;
  }

  write(chunk: Uint8Array): Promise<void> {
    const start = this.#position;
    this.#position += chunk.byteLength;
    const copy = chunk.slice();
    return this.#next('write', () => this.append(copy, start));
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    checkPatch(position, bytes.byteLength, this.#position);
    const copy = bytes.slice();
    return this.#next('write', () => this.overwrite(position, copy));
  }

  async commit(): Promise<void> {
    const wasOpen = this.#state === 'open';
    await this.#next('commit', async () => {
      this.#state = 'committed';
      await this.put(this.#position);
    }).catch(async (error: unknown) => {
      if (wasOpen) await this.clear();
      throw error;
    });
    await this.release();
  }

  async abort(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'aborted';
    await this.#last;
    await this.clear();
  }

  /** Takes bytes that the writer may keep. */
  protected abstract append(bytes: Uint8Array, position: number): Promise<void>;
  protected abstract overwrite(position: number, bytes: Uint8Array): Promise<void>;
  /** Makes the file appear. */
  protected abstract put(size: number): Promise<void>;
  /** Frees what is kept here. Never throws. */
  protected abstract release(): Promise<void>;
  /** Frees what is kept here and what was sent. Never throws. */
  protected abstract clear(): Promise<void>;

  #next(action: string, work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(async () => {
      // A file with a hole where a write failed must never come into being.
      if (this.#failure !== undefined) throw this.#failure;
      const cause = new Error('the file was committed or aborted before');
      if (this.#state !== 'open') throw new IoError(this.target.path.toString(), action, { cause });
      try {
        await work();
      } catch (error) {
        this.#failure = toFileSystemError(error, this.target.path, action);
        throw this.#failure;
      }
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Collects the contents, in memory and beyond it in a temporary file without a name, and sends them at the commit. */
export class SpoolingWriter extends SerialWriter {
  readonly #spool = new Spool(SINGLE_PUT_BYTES);
  /** Never many: counts that are known only at the end. */
  readonly #patches: { readonly position: number; readonly bytes: Uint8Array }[] = [];
  #upload: PartUpload | undefined;

  protected append(bytes: Uint8Array): Promise<void> {
    return this.#spool.append(bytes);
  }

  protected async overwrite(position: number, bytes: Uint8Array): Promise<void> {
    this.#patches.push({ position, bytes });
  }

  protected async put(size: number): Promise<void> {
    const { bucket, key, condition } = this.target;
    if (size <= Math.min(SINGLE_PUT_BYTES, bucket.store.limits.put)) {
      const bytes = await this.#read(0, size);
      if (condition) return condition.put(key, bytes);
      return bucket.run('PUT', key, () => bucket.store.put(key, bytes));
    }
    this.#upload = new PartUpload(bucket, key, condition);
    for await (const part of this.#parts(size)) await this.#upload.send(part);
    await this.#upload.complete();
  }

  protected async release(): Promise<void> {
    await this.#spool.close().catch(() => undefined);
  }

  protected async clear(): Promise<void> {
    await this.#upload?.abort();
    await this.release();
  }

  async *#parts(size: number): AsyncGenerator<Uint8Array, void> {
    const bytes = partBytes(size, this.target.bucket.store.limits);
    for (let start = 0; start < size; start += bytes) yield await this.#read(start, Math.min(start + bytes, size));
  }

  async #read(start: number, end: number): Promise<Uint8Array> {
    const part = new Uint8Array(end - start);
    let at = 0;
    for await (const piece of this.#spool.read(start, end)) {
      part.set(piece, at);
      at += piece.length;
    }
    for (const { position, bytes } of this.#patches) {
      const from = Math.max(position, start);
      const to = Math.min(position + bytes.length, end);
      if (from < to) part.set(bytes.subarray(from - position, to - position), from - start);
    }
    return part;
  }
}

/** Sends a large file part by part while it is being written. Cannot patch. */
export class StreamingWriter extends SerialWriter {
  readonly #upload: PartUpload;
  #part: Uint8Array;
  #filled = 0;

  /** @param size bytes that will come, more or less */
  constructor(target: WriterTarget, size: number) {
    super(target);
    this.#upload = new PartUpload(target.bucket, target.key, target.condition);
    this.#part = new Uint8Array(partBytes(size, target.bucket.store.limits));
  }

  /** True if a file of this size is sent in parts. */
  static suits(size: number | undefined): size is number {
    return size !== undefined && size > SINGLE_PUT_BYTES;
  }

  protected async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const length = Math.min(bytes.length - at, this.#part.length - this.#filled);
      this.#part.set(bytes.subarray(at, at + length), this.#filled);
      this.#filled += length;
      at += length;
      if (this.#filled === this.#part.length) await this.#send();
    }
  }

  protected async overwrite(): Promise<void> {
    throw new Error('nothing of a file that is sent as it comes can be patched');
  }

  protected async put(size: number): Promise<void> {
    // An object has at least one part.
    if (this.#filled > 0 || size === 0) await this.#send();
    await this.#upload.complete();
  }

  protected async release(): Promise<void> {
    this.#part = new Uint8Array(0);
  }

  protected async clear(): Promise<void> {
    await this.#upload.abort();
    await this.release();
  }

  async #send(): Promise<void> {
    const part = this.#part.subarray(0, this.#filled);
    this.#part = new Uint8Array(this.#part.length);
    this.#filled = 0;
    await this.#upload.send(part);
  }
}

/** The writer for a file of this size, if that is known. */
export function writerFor(target: WriterTarget, size: number | undefined): AtomicWriter {
  try {
    return StreamingWriter.suits(size) ? new StreamingWriter(target, size) : new SpoolingWriter(target);
  } catch (error) {
    throw new IoError(target.path.toString(), 'write', { cause: asError(error) });
  }
}
