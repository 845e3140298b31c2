/** Azure Blob Storage as an {@link ObjectStore}. */
import type { BlobItem, BlobRequestConditions, Metadata } from '@azure/storage-blob';
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
import type { AzureContainer } from './azure-client.js';
import { copyBlob } from './azure-copy.js';
import { deleteBatch } from './azure-delete.js';
import { isMissing, toAzureError } from './azure-errors.js';
import { parseAzureLocation } from './azure-location.js';
import { AzureUpload } from './azure-upload.js';

const MEBIBYTE = 1024 * 1024;

/** Azure gives 5,000 at most; a page is held in memory as a whole. */
const PAGE = 1000;

const LIMITS: ObjectStoreLimits = {
  deleteBatch: 256,
  put: 5000 * MEBIBYTE,
  leastPart: 1,
  mostPart: 4000 * MEBIBYTE,
  parts: 50_000,
  copy: Number.MAX_SAFE_INTEGER,
};

/** Metadata by which Hadoop marks a directory, and with a hierarchical namespace Azure itself. */
const FOLDER = 'hdi_isfolder';
/** Metadata that holds the tag of a writer. */
const TAG = 'ckpt_tag';

/**
 * See the file comment. The marker of a directory, whose key ends with a slash, is kept as Azure and Hadoop keep it: an empty
 * blob with the name of the directory itself and a word in its metadata; a hierarchical namespace makes a directory of it.
 * Azure takes a backslash in a name for a slash: no blob has one, and none is written or deleted by such a name.
 */
export class AzureStore implements ObjectStore {
  readonly limits = LIMITS;
  #clockOffset: number | undefined;

  constructor(
    private readonly container: AzureContainer,
    /** URL of the account: containers of one account copy from each other. */
    readonly service: string,
    /** Texts that no message may have. */
    private readonly secrets: readonly string[],
    /** Something else answers in place of Azure, whose `ifAbsent` has to be tried out. */
    readonly mayIgnoreConditions = false,
  ) {}

  async clockOffset(signal?: AbortSignal): Promise<number> {
    if (this.#clockOffset === undefined) await this.list('', { limit: 1 }, signal);
    if (this.#clockOffset === undefined) throw new ObjectStoreError('unsupported', 'the store does not tell the time');
    return this.#clockOffset;
  }

  async head(key: string, signal?: AbortSignal): Promise<ObjectStatus | undefined> {
    const found = await this.#head(key, signal);
    if (found !== undefined || !key.endsWith('/')) return found;
    const marker = await this.#head(key.slice(0, -1), signal);
    return marker?.isDirectory ? marker : undefined;
  }

  async list(prefix: string, options: ListObjectsOptions = {}, signal?: AbortSignal): Promise<ObjectPage> {
    const { client } = this.container;
    const asked = { prefix, includeMetadata: true, ...abortedBy(signal) };
    const settings = {
      ...(options.token !== undefined && { continuationToken: options.token }),
      maxPageSize: options.limit ?? PAGE,
    };
    return this.#do(async () => {
      if (options.delimiter === undefined) {
        const { value } = await client.listBlobsFlat(asked).byPage(settings).next();
        this.#noteTime(value?.date);
        return toPage(value?.segment.blobItems ?? [], [], value?.continuationToken);
      }
      const { value } = await client.listBlobsByHierarchy(options.delimiter, asked).byPage(settings).next();
      this.#noteTime(value?.date);
      const prefixes: { readonly name: string }[] = value?.segment.blobPrefixes ?? [];
      return toPage(
        value?.segment.blobItems ?? [],
        prefixes.map(({ name }) => name),
        value?.continuationToken,
      );
    }, signal);
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
    await this.#do(async () => {
      const { readableStreamBody: body } = await this.container.client.getBlobClient(key).download(start, end - start, {
        // Another attempt is another request.
        maxRetryRequests: 0,
        ...(version !== undefined && { conditions: { ifMatch: version } }),
        ...abortedBy(signal),
      });
      if (body === undefined) throw new ObjectStoreError('other', 'the answer has no body');
      await readBody(bytesOf(body), target, offset, end - start);
    }, signal);
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}, signal?: AbortSignal): Promise<void> {
    const isMarker = key.endsWith('/') && bytes.byteLength === 0;
    const blob = this.container.client.getBlockBlobClient(isMarker ? key.slice(0, -1) : key);
    await this.#do(async () => {
      checkName(key);
      const { date } = await blob.upload(asBody(bytes), bytes.byteLength, {
        conditions: conditionsOf(options),
        metadata: metadataOf(options, isMarker),
        ...abortedBy(signal),
      });
      this.#noteTime(date);
    }, signal);
  }

  async startUpload(key: string, options: PutOptions = {}): Promise<ObjectUpload> {
    checkName(key);
    return new AzureUpload(this.container.client.getBlockBlobClient(key), options, {
      conditionsOf,
      metadata: metadataOf(options, false),
      run: (work, signal) => this.#do(work, signal),
    });
  }

  async copy(from: ObjectStatus, to: string, signal?: AbortSignal): Promise<void> {
    const { client, urlOf } = this.container;
    checkName(to);
    const source =
      from.bucket === undefined
        ? client.getBlobClient(from.key).url
        : urlOf(parseAzureLocation('abfss', from.bucket).container, from.key);
    await this.#do(() => copyBlob(source, client.getBlobClient(to), from.version, signal), signal);
  }

  async delete(keys: readonly string[], signal?: AbortSignal): Promise<readonly (Error | undefined)[]> {
    for (const key of keys) checkName(key);
    const [only] = keys;
    if (keys.length > 1) return this.#do(() => deleteBatch(this.container, keys, this.secrets, signal), signal);
    if (only === undefined) return [];
    try {
      await this.#do(() => this.container.client.getBlobClient(only).delete(abortedBy(signal)), signal);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return [undefined];
  }

  async #head(key: string, signal: AbortSignal | undefined): Promise<ObjectStatus | undefined> {
    if (key.includes('\\')) return undefined;
    try {
      const found = await this.#do(
        () => this.container.client.getBlobClient(key).getProperties(abortedBy(signal)),
        signal,
      );
      this.#noteTime(found.date);
      return toStatus(key, found, found.metadata);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #noteTime(date: Date | undefined): void {
    if (date !== undefined && !Number.isNaN(date.getTime())) this.#clockOffset = date.getTime() - Date.now();
  }

  async #do<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      signal?.throwIfAborted();
      return await work();
    } catch (error) {
      throw toAzureError(error, this.secrets, signal);
    }
  }
}

function toPage(items: readonly BlobItem[], prefixes: readonly string[], token: string | undefined): ObjectPage {
  return {
    objects: items.map(({ name, properties, metadata }) => toStatus(name, properties, metadata)),
    prefixes,
    token: token === '' ? undefined : token,
  };
}

function toStatus(
  key: string,
  properties: {
    readonly contentLength?: number | undefined;
    readonly lastModified?: Date | undefined;
    readonly etag?: string | undefined;
  },
  metadata: Metadata | undefined,
): ObjectStatus {
  const { contentLength = 0, lastModified, etag } = properties;
  if (lastModified === undefined)
    throw new ObjectStoreError('other', 'the store does not tell when a blob was written');
  const tag = metadataValue(metadata, TAG);
  return {
    key,
    size: contentLength,
    modificationTime: lastModified.getTime(),
    // A listing gives it bare, every other answer in quotes.
    version: etag === undefined ? undefined : `"${etag.replace(/^"|"$/g, '')}"`,
    ...(metadataValue(metadata, FOLDER)?.toLowerCase() === 'true' && { isDirectory: true }),
    ...(tag !== undefined && { tag }),
  };
}

/** The names of metadata keep their case, and some tools write them large. */
function metadataValue(metadata: Metadata | undefined, name: string): string | undefined {
  return Object.entries(metadata ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}

function checkName(key: string): void {
  if (key.includes('\\')) throw new ObjectStoreError('other', 'Azure takes a backslash in a name for a slash');
}

function metadataOf({ tag }: PutOptions, isMarker: boolean): Metadata {
  return { ...(tag !== undefined && { [TAG]: tag }), ...(isMarker && { [FOLDER]: 'true' }) };
}

function conditionsOf({ ifAbsent }: PutOptions): BlobRequestConditions {
  return ifAbsent === true ? { ifNoneMatch: '*' } : {};
}

function abortedBy(signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}

function asBody(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function* bytesOf(body: NodeJS.ReadableStream): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) yield typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
}
