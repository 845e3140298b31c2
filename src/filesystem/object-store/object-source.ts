/** An object that is open for reading. */
import { CheckedSource } from '../checked-source.js';
import { forEachConcurrently } from '../limit.js';
import type { Path } from '../path.js';
import { readError } from '../ranges.js';
import type { ObjectBucket } from './object-bucket.js';
import { isRefusal, toFileSystemError } from './object-errors.js';
import type { ObjectStatus } from './object-store.js';

/** Larger ranges are read by several requests at once, each of this size. */
const PART_BYTES = 8 * 1024 * 1024;
/** Parts of one range under way: a connection seldom gives more than a tenth of what a machine can take. */
const PARTS_AT_ONCE = 8;

/** Reads ranges of the object as it was when it was opened; if it is another one by now, with an error. */
export class ObjectSource extends CheckedSource {
  constructor(
    private readonly bucket: ObjectBucket,
    private readonly object: ObjectStatus,
    path: Path,
  ) {
    super(path, object.size);
  }

  protected async fill(
    target: Uint8Array,
    offset: number,
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const parts: number[] = [];
    for (let at = start; at < end; at += PART_BYTES) parts.push(at);
    await forEachConcurrently(
      parts,
      (at) => this.#readPart(target, offset + at - start, at, Math.min(at + PART_BYTES, end), signal),
      { concurrency: Math.min(PARTS_AT_ONCE, parts.length), signal },
    );
    signal?.throwIfAborted();
  }

  async #readPart(
    target: Uint8Array,
    offset: number,
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { bucket, object } = this;
    const { key, version } = object;
    try {
      const read = () => bucket.store.read(key, { start, end, version }, target, offset, signal);
      await bucket.run('GET', key, read, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (isRefusal(error, 'missing')) throw readError(this.path, start, end, 'the file is not there any more');
      if (isRefusal(error, 'precondition')) {
        throw readError(this.path, start, end, 'the file has been replaced by another one since it was opened');
      }
      throw toFileSystemError(error, this.path, `read of bytes ${start} to ${end}`);
    }
  }
}
