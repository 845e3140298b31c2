/** The parts of a large object on their way to the store. */
import { asError } from '../../errors.js';
import type { ConditionalPut } from './conditional-put.js';
import { newTag } from './conditional-put.js';
import type { ObjectBucket } from './object-bucket.js';
import { isRefusal } from './object-errors.js';
import type { ObjectStoreLimits, ObjectUpload } from './object-store.js';

const PART_BYTES = 8 * 1024 * 1024;

/**
 * Bytes of every part but the last for an object of `size` bytes: all parts equal, as some stores want it.
 * @throws RangeError if the store takes no object of that size
 */
export function partBytes(size: number, limits: ObjectStoreLimits): number {
  const least = Math.max(PART_BYTES, limits.leastPart, Math.ceil(size / limits.parts));
  const bytes = Math.min(least, limits.mostPart);
  if (bytes * limits.parts < size) throw new RangeError(`the store takes no object of ${size} bytes`);
  return bytes;
}

/** Sends parts, several at once. After a failure it can only be aborted. */
export class PartUpload {
  #upload: Promise<ObjectUpload> | undefined;
  #parts = 0;
  #failure: Error | undefined;
  readonly #tag = newTag();
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly bucket: ObjectBucket,
    private readonly key: string,
    /** Undefined: what is there is replaced. */
    private readonly condition: ConditionalPut | undefined,
  ) {}

  /** Bytes are not copied. @returns as soon as this part is on its way */
  async send(bytes: Uint8Array): Promise<void> {
    if (this.#failure) throw this.#failure;
    const upload = await this.#begin();
    const number = ++this.#parts;
    const { bucket } = this;
    const what = `${this.key} (part ${number})`;
    await new Promise<void>((started) => {
      const part = bucket
        .parts(() => {
          started();
          return bucket.run('PUT', what, () => upload.putPart(number, bytes));
        })
        .catch((error: unknown) => {
          this.#failure ??= asError(error);
        })
        .finally(() => this.#underWay.delete(part));
      this.#underWay.add(part);
    });
  }

  /** @throws ObjectStoreError `precondition` if the key was to be free and is not */
  async complete(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure;
    const upload = await this.#begin();
    const complete = (options?: { readonly ifAbsent: false }) =>
      this.bucket
        .run('POST', this.key, () => upload.complete(this.#parts, options))
        .catch((error: unknown) => this.#orDone(error));
    if (this.condition === undefined) return complete();
    await this.condition.run(
      this.key,
      ({ ifAbsent }) => (ifAbsent ? complete() : complete({ ifAbsent: false })),
      this.#tag,
    );
  }

  /** Frees what was sent. Never throws: what is left of an upload is nobody's file, and stores clear it away in time. */
  async abort(): Promise<void> {
    await Promise.all(this.#underWay);
    const upload = await this.#upload?.catch(() => undefined);
    this.#failure ??= new Error('it was aborted');
    if (upload) await this.bucket.run('DELETE', `${this.key} (upload)`, () => upload.abort()).catch(() => undefined);
  }

  /** An upload that is not known any more has been completed, if its object is there: only the answer was lost. */
  async #orDone(error: unknown): Promise<void> {
    if (!isRefusal(error, 'missing') || (await this.bucket.head(this.key))?.tag !== this.#tag) throw error;
  }

  #begin(): Promise<ObjectUpload> {
    const { bucket, key, condition } = this;
    this.#upload ??= bucket
      .run('POST', key, () => bucket.store.startUpload(key, { tag: this.#tag, ifAbsent: condition && true }))
      .catch((error: unknown) => {
        if (!condition || !isRefusal(error, 'unsupported')) throw error;
        return bucket.run('POST', key, () => bucket.store.startUpload(key, { tag: this.#tag }));
      });
    return this.#upload;
  }
}
