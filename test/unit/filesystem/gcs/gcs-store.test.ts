import { describe, expect, it } from 'vitest';
import { GcsApi } from '../../../../src/filesystem/gcs/gcs-api.js';
import type { GcsOptions } from '../../../../src/filesystem/gcs/gcs-options.js';
import { GcsStore } from '../../../../src/filesystem/gcs/gcs-store.js';
import { ObjectStoreError } from '../../../../src/filesystem/object-store/object-store.js';
import { TransientFailure } from '../../../../src/filesystem/requests.js';
import { isTemporaryName } from '../../../../src/filesystem/temporary-name.js';
import { FakeGcs, refuse } from '../../../support/fake-gcs.js';
import { type Script, type ScriptedServer, scriptedServer } from '../../../support/scripted-server.js';

const TOKEN = 'ya29.a-token-that-nobody-may-see';
const PLAIN: Pick<GcsOptions, 'userProject' | 'encryption' | 'secrets'> = {
  userProject: undefined,
  encryption: undefined,
  secrets: [],
};

async function storeOn(script: Script, options = PLAIN): Promise<{ store: GcsStore; server: ScriptedServer }> {
  const server = await scriptedServer(script);
  const access = { endpoint: server.endpoint, authorize: async () => ({ authorization: `Bearer ${TOKEN}` }) };
  return { store: new GcsStore(new GcsApi(access, options), 'bucket'), server };
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => expect.fail('it was done'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('not an error');
  expect(error.message).not.toContain(TOKEN);
  return error;
}

/** Expects a failure that passes, for this reason. */
function expectPassing(error: Error, message: RegExp): TransientFailure {
  expect(error).toBeInstanceOf(TransientFailure);
  expect(error.message).toMatch(message);
  return error as TransientFailure;
}

describe('failures', () => {
  it.each([408, 429, 500, 502, 503, 504])('may pass after a %d, and no request is made again here', async (status) => {
    const { store, server } = await storeOn(() => ({ status, headers: { 'retry-after': '7' }, body: 'not now' }));
    expect(expectPassing(await failureOf(store.head('a')), /^\d+ not now$/).retryAfter).toBe(7000);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [401, 'denied'],
    [403, 'denied'],
    [404, 'missing'],
    [412, 'precondition'],
    [501, 'unsupported'],
    [400, 'other'],
  ] as const)('are final after a %d: %s', async (status, kind) => {
    const { store } = await storeOn(() => refuse(status, 'reason', 'in words\nand more'));
    const error = await failureOf(store.put('a', new Uint8Array(1)));
    expect(error).toBeInstanceOf(ObjectStoreError);
    expect(error).toMatchObject({ kind, message: `${status} in words` });
  });

  it('may pass where a 403 is only about the rate', async () => {
    const { store } = await storeOn(() => refuse(403, 'rateLimitExceeded', 'slow down'));
    expectPassing(await failureOf(store.list('')), /slow down/);
  });

  it('may pass where the connection breaks before or within the answer', async () => {
    const silent = await storeOn(() => undefined);
    expectPassing(await failureOf(silent.store.list('')), /./);
    const cut = await storeOn(() => ({ body: '{"items": []}', cutAfter: 5 }));
    expectPassing(await failureOf(cut.store.list('')), /./);
    const half = await storeOn(() => ({ body: '{"items": [' }));
    expectPassing(await failureOf(half.store.list('')), /no JSON/);
  });

  it('may pass where nobody listens', async () => {
    const { store, server } = await storeOn(() => undefined);
    await server.close().catch(() => undefined);
    expectPassing(await failureOf(store.list('')), /ECONNREFUSED/);
  });

  it('tell what to set where the requester pays', async () => {
    const message = 'Bucket is a requester pays bucket but no user project provided.';
    const { store } = await storeOn(() => refuse(400, 'required', message));
    expect(await failureOf(store.list(''))).toMatchObject({
      kind: 'denied',
      message: expect.stringMatching(/requester\.pays/),
    });
  });

  it('never hide behind missing credentials', async () => {
    const authorize = async () => {
      throw new Error('Could not load the default credentials. Browse to https://…');
    };
    const store = new GcsStore(new GcsApi({ endpoint: 'http://127.0.0.1:1', authorize }, PLAIN), 'bucket');
    const error = await failureOf(store.list(''));
    expect(error).toMatchObject({ kind: 'denied', message: expect.stringMatching(/GOOGLE_APPLICATION_CREDENTIALS/) });
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
  it('is pinned to a generation', async () => {
    const fake = new FakeGcs();
    const { store } = await storeOn(fake.answer);
    const { generation } = fake.write('a', Buffer.from('0123456789'));
    const target = Buffer.alloc(6, '.');
    await store.read('a', { start: 3, end: 7, version: String(generation) }, target, 1);
    expect(target.toString()).toBe('.3456.');
    fake.write('a', Buffer.from('abcdefghij'));
    const work = store.read('a', { start: 3, end: 7, version: String(generation) }, target, 1);
    expect(await failureOf(work)).toMatchObject({ kind: 'precondition' });
    expect(target.toString()).toBe('.3456.');
  });

  it('sees another generation although the condition was passed over', async () => {
    const { store } = await storeOn(() => ({
      status: 206,
      headers: { 'content-range': 'bytes 0-1/2', 'x-goog-generation': '2' },
      body: 'ab',
    }));
    const work = store.read('a', { start: 0, end: 2, version: '1' }, Buffer.alloc(2), 0);
    expect(await failureOf(work)).toMatchObject({ kind: 'precondition' });
  });

  it('asks for nothing where nothing is wanted', async () => {
    const { store, server } = await storeOn(() => ({ status: 500 }));
    await store.read('a', { start: 5, end: 5 }, Buffer.alloc(0), 0);
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['another range', { status: 206, headers: { 'content-range': 'bytes 1-3/9' }, body: 'abc' }],
    ['everything', { status: 200, body: 'abcdefghi' }],
    [
      'something packed',
      { status: 206, headers: { 'content-range': 'bytes 2-4/9', 'content-encoding': 'x' }, body: 'abc' },
    ],
    ['more', { status: 206, headers: { 'content-range': 'bytes 2-4/9' }, body: 'abcd' }],
  ])('does not take %s for what was asked for', async (_, answer) => {
    const { store } = await storeOn(() => answer);
    const target = Buffer.alloc(10, '.');
    const error = await failureOf(store.read('a', { start: 2, end: 5 }, target, 0));
    expect(error).toBeInstanceOf(ObjectStoreError);
    expect(target.subarray(3).toString()).toBe('.......');
  });

  it('may pass where the answer is cut or short', async () => {
    const headers = { 'content-range': 'bytes 0-9/10' };
    const cut = await storeOn(() => ({ status: 206, headers, body: '0123456789', cutAfter: 4 }));
    expectPassing(await failureOf(cut.store.read('a', { start: 0, end: 10 }, Buffer.alloc(10), 0)), /./);
    const short = await storeOn(() => ({ status: 206, headers, body: '0123' }));
    expectPassing(await failureOf(short.store.read('a', { start: 0, end: 10 }, Buffer.alloc(10), 0)), /4 of 10/);
  });
});

describe('uploads', () => {
  it('become one object of many parts, in levels, under the condition, and leave nothing else', async () => {
    const fake = new FakeGcs();
    const { store, server } = await storeOn(fake.answer);
    const upload = await store.startUpload('dir/big', { ifAbsent: true, tag: 'abc' });
    const numbers = Array.from({ length: 70 }, (_, index) => index + 1);
    await Promise.all(numbers.reverse().map((number) => upload.putPart(number, Buffer.from(`${number},`))));
    await upload.putPart(7, Buffer.from('VII,'));
    expect([...fake.objects.keys()].every((key) => isTemporaryName(key.slice('dir/'.length)))).toBe(true);
    await upload.complete(70);
    expect([...fake.objects.keys()]).toEqual(['dir/big']);
    const text = fake.objects.get('dir/big')?.bytes.toString();
    expect(text).toBe(`${numbers.reverse().join(',')},`.replace(',7,', ',VII,'));
    expect(await store.head('dir/big')).toMatchObject({ size: text?.length, tag: 'abc' });
    const composed = server.requests.filter(({ path }) => path.endsWith('/compose'));
    expect(composed.map(({ query }) => query.get('ifGenerationMatch'))).toEqual([null, null, null, '0']);
  });

  it('do not replace what came meanwhile, and can be cleared away', async () => {
    const fake = new FakeGcs();
    const { store } = await storeOn(fake.answer);
    const upload = await store.startUpload('big', { ifAbsent: true });
    await upload.putPart(1, Buffer.from('mine'));
    fake.write('big', Buffer.from('theirs'));
    expect(await failureOf(upload.complete(1))).toMatchObject({ kind: 'precondition' });
    await upload.abort();
    expect([...fake.objects.keys()]).toEqual(['big']);
    expect(fake.objects.get('big')?.bytes.toString()).toBe('theirs');
    await upload.abort();
  });

  it('are noticed where the store has less than was sent', async () => {
    const { store } = await storeOn(() => ({ body: '{"size": "3"}' }));
    expectPassing(await failureOf(store.put('a', Buffer.from('four'))), /3 bytes/);
  });
});

describe('copy', () => {
  it('goes on step by step, also after a failure, and keeps the key of the key service', async () => {
    const fake = new FakeGcs();
    fake.rewriteBytes = 4;
    let requests = 0;
    const { store, server } = await storeOn((request) => (++requests === 3 ? { status: 503 } : fake.answer(request)));
    const key = 'projects/p/locations/l/keyRings/r/cryptoKeys/k';
    const { generation } = fake.write('a', Buffer.from('0123456789'), { kmsKeyName: `${key}/cryptoKeyVersions/3` });
    const from = await store.head('a');
    if (from === undefined) throw new Error('not there');
    expectPassing(await failureOf(store.copy(from, 'b')), /503/);
    await store.copy(from, 'b');
    expect(fake.objects.get('b')).toMatchObject({ kmsKeyName: key, bytes: Buffer.from('0123456789') });
    const steps = server.requests.slice(1).map(({ query }) => query.get('rewriteToken') !== null);
    // First step, failed second one, second one again, third one.
    expect(steps).toEqual([false, true, true, true]);
    expect(server.requests.at(-1)?.query.get('ifSourceGenerationMatch')).toBe(String(generation));
  });

  it('takes objects of another bucket, under the key of its own', async () => {
    const { store, server } = await storeOn(() => ({ body: '{"done": true}' }));
    await store.copy(
      { key: 'a/b', bucket: 'other', size: 1, modificationTime: 0, version: '7', ...{ kmsKeyName: 'k' } },
      'c',
    );
    expect(server.requests[0]?.path).toBe('/storage/v1/b/other/o/a%2Fb/rewriteTo/b/bucket/o/c');
    expect(server.requests[0]?.query.has('destinationKmsKeyName')).toBe(false);
  });

  it('refuses another source', async () => {
    const fake = new FakeGcs();
    const { store } = await storeOn(fake.answer);
    fake.write('a', Buffer.from('x'));
    const from = { key: 'a', size: 1, modificationTime: 0, version: '5' };
    expect(await failureOf(store.copy(from, 'b'))).toMatchObject({ kind: 'precondition' });
  });
});

describe('list', () => {
  it('refuses what is no listing', async () => {
    for (const body of [
      '[]',
      '{"items": 1}',
      '{"items": [{"name": 1}]}',
      '{"items":[{"name":"a","size":"-1","updated":"x"}]}',
    ]) {
      const { store } = await storeOn(() => ({ body }));
      expect((await failureOf(store.list(''))).name).toBe('ObjectStoreError');
    }
  });
});

it('names the project that pays only once it is asked to, where that is wanted', async () => {
  const asking: Script = ({ query }) =>
    query.get('userProject') === 'payer'
      ? { body: '{}' }
      : refuse(400, 'required', 'Bucket is requester pays: no user project');
  const auto = await storeOn(asking, { ...PLAIN, userProject: { id: 'payer', onlyIfAsked: true } });
  expectPassing(await failureOf(auto.store.list('')), /which project pays/);
  expect((await auto.store.list('')).objects).toEqual([]);
  const always = await storeOn(asking, { ...PLAIN, userProject: { id: 'payer', onlyIfAsked: false } });
  expect((await always.store.list('')).objects).toEqual([]);
});

it('sends the key of the customer where contents are read, written or copied, and never shows it', async () => {
  const encryption = { key: 'c2VjcmV0LWtleQ==', hash: 'aGFzaA==' };
  const { store, server } = await storeOn(() => refuse(400, 'x', 'wrong'), { ...PLAIN, encryption });
  const from = { key: 'a', size: 1, modificationTime: 0, version: '1' };
  const works = [
    () => store.read('a', { start: 0, end: 1 }, Buffer.alloc(1), 0),
    () => store.put('a', Buffer.alloc(1)),
    () => store.copy(from, 'b'),
  ];
  for (const work of works) expect((await failureOf(work())).message).not.toContain(encryption.key);
  for (const { headers } of server.requests) expect(headers['x-goog-encryption-key']).toBe(encryption.key);
  const copies = server.requests.filter(
    ({ headers }) => headers['x-goog-copy-source-encryption-key'] === encryption.key,
  );
  expect(copies).toHaveLength(1);
});

it('deletes what is there and what is not, and tells what it cannot delete', async () => {
  const fake = new FakeGcs();
  const { store } = await storeOn((request) =>
    request.path.endsWith('held') ? refuse(403, 'retentionPolicyNotMet', 'under retention') : fake.answer(request),
  );
  fake.write('a', Buffer.from('x'));
  const [gone, missing, held] = await store.delete(['a', 'b', 'held']);
  expect([gone, missing]).toEqual([undefined, undefined]);
  expect(held).toMatchObject({ kind: 'denied', message: '403 under retention' });
  expect(fake.objects.size).toBe(0);
});
