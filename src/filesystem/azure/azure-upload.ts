/** A large blob of blocks: they are there, for nobody to see, until their list is committed. */
import { randomBytes } from 'node:crypto';
import type { BlobRequestConditions, BlockBlobClient, Metadata } from '@azure/storage-blob';
import type { ObjectUpload, PutOptions } from '../object-store/object-store.js';

/** What an upload takes from its store. */
export interface AzureUploadParts {
  readonly conditionsOf: (options: PutOptions) => BlobRequestConditions;
  readonly metadata: Metadata;
  /** Makes a request and gives its errors their class. */
  readonly run: <T>(work: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;
}

/** See the file comment. */
export class AzureUpload implements ObjectUpload {
  /** Another upload of the same blob at the same time has other blocks. */
  readonly #id = randomBytes(12).toString('hex');

  constructor(
    private readonly blob: BlockBlobClient,
    private readonly options: PutOptions,
    private readonly parts: AzureUploadParts,
  ) {}

  async putPart(number: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const stage = () =>
      this.blob.stageBlock(this.#blockId(number), body, body.byteLength, { ...(signal && { abortSignal: signal }) });
    await this.parts.run(stage, signal);
  }

  async complete(parts: number, options: { readonly ifAbsent?: false } = {}): Promise<void> {
    const blocks = Array.from({ length: parts }, (_, index) => this.#blockId(index + 1));
    const { conditionsOf, metadata, run } = this.parts;
    const conditions = conditionsOf({ ...this.options, ...options });
    await run(() => this.blob.commitBlockList(blocks, { conditions, metadata }), undefined);
  }

  /** Blocks cannot be deleted; Azure drops after a week what nobody has committed. */
  async abort(): Promise<void> {}

  /** All of one length, as Azure wants it. */
  #blockId(number: number): string {
    return Buffer.from(`${this.#id}-${String(number).padStart(5, '0')}`, 'latin1').toString('base64');
  }
}
