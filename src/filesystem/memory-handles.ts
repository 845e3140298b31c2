/** Open files of a `MemoryFileSystem`. */
import { IoError } from '../errors.js';
import { CheckedSource } from './checked-source.js';
import type { AtomicWriter } from './file-system.js';
import type { MemoryFile } from './memory-node.js';
import type { Path } from './path.js';
import { checkPatch, readError } from './ranges.js';

/** Called before an operation on an open file: logs it, and rejects if it is to fail. */
export type Begin<Operation> = (operation: Operation, signal?: AbortSignal) => Promise<void>;

/** Reads what the file held when it was opened, as long as nobody cuts it. */
export class MemorySource extends CheckedSource {
  constructor(
    private readonly file: MemoryFile,
    path: Path,
    private readonly begin: Begin<'read'>,
  ) {
    super(path, file.bytes.byteLength);
  }

  protected async fill(
    target: Uint8Array,
    offset: number,
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.begin('read', signal);
    const { bytes } = this.file;
    if (end > bytes.byteLength)
      throw readError(this.path, start, end, `the file ends at byte ${bytes.byteLength} by now`);
    target.set(bytes.subarray(start, end), offset);
  }
}

/** Collects the contents and hands them over at commit. */
export class MemoryWriter implements AtomicWriter {
  #bytes = new Uint8Array(1024);
  #position = 0;
  #isDone = false;
  #failure: unknown;

  constructor(
    private readonly path: Path,
    private readonly begin: Begin<'write' | 'patch' | 'commit'>,
    private readonly put: (contents: Uint8Array) => void,
  ) {}

  get position(): number {
    return this.#position;
  }

  write(chunk: Uint8Array): Promise<void> {
    const start = this.#position;
    this.#position += chunk.byteLength;
    this.#reserve(this.#position);
    return this.#set('write', start, chunk);
  }

  async patch(position: number, bytes: Uint8Array): Promise<void> {
    checkPatch(position, bytes.byteLength, this.#position);
    return this.#set('patch', position, bytes);
  }

  async commit(): Promise<void> {
    await this.#check('commit');
    this.#isDone = true;
    this.put(this.#bytes.slice(0, this.#position));
  }

  async abort(): Promise<void> {
    this.#isDone = true;
  }

  async #set(operation: 'write' | 'patch', position: number, bytes: Uint8Array): Promise<void> {
    const copy = bytes.slice();
    await this.#check(operation);
    this.#bytes.set(copy, position);
  }

  /** A file with a hole where a write failed must never come into being. */
  async #check(operation: 'write' | 'patch' | 'commit'): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const cause = new Error('the file was committed or aborted before');
    if (this.#isDone) throw new IoError(this.path.toString(), operation, { cause });
    try {
      await this.begin(operation);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.byteLength) return;
    const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.byteLength));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
