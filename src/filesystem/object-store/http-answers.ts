/** What answers over HTTP tell beside their contents: failures, fit to be shown (short, without a secret), pauses, the time. */

const LONGEST = 300;

/** What secrets look like, and what to put in their place. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [\s\S]*?(?:-----END [A-Z ]*-----|$)/g, '***'],
  // User info and queries of URLs: signatures, tokens and keys travel there.
  [/(\bhttps?:\/\/)[^\s/@'"<>]+@/gi, '$1'],
  [/(\bhttps?:\/\/[^\s?'"<>]+)\?[^\s'"<>]*/gi, '$1'],
  [/\b(Bearer|Basic|SharedKey|SharedKeyLite|STS|AWS4-HMAC-SHA256)\s+[\w.~+/=:,-]{8,}/gi, '$1 ***'],
  [/\b(AccountKey|SharedAccessSignature|client_secret|refresh_token|access_token|assertion)=[^\s;&'"]+/gi, '$1=***'],
  [/([?&;\s"']|^)(sig|signature|X-Goog-Signature|X-Amz-Signature)=[^\s&;'"]+/gi, '$1$2=***'],
  [/\bya29\.[\w.-]+/g, '***'],
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, '***'],
];

/**
 * The first line of a text, shortened, without whatever looks like a secret.
 * @param secrets texts that must not be in it, however they look
 */
export function shownText(text: string, secrets: readonly string[] = []): string {
  let shown = text;
  // Before it is cut: half a secret would not be recognized.
  for (const secret of secrets) if (secret.length > 3) shown = shown.replaceAll(secret, '***');
  for (const [pattern, replacement] of SECRETS) shown = shown.replace(pattern, replacement);
  const [line = ''] = shown.trim().split(/[\r\n]/, 1);
  const tidy = line.replace(/\p{Cc}+/gu, ' ').trim();
  return tidy.length > LONGEST ? `${tidy.slice(0, LONGEST)}…` : tidy;
}

/** Codes of Node and of undici for connections that did not come about, broke, or were silent for too long. */
const PASSING = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** Why a connection failed, if that may pass: the innermost message with such a code; else undefined. */
export function passingConnectionFailure(thrown: unknown): string | undefined {
  let error = thrown;
  for (let depth = 0; error instanceof Error && depth < 8; depth++) {
    if ('code' in error && typeof error.code === 'string' && PASSING.has(error.code))
      return error.message || error.code;
    const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
    error = error.cause ?? inner;
  }
  return undefined;
}

/** The statuses of HTTP that say: later, perhaps. */
export function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || status === 500 || (status >= 502 && status <= 504);
}

/**
 * The header `Retry-After`: seconds or a date.
 * @returns ms from now; undefined if there is none, or none that makes sense
 */
export function retryAfterOf(header: string | null | undefined): number | undefined {
  if (header === null || header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return milliseconds >= 0 ? milliseconds : undefined;
}

/** How far the clock of whoever sent this header `Date` is ahead of ours, in ms; undefined if it is none. */
export function clockOffsetOf(date: string | null | undefined): number | undefined {
  const offset = Date.parse(date ?? '') - Date.now();
  return Number.isNaN(offset) ? undefined : offset;
}
