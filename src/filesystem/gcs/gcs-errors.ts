/** What Google Cloud Storage answers when it refuses, and what a connection fails with. */
import { asError } from '../../errors.js';
import { isPassingStatus, passingConnectionFailure, retryAfterOf, shownText } from '../object-store/http-answers.js';
import { ObjectStoreError, type ObjectStoreErrorKind } from '../object-store/object-store.js';
import { TransientFailure } from '../requests.js';

/** Bytes of an answer that are looked at for a message. */
const MOST_ERROR_BYTES = 64 * 1024;

/** Reasons behind a 403 that pass; any other 403 is final. */
const THROTTLED = /rate.?limit|quotaExceeded|backendError/i;

const REQUESTER_PAYS =
  'the requester pays for this bucket: set fs.gs.requester.pays.mode=ENABLED and fs.gs.requester.pays.project.id';

/** A refusal as it came. */
export interface GcsRefusal {
  readonly status: number;
  /** Google's own words, or those of whatever answered in its place. */
  readonly message: string;
  /** Google's word for the reason (`rateLimitExceeded`); empty if there is none. */
  readonly reason: string;
  readonly retryAfter: number | undefined;
}

/** Reads a refusal to its end, which lets the connection be used again. */
export async function readRefusal(response: Response): Promise<GcsRefusal> {
  const { status } = response;
  const text = (await response.text().catch(() => '')).slice(0, MOST_ERROR_BYTES);
  const { message, reason } = parseBody(text);
  const own = message || (/^\s*</.test(text) ? '' : text);
  return {
    status,
    message: shownText(own || response.statusText || 'refused'),
    reason,
    retryAfter: retryAfterOf(response.headers.get('retry-after')),
  };
}

/** True if the store wants to know which project pays. */
export function asksForPayer({ status, message, reason }: GcsRefusal): boolean {
  return status === 400 && (reason === 'required' || /requester pays/i.test(message)) && /project|pays/i.test(message);
}

/** The error for a refusal: an {@link ObjectStoreError}, or a `TransientFailure` around one. */
export function toRefusalError(refusal: GcsRefusal): Error {
  const { status, message, reason, retryAfter } = refusal;
  if (asksForPayer(refusal)) return new ObjectStoreError('denied', REQUESTER_PAYS);
  const passes = isPassingStatus(status) || (status === 403 && THROTTLED.test(`${reason} ${message}`));
  const error = new ObjectStoreError(passes ? 'other' : kindOf(status), `${status} ${message}`);
  return passes ? new TransientFailure(error, { retryAfter }) : error;
}

/**
 * The error for a request that got no whole answer.
 * @throws the reason of the signal, if that is why
 */
export function toConnectionError(thrown: unknown, signal: AbortSignal | undefined): Error {
  signal?.throwIfAborted();
  if (thrown instanceof ObjectStoreError || thrown instanceof TransientFailure) return thrown;
  const passing = passingConnectionFailure(thrown);
  if (passing !== undefined) return new TransientFailure(new ObjectStoreError('other', shownText(passing)));
  const error = asError(thrown);
  const reason = error.cause instanceof Error ? error.cause.message : error.message;
  return new ObjectStoreError('other', shownText(reason));
}

/** The error for credentials that could not be had. The original may hold keys and is not kept. */
export function toCredentialsError(thrown: unknown, secrets: readonly string[]): Error {
  const passing = passingConnectionFailure(thrown);
  if (passing !== undefined) {
    const error = new ObjectStoreError('other', `no access token: ${shownText(passing, secrets)}`);
    return new TransientFailure(error);
  }
  const message = shownText(asError(thrown).message, secrets);
  if (/default credentials/i.test(message)) {
    return new ObjectStoreError(
      'denied',
      'no Google credentials found: set GOOGLE_APPLICATION_CREDENTIALS, run "gcloud auth application-default login", or set ' +
        'fs.gs.auth.type=UNAUTHENTICATED for a public bucket',
    );
  }
  return new ObjectStoreError('denied', `no access token: ${message}`);
}

function kindOf(status: number): ObjectStoreErrorKind {
  switch (status) {
    case 401:
    case 403:
    case 407:
      return 'denied';
    case 404:
    case 410:
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

function parseBody(text: string): { readonly message: string; readonly reason: string } {
  const error = field(parseJson(text), 'error');
  const errors = field(error, 'errors');
  const reason = field(Array.isArray(errors) ? errors[0] : undefined, 'reason');
  const message = field(error, 'message');
  return { message: typeof message === 'string' ? message : '', reason: typeof reason === 'string' ? reason : '' };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
