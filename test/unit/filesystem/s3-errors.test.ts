import { describe, expect, it } from 'vitest';
import { ObjectStoreError } from '../../../src/filesystem/object-store/object-store.js';
import { TransientFailure } from '../../../src/filesystem/requests.js';
import { sanitize, toKeyError, toStoreError } from '../../../src/filesystem/s3/s3-errors.js';

const failure = (name: string, status?: number, message = 'a message', headers: Record<string, string> = {}) =>
  Object.assign(new Error(message), {
    name,
    $metadata: { httpStatusCode: status },
    $response: { statusCode: status, headers },
  });

describe('failures of S3', () => {
  it.each([
    ['NoSuchKey', 404, 'missing'],
    ['NoSuchBucket', 404, 'missing'],
    ['NotFound', 404, 'missing'],
    ['AccessDenied', 403, 'denied'],
    ['ExpiredToken', 400, 'denied'],
    ['InvalidAccessKeyId', 403, 'denied'],
    ['CredentialsProviderError', undefined, 'denied'],
    ['PreconditionFailed', 412, 'precondition'],
    ['FileAlreadyExists', 409, 'precondition'],
    ['NotImplemented', 501, 'unsupported'],
    ['MethodNotAllowed', 405, 'unsupported'],
    ['InvalidObjectState', 403, 'other'],
    ['EntityTooLarge', 400, 'other'],
    ['ENOTFOUND', undefined, 'other'],
    ['CERT_HAS_EXPIRED', undefined, 'other'],
    ['UnknownError', 403, 'denied'],
  ])('%s is final: %s, %s', (name, status, kind) => {
    const error = toStoreError(failure(name, status));
    expect(error).toBeInstanceOf(ObjectStoreError);
    expect(error).toMatchObject({ kind });
  });

  it.each([
    ['SlowDown', 503],
    ['InternalError', 500],
    ['UnknownError', 502],
    ['RequestTimeout', 400],
    ['UnknownError', 429],
    ['ECONNRESET', undefined],
    ['ETIMEDOUT', undefined],
    ['TimeoutError', undefined],
    ['SyntaxError', 200],
  ])('%s with status %s may pass', (name, status) => {
    const error = toStoreError(failure(name, status));
    expect(error).toBeInstanceOf(TransientFailure);
    expect((error as TransientFailure).cause).toBeInstanceOf(ObjectStoreError);
  });

  it('say how long to wait', () => {
    const wait = (value: string) =>
      (toStoreError(failure('SlowDown', 503, 'm', { 'retry-after': value })) as TransientFailure).retryAfter;
    expect(wait('2')).toBe(2000);
    expect(wait(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000);
    expect(wait('soon')).toBeUndefined();
  });

  it('of a key in a batch that is not there are none', () => {
    expect(toKeyError('NoSuchKey', 'x')).toBeUndefined();
    expect(toKeyError('InternalError', 'x')).toBeInstanceOf(TransientFailure);
    expect(toKeyError('AccessDenied', 'x')).toMatchObject({ kind: 'denied' });
    expect(toKeyError(undefined, undefined)).toMatchObject({ kind: 'other', message: 'the store gave no reason' });
  });

  it('show nothing that lets somebody in', () => {
    const text = sanitize(
      'GET http://h/b?X-Amz-Signature=abc&x=1&X-Amz-Credential=AKIA%2F&X-Amz-Security-Token=tok AWSAccessKeyId: AKIA Signature=sig\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=z',
    );
    expect(text).not.toMatch(/abc|AKIA|tok\b|sig\b|=z/);
    expect(text).toContain('x=1');
    expect(toStoreError(failure('AccessDenied', 403, 'denied\nSignature=abc')).message).toBe(
      'denied Signature=… (AccessDenied, status 403)',
    );
  });
});
