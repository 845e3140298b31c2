import { describe, expect, it } from 'vitest';
import {
  clockOffsetOf,
  isPassingStatus,
  passingConnectionFailure,
  retryAfterOf,
  shownText,
} from '../../../../src/filesystem/object-store/http-answers.js';

describe('shownText', () => {
  it.each([
    [
      'GET https://a.blob.core.windows.net/c/b?sv=2024&sig=c2VjcmV0 failed',
      'GET https://a.blob.core.windows.net/c/b failed',
    ],
    ['at https://user:secret@host/x', 'at https://host/x'],
    ['Authorization: Bearer c2VjcmV0c2VjcmV0 is wrong', 'Authorization: Bearer *** is wrong'],
    ['SharedKey account:c2VjcmV0c2VjcmV0=', 'SharedKey ***'],
    ['AccountName=a;AccountKey=c2VjcmV0;EndpointSuffix=x', 'AccountName=a;AccountKey=***;EndpointSuffix=x'],
    ['token ya29.c2VjcmV0-secret expired', 'token *** expired'],
    ['jwt eyJhbGciOi.eyJzdWIi.c2VjcmV0', 'jwt ***'],
    ['bad key -----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----', 'bad key ***'],
    ['?sv=1&sig=c2VjcmV0&se=2', '?sv=1&sig=***&se=2'],
    ['client_secret=c2VjcmV0&grant_type=x', 'client_secret=***&grant_type=x'],
  ])('leaves out what looks like a secret: %s', (text, shown) => {
    expect(shownText(text)).toBe(shown);
  });

  it('leaves out the secrets that it is told, wherever they are', () => {
    expect(shownText('the string to sign was 7%hunter2\nx', ['hunter2'])).toBe('the string to sign was 7%***');
    // A secret over two lines does not show its first one.
    expect(shownText('key abcdef\nghijkl', ['abcdef\nghijkl'])).toBe('key ***');
  });

  it('is one short line without control characters', () => {
    expect(shownText('  first\tline\u001b[31m\nsecond')).toBe('first line [31m');
    expect(shownText('x'.repeat(5000))).toHaveLength(301);
  });
});

describe('passingConnectionFailure', () => {
  const failure = (code: string) => Object.assign(new Error(`it was ${code}`), { code });

  it('finds the code behind what others threw', () => {
    const inner = new AggregateError([failure('ECONNREFUSED')], 'all addresses');
    expect(passingConnectionFailure(new TypeError('fetch failed', { cause: inner }))).toBe('it was ECONNREFUSED');
    expect(passingConnectionFailure(failure('UND_ERR_SOCKET'))).toBe('it was UND_ERR_SOCKET');
  });

  it('knows failures that stay', () => {
    expect(passingConnectionFailure(failure('ENOTFOUND'))).toBeUndefined();
    expect(passingConnectionFailure(failure('DEPTH_ZERO_SELF_SIGNED_CERT'))).toBeUndefined();
    expect(passingConnectionFailure('no error')).toBeUndefined();
  });

  it('does not run in circles', () => {
    const error = new Error('round');
    error.cause = error;
    expect(passingConnectionFailure(error)).toBeUndefined();
  });
});

it('knows the statuses that pass', () => {
  expect([200, 400, 401, 403, 404, 408, 409, 412, 429, 500, 501, 502, 503, 504, 505].filter(isPassingStatus)).toEqual([
    408, 429, 500, 502, 503, 504,
  ]);
});

it('reads how long to wait', () => {
  expect(retryAfterOf('3')).toBe(3000);
  expect(retryAfterOf(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000);
  for (const none of [null, undefined, '', 'soon', '-1', new Date(0).toUTCString()])
    expect(retryAfterOf(none)).toBeUndefined();
});

it('reads the clock of a store', () => {
  expect(clockOffsetOf(new Date(Date.now() + 3_600_000).toUTCString())).toBeGreaterThan(3_500_000);
  expect(clockOffsetOf('yesterday')).toBeUndefined();
  expect(clockOffsetOf(null)).toBeUndefined();
});
