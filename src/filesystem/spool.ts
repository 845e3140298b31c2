/** A place for bytes that are needed again soon: in memory, beyond a limit in a temporary file without a name. */

import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IoError } from '../errors.js';

const MEMORY_LIMIT = 64 * 1024 * 1024;
const CHUNK = 1024 * 1024;

/** Append, then read back in ranges. Must be closed. Every method may throw IoError naming the temporary file. */
export class Spool {
  private chunks: Uint8Array[] = [];
  private inMemory = 0;
  private file: FileHandle | undefined;
  private path = '';
  private inFile = 0;

  /** @param memoryLimit bytes kept in memory */
  constructor(private readonly memoryLimit = MEMORY_LIMIT) {}

  /** Bytes appended. */
  get size(): number {
    return this.inFile + this.inMemory;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.chunks.push(bytes);
    this.inMemory += bytes.length;
    if (this.inMemory > this.memoryLimit) await this.spill();
  }

  private async spill(): Promise<void> {
    try {
      this.file ??= await this.create();
      for (const chunk of this.chunks) {
        for (let at = 0; at < chunk.length; ) {
          const { bytesWritten } = await this.file.write(chunk, at, chunk.length - at, this.inFile + at);
          at += bytesWritten;
        }
        this.inFile += chunk.length;
      }
    } catch (error) {
      throw new IoError(this.path, 'writing a temporary file', { cause: error });
    }
    this.chunks = [];
    this.inMemory = 0;
  }

  private async create(): Promise<FileHandle> {
    this.path = join(tmpdir(), `ckpt-${randomUUID()}`);
    const file = await open(this.path, 'wx+', 0o600);
    // The handle keeps it alive; nothing is left behind whatever happens.
    await unlink(this.path);
    return file;
  }

  /** The bytes [start, end) in pieces, while nothing is appended. */
  async *read(start: number, end: number): AsyncGenerator<Uint8Array, void, void> {
    let at = start;
    while (at < Math.min(end, this.inFile)) {
      const length = Math.min(CHUNK, Math.min(end, this.inFile) - at);
      const bytes = new Uint8Array(length);
      yield await this.readFile(bytes, at);
      at += length;
    }
    let chunkStart = this.inFile;
    for (const chunk of this.chunks) {
      const from = Math.max(at, chunkStart);
      const to = Math.min(end, chunkStart + chunk.length);
      if (from < to) {
        yield chunk.subarray(from - chunkStart, to - chunkStart);
        at = to;
      }
      chunkStart += chunk.length;
    }
  }

  private async readFile(bytes: Uint8Array, position: number): Promise<Uint8Array> {
    let read = 0;
    while (read < bytes.length) {
      const result = await this.file?.read(bytes, read, bytes.length - read, position + read);
      if (!result?.bytesRead) throw new IoError(this.path, 'reading a temporary file back');
      read += result.bytesRead;
    }
    return bytes;
  }

  /** Forgets everything, for the next use. */
  clear(): void {
    this.chunks = [];
    this.inMemory = 0;
    this.inFile = 0;
  }

  /** Frees the file. Idempotent. */
  async close(): Promise<void> {
    this.clear();
    await this.file?.close();
    this.file = undefined;
  }
}
