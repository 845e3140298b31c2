/** Writes of objects that must not be there yet. */
import { randomBytes } from 'node:crypto';
import type { ObjectBucket } from './object-bucket.js';
import { isRefusal } from './object-errors.js';
import { ObjectStoreError, type PutOptions } from './object-store.js';

/**
 * Makes writes that succeed only where no object is, as far as the store has such a thing. Where it has not, the key is looked
 * at right before, and the user is told once that two writers at the same instant would both succeed.
 */
export class ConditionalPut {
  #isRefused = false;
  #isProven: boolean;

  /** @param warn takes what the store cannot promise */
  constructor(
    private readonly bucket: ObjectBucket,
    private readonly warn: (message: string) => void,
  ) {
    this.#isProven = bucket.store.mayIgnoreConditions !== true;
  }

  /**
   * Writes an object in one request.
   * @throws ObjectStoreError `precondition` if there is one of that key that is not our own
   */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    const write = (options: PutOptions) =>
      this.bucket.run('PUT', key, () => this.bucket.store.put(key, bytes, options));
    const tag = newTag();
    await this.run(key, write, tag);
    if (!this.#isProven && !this.#isRefused) await this.#prove(() => write({ ifAbsent: true, tag }));
  }

  /**
   * Runs a write that takes these options.
   * @throws as {@link ConditionalPut.put}
   */
  async run(key: string, write: (options: PutOptions) => Promise<void>, tag = newTag()): Promise<void> {
    if (!this.#isRefused) {
      try {
        return await write({ ifAbsent: true, tag });
      } catch (error) {
        // The answer to an earlier attempt may have been lost on its way, and what stands there is our own.
        if (isRefusal(error, 'precondition') && (await this.isOwn(key, tag))) return;
        if (!isRefusal(error, 'unsupported')) throw error;
      }
      this.#refused();
    }
    if ((await this.bucket.head(key)) !== undefined) throw new ObjectStoreError('precondition', 'there is one already');
    await write({ tag });
  }

  /** Whether what is at the key was written with this tag. */
  async isOwn(key: string, tag: string): Promise<boolean> {
    return (await this.bucket.head(key))?.tag === tag;
  }

  /**
   * Does again what has just been done, and must be refused now: some stores pass over a condition in silence. If so, the
   * same bytes are written twice, which is no harm.
   */
  async #prove(write: () => Promise<void>): Promise<void> {
    this.#isProven = true;
    try {
      await write();
      this.#refused();
    } catch {
      // Refused, as it must be; any other failure shows nothing, and what was to be written is there.
    }
  }

  #refused(): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.warn(
      'this store takes no conditional writes: a file or directory that must be new is looked for right before it is' +
        ' written, but another program that writes it at the same moment is not noticed',
    );
  }
}

/** A name for a write that no other one has. */
export function newTag(): string {
  return randomBytes(16).toString('hex');
}
