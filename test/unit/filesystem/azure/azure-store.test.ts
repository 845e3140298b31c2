import { describe, expect, it } from 'vitest';
import { openContainer } from '../../../../src/filesystem/azure/azure-client.js';
import type { AzureCredentials } from '../../../../src/filesystem/azure/azure-options.js';
import { AzureStore } from '../../../../src/filesystem/azure/azure-store.js';
import { ObjectStoreError } from '../../../../src/filesystem/object-store/object-store.js';
import { TransientFailure } from '../../../../src/filesystem/requests.js';
import {
  type Script,
  type ScriptedAnswer,
  type ScriptedServer,
  scriptedServer,
} from '../../../support/scripted-server.js';

const KEY = Buffer.from('a key that nobody may see').toString('base64');
const SIGNATURE = 'c2lnbmF0dXJlIG9mIGEgdG9rZW4=';
const SHARED_KEY: AzureCredentials = { kind: 'shared-key', account: 'account', key: KEY };
const SAS: AzureCredentials = { kind: 'sas', token: `sv=2024-11-04&sig=${encodeURIComponent(SIGNATURE)}` };
const DATE = 'Mon, 30 Nov 2026 17:00:00 GMT';

async function storeOn(
  script: Script,
  credentials: AzureCredentials = SHARED_KEY,
): Promise<{ store: AzureStore; server: ScriptedServer }> {
  const server = await scriptedServer(script);
  const options = { endpoint: `${server.endpoint}/account`, isCustomEndpoint: false, credentials, secrets: [] };
  return { store: new AzureStore(await openContainer(options, 'abfss', 'container'), options.endpoint, []), server };
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => expect.fail('it was done'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('not an error');
  for (const secret of [KEY, SIGNATURE, encodeURIComponent(SIGNATURE)]) expect(error.message).not.toContain(secret);
  expect(error.message).not.toMatch(/\n/);
  return error;
}

function expectPassing(error: Error, message: RegExp): TransientFailure {
  expect(error).toBeInstanceOf(TransientFailure);
  expect(error.message).toMatch(message);
  return error as TransientFailure;
}

/** An answer as Azure gives it when it refuses. */
function refuse(status: number, code: string, message: string, headers: Record<string, string> = {}): ScriptedAnswer {
  return {
    status,
    headers: { 'content-type': 'application/xml', 'x-ms-error-code': code, ...headers },
    body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${message}\nRequestId:1\nTime:2</Message></Error>`,
  };
}

const WRITTEN: ScriptedAnswer = { status: 201, headers: { etag: '"1"', 'last-modified': DATE } };

describe('failures', () => {
  it.each([
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServerBusy'],
    [504, 'GatewayTimeout'],
  ])('may pass after a %d %s, and the SDK makes no request again', async (status, code) => {
    const { store, server } = await storeOn(() => refuse(status, code, 'Later.', { 'retry-after': '2' }));
    const passing = expectPassing(
      await failureOf(store.put('a', Buffer.from('x'))),
      new RegExp(`^${status} ${code} Later\\.$`),
    );
    expect(passing.retryAfter).toBe(2000);
    await failureOf(store.head('a'));
    await failureOf(store.list(''));
    await failureOf(store.read('a', { start: 0, end: 1 }, Buffer.alloc(1), 0));
    expect(server.requests).toHaveLength(4);
  });

  it.each([
    [403, 'AuthenticationFailed', 'denied'],
    [403, 'AuthorizationPermissionMismatch', 'denied'],
    [401, 'NoAuthenticationInformation', 'denied'],
    [409, 'BlobImmutableDueToPolicy', 'denied'],
    [404, 'ContainerNotFound', 'missing'],
    [409, 'BlobAlreadyExists', 'precondition'],
    [412, 'ConditionNotMet', 'precondition'],
    [409, 'FeatureNotYetSupportedForHierarchicalNamespaceAccounts', 'unsupported'],
    [412, 'LeaseIdMissing', 'other'],
    [400, 'InvalidInput', 'other'],
  ])('are final after a %d %s: %s', async (status, code, kind) => {
    for (const credentials of [SHARED_KEY, SAS]) {
      const { store } = await storeOn(() => refuse(status, code, `Because of ${SIGNATURE.slice(0, 3)}.`), credentials);
      const error = await failureOf(store.put('a', Buffer.from('x')));
      expect(error).toBeInstanceOf(ObjectStoreError);
      expect(error).toMatchObject({ kind, message: `${status} ${code} Because of c2l.` });
    }
  });

  it('may pass where the connection breaks', async () => {
    for (const credentials of [SHARED_KEY, SAS]) {
      const { store, server } = await storeOn(() => undefined, credentials);
      expectPassing(await failureOf(store.head('a')), /./);
      expect(server.requests).toHaveLength(1);
      await server.close().catch(() => undefined);
      expectPassing(await failureOf(store.list('')), /ECONNREFUSED/);
    }
  });

  it('are the reason of the signal once it is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { store } = await storeOn(() => {
      controller.abort(reason);
      return undefined;
    });
    await expect(store.list('', {}, controller.signal)).rejects.toBe(reason);
    await expect(store.head('a', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('read', () => {
  const headers = { etag: '"1"', 'last-modified': DATE, 'content-range': 'bytes 0-9/10', 'content-type': 'a/b' };

  it('is pinned to an ETag and puts the bytes where they belong', async () => {
    const { store, server } = await storeOn(() => ({ status: 206, headers, body: '0123456789' }));
    const target = Buffer.alloc(12, '.');
    await store.read('a', { start: 0, end: 10, version: '"1"' }, target, 1);
    expect(target.toString()).toBe('.0123456789.');
    expect(server.requests[0]?.headers).toMatchObject({ 'if-match': '"1"', 'x-ms-range': 'bytes=0-9' });
  });

  it('may pass where the answer is cut or short', async () => {
    const cut = await storeOn(() => ({ status: 206, headers, body: '0123456789', cutAfter: 4 }));
    expectPassing(await failureOf(cut.store.read('a', { start: 0, end: 10 }, Buffer.alloc(10), 0)), /./);
    expect(cut.server.requests).toHaveLength(1);
    const short = await storeOn(() => ({ status: 206, headers, body: '0123' }));
    expectPassing(
      await failureOf(short.store.read('a', { start: 0, end: 10 }, Buffer.alloc(10), 0)),
      /4 of 10|less data/,
    );
  });

  it('does not take more for what was asked for', async () => {
    const { store } = await storeOn(() => ({ status: 206, headers, body: '0123456789' }));
    const target = Buffer.alloc(8, '.');
    const error = await failureOf(store.read('a', { start: 0, end: 4 }, target, 0));
    expect(error).toBeInstanceOf(Error);
    expect(target.subarray(4).toString()).toBe('....');
  });
});

describe('directories', () => {
  it('are kept as empty blobs of their own name, with a word of Hadoop', async () => {
    const { store, server } = await storeOn(() => WRITTEN);
    await store.put('dir/', new Uint8Array(0), { ifAbsent: true, tag: 'abc' });
    expect(server.requests[0]).toMatchObject({
      method: 'PUT',
      path: '/account/container/dir',
      headers: { 'if-none-match': '*', 'x-ms-meta-hdi_isfolder': 'true', 'x-ms-meta-ckpt_tag': 'abc' },
    });
  });

  it('are known by it, whatever its case, in listings and alone', async () => {
    const listing = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs>
      <Blob><Name>dir</Name><Properties><Last-Modified>${DATE}</Last-Modified><Etag>0x1</Etag><Content-Length>0</Content-Length></Properties><Metadata><Hdi_isfolder>true</Hdi_isfolder></Metadata></Blob>
      <Blob><Name>file</Name><Properties><Last-Modified>${DATE}</Last-Modified><Etag>0x2</Etag><Content-Length>7</Content-Length></Properties></Blob>
      <BlobPrefix><Name>dir/</Name></BlobPrefix></Blobs><NextMarker>more</NextMarker></EnumerationResults>`;
    const { store, server } = await storeOn(({ method, path }) => {
      if (method === 'GET') return { headers: { 'content-type': 'application/xml' }, body: listing };
      if (path.endsWith('/')) return { status: 404, headers: { 'x-ms-error-code': 'BlobNotFound' } };
      return { headers: { etag: '"0x1"', 'last-modified': DATE, 'x-ms-meta-HDI_IsFolder': 'true' } };
    });
    const page = await store.list('', { delimiter: '/', token: 'before' });
    expect(page).toEqual({
      objects: [
        { key: 'dir', size: 0, modificationTime: Date.parse(DATE), version: '"0x1"', isDirectory: true },
        { key: 'file', size: 7, modificationTime: Date.parse(DATE), version: '"0x2"' },
      ],
      prefixes: ['dir/'],
      token: 'more',
    });
    expect(server.requests[0]?.query.get('marker')).toBe('before');
    expect(await store.head('dir')).toMatchObject({ key: 'dir', version: '"0x1"', isDirectory: true });
    expect(await store.head('dir/')).toMatchObject({ key: 'dir', isDirectory: true });
  });
});

describe('delete', () => {
  const batch = (answers: readonly string[]): ScriptedAnswer => ({
    status: 202,
    headers: { 'content-type': 'multipart/mixed; boundary=batch' },
    body: `${answers.map((answer, index) => `--batch\r\nContent-Type: application/http\r\nContent-ID: ${index}\r\n\r\n${answer}\r\n`).join('')}--batch--`,
  });
  const refused = (status: string, code: string) => `HTTP/1.1 ${status}\r\nx-ms-error-code: ${code}\r\n\r\n`;

  it('tells of each blob of a batch', async () => {
    const { store, server } = await storeOn(() =>
      batch([
        'HTTP/1.1 202 Accepted\r\nx-ms-request-id: 1\r\n\r\n',
        refused('404 The specified blob does not exist.', 'BlobNotFound'),
        refused('503 Later.', 'ServerBusy'),
        refused('409 Immutable.', 'BlobImmutableDueToPolicy'),
      ]),
    );
    const [gone, missing, busy, held] = await store.delete(['a', 'b', 'c', 'd']);
    expect([gone, missing]).toEqual([undefined, undefined]);
    expect(busy).toBeInstanceOf(TransientFailure);
    expect(held).toMatchObject({ kind: 'denied', message: '409 BlobImmutableDueToPolicy Immutable.' });
    expect(server.requests).toHaveLength(1);
    const body = server.requests[0]?.body.toString() ?? '';
    expect(body.match(/^DELETE .*$/gm)).toHaveLength(4);
  });

  it('takes no silence for a success', async () => {
    const { store } = await storeOn(() => batch(['HTTP/1.1 202 Accepted\r\n\r\n']));
    const outcomes = await store.delete(['a', 'b']);
    expect(outcomes[0]).toBeUndefined();
    expect(outcomes[1]).toBeInstanceOf(TransientFailure);
  });

  it('says where a batch as such is refused, or may pass', async () => {
    const refusing = await storeOn(() => refuse(403, 'AuthorizationFailure', 'No batches.'), SAS);
    expect(await failureOf(refusing.store.delete(['a', 'b']))).toMatchObject({ kind: 'unsupported' });
    const busy = await storeOn(() => refuse(503, 'ServerBusy', 'Later.'));
    expectPassing(await failureOf(busy.store.delete(['a', 'b'])), /Later/);
  });

  it('takes one that is not there for gone', async () => {
    const { store } = await storeOn(() => refuse(404, 'BlobNotFound', 'Not there.'));
    expect(await store.delete(['a'])).toEqual([undefined]);
  });
});

describe('copy', () => {
  it('waits for one that goes on after its answer', async () => {
    let looks = 0;
    const { store, server } = await storeOn(({ method }) => {
      const headers = { etag: '"2"', 'last-modified': DATE, 'x-ms-copy-id': 'id' };
      if (method === 'PUT') return { status: 202, headers: { ...headers, 'x-ms-copy-status': 'pending' } };
      return { headers: { ...headers, 'x-ms-copy-status': ++looks < 3 ? 'pending' : 'success' } };
    });
    await store.copy({ key: 'a b', size: 1, modificationTime: 0, version: '"1"' }, 'b');
    expect(looks).toBe(3);
    expect(server.requests[0]?.headers).toMatchObject({
      'x-ms-copy-source': `${server.endpoint}/account/container/a%20b`,
      'x-ms-source-if-match': '"1"',
    });
  });

  it.each(['failed', 'aborted'])('fails where it has %s', async (status) => {
    const { store } = await storeOn(({ method }) => {
      const headers = { etag: '"2"', 'last-modified': DATE, 'x-ms-copy-id': 'id' };
      if (method === 'PUT') return { status: 202, headers: { ...headers, 'x-ms-copy-status': 'pending' } };
      return { headers: { ...headers, 'x-ms-copy-status': status, 'x-ms-copy-status-description': '500 why' } };
    });
    const from = { key: 'a', size: 1, modificationTime: 0, version: undefined };
    expect(await failureOf(store.copy(from, 'b'))).toMatchObject({
      kind: 'other',
      message: `the copy has ${status}: 500 why`,
    });
  });
});

it('copies from another container of the account, whose URL has the token', async () => {
  const { store, server } = await storeOn(
    () => ({
      status: 202,
      headers: { etag: '"2"', 'last-modified': DATE, 'x-ms-copy-id': 'id', 'x-ms-copy-status': 'success' },
    }),
    SAS,
  );
  const bucket = 'source@account.dfs.core.windows.net';
  await store.copy({ key: 'a/b', bucket, size: 1, modificationTime: 0, version: undefined }, 'c');
  expect(server.requests[0]).toMatchObject({ path: '/account/container/c' });
  const source = new URL(String(server.requests[0]?.headers['x-ms-copy-source']));
  expect(decodeURIComponent(source.pathname)).toBe('/account/source/a/b');
  expect(source.searchParams.get('sig')).toBe(SIGNATURE);
});

it('puts a large blob together of blocks, under the condition', async () => {
  const { store, server } = await storeOn(() => WRITTEN);
  const upload = await store.startUpload('big', { ifAbsent: true, tag: 'abc' });
  await Promise.all([2, 1].map((number) => upload.putPart(number, Buffer.from(`part ${number}`))));
  await upload.complete(2);
  const staged = server.requests.slice(0, 2).sort((a, b) => a.body.compare(b.body));
  const commit = server.requests[2];
  const ids = staged.map(({ query }) => query.get('blockid'));
  expect(commit?.body.toString().match(/<Latest>[^<]*/g)).toEqual(ids.map((id) => `<Latest>${id}`));
  expect(commit?.headers).toMatchObject({ 'if-none-match': '*', 'x-ms-meta-ckpt_tag': 'abc' });
  await upload.complete(2, { ifAbsent: false });
  expect(server.requests[3]?.headers['if-none-match']).toBeUndefined();
});

it('never lets a backslash become a slash', async () => {
  const { store, server } = await storeOn(() => WRITTEN);
  const name = 'a\\b';
  expect(await store.head(name)).toBeUndefined();
  await failureOf(store.put(name, Buffer.from('x')));
  await failureOf(store.startUpload(name));
  await failureOf(store.delete([name]));
  await failureOf(store.copy({ key: 'a', size: 1, modificationTime: 0, version: undefined }, name));
  expect(server.requests).toEqual([]);
});

it('tells the clock of the store', async () => {
  const { store } = await storeOn(() => ({
    ...WRITTEN,
    headers: { ...WRITTEN.headers, date: new Date(Date.now() + 3_600_000).toUTCString() },
  }));
  await store.put('a', Buffer.from('x'));
  expect(await store.clockOffset()).toBeGreaterThan(3_500_000);
});
