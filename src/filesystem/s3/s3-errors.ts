/** What a failed request to S3 means, and what may be said of it: never a credential, never a signed address. */
import { asError } from '../../errors.js';
import { ObjectStoreError, type ObjectStoreErrorKind } from '../object-store/object-store.js';
import { TransientFailure } from '../requests.js';

/** What a failure of the SDK tells. */
export interface S3Failure {
  /** The store's own word (`NoSuchKey`), or the code of a broken connection (`ECONNRESET`); may be empty. */
  readonly code: string;
  /** Of HTTP; undefined if there was no answer. */
  readonly status: number | undefined;
  readonly message: string;
  /** Where the store says that the bucket is. */
  readonly region: string | undefined;
  /** ms to wait, if the store asked for it. */
  readonly retryAfter: number | undefined;
}

const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 509]);
const PASSING_CODES: ReadonlySet<string> = new Set([
  'SlowDown',
  'InternalError',
  'ServiceUnavailable',
  'RequestTimeout',
  'RequestTimeoutException',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'TooManyRequests',
  'RequestLimitExceeded',
  'BandwidthLimitExceeded',
  'OperationAborted',
  'PriorRequestNotComplete',
  'IncompleteBody',
  'TimeoutError',
  'AbortError',
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
]);
const MISSING: ReadonlySet<string> = new Set([
  'NoSuchKey',
  'NoSuchBucket',
  'NoSuchUpload',
  'NotFound',
  'NoSuchVersion',
]);
const DENIED: ReadonlySet<string> = new Set([
  'AccessDenied',
  'Forbidden',
  'AccountProblem',
  'AllAccessDisabled',
  'CredentialsProviderError',
  'TokenProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  'InvalidPayer',
  'InvalidSecurity',
  'InvalidToken',
  'MissingSecurityHeader',
  'NotSignedUp',
  'RequestExpired',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
  'UnauthorizedAccess',
  'UnrecognizedClientException',
]);
const PRECONDITION: ReadonlySet<string> = new Set(['PreconditionFailed', 'FileAlreadyExists', 'ObjectAlreadyExists']);
const UNSUPPORTED: ReadonlySet<string> = new Set(['NotImplemented', 'MethodNotAllowed', 'XNotImplemented']);
const EXPIRED: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'TokenRefreshRequired',
]);

/** Takes a failure of the SDK apart. */
export function describeFailure(thrown: unknown): S3Failure {
  const error = asError(thrown);
  const fields = error as unknown as Readonly<Record<string, unknown>>;
  const response = asRecord(fields.$response);
  const headers = asRecord(response.headers);
  const status = numberOf(asRecord(fields.$metadata).httpStatusCode) ?? numberOf(response.statusCode);
  const code = [fields.Code, fields.code, error.name].find((name) => typeof name === 'string' && !isVague(name));
  const region = textOf(headers['x-amz-bucket-region']) ?? textOf(fields.Region);
  return {
    code: textOf(code) ?? '',
    status,
    message: sanitize(unparsed(error.message)),
    region,
    retryAfter: retryAfter(textOf(headers['retry-after'])),
  };
}

/** The error that an `ObjectStore` rejects with. */
export function toStoreError(thrown: unknown): Error {
  if (thrown instanceof ObjectStoreError || thrown instanceof TransientFailure) return thrown;
  const failure = describeFailure(thrown);
  const error = new ObjectStoreError(kindOf(failure), describe(failure));
  return isPassing(failure) ? new TransientFailure(error, { retryAfter: failure.retryAfter }) : error;
}

/** The error of one key in a batch that was answered. */
export function toKeyError(code: string | undefined, message: string | undefined): Error | undefined {
  const failure: S3Failure = {
    code: code ?? '',
    status: undefined,
    message: sanitize(message ?? ''),
    region: undefined,
    retryAfter: undefined,
  };
  if (MISSING.has(failure.code) && failure.code !== 'NoSuchBucket') return undefined;
  const error = new ObjectStoreError(kindOf(failure), describe(failure));
  return isPassing(failure) ? new TransientFailure(error) : error;
}

/** True if another clock or region would have made the request right: the SDK has taken the clock over by then. */
export function isClockSkew({ code }: S3Failure): boolean {
  return code === 'RequestTimeTooSkewed' || code === 'RequestInTheFuture';
}

function kindOf({ code, status }: S3Failure): ObjectStoreErrorKind {
  if (MISSING.has(code)) return 'missing';
  if (PRECONDITION.has(code)) return 'precondition';
  if (UNSUPPORTED.has(code)) return 'unsupported';
  if (DENIED.has(code)) return 'denied';
  // The object is in an archive: nobody's rights are to blame.
  if (code === 'InvalidObjectState') return 'other';
  switch (status) {
    case 404:
      return 'missing';
    case 412:
      return 'precondition';
    case 401:
    case 403:
      return 'denied';
    case 405:
    case 501:
      return 'unsupported';
    default:
      return 'other';
  }
}

function isPassing({ code, status, message }: S3Failure): boolean {
  if (PASSING_CODES.has(code)) return true;
  if (status !== undefined && PASSING_STATUSES.has(status)) return true;
  // An answer that was cut: what arrived of it makes no sense.
  if (status !== undefined && status < 300) return true;
  return status === undefined && /socket hang up|aborted|premature close/i.test(message);
}

function describe({ code, status, message }: S3Failure): string {
  if (EXPIRED.has(code)) return `the credentials have expired (${code})`;
  if (code === 'CredentialsProviderError') return `no usable credentials were found: ${message}`;
  const what = message === '' || message === code || isVague(message) ? '' : message;
  const facts = [code, status === undefined ? '' : `status ${status}`].filter((fact) => fact !== '').join(', ');
  if (what === '') return facts === '' ? 'the store gave no reason' : `the store refused (${facts})`;
  return facts === '' ? what : `${what} (${facts})`;
}

/** What the SDK says of an answer that is no XML, as of a proxy, is about itself. */
function unparsed(message: string): string {
  return /XML parse error|Deserialization error/.test(message) ? 'the answer is not one of S3' : message;
}

function isVague(name: string): boolean {
  return ['Error', 'UnknownError', 'Unknown', 'S3ServiceException', 'TypeError', 'SyntaxError'].includes(name);
}

/** Takes out of a text what could let somebody in. */
export function sanitize(text: string): string {
  return text
    .replace(/([?&])X-Amz-[A-Za-z-]+=[^&\s"'<>]*/gi, '$1…')
    .replace(
      /\b(Signature|Credential|AWSAccessKeyId|x-amz-security-token|SecurityToken)\s*[=:]\s*[^&,\s"'<>]+/gi,
      '$1=…',
    )
    .replace(/\bAWS4-HMAC-SHA256[^\n]*/g, '…')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 500);
}

function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
