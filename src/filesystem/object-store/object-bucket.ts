/** Requests to one bucket: made again where it helps, a bounded number at once, listings checked. */
import pLimit from 'p-limit';
import type { StoreRequests } from '../requests.js';
import type { ListObjectsOptions, ObjectPage, ObjectStatus, ObjectStore } from './object-store.js';
import { ObjectStoreError } from './object-store.js';

/** Parts of large objects that are sent at once, of all files together: what bounds the memory that they take. */
const PARTS_AT_ONCE = 16;

/** An {@link ObjectStore} behind {@link StoreRequests}. Rejects with what the store rejects with. */
export class ObjectBucket {
  /** Room for the parts that are being sent. */
  readonly parts = pLimit(PARTS_AT_ONCE);

  /** @param name as requests are told of: `s3://bucket` */
  constructor(
    readonly store: ObjectStore,
    readonly requests: StoreRequests,
    private readonly name: string,
  ) {}

  /** Makes one request, up to several times. @param method for whoever is told of retries */
  run<T>(method: string, key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.requests.run(`${method} ${this.name}/${key}`, work, signal);
  }

  head(key: string, signal?: AbortSignal): Promise<ObjectStatus | undefined> {
    return this.run('HEAD', key, () => this.store.head(key, signal), signal);
  }

  /** One page. */
  page(prefix: string, options: ListObjectsOptions, signal?: AbortSignal): Promise<ObjectPage> {
    return this.run('LIST', prefix, () => this.store.list(prefix, options, signal), signal);
  }

  /**
   * All pages, one after another.
   * @throws ObjectStoreError if the pages go round in a circle: part of the listing would be missing
   */
  async *pages(prefix: string, options: ListObjectsOptions, signal?: AbortSignal): AsyncGenerator<ObjectPage, void> {
    let token: string | undefined;
    // A token of every power of two is remembered: every circle is found, without keeping all of them.
    let remembered: string | undefined;
    for (let count = 1; ; count++) {
      signal?.throwIfAborted();
      const page = await this.page(prefix, { ...options, token }, signal);
      yield page;
      if (page.token === undefined) return;
      if (page.token === token || page.token === remembered) {
        throw new ObjectStoreError('other', 'the listing does not get ahead: the store gave the same token again');
      }
      token = page.token;
      if (Number.isInteger(Math.log2(count))) remembered = token;
    }
  }
}
