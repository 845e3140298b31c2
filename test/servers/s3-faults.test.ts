/** What S3 and the network do on bad days: the right result or the right error, nothing lost, no secret shown. */
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AlreadyExistsError, IoError, NotFoundError, PermissionError } from '../../src/errors.js';
import type { FileSystem } from '../../src/filesystem/file-system.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystemSettings } from '../../src/filesystem/registry.js';
import type { RetriedRequest } from '../../src/filesystem/requests.js';
import { collect, pattern, readAll, writeFile } from '../contract/file-system.contract.js';
import { type Fault, type FaultProxy, firstTimes, type SeenRequest, startFaultProxy } from '../support/fault-proxy.js';
import { runCkpt } from '../support/run-ckpt.js';
import { keysBelow, plainClient, s3CasesDirectory, uploadCase } from '../support/s3-cases.js';
import { missingFor, optionsFor, startVersitygw, TEST_CREDENTIALS } from '../support/s3-servers.js';
import type { TestServer } from '../support/server-process.js';

const INSTALL_MILLISECONDS = 600_000;
const BUCKET = 'flink-lab';
const missing = await missingFor('versitygw');

const xml = (code: string, message = 'a message') => `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
const answer = (status: number, code: string, headers?: Record<string, string>): Fault => ({
  kind: 'answer',
  status,
  body: xml(code),
  ...(headers && { headers }),
});
const isGet = ({ method, url }: SeenRequest) => method === 'GET' && !url.includes('list-type=2');
const isListing = ({ method, url }: SeenRequest) => method === 'GET' && url.includes('list-type=2');
const isPut = ({ method }: SeenRequest) => method === 'PUT';
const isBatchDelete = ({ method, url }: SeenRequest) => method === 'POST' && url.includes('?delete');

describe.skipIf(missing !== undefined)(`S3 on bad days${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let client: S3Client;
  let fs: FileSystem;
  let root: Path;
  let retried: RetriedRequest[];
  let warnings: string[];
  let tests = 0;
  const at = (name: string) => root.child(name);

  const open = async (options: ReadonlyMap<string, string>, settings: Partial<FileSystemSettings> = {}) => {
    const systems = createFileSystems({
      configuration: options,
      onRetry: (request) => retried.push(request),
      warn: (message) => warnings.push(message),
      ...settings,
    });
    return systems.get(root);
  };

  beforeAll(async () => {
    server = await startVersitygw();
    proxy = await startFaultProxy(server.endpoint);
    client = await plainClient(server.endpoint);
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  }, INSTALL_MILLISECONDS);
  afterAll(async () => {
    client.destroy();
    await proxy.stop();
    await server.stop();
  });
  beforeEach(async () => {
    root = Path.parse(`s3://${BUCKET}/test-${++tests}`);
    [retried, warnings] = [[], []];
    fs = await open(optionsFor(proxy.endpoint));
    proxy.requests.length = 0;
  });
  afterEach(() => {
    proxy.fault = () => undefined;
    expect(JSON.stringify([retried, warnings])).not.toContain(TEST_CREDENTIALS.secretAccessKey);
  });

  it.each([
    ['503 SlowDown', answer(503, 'SlowDown')],
    ['503 without XML', { kind: 'answer', status: 503, body: '<html>no</html>' } as const],
    ['500 InternalError', answer(500, 'InternalError')],
    ['429 with Retry-After', answer(429, 'TooManyRequests', { 'retry-after': '0.2' })],
    ['a reset', { kind: 'reset' } as const],
  ])('goes on after a burst of %s', async (_, fault) => {
    await writeFile(fs, at('file'), pattern(1000));
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      proxy.fault = firstTimes(3, (seen) => seen.method === method, fault);
      expect(await readAll(fs, at('file'))).toEqual(pattern(1000));
      await writeFile(fs, at(`new-${method}`), 'x');
      expect(await fs.deleteFile(at(`new-${method}`))).toBe(true);
      expect((await collect(fs.list(root))).map(({ name }) => name)).toEqual(['file']);
    }
    expect(retried.length).toBe(12);
    expect(retried[0]?.request).toContain(`s3://${BUCKET}/`);
    expect(retried.every(({ request }) => !request.includes('?'))).toBe(true);
  });

  it('gives up in the end, and says why', async () => {
    await writeFile(fs, at('file'), 'x');
    proxy.fault = (seen) => (isGet(seen) ? answer(503, 'SlowDown') : undefined);
    const error = await readAll(fs, at('file')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(IoError);
    expect((error as Error).message).toContain('SlowDown, status 503');
    expect(proxy.requests.filter(isGet).length).toBe(6);
  });

  it.each([
    ['AccessDenied', 403],
    ['InvalidAccessKeyId', 403],
    ['SignatureDoesNotMatch', 403],
    ['ExpiredToken', 400],
  ])('does not try again after %s', async (code, status) => {
    await writeFile(fs, at('file'), 'x');
    proxy.fault = () => answer(status, code);
    proxy.requests.length = 0;
    for (const work of [
      () => fs.getFileStatus(at('file')),
      () => collect(fs.list(root)),
      () => fs.createExclusive(at('new'), new Uint8Array(1)),
      () => fs.deleteFile(at('file')),
    ]) {
      const error = await work().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(PermissionError);
      const { message } = (error as { cause: Error }).cause;
      expect(message).toContain(code === 'ExpiredToken' ? 'the credentials have expired' : code);
    }
    expect(retried).toEqual([]);
    proxy.fault = () => undefined;
    expect(await readAll(fs, at('file'))).toEqual(new TextEncoder().encode('x'));
  });

  it('reads on where a connection is cut in the middle of a body', async () => {
    const bytes = pattern(9 * 1024 * 1024 + 17);
    await writeFile(fs, at('large'), bytes);
    proxy.fault = firstTimes(3, isGet, { kind: 'cut', after: 100_000 });
    expect(Buffer.compare(await readAll(fs, at('large')), bytes)).toBe(0);
    expect(retried.length).toBe(3);
    proxy.fault = (seen) => (isGet(seen) ? { kind: 'cut', after: 100_000 } : undefined);
    await expect(readAll(fs, at('large'))).rejects.toThrow(IoError);
  });

  it('waits for slow answers, and gives up on silent ones', async () => {
    await writeFile(fs, at('file'), pattern(1000));
    fs = await open(new Map([...optionsFor(proxy.endpoint), ['s3.connection.timeout', '800ms']]));
    proxy.fault = (seen) => (isGet(seen) ? { kind: 'slow', pause: 300 } : undefined);
    expect(await readAll(fs, at('file'))).toEqual(pattern(1000));
    expect(retried).toEqual([]);
    proxy.fault = firstTimes(1, isGet, { kind: 'silence' });
    expect(await readAll(fs, at('file'))).toEqual(pattern(1000));
    expect(retried.length).toBe(1);
  });

  it('refuses a listing that says that there is more, but not how to get it, or that goes in a circle', async () => {
    for (const name of ['a', 'b', 'c']) await writeFile(fs, at(name), name);
    proxy.fault = (seen) =>
      isListing(seen)
        ? { kind: 'change', body: (body) => body.replace('<IsTruncated>false<', '<IsTruncated>true<') }
        : undefined;
    await expect(collect(fs.list(root))).rejects.toThrow(/there is more to list/);
    proxy.fault = (seen) =>
      isListing(seen)
        ? {
            kind: 'change',
            body: (body) =>
              body.replace(
                '<IsTruncated>false</IsTruncated>',
                '<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>',
              ),
          }
        : undefined;
    await expect(collect(fs.list(root))).rejects.toThrow(/the same token again/);
    expect(await fs.getFileStatus(at('a'))).toMatchObject({ size: 1 });
  });

  it('asks again for a listing that was cut', async () => {
    for (const name of ['a', 'b', 'c']) await writeFile(fs, at(name), name);
    proxy.fault = firstTimes(2, isListing, { kind: 'cut', after: 150 });
    expect((await collect(fs.list(root))).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    proxy.fault = firstTimes(2, isListing, { kind: 'change', body: (body) => body.slice(0, body.length / 2) });
    expect((await collect(fs.list(root))).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(retried.length).toBe(4);
  });

  it('tries only those keys of a batch again that may succeed, and tells of the others', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
    for (const name of names) await writeFile(fs, at(name), name);
    const keyOf = (name: string) => `test-${tests}/${name}`;
    const failed = (key: string, code: string) =>
      `<Error><Key>${key}</Key><Code>${code}</Code><Message>m</Message></Error>`;
    let batches = 0;
    proxy.fault = (seen) => {
      if (!isBatchDelete(seen)) return undefined;
      batches += 1;
      if (batches > 1) return undefined;
      const errors = [
        failed(keyOf('f3'), 'SlowDown'),
        failed(keyOf('f4'), 'InternalError'),
        failed(keyOf('f5'), 'AccessDenied'),
      ];
      return { kind: 'change', body: () => `<DeleteResult>${errors.join('')}</DeleteResult>` };
    };
    const results = await fs.deleteFiles(root, names);
    expect(results.map((result) => (result instanceof Error ? result.constructor : result))).toEqual(
      names.map((name) => (name === 'f5' ? PermissionError : true)),
    );
    const second = proxy.requests.filter(isBatchDelete).at(1)?.body.toString() ?? '';
    expect([...second.matchAll(/<Key>[^<]*\/(f\d+)<\/Key>/g)].map(([, name]) => name)).toEqual(['f3', 'f4']);
    expect(batches).toBe(2);
  });

  it('deletes one by one where a store takes no batches', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
    for (const name of names) await writeFile(fs, at(name), name);
    proxy.fault = (seen) => (isBatchDelete(seen) ? answer(501, 'NotImplemented') : undefined);
    expect(await fs.deleteFiles(root, names)).toEqual(names.map(() => true));
    expect(await keysBelow(client, BUCKET, `test-${tests}/`)).toEqual([]);
    expect(proxy.requests.filter(isBatchDelete).length).toBe(1);
  });

  it('knows its own object when the answer to the write was lost', async () => {
    proxy.fault = firstTimes(1, isPut, { kind: 'lose-answer' });
    await fs.createExclusive(at('file'), pattern(10));
    expect(await readAll(fs, at('file'))).toEqual(pattern(10));
    proxy.fault = firstTimes(1, isPut, { kind: 'lose-answer' });
    expect(await fs.makeDirectory(at('directory'))).toBe(true);
    proxy.fault = firstTimes(1, ({ method, url }) => method === 'POST' && url.includes('uploadId='), {
      kind: 'lose-answer',
    });
    const bytes = pattern(9 * 1024 * 1024);
    await fs.createExclusive(at('large'), bytes);
    expect((await fs.getFileStatus(at('large'))).size).toBe(bytes.length);
    proxy.fault = () => undefined;
    await expect(fs.createExclusive(at('file'), pattern(10))).rejects.toThrow(AlreadyExistsError);
  });

  it('leaves no part behind when a large write fails', async () => {
    const { ListMultipartUploadsCommand } = await import('@aws-sdk/client-s3');
    proxy.fault = (seen) => (seen.url.includes('partNumber=2') ? answer(403, 'AccessDenied') : undefined);
    await expect(fs.createExclusive(at('large'), pattern(20 * 1024 * 1024))).rejects.toThrow(PermissionError);
    await expect(fs.getFileStatus(at('large'))).rejects.toThrow(NotFoundError);
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    expect(Uploads).toEqual([]);
  });

  it('says once that a store without conditional writes cannot keep two writers apart', async () => {
    proxy.fault = (seen) => (seen.headers['if-none-match'] ? answer(501, 'NotImplemented') : undefined);
    await fs.createExclusive(at('a'), pattern(1));
    await fs.createExclusive(at('b'), pattern(1));
    await fs.createExclusive(at('large'), pattern(9 * 1024 * 1024));
    await expect(fs.createExclusive(at('a'), pattern(1))).rejects.toThrow(AlreadyExistsError);
    const writer = await fs.createAtomic(at('c'));
    await writer.write(pattern(3));
    await fs.createExclusive(at('c'), pattern(1));
    await expect(writer.commit()).rejects.toThrow(AlreadyExistsError);
    expect(warnings).toEqual([expect.stringContaining('takes no conditional writes')]);
  });

  it('goes to the region that the store names, and stays there', async () => {
    fs = await open(new Map([...optionsFor(proxy.endpoint), ['s3.region', 'eu-central-1']]));
    proxy.fault = ({ headers }) =>
      headers.authorization?.includes('/eu-central-1/')
        ? {
            kind: 'answer',
            status: 301,
            body: xml('PermanentRedirect'),
            headers: { 'x-amz-bucket-region': 'us-east-1' },
          }
        : undefined;
    await writeFile(fs, at('file'), 'x');
    expect(await readAll(fs, at('file'))).toEqual(new TextEncoder().encode('x'));
    expect(proxy.requests.filter(({ headers }) => headers.authorization?.includes('/eu-central-1/')).length).toBe(1);
  });

  it('sets its clock by the store when that is what signatures want', async () => {
    const ahead = new Date(Date.now() + 3_600_000).toUTCString();
    proxy.fault = firstTimes(1, () => true, answer(403, 'RequestTimeTooSkewed', { date: ahead }));
    // The real server then finds our time wrong in its turn, and is believed too.
    await writeFile(fs, at('file'), 'x');
    expect(await readAll(fs, at('file'))).toEqual(new TextEncoder().encode('x'));
  });

  it.skipIf(s3CasesDirectory() === undefined)(
    'shows what it tries again with --verbose, and no secret ever',
    async () => {
      await uploadCase(client, BUCKET, 'incremental');
      const options = [...optionsFor(proxy.endpoint)].flatMap(([key, value]) => ['-D', `${key}=${value}`]);
      const run = (...args: readonly string[]) => runCkpt([...args, ...options, '-v']);
      const pointer = `s3://${BUCKET}/incremental/7a9572fdb2560555e785fbfdd9f60d5b/chk-1`;
      proxy.fault = firstTimes(4, () => true, answer(503, 'SlowDown'));
      const verified = await run('verify', pointer);
      expect(verified.exitCode).toBe(0);
      // The answer to a HEAD has no body that could name the error.
      expect(verified.stderr).toMatch(/^ckpt: HEAD s3:\/\/\S+: the store refused \(status 503\); attempt 2 follows$/m);
      proxy.fault = () => answer(403, 'SignatureDoesNotMatch');
      const refused = await run('verify', pointer);
      expect(refused.exitCode).toBe(3);
      expect(refused.stderr).toContain('SignatureDoesNotMatch');
      proxy.fault = (seen) => (isBatchDelete(seen) ? answer(403, 'AccessDenied') : undefined);
      const discarded = await run('discard', pointer, '--yes', '--json');
      expect(discarded.exitCode).toBe(1);
      proxy.fault = () => undefined;
      expect((await run('discard', pointer, '--yes')).exitCode).toBe(0);
      expect((await run('verify', `s3://${BUCKET}/incremental`)).exitCode).toBe(0);
      for (const { stdout, stderr } of [verified, refused, discarded]) {
        for (const text of [stdout, stderr]) {
          expect(text).not.toContain(TEST_CREDENTIALS.secretAccessKey);
          expect(text).not.toMatch(/Signature=|AWS4-HMAC|X-Amz-/);
        }
      }
    },
  );
});
