/** What all open files have in common that are not of this machine: ranges are checked before anything is done for them. */
import type { ByteSource } from './file-system.js';
import type { Path } from './path.js';
import { checkRange, checkTarget, readError } from './ranges.js';

/** A {@link ByteSource} of which only the reading itself is missing. */
export abstract class CheckedSource implements ByteSource {
  #isOpen = true;

  /** @param size bytes, as of the opening */
  constructor(
    protected readonly path: Path,
    readonly size: number,
  ) {}

  async read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange(start, end, this.size, this.path);
    const bytes = new Uint8Array(end - start);
    await this.readInto(bytes, 0, start, end, signal);
    return bytes;
  }

  async readInto(target: Uint8Array, offset: number, start: number, end: number, signal?: AbortSignal): Promise<void> {
    checkRange(start, end, this.size, this.path);
    checkTarget(target, offset, end - start);
    signal?.throwIfAborted();
    if (!this.#isOpen) throw readError(this.path, start, end, 'the file is closed');
    await this.fill(target, offset, start, end, signal);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  /** Puts exactly the bytes [start, end), which lie within the file, into `target` from `offset` on, or rejects. */
  protected abstract fill(
    target: Uint8Array,
    offset: number,
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<void>;
}
