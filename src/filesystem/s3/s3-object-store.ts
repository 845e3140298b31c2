/** A bucket of S3, or of something that speaks its language, by the AWS SDK. */
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';
import type {
  ListObjectsOptions,
  ObjectPage,
  ObjectStatus,
  ObjectStore,
  ObjectStoreLimits,
  ObjectUpload,
  PutOptions,
} from '../object-store/object-store.js';
import { ObjectStoreError } from '../object-store/object-store.js';
import { TransientFailure } from '../requests.js';
import type { S3Sender } from './s3-client.js';
import { describeFailure, toKeyError, toStoreError } from './s3-errors.js';
import type { S3Encryption, S3Options } from './s3-options.js';

const MIB = 1024 * 1024;
/** Name of the user metadata that a {@link PutOptions.tag} is kept in. */
const TAG = 'ckpt-write';

/** How a bucket is spoken to. */
export interface S3StoreOptions {
  readonly bucket: string;
  readonly options: Pick<S3Options, 'isRequesterPays' | 'encryption' | 'endpoint'>;
}

/** An object, with what a copy of it must be told. */
interface S3ObjectStatus extends ObjectStatus {
  readonly encryption?: S3Encryption | undefined;
}

/** See the file comment. */
export class S3ObjectStore implements ObjectStore {
  readonly limits: ObjectStoreLimits = {
    deleteBatch: 1000,
    put: 5 * 1024 * MIB,
    leastPart: 5 * MIB,
    mostPart: 5 * 1024 * MIB,
    parts: 10_000,
    copy: 5 * 1024 * MIB,
  };
  readonly service: string;
  /** A store that is not AWS's own may let conditional headers pass unread. */
  readonly mayIgnoreConditions: boolean;
  readonly #bucket: string;
  readonly #payer: { readonly RequestPayer?: 'requester' };

  constructor(
    private readonly sender: S3Sender,
    private readonly settings: S3StoreOptions,
  ) {
    this.#bucket = settings.bucket;
    this.#payer = settings.options.isRequesterPays ? { RequestPayer: 'requester' } : {};
    this.mayIgnoreConditions = settings.options.endpoint !== undefined;
    this.service = settings.options.endpoint ?? 'aws';
  }

  async clockOffset(signal?: AbortSignal): Promise<number> {
    if (this.sender.clockOffset === undefined) {
      try {
        const { HeadBucketCommand } = this.sender.sdk;
        const command = { Bucket: this.#bucket };
        await this.sender.send((client) => client.send(new HeadBucketCommand(command), abortable(signal)));
      } catch (error) {
        const failure = toStoreError(error);
        // Any answer has the time.
        if (failure instanceof TransientFailure || this.sender.clockOffset === undefined) throw failure;
      }
    }
    return this.sender.clockOffset ?? 0;
  }

  async head(key: string, signal?: AbortSignal): Promise<ObjectStatus | undefined> {
    const { HeadObjectCommand } = this.sender.sdk;
    const command = { ...this.#object(key) };
    try {
      const answer = await this.sender.send((client) => client.send(new HeadObjectCommand(command), abortable(signal)));
      const status: S3ObjectStatus = {
        key,
        size: answer.ContentLength ?? 0,
        modificationTime: seconds(answer.LastModified),
        version: answer.ETag,
        isDirectory: key.endsWith('/') || answer.ContentType?.startsWith('application/x-directory') === true,
        tag: answer.Metadata?.[TAG],
        encryption: encryptionOf(answer.ServerSideEncryption, answer.SSEKMSKeyId),
      };
      return status;
    } catch (error) {
      const { status, code } = describeFailure(error);
      if (status === 404 && code !== 'NoSuchBucket') return undefined;
      // The answer to a HEAD has no body that could say why.
      if (status === 400 || status === 403) throw await this.#reason(key, error, signal);
      throw toStoreError(error);
    }
  }

  async list(prefix: string, options: ListObjectsOptions = {}, signal?: AbortSignal): Promise<ObjectPage> {
    const { ListObjectsV2Command } = this.sender.sdk;
    const command = {
      Bucket: this.#bucket,
      Prefix: prefix,
      EncodingType: 'url' as const,
      ...(options.delimiter !== undefined && { Delimiter: options.delimiter }),
      ...(options.token !== undefined && { ContinuationToken: options.token }),
      ...(options.limit !== undefined && { MaxKeys: options.limit }),
      ...this.#payer,
    };
    const answer = await this.#send((client) => client.send(new ListObjectsV2Command(command), abortable(signal)));
    if (answer.IsTruncated === true && !answer.NextContinuationToken) {
      throw new ObjectStoreError('other', 'the store says that there is more to list, but not how to get it');
    }
    const decode = answer.EncodingType === 'url' ? decodeKey : (key: string) => key;
    const objects = (answer.Contents ?? []).map(({ Key, Size, LastModified, ETag }) => ({
      key: this.#listed(prefix, decode(Key ?? '')),
      size: Size ?? 0,
      modificationTime: seconds(LastModified),
      version: ETag,
    }));
    const prefixes = (answer.CommonPrefixes ?? []).map(({ Prefix = '' }) => this.#listed(prefix, decode(Prefix)));
    return { objects, prefixes, token: answer.IsTruncated === true ? answer.NextContinuationToken : undefined };
  }

  async read(
    key: string,
    { start, end, version }: { readonly start: number; readonly end: number; readonly version?: string | undefined },
    target: Uint8Array,
    offset: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (start === end) return;
    const { GetObjectCommand } = this.sender.sdk;
    const command = {
      ...this.#object(key),
      Range: `bytes=${start}-${end - 1}`,
      ...(version !== undefined && { IfMatch: version }),
    };
    const answer = await this.#send((client) => client.send(new GetObjectCommand(command), abortable(signal)));
    const body = answer.Body as Readable | undefined;
    if (body === undefined) throw new ObjectStoreError('other', 'the store sent nothing');
    if (answer.ContentRange !== undefined && !answer.ContentRange.startsWith(`bytes ${start}-${end - 1}/`)) {
      body.destroy();
      throw new ObjectStoreError('other', `the store sent another range than bytes ${start} to ${end}`);
    }
    // Without that header it is the whole object.
    await fill(
      body,
      target.subarray(offset, offset + end - start),
      answer.ContentRange === undefined ? start : 0,
      signal,
    );
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}, signal?: AbortSignal): Promise<void> {
    const { PutObjectCommand } = this.sender.sdk;
    const command = {
      ...this.#object(key),
      Body: bytes,
      ContentLength: bytes.byteLength,
      ...this.#creation(options.tag),
      ...(options.ifAbsent && { IfNoneMatch: '*' }),
    };
    try {
      await this.sender.send((client) => client.send(new PutObjectCommand(command), abortable(signal)));
    } catch (error) {
      throw this.#conditional(error, options.ifAbsent === true);
    }
  }

  async startUpload(key: string, options: PutOptions = {}): Promise<ObjectUpload> {
    return this.#startUpload(key, options, this.#creation(options.tag));
  }

  async copy(from: ObjectStatus, to: string, signal?: AbortSignal): Promise<void> {
    const { CopyObjectCommand } = this.sender.sdk;
    const command = { ...this.#object(to), ...this.#source(from), ...this.#encryption(from) };
    await this.#send((client) => client.send(new CopyObjectCommand(command), abortable(signal)));
  }

  async startCopy(from: ObjectStatus, to: string): Promise<ObjectUpload> {
    return this.#startUpload(to, {}, this.#encryption(from), from);
  }

  async delete(keys: readonly string[], signal?: AbortSignal): Promise<readonly (Error | undefined)[]> {
    const batch = keys.filter(isText);
    if (keys.length === 1 || batch.length === 0) return this.#deleteEach(keys, signal);
    const { DeleteObjectsCommand } = this.sender.sdk;
    const command = {
      Bucket: this.#bucket,
      Delete: { Objects: batch.map((Key) => ({ Key })), Quiet: true },
      ...this.#payer,
    };
    const failures = new Map<string, Error | undefined>();
    const answer = await this.#send((client) => client.send(new DeleteObjectsCommand(command), abortable(signal)));
    for (const { Key, Code, Message } of answer.Errors ?? []) {
      if (Key !== undefined) failures.set(Key, toKeyError(Code, Message));
    }
    // XML has no words for some characters.
    const others = keys.filter((key) => !isText(key));
    for (const [index, failure] of (await this.#deleteEach(others, signal)).entries()) {
      failures.set(others[index] ?? '', failure);
    }
    return keys.map((key) => failures.get(key));
  }

  async #deleteEach(keys: readonly string[], signal: AbortSignal | undefined): Promise<(Error | undefined)[]> {
    const { DeleteObjectCommand } = this.sender.sdk;
    const failures: (Error | undefined)[] = [];
    for (const key of keys) {
      try {
        const command = this.#object(key);
        await this.sender.send((client) => client.send(new DeleteObjectCommand(command), abortable(signal)));
        failures.push(undefined);
      } catch (error) {
        const { status, code } = describeFailure(error);
        failures.push(status === 404 && code !== 'NoSuchBucket' ? undefined : toStoreError(error));
      }
    }
    return failures;
  }

  async #startUpload(
    key: string,
    { ifAbsent = false }: PutOptions,
    creation: Readonly<Record<string, unknown>>,
    source?: ObjectStatus,
  ): Promise<ObjectUpload> {
    const { sdk } = this.sender;
    const object = this.#object(key);
    const { UploadId } = await this.#send((client) =>
      client.send(new sdk.CreateMultipartUploadCommand({ ...object, ...creation })),
    );
    if (UploadId === undefined) throw new ObjectStoreError('other', 'the store gave the upload no name');
    const upload = { ...object, UploadId };
    const parts = new Map<number, string | undefined>();
    return {
      putPart: async (number, bytes, signal) => {
        const part = { ...upload, PartNumber: number, Body: bytes, ContentLength: bytes.byteLength };
        const { ETag } = await this.#send((client) => client.send(new sdk.UploadPartCommand(part), abortable(signal)));
        parts.set(number, ETag);
      },
      copyPart: async (number, { start, end }, signal) => {
        if (source === undefined) throw new ObjectStoreError('unsupported', 'this upload is no copy');
        const range = { CopySourceRange: `bytes=${start}-${end - 1}` };
        const part = { ...upload, PartNumber: number, ...this.#source(source), ...range };
        const { CopyPartResult } = await this.#send((client) =>
          client.send(new sdk.UploadPartCopyCommand(part), abortable(signal)),
        );
        parts.set(number, CopyPartResult?.ETag);
      },
      complete: async (count, options) => {
        const isConditional = options?.ifAbsent ?? ifAbsent;
        const Parts = Array.from({ length: count }, (_, index) => ({
          PartNumber: index + 1,
          ETag: parts.get(index + 1),
        }));
        const end = { ...upload, MultipartUpload: { Parts }, ...(isConditional && { IfNoneMatch: '*' }) };
        try {
          await this.sender.send((client) => client.send(new sdk.CompleteMultipartUploadCommand(end)));
        } catch (error) {
          throw this.#conditional(error, isConditional, 'complete');
        }
      },
      abort: async () => {
        await this.#send((client) => client.send(new sdk.AbortMultipartUploadCommand(upload)));
      },
    };
  }

  async #send<T>(
    work: Parameters<S3Sender['send']>[0] extends (client: infer C) => unknown ? (client: C) => Promise<T> : never,
  ): Promise<T> {
    try {
      return await this.sender.send(work);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** What a request that was to create something new was refused with. */
  #conditional(error: unknown, isConditional: boolean, step: 'put' | 'complete' = 'put'): Error {
    const failure = toStoreError(error);
    const { status, code } = describeFailure(error);
    if (!isConditional || status !== 409 || code === 'FileAlreadyExists') return failure;
    // Somebody else is writing the same key at this moment: parts cannot be sent again, an object can.
    if (step === 'complete') return new ObjectStoreError('precondition', 'another program writes the same object');
    return failure instanceof TransientFailure || failure instanceof ObjectStoreError === false
      ? failure
      : new TransientFailure(failure);
  }

  /** Why a HEAD was refused, by a GET of one byte. */
  async #reason(key: string, refusal: unknown, signal: AbortSignal | undefined): Promise<Error> {
    const { GetObjectCommand } = this.sender.sdk;
    try {
      const command = { ...this.#object(key), Range: 'bytes=0-0' };
      const answer = await this.sender.send((client) => client.send(new GetObjectCommand(command), abortable(signal)));
      (answer.Body as Readable | undefined)?.destroy();
    } catch (error) {
      const { status, code } = describeFailure(error);
      if (code !== '' && status !== 404 && status !== 416) return toStoreError(error);
    }
    return toStoreError(refusal);
  }

  #object(key: string): { readonly Bucket: string; readonly Key: string; readonly RequestPayer?: 'requester' } {
    return { Bucket: this.#bucket, Key: key, ...this.#payer };
  }

  #creation(tag: string | undefined): Readonly<Record<string, unknown>> {
    return {
      ...(tag !== undefined && { Metadata: { [TAG]: tag } }),
      ...encryptionParameters(this.settings.options.encryption),
    };
  }

  #source(from: ObjectStatus): { readonly CopySource: string; readonly CopySourceIfMatch?: string } {
    const key = from.key.split('/').map(encodeURIComponent).join('/');
    return {
      CopySource: `${from.bucket ?? this.#bucket}/${key}`,
      ...(from.version !== undefined && { CopySourceIfMatch: from.version }),
    };
  }

  /** A copy is encrypted as the options say, else as its source is: the store by itself would take the bucket's default. */
  #encryption(from: S3ObjectStatus): Readonly<Record<string, unknown>> {
    return encryptionParameters(this.settings.options.encryption ?? from.encryption);
  }

  #listed(prefix: string, key: string): string {
    if (key.startsWith(prefix)) return key;
    throw new ObjectStoreError('other', 'the store listed what was not asked for');
  }
}

/** Puts what follows the first `skip` bytes of a stream into the whole of `target`. */
async function fill(body: Readable, target: Uint8Array, skip: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal) addAbortSignal(signal, body);
  let position = -skip;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      const from = Math.max(0, -position);
      const length = Math.min(chunk.length - from, target.length - Math.max(0, position));
      if (length > 0) target.set(chunk.subarray(from, from + length), Math.max(0, position));
      position += chunk.length;
      if (position >= target.length && skip > 0) break;
    }
  } catch (error) {
    signal?.throwIfAborted();
    const { message } = describeFailure(error);
    const failure = new ObjectStoreError(
      'other',
      `the connection broke after ${Math.max(0, position)} bytes: ${message}`,
    );
    throw new TransientFailure(failure);
  }
  if (position < target.length) {
    throw new TransientFailure(new ObjectStoreError('other', `the store sent ${position} of ${target.length} bytes`));
  }
}

function abortable(signal: AbortSignal | undefined): { readonly abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {};
}

/** Listings may be more exact than headers; two times of one object must be the same. */
function seconds(time: Date | undefined): number {
  return time === undefined ? 0 : Math.floor(time.getTime() / 1000) * 1000;
}

/** @throws ObjectStoreError if the text is not what it should be */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new ObjectStoreError('other', 'the store listed a key that is no UTF-8');
  }
}

/** True if XML can hold the key as it is. */
function isText(key: string): boolean {
  return !/[\p{Cc}\ufffe\uffff]/u.test(key);
}

function encryptionOf(algorithm: string | undefined, keyId: string | undefined): S3Encryption | undefined {
  switch (algorithm) {
    case 'AES256':
      return { algorithm, keyId: undefined };
    case 'aws:kms':
    case 'aws:kms:dsse':
      return { algorithm, keyId };
    default:
      return undefined;
  }
}

function encryptionParameters(encryption: S3Encryption | undefined): Readonly<Record<string, unknown>> {
  if (encryption === undefined) return {};
  const { algorithm, keyId } = encryption;
  return { ServerSideEncryption: algorithm, ...(keyId !== undefined && { SSEKMSKeyId: keyId }) };
}
