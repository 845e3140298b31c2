/** What Flink's options say about S3: names of Flink's own plug-ins, of Hadoop's S3A and of Presto. */

/** How objects are to be encrypted by the store. */
export interface S3Encryption {
  readonly algorithm: 'AES256' | 'aws:kms' | 'aws:kms:dsse';
  /** Key of the key service; undefined: the default one. */
  readonly keyId: string | undefined;
}

/** Settings of one bucket. What is undefined is looked for by the SDK, in `AWS_*` variables and profiles. */
export interface S3Options {
  /** With its scheme. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly credentials: 'anonymous' | S3Credentials | undefined;
  readonly profile: string | undefined;
  /** The bucket is a part of the path, not of the host. */
  readonly isPathStyle: boolean;
  readonly isRequesterPays: boolean;
  readonly encryption: S3Encryption | undefined;
  /** File with certificates that are trusted besides the usual ones. */
  readonly certificates: string | undefined;
  /** Only if the user asked for it: certificates are not checked. */
  readonly skipsVerification: boolean;
  /** Connections at most. */
  readonly connections: number | undefined;
  /** Without a byte for so long, a request has failed; in ms. */
  readonly timeout: number;
  /** For users: what of the options cannot be done. */
  readonly ignored: readonly string[];
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const PREFIXES = ['s3.', 's3a.', 'fs.s3a.', 'presto.s3.', 'fs.s3.'];
const TIMEOUT_MILLISECONDS = 60_000;

/**
 * Reads the options of a bucket: `fs.s3a.bucket.NAME.KEY` before `s3.KEY`, `s3a.KEY`, `fs.s3a.KEY` and `presto.s3.KEY`.
 * @throws Error for a value that makes no sense, without the value
 */
export function readS3Options(
  configuration: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
  bucket: string,
): S3Options {
  const get = (...keys: readonly string[]) => lookUp(configuration, bucket, keys);
  const isSet = (...keys: readonly string[]) => get(...keys)?.toLowerCase() === 'true';
  const endpoint = withScheme(get('endpoint'), get('connection.ssl.enabled', 'ssl.enabled'));
  const encryption = readEncryption(get);
  const provider = get('aws.credentials.provider', 'credentials-provider') ?? '';
  return {
    endpoint,
    region: get('region', 'endpoint.region') ?? (environment.AWS_REGION || environment.AWS_DEFAULT_REGION || undefined),
    credentials: /Anonymous/.test(provider) ? 'anonymous' : readCredentials(get),
    profile: get('auth.profile.name'),
    isPathStyle: isTrue(get('path.style.access', 'path-style-access', 'path.style-access')) ?? isLocal(endpoint),
    isRequesterPays: isSet('requester.pays.enabled', 'requester-pays.enabled'),
    encryption,
    certificates: get('connection.ssl.ca') ?? (environment.AWS_CA_BUNDLE || undefined),
    skipsVerification: isTrue(get('connection.ssl.verify')) === false,
    connections: positive('connection.maximum', get('connection.maximum', 'max-connections')),
    timeout: milliseconds('connection.timeout', get('connection.timeout', 'socket-timeout')) ?? TIMEOUT_MILLISECONDS,
    ignored: [
      ...(get('assumed.role.arn', 'iam-role') === undefined
        ? []
        : ['the role in the options is not taken on: name a profile with role_arn instead']),
      ...(get('proxy.host') === undefined ? [] : ['the proxy in the options is not used']),
    ],
  };
}

/** The first of these that is set, for this bucket or for all. */
function lookUp(
  configuration: ReadonlyMap<string, string>,
  bucket: string,
  keys: readonly string[],
): string | undefined {
  for (const middle of [`bucket.${bucket}.`, '']) {
    for (const key of keys) {
      for (const prefix of PREFIXES) {
        const value = configuration.get(prefix + middle + key)?.trim();
        if (value !== undefined && value !== '') return value;
      }
    }
  }
  return undefined;
}

function readCredentials(get: (...keys: readonly string[]) => string | undefined): S3Credentials | undefined {
  const accessKeyId = get('access-key', 'access.key');
  const secretAccessKey = get('secret-key', 'secret.key');
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error(
      `the options have s3.${accessKeyId === undefined ? 'secret-key but no s3.access-key' : 'access-key but no s3.secret-key'}`,
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: get('session-token', 'session.token') };
}

function readEncryption(get: (...keys: readonly string[]) => string | undefined): S3Encryption | undefined {
  const prestoType = isTrue(get('sse.enabled')) ? (get('sse.type') ?? 'S3') : undefined;
  const name = get('encryption.algorithm', 'server-side-encryption-algorithm', 'server-side-encryption.algorithm');
  const keyId = get('encryption.key', 'server-side-encryption.key', 'server-side-encryption-key', 'sse.kms-key-id');
  const algorithm = name ?? prestoType;
  if (algorithm === undefined) return undefined;
  switch (algorithm.toUpperCase()) {
    case 'AES256':
    case 'SSE-S3':
    case 'S3':
      return { algorithm: 'AES256', keyId: undefined };
    case 'SSE-KMS':
    case 'AWS:KMS':
    case 'KMS':
      return { algorithm: 'aws:kms', keyId };
    case 'DSSE-KMS':
    case 'AWS:KMS:DSSE':
      return { algorithm: 'aws:kms:dsse', keyId };
    default:
      throw new Error('the encryption algorithm in the options is not one of AES256, SSE-KMS, DSSE-KMS');
  }
}

function withScheme(endpoint: string | undefined, isTls: string | undefined): string | undefined {
  if (endpoint === undefined || /^https?:\/\//i.test(endpoint)) return endpoint;
  return `${isTrue(isTls) === false ? 'http' : 'https'}://${endpoint}`;
}

/** Whether an endpoint is a host that has no names below it: the bucket can only be in the path. */
function isLocal(endpoint: string | undefined): boolean {
  if (endpoint === undefined) return false;
  try {
    const { hostname } = new URL(endpoint);
    return !hostname.includes('.') || /^[\d.]+$/.test(hostname);
  } catch {
    throw new Error('the endpoint in the options is no address');
  }
}

function isTrue(value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  return value.toLowerCase() !== 'false';
}

/** @throws Error if it is no count */
export function positive(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error(`the option ${name} is no count`);
  return Number(value);
}

const UNITS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

function milliseconds(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, digits, unit = ''] = /^(\d{1,9})\s*([a-z]*)$/.exec(value.toLowerCase()) ?? [];
  const factor = UNITS[unit];
  if (digits === undefined || factor === undefined) throw new Error(`the option ${name} is no duration`);
  return Number(digits) * factor;
}
