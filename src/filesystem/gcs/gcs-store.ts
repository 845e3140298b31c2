/** Google Cloud Storage as an {@link ObjectStore}, over its JSON API. */
import {
  type ListObjectsOptions,
  type ObjectPage,
  type ObjectStatus,
  type ObjectStore,
  ObjectStoreError,
  type ObjectStoreLimits,
  type ObjectUpload,
  type PutOptions,
} from '../object-store/object-store.js';
import { readBody } from '../object-store/read-body.js';
import { TransientFailure } from '../requests.js';
import {
  bucketPath,
  type GcsApi,
  type GcsObjectStatus,
  objectPath,
  STATUS_FIELDS,
  toStatus,
  whole,
} from './gcs-api.js';
import { condition, describe } from './gcs-description.js';
import { toConnectionError } from './gcs-errors.js';
import { GcsUpload } from './gcs-upload.js';
import { multipartBody } from './multipart-body.js';

const MEBIBYTE = 1024 * 1024;
const TEBIBYTE = MEBIBYTE * MEBIBYTE;

/** What the store gives at most; an emulator would give everything at once. */
const PAGE = 1000;

const LIMITS: ObjectStoreLimits = {
  deleteBatch: 1,
  put: 5 * TEBIBYTE,
  // The store would take less; but each part is an object for a while, with its requests.
  leastPart: 5 * MEBIBYTE,
  mostPart: 5 * TEBIBYTE,
  parts: 32 * 32,
  copy: 5 * TEBIBYTE,
};

/** See the file comment. */
export class GcsStore implements ObjectStore {
  readonly limits = LIMITS;
  readonly service: string;
  /** Where copies of big objects go on that were interrupted. */
  readonly #rewrites = new Map<string, string>();

  constructor(
    private readonly api: GcsApi,
    private readonly bucket: string,
    /** Something else answers in place of Google, whose `ifAbsent` has to be tried out. */
    readonly mayIgnoreConditions = false,
  ) {
    this.service = api.endpoint;
  }

  async clockOffset(signal?: AbortSignal): Promise<number> {
    if (this.api.clockOffset === undefined) await this.list('', { limit: 1 }, signal);
    if (this.api.clockOffset === undefined)
      throw new ObjectStoreError('unsupported', 'the store does not tell the time');
    return this.api.clockOffset;
  }

  async head(key: string, signal?: AbortSignal): Promise<ObjectStatus | undefined> {
    const query = { fields: `${STATUS_FIELDS},metadata` };
    try {
      return toStatus(
        await this.api.sendForJson({ method: 'GET', path: this.#path(key), query, encryption: 'object', signal }),
      );
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async list(prefix: string, options: ListObjectsOptions = {}, signal?: AbortSignal): Promise<ObjectPage> {
    const answer = await this.api.sendForJson({
      method: 'GET',
      path: `${bucketPath(this.bucket)}/o`,
      query: {
        ...(prefix !== '' && { prefix }),
        delimiter: options.delimiter,
        maxResults: options.limit ?? PAGE,
        pageToken: options.token,
        fields: `nextPageToken,prefixes,items(${STATUS_FIELDS})`,
      },
      signal,
    });
    const { items = [], prefixes = [], nextPageToken } = answer;
    if (!Array.isArray(items) || !Array.isArray(prefixes)) throw new ObjectStoreError('other', 'the listing is none');
    return {
      objects: items.map(toStatus),
      prefixes: prefixes.map(String),
      token: typeof nextPageToken === 'string' && nextPageToken !== '' ? nextPageToken : undefined,
    };
  }

  async read(
    key: string,
    range: { readonly start: number; readonly end: number; readonly version?: string | undefined },
    target: Uint8Array,
    offset: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const { start, end, version } = range;
    if (start === end) return;
    const response = await this.api.send({
      method: 'GET',
      path: this.#path(key),
      query: { alt: 'media', ifGenerationMatch: version },
      headers: { range: `bytes=${start}-${end - 1}` },
      encryption: 'object',
      signal,
    });
    try {
      checkRange(response, start, end, version);
      await readBody(response.body ?? [], target, offset, end - start);
    } catch (error) {
      await response.body?.cancel().catch(() => undefined);
      if (error instanceof ObjectStoreError || error instanceof TransientFailure) throw error;
      await whole(Promise.reject(toConnectionError(error, signal)), signal);
    }
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}, signal?: AbortSignal): Promise<void> {
    const { body, contentType } = multipartBody({ name: key, ...describe(options) }, bytes);
    const answer = await this.api.sendForJson({
      method: 'POST',
      path: `/upload${bucketPath(this.bucket)}/o`,
      query: { uploadType: 'multipart', fields: 'size', ...condition(options) },
      headers: { 'content-type': contentType },
      body,
      encryption: 'object',
      signal,
    });
    if (Number(answer.size) !== bytes.byteLength) {
      throw new TransientFailure(new ObjectStoreError('other', `the store has ${answer.size} bytes of what was sent`));
    }
  }

  async startUpload(key: string, options: PutOptions = {}): Promise<ObjectUpload> {
    return new GcsUpload(this, this.api, this.bucket, key, options);
  }

  async copy(from: ObjectStatus, to: string, signal?: AbortSignal): Promise<void> {
    const { kmsKeyName, bucket }: GcsObjectStatus = from;
    const id = JSON.stringify([bucket, from.key, from.version, to]);
    for (;;) {
      const answer = await this.api.sendForJson({
        method: 'POST',
        path: `${objectPath(bucket ?? this.bucket, from.key)}/rewriteTo${this.#path(to).slice('/storage/v1'.length)}`,
        query: {
          ifSourceGenerationMatch: from.version,
          rewriteToken: this.#rewrites.get(id),
          // Without it the copy would be encrypted by the default of the bucket; another bucket has its own place and keys.
          destinationKmsKeyName:
            bucket === undefined ? kmsKeyName?.replace(/\/cryptoKeyVersions\/[^/]*$/, '') : undefined,
          fields: 'done,rewriteToken',
        },
        encryption: 'copy',
        signal,
      });
      this.#rewrites.delete(id);
      if (answer.done === true) return;
      if (typeof answer.rewriteToken !== 'string' || answer.rewriteToken === '') {
        throw new ObjectStoreError('other', 'the copy does not get ahead');
      }
      // A failure on the way is met by another attempt, which goes on from here.
      this.#rewrites.set(id, answer.rewriteToken);
    }
  }

  async delete(keys: readonly string[], signal?: AbortSignal): Promise<readonly (Error | undefined)[]> {
    const outcomes: (Error | undefined)[] = [];
    for (const key of keys) {
      try {
        await this.api.sendForNothing({ method: 'DELETE', path: this.#path(key), signal });
        outcomes.push(undefined);
      } catch (error) {
        signal?.throwIfAborted();
        outcomes.push(isMissing(error) ? undefined : toConnectionError(error, signal));
      }
    }
    return outcomes;
  }

  #path(key: string): string {
    return objectPath(this.bucket, key);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.kind === 'missing';
}

/** Refuses an answer with other bytes than those asked for. */
function checkRange(response: Response, start: number, end: number, version: string | undefined): void {
  const generation = response.headers.get('x-goog-generation');
  if (version !== undefined && generation !== null && generation !== version) {
    throw new ObjectStoreError('precondition', 'it was replaced by another object');
  }
  if (response.headers.has('content-encoding')) {
    throw new ObjectStoreError('unsupported', 'it is stored with a content encoding');
  }
  const first = /^bytes (\d+)-(\d+)\//.exec(response.headers.get('content-range') ?? '');
  const isAll = response.status === 200 && start === 0;
  const isRange =
    response.status === 206 && first !== null && Number(first[1]) === start && Number(first[2]) === end - 1;
  if (!isAll && !isRange) {
    throw new ObjectStoreError('other', `the store does not give bytes ${start} to ${end}`);
  }
}
