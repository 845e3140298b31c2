/** Clients of the AWS SDK as `ckpt` wants them: no retries and no guesses of their own, in the right region. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type * as Sdk from '@aws-sdk/client-s3';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { describeFailure, isClockSkew } from './s3-errors.js';
import type { S3Options } from './s3-options.js';

/** What the SDK exports. */
export type S3Sdk = typeof Sdk;

/** Requests in all that a change of region or clock may lead to. */
const CORRECTIONS = 2;
const DEFAULT_REGION = 'us-east-1';
const CONNECTION_MILLISECONDS = 10_000;

/** Loads the SDK, without its word about old versions of Node. */
export async function loadS3Sdk(): Promise<S3Sdk> {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  return import('@aws-sdk/client-s3');
}

/** Options of {@link S3Sender.open}. */
export interface S3SenderOptions {
  readonly options: S3Options;
  readonly bucket: string;
  /** Requests at once. */
  readonly connections: number;
  /** Header that stands for `If-None-Match: *` in this store. */
  readonly forbidOverwriteHeader?: string | undefined;
}

/**
 * Sends commands. It goes after the bucket if that is in another region, and sets its clock by the store's; anything else is
 * for whoever asked.
 */
export class S3Sender {
  #client: S3Client;
  #region: string;
  #clock = { offset: 0, isKnown: false };

  private constructor(
    readonly sdk: S3Sdk,
    private readonly configuration: S3ClientConfig,
    private readonly settings: S3SenderOptions,
    region: string,
  ) {
    this.#region = region;
    this.#client = this.#open();
  }

  /** @throws what reading a file of certificates fails with */
  static async open(settings: S3SenderOptions): Promise<S3Sender> {
    const sdk = await loadS3Sdk();
    const { options, connections } = settings;
    const agent = { keepAlive: true, maxSockets: connections };
    const tls = {
      ...(options.certificates !== undefined && { ca: await readFile(options.certificates) }),
      ...(options.skipsVerification && { rejectUnauthorized: false }),
    };
    const configuration: S3ClientConfig = {
      ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
      ...(options.profile !== undefined && { profile: options.profile }),
      ...credentialsOf(options),
      forcePathStyle: options.isPathStyle,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      expectContinueHeader: false,
      requestHandler: {
        connectionTimeout: CONNECTION_MILLISECONDS,
        socketTimeout: options.timeout,
        // Requests wait for each other by intent.
        socketAcquisitionWarningTimeout: 2 ** 31 - 1,
        httpAgent: agent,
        httpsAgent: { ...agent, ...tls },
      },
    };
    return new S3Sender(sdk, configuration, settings, options.region ?? (await regionOf(sdk, options.profile)));
  }

  /** ms that the store's clock is ahead, by its latest answer; undefined before the first one. */
  get clockOffset(): number | undefined {
    return this.#clock.isKnown ? this.#clock.offset : undefined;
  }

  /**
   * @param work sends one command; is called again with another client where that is what the store wants
   * @throws what the SDK throws
   */
  async send<T>(work: (client: S3Client) => Promise<T>): Promise<T> {
    for (let corrections = 0; ; corrections++) {
      const client = this.#client;
      const region = this.#region;
      try {
        return await work(client);
      } catch (error) {
        const failure = describeFailure(error);
        const isElsewhere = failure.region !== undefined && failure.region !== region;
        if (corrections === CORRECTIONS || !(isElsewhere || isClockSkew(failure))) throw error;
        if (isElsewhere && failure.region !== undefined && failure.region !== this.#region) {
          this.#region = failure.region;
          this.#client = this.#open();
        }
      }
    }
  }

  #open(): S3Client {
    const client = new this.sdk.S3Client({ ...this.configuration, region: this.#region });
    this.#useMd5(client);
    this.#forbidOverwriting(client);
    client.middlewareStack.add(
      (next) => async (args) => {
        const output = await next(args);
        this.#readClock(output.response);
        return output;
      },
      { step: 'deserialize', name: 'ckptClock', priority: 'low' },
    );
    return client;
  }

  /** Stores like S3 want an MD5 of a batch of deletions, and not all know the checksums of the SDK; AWS takes both. */
  #useMd5(client: S3Client): void {
    // Directory buckets are the only ones that refuse it.
    if (this.settings.bucket.endsWith('--x-s3')) return;
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const { request } = args;
        if (context.commandName === 'DeleteObjectsCommand' && isRequest(request)) {
          for (const header of Object.keys(request.headers)) {
            if (/^x-amz-(checksum-|sdk-checksum-algorithm)/i.test(header)) delete request.headers[header];
          }
          request.headers['content-md5'] = createHash('md5').update(request.body).digest('base64');
        }
        return next(args);
      },
      // Behind what adds the SDK's checksum, before the signing.
      { step: 'build', name: 'ckptMd5', priority: 'low' },
    );
  }

  #forbidOverwriting(client: S3Client): void {
    const { forbidOverwriteHeader } = this.settings;
    if (forbidOverwriteHeader === undefined) return;
    client.middlewareStack.add(
      (next) => async (args) => {
        const { request } = args;
        if (isHttpRequest(request) && request.headers['if-none-match'] !== undefined) {
          delete request.headers['if-none-match'];
          request.headers[forbidOverwriteHeader] = 'true';
        }
        return next(args);
      },
      { step: 'build', name: 'ckptForbidOverwrite', priority: 'low' },
    );
  }

  #readClock(response: unknown): void {
    if (!isHttpRequest(response)) return;
    const time = Date.parse(response.headers.date ?? '');
    if (Number.isNaN(time)) return;
    // The header has whole seconds: half a second is what it lacks on the average.
    this.#clock = { offset: Math.round(time + 500 - Date.now()), isKnown: true };
  }
}

function credentialsOf({ credentials }: S3Options): S3ClientConfig {
  if (credentials === undefined) return {};
  if (credentials !== 'anonymous') {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) } };
  }
  return {
    credentials: { accessKeyId: 'anonymous', secretAccessKey: 'anonymous' },
    signer: { sign: async (request) => request },
  };
}

/** The region of the environment or the profile; S3 itself tells if the bucket is elsewhere. */
async function regionOf(sdk: S3Sdk, profile: string | undefined): Promise<string> {
  try {
    return await new sdk.S3Client(profile === undefined ? {} : { profile }).config.region();
  } catch {
    return DEFAULT_REGION;
  }
}

interface HttpMessage {
  readonly headers: Record<string, string>;
}

function isHttpRequest(message: unknown): message is HttpMessage {
  return typeof message === 'object' && message !== null && 'headers' in message && typeof message.headers === 'object';
}

function isRequest(message: unknown): message is HttpMessage & { readonly body: string | Uint8Array } {
  return (
    isHttpRequest(message) &&
    'body' in message &&
    (typeof message.body === 'string' || message.body instanceof Uint8Array)
  );
}
