/**
 * A large object, put together by the store of objects that hold a part each. They have the names of temporary files beside
 * it, and are deleted when the object is there. (A resumable upload would take the parts only one after another; the
 * multipart upload of the XML API knows no condition.)
 */
import { forEachConcurrently } from '../limit.js';
import {
  type ObjectStore,
  ObjectStoreError,
  type ObjectUpload,
  type PutOptions,
} from '../object-store/object-store.js';
import { temporaryNames } from '../temporary-name.js';
import { type GcsApi, objectPath } from './gcs-api.js';
import { condition, describe } from './gcs-description.js';

/** Objects that the store puts together at once. */
const MOST_SOURCES = 32;
/** Numbers from here on are for what is put together on the way. */
const FIRST_GROUP = 0x1000_0000;

/** See the file comment. */
export class GcsUpload implements ObjectUpload {
  readonly #nameOf: (number: number) => string;
  /** Numbers of objects that may be there. */
  readonly #written = new Set<number>();

  constructor(
    private readonly store: Pick<ObjectStore, 'head' | 'put' | 'delete'>,
    private readonly api: GcsApi,
    private readonly bucket: string,
    private readonly key: string,
    private readonly options: PutOptions,
  ) {
    const directory = key.slice(0, key.lastIndexOf('/') + 1);
    const names = temporaryNames();
    this.#nameOf = (number) => directory + names(number);
  }

  async putPart(number: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    this.#written.add(number);
    await this.store.put(this.#nameOf(number), bytes, {}, signal);
  }

  async complete(parts: number, options: { readonly ifAbsent?: false } = {}): Promise<void> {
    let numbers = Array.from({ length: parts }, (_, index) => index + 1);
    for (let next = FIRST_GROUP; numbers.length > MOST_SOURCES; ) {
      const groups: number[] = [];
      for (let start = 0; start < numbers.length; start += MOST_SOURCES) {
        this.#written.add(next);
        await this.#compose(numbers.slice(start, start + MOST_SOURCES), this.#nameOf(next), {});
        groups.push(next);
        next += 1;
      }
      numbers = groups;
    }
    try {
      await this.#compose(numbers, this.key, { ...this.options, ...options });
    } catch (error) {
      // The answer to an earlier attempt was lost, and the object is there: its parts must go all the same.
      if (!(await this.#isDone(error))) throw error;
    }
    // The object is there: what cannot be deleted now is a leftover, no failure.
    await this.#clear().catch(() => undefined);
  }

  async #isDone(error: unknown): Promise<boolean> {
    const { tag } = this.options;
    if (tag === undefined || !(error instanceof ObjectStoreError) || error.kind !== 'precondition') return false;
    return (await this.store.head(this.key))?.tag === tag;
  }

  async abort(): Promise<void> {
    await this.#clear();
  }

  async #compose(numbers: readonly number[], to: string, options: PutOptions): Promise<void> {
    await this.api.sendForJson({
      method: 'POST',
      path: `${objectPath(this.bucket, to)}/compose`,
      query: { ...condition(options), fields: 'size' },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        sourceObjects: numbers.map((number) => ({ name: this.#nameOf(number) })),
        destination: describe(options),
      }),
      encryption: 'object',
    });
  }

  async #clear(): Promise<void> {
    const failures: Error[] = [];
    await forEachConcurrently([...this.#written], async (number) => {
      const [failure] = await this.store.delete([this.#nameOf(number)]);
      if (failure === undefined) this.#written.delete(number);
      else failures.push(failure);
    });
    const [first] = failures;
    if (first !== undefined) throw first;
  }
}
