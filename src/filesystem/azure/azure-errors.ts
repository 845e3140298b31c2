/** What Azure Blob Storage answers when it refuses, and what a connection fails with. */
import { asError } from '../../errors.js';
import { isPassingStatus, passingConnectionFailure, retryAfterOf, shownText } from '../object-store/http-answers.js';
import { ObjectStoreError, type ObjectStoreErrorKind } from '../object-store/object-store.js';
import { TransientFailure } from '../requests.js';

/** A refusal as it came. */
export interface AzureRefusal {
  readonly status: number;
  /** Azure's word for the reason (`BlobNotFound`); empty if there is none. */
  readonly code: string;
  readonly message: string;
  readonly retryAfter?: number | undefined;
}

const KINDS: ReadonlyMap<string, ObjectStoreErrorKind> = new Map([
  ['BlobAlreadyExists', 'precondition'],
  ['BlobImmutableDueToPolicy', 'denied'],
  ['BlobNotFound', 'missing'],
  // The token or role is not good for the source.
  ['CannotVerifyCopySource', 'denied'],
  ['ConditionNotMet', 'precondition'],
  ['ContainerBeingDeleted', 'missing'],
  ['ContainerNotFound', 'missing'],
  ['FeatureNotYetSupportedForHierarchicalNamespaceAccounts', 'unsupported'],
  // Somebody holds a lease on it.
  ['LeaseIdMissing', 'other'],
  ['PathAlreadyExists', 'precondition'],
  ['PathNotFound', 'missing'],
  ['ResourceNotFound', 'missing'],
  ['SourceConditionNotMet', 'precondition'],
  ['TargetConditionNotMet', 'precondition'],
  ['UnsupportedHttpVerb', 'unsupported'],
]);
const PASSING_CODES = new Set(['InternalError', 'OperationTimedOut', 'ServerBusy', 'RequestTimeout']);

/** The error for a refusal: an {@link ObjectStoreError}, or a `TransientFailure` around one. */
export function toRefusalError(refusal: AzureRefusal, secrets: readonly string[] = []): Error {
  const { status, code, message, retryAfter } = refusal;
  const words = shownText(message, secrets);
  // Azure repeats its code in words; without words the code has to do.
  const shown = [status, code, words === code ? '' : words].filter((part) => part !== '').join(' ');
  if (isPassingStatus(status) || PASSING_CODES.has(code)) {
    return new TransientFailure(new ObjectStoreError('other', shown), { retryAfter });
  }
  return new ObjectStoreError(KINDS.get(code) ?? kindOf(status), shown);
}

/**
 * The error for whatever the SDK has thrown. The original may hold a signed request and is not kept.
 * @throws the reason of the signal, if that is why
 */
export function toAzureError(thrown: unknown, secrets: readonly string[], signal?: AbortSignal): Error {
  signal?.throwIfAborted();
  if (thrown instanceof ObjectStoreError || thrown instanceof TransientFailure) return thrown;
  const error = asError(thrown);
  if (isCredentialFailure(error)) {
    const passing = passingConnectionFailure(error);
    const refused = new ObjectStoreError('denied', `no access token: ${shownText(error.message, secrets)}`);
    return passing === undefined ? refused : new TransientFailure(refused);
  }
  const status = field(error, 'statusCode');
  if (typeof status === 'number') return toRefusalError(refusalOf(error, status), secrets);
  const passing = passingConnectionFailure(error) ?? passingWords(error);
  const failure = new ObjectStoreError('other', shownText(passing ?? error.message, secrets));
  return passing === undefined ? failure : new TransientFailure(failure);
}

/** True if the object, or the container, is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.kind === 'missing';
}

function refusalOf(error: Error, status: number): AzureRefusal {
  const headers = field(field(error, 'response'), 'headers');
  const header = (name: string): string | undefined => {
    const get = field(headers, 'get');
    const value: unknown = typeof get === 'function' ? get.call(headers, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const code = field(field(error, 'details'), 'errorCode') ?? field(error, 'code') ?? header('x-ms-error-code');
  const milliseconds = Number(header('retry-after-ms') ?? header('x-ms-retry-after-ms') ?? Number.NaN);
  return {
    status,
    code: typeof code === 'string' ? code : '',
    message: error.message,
    retryAfter: milliseconds >= 0 ? milliseconds : retryAfterOf(header('retry-after')),
  };
}

function kindOf(status: number): ObjectStoreErrorKind {
  switch (status) {
    case 401:
    case 403:
      return 'denied';
    case 404:
      return 'missing';
    case 412:
      return 'precondition';
    case 405:
    case 501:
      return 'unsupported';
    default:
      return 'other';
  }
}

/** Failures of `@azure/identity`, which is not loaded here. */
function isCredentialFailure(error: Error): boolean {
  return /^(?:AggregateAuthentication|Authentication|AuthenticationRequired|CredentialUnavailable)Error$/.test(
    error.name,
  );
}

/** What the SDK says, in words only, of connections that broke. */
function passingWords(error: Error): string | undefined {
  const isBroken =
    field(error, 'code') === 'REQUEST_SEND_ERROR' && !/certificate|ENOTFOUND|self.signed/i.test(error.message);
  const words = /premature close|socket hang up|aborted|less data than required|terminated|timed? ?out/i;
  return isBroken || words.test(error.message) ? error.message : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
