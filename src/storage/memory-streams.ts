/**
 * State that stays in memory and becomes part of the metadata.
 * Origin: Flink `MemCheckpointStreamFactory`.
 */
import { randomUUID } from 'node:crypto';
import { StateTooLargeError, StreamClosedError } from '../errors.js';
import type { ByteStreamStateHandle, CheckpointedStateScope } from '../model/state-handles.js';
import type { CheckpointStateOutputStream, CheckpointStreamFactory } from './checkpoint-storage.js';

/** Opens streams into memory, whatever the scope. */
export class MemCheckpointStreamFactory implements CheckpointStreamFactory {
  /** @param maxStateSize bytes that one piece of state may have */
  constructor(readonly maxStateSize: number) {}

  async createCheckpointStateOutputStream(_scope: CheckpointedStateScope): Promise<MemoryCheckpointOutputStream> {
    return new MemoryCheckpointOutputStream(this.maxStateSize);
  }

  toString(): string {
    return 'In-Memory Stream Factory';
  }
}

/** Collects state in memory. Its limit holds at the end, not while writing. */
export class MemoryCheckpointOutputStream implements CheckpointStateOutputStream {
  readonly #contents = new ByteCollector();
  #isEmpty = true;
  #isClosed = false;

  /** @param maxStateSize bytes that the state may have in the end */
  constructor(private readonly maxStateSize: number) {}

  get position(): number {
    return this.#contents.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isClosed) throw new StreamClosedError(STREAM);
    this.#contents.append(chunk);
    // A write of no bytes is a write: state of no bytes, which is not the same as no state.
    this.#isEmpty = false;
  }

  async flush(): Promise<void> {}

  async closeAndGetHandle(): Promise<ByteStreamStateHandle | null> {
    if (this.#isEmpty) return null;
    return { type: 'ByteStreamStateHandle', handleName: randomUUID(), bytes: this.closeAndGetBytes() };
  }

  /**
   * Like {@link closeAndGetHandle}, without a handle around the bytes.
   * @throws StreamClosedError, StateTooLargeError
   */
  closeAndGetBytes(): Uint8Array {
    if (this.#isClosed) throw new StreamClosedError(STREAM);
    this.#isClosed = true;
    const { length } = this.#contents;
    const bytes = this.#contents.drain();
    if (length > this.maxStateSize) {
      const alternative = 'FsCheckpointStorage has room for more';
      throw new StateTooLargeError(length, this.maxStateSize, alternative);
    }
    return bytes;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#contents.drain();
  }
}

const STREAM = 'state in memory';

/** Bytes that arrive in chunks. */
export class ByteCollector {
  #chunks: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Takes a copy of the chunk. */
  append(chunk: Uint8Array): void {
    // Not by `slice`: that of a `Buffer` shares its memory.
    this.#chunks.push(new Uint8Array(chunk));
    this.#length += chunk.byteLength;
  }

  /** All bytes so far, in one piece. Empty afterwards. */
  drain(): Uint8Array {
    const bytes = new Uint8Array(this.#length);
    let position = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, position);
      position += chunk.byteLength;
    }
    this.#chunks = [];
    this.#length = 0;
    return bytes;
  }
}
