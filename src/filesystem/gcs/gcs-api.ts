/**
 * Requests to the JSON API of Google Cloud Storage. The SDK finds endpoint and credentials and keeps the token fresh; the
 * requests are sent from here, because those of the SDK cannot be aborted and are made again by it.
 */
import { asError } from '../../errors.js';
import { clockOffsetOf } from '../object-store/http-answers.js';
import { type ObjectStatus, ObjectStoreError } from '../object-store/object-store.js';
import { TransientFailure } from '../requests.js';
import { asksForPayer, readRefusal, toConnectionError, toCredentialsError, toRefusalError } from './gcs-errors.js';
import type { GcsOptions } from './gcs-options.js';

/** What requests are made with. */
export interface GcsAccess {
  /** Where all paths begin, without a slash at the end. */
  readonly endpoint: string;
  /** Headers that let a request in. Rejects with whatever the SDK rejects with. */
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
}

/** One request. */
export interface GcsRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Behind the endpoint, escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal | undefined;
  /** The key of the customer goes with it; `copy`: also the one of what is copied. */
  readonly encryption?: 'object' | 'copy';
}

/** Answers with a body of JSON are small, pages of 1,000 names of 1,024 characters included. */
const MOST_JSON_CHARACTERS = 64 * 1024 * 1024;

/** See the file comment. One for each bucket. */
export class GcsApi {
  #namesPayer: boolean;
  #clockOffset: number | undefined;

  constructor(
    private readonly access: GcsAccess,
    private readonly options: Pick<GcsOptions, 'userProject' | 'encryption' | 'secrets'>,
  ) {
    this.#namesPayer = options.userProject?.onlyIfAsked === false;
  }

  get endpoint(): string {
    return this.access.endpoint;
  }

  /** How far the store's clock was ahead when it answered last, in ms; undefined if it has not yet. */
  get clockOffset(): number | undefined {
    return this.#clockOffset;
  }

  /**
   * Sends a request, once.
   * @returns an answer of success, its body not read yet
   */
  async send(request: GcsRequest): Promise<Response> {
    const { signal } = request;
    signal?.throwIfAborted();
    const authorization = await this.#authorize(signal);
    const response = await this.#fetch(request, authorization, signal);
    this.#clockOffset = clockOffsetOf(response.headers.get('date')) ?? this.#clockOffset;
    if (response.ok) return response;
    const refusal = await readRefusal(response);
    signal?.throwIfAborted();
    if (asksForPayer(refusal) && this.options.userProject !== undefined && !this.#namesPayer) {
      this.#namesPayer = true;
      throw new TransientFailure(new ObjectStoreError('denied', 'the store asks which project pays'));
    }
    throw toRefusalError(refusal);
  }

  /** Sends a request, once. @returns its answer, an object of JSON */
  async sendForJson(request: GcsRequest): Promise<Readonly<Record<string, unknown>>> {
    const response = await this.send(request);
    const text = await whole(response.text(), request.signal);
    if (text.length > MOST_JSON_CHARACTERS) throw new ObjectStoreError('other', 'the answer is too long');
    return parseAnswer(text);
  }

  /** Sends a request, once, of whose answer nothing matters. */
  async sendForNothing(request: GcsRequest): Promise<void> {
    const response = await this.send(request);
    await whole(response.arrayBuffer(), request.signal);
  }

  async #authorize(signal: AbortSignal | undefined): Promise<Readonly<Record<string, string>>> {
    try {
      return await this.access.authorize();
    } catch (error) {
      signal?.throwIfAborted();
      throw toCredentialsError(error, this.options.secrets);
    }
  }

  async #fetch(
    request: GcsRequest,
    authorization: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    try {
      return await fetch(this.#urlOf(request), {
        method: request.method,
        // As it is stored: unpacked on the way it would have other ranges.
        headers: { 'accept-encoding': 'identity', ...request.headers, ...this.#keysOf(request), ...authorization },
        ...(request.body !== undefined && { body: request.body }),
        ...(signal && { signal }),
      });
    } catch (error) {
      throw toConnectionError(error, signal);
    }
  }

  #urlOf({ path, query = {} }: GcsRequest): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    if (this.#namesPayer && this.options.userProject) search.set('userProject', this.options.userProject.id);
    const text = search.toString();
    return `${this.access.endpoint}${path}${text === '' ? '' : `?${text}`}`;
  }

  #keysOf(request: GcsRequest): Readonly<Record<string, string>> {
    const { encryption } = this.options;
    if (encryption === undefined || request.encryption === undefined) return {};
    const prefixes = request.encryption === 'copy' ? ['x-goog-', 'x-goog-copy-source-'] : ['x-goog-'];
    return Object.fromEntries(
      prefixes.flatMap((prefix) => [
        [`${prefix}encryption-algorithm`, 'AES256'],
        [`${prefix}encryption-key`, encryption.key],
        [`${prefix}encryption-key-sha256`, encryption.hash],
      ]),
    );
  }
}

/** An object as this adapter knows it. */
export interface GcsObjectStatus extends ObjectStatus {
  /** The key of the customer in Google's key service that it is encrypted with. */
  readonly kmsKeyName?: string | undefined;
}

/** What is asked for of an object. */
export const STATUS_FIELDS = 'name,size,updated,generation,kmsKeyName';

/**
 * An object as the API describes it.
 * @throws ObjectStoreError if it is described otherwise
 */
export function toStatus(described: unknown): GcsObjectStatus {
  const { name, size, updated, generation, kmsKeyName, metadata } = asRecord(described);
  const bytes = Number(size ?? 0);
  const time = typeof updated === 'string' ? Date.parse(updated) : Number.NaN;
  if (typeof name !== 'string' || !Number.isSafeInteger(bytes) || bytes < 0 || Number.isNaN(time)) {
    throw new ObjectStoreError('other', 'the store describes an object in a way that is not understood');
  }
  const tag = asRecord(metadata ?? {})[TAG];
  return {
    key: name,
    size: bytes,
    modificationTime: time,
    version: typeof generation === 'string' || typeof generation === 'number' ? String(generation) : undefined,
    ...(typeof kmsKeyName === 'string' && { kmsKeyName }),
    ...(typeof tag === 'string' && { tag }),
  };
}

/** Name of the metadata that holds the tag of a writer. */
export const TAG = 'ckpt_tag';

/** Path of an object; `name` may hold anything. */
export function objectPath(bucket: string, name: string): string {
  return `${bucketPath(bucket)}/o/${encodeURIComponent(name)}`;
}

/** Path of a bucket. */
export function bucketPath(bucket: string): string {
  return `/storage/v1/b/${encodeURIComponent(bucket)}`;
}

/** A body, or why it did not arrive whole. */
export async function whole<T>(body: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await body;
  } catch (error) {
    const failure = toConnectionError(error, signal);
    if (failure instanceof TransientFailure) throw failure;
    // Whatever else goes wrong in the middle of an answer, the next one may come whole.
    throw new TransientFailure(asError(failure));
  }
}

function parseAnswer(text: string): Readonly<Record<string, unknown>> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new TransientFailure(new ObjectStoreError('other', 'the answer is no JSON'));
  }
  return asRecord(answer);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new ObjectStoreError('other', 'the answer is not understood');
}
