/** What stores do that the contract suite cannot bring about: requests, weaknesses, lost answers, markers. */
import { describe, expect, it } from 'vitest';
import {
  AlreadyExistsError,
  DirectoryNotEmptyError,
  InvalidPathError,
  IoError,
  PermissionError,
  UnsupportedOperationError,
} from '../../../src/errors.js';
import { ObjectStoreError } from '../../../src/filesystem/object-store/object-store.js';
import { ObjectStoreFileSystem } from '../../../src/filesystem/object-store/object-store-file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { StoreRequests, TransientFailure } from '../../../src/filesystem/requests.js';
import { collect, pattern, readAll } from '../../contract/file-system.contract.js';
import {
  MemoryObjectStore,
  type MemoryObjectStoreOptions,
  type StoreMethod,
} from '../../support/memory-object-store.js';

const MIB = 1024 * 1024;
const at = (name: string) => Path.parse(`s3://bucket/${name}`);

function open(options: MemoryObjectStoreOptions = {}, hidden?: string) {
  const store = new MemoryObjectStore(options);
  const warnings: string[] = [];
  const requests = new StoreRequests({ firstPause: 1 });
  const warn = (message: string) => warnings.push(message);
  const fs = new ObjectStoreFileSystem({ scheme: 's3', authority: 'bucket', store, requests, hidden, warn });
  return { store, fs, warnings };
}

const names = async (fs: ObjectStoreFileSystem, directory: string) =>
  (await collect(fs.list(at(directory)))).map(({ name, type }) => `${name} ${type}`).sort();

/** The first `count` requests of this method. */
function first(
  count: number,
  method: StoreMethod,
  make: () => Error,
): (seen: StoreMethod, key: string) => Error | undefined {
  let left = count;
  return (seen) => (seen === method && left-- > 0 ? make() : undefined);
}

const passing = () => new TransientFailure(new ObjectStoreError('other', 'busy'));

describe('directories', () => {
  it('are what keys begin with, or markers of every kind, which are no entries', async () => {
    const { store, fs } = open();
    for (const key of [
      'd/file',
      'd/sub/x',
      'd/',
      'd/marked/',
      'd/old_$folder$',
      'd/both_$folder$',
      'd/both/x',
      'd/sub',
    ]) {
      store.set(key, key === 'd/file' || key === 'd/sub' ? 'contents' : '');
    }
    expect(await names(fs, 'd')).toEqual([
      'both directory',
      'file file',
      'marked directory',
      'old directory',
      'sub directory',
      'sub file',
    ]);
    for (const [name, type] of [
      ['d', 'directory'],
      ['d/old', 'directory'],
      ['d/marked', 'directory'],
      ['d/sub', 'file'],
    ] as const) {
      expect((await fs.getFileStatus(at(name))).type).toBe(type);
    }
    expect(await names(fs, 'd/old')).toEqual([]);
    expect(await fs.deleteDirectory(at('d/old'))).toBe(true);
    expect(await fs.deleteDirectory(at('d/marked'))).toBe(true);
    await expect(fs.deleteDirectory(at('d/sub'))).rejects.toThrow(DirectoryNotEmptyError);
    expect([...store.objects.keys()].sort()).toEqual([
      'd/',
      'd/both/x',
      'd/both_$folder$',
      'd/file',
      'd/sub',
      'd/sub/x',
    ]);
  });

  it('are listed once, whichever page their marker is on', async () => {
    const { store, fs } = open({ pageSize: 2 });
    for (const key of ['d/a-1', 'd/a/x', 'd/a0', 'd/a1', 'd/a_$folder$', 'd/a~', 'd/b_$folder$']) store.set(key, '');
    expect(await names(fs, 'd')).toEqual(['a directory', 'a-1 file', 'a0 file', 'a1 file', 'a~ file', 'b directory']);
  });

  it('tell of keys that no path can name, and never lose what is in an object like a marker', async () => {
    const { store, fs, warnings } = open();
    for (const [key, contents] of [
      ['d/a', 'x'],
      ['d//b', 'x'],
      ['d/../c', 'x'],
      ['d/full/', 'contents'],
    ] as const) {
      store.set(key, contents);
    }
    expect(await names(fs, 'd')).toEqual(['a file', 'full directory']);
    expect(warnings).toEqual([expect.stringContaining('"d/')]);
    await expect(fs.deleteDirectory(at('d/full'))).rejects.toThrow(DirectoryNotEmptyError);
    expect(store.objects.size).toBe(4);
    const unnamable = Path.verbatim({ scheme: 's3', authority: 'bucket', path: '/d//b' });
    await expect(fs.getFileStatus(unnamable)).rejects.toThrow(InvalidPathError);
    await expect(fs.getFileStatus(at('d').entry('\ud800'))).rejects.toThrow(InvalidPathError);
    expect(await fs.deleteFiles(unnamable, ['x'])).toEqual([expect.any(InvalidPathError)]);
  });

  it('are not listed where their names stand for other ones', async () => {
    const { store, fs } = open({}, '_entropy_');
    for (const key of ['cp/_entropy_/x/', 'cp/chk-1/_metadata']) store.set(key, '');
    expect(await names(fs, 'cp')).toEqual(['chk-1 directory']);
  });

  it('of the bucket itself are there, and stay', async () => {
    const { fs } = open();
    expect(await names(fs, '')).toEqual([]);
    expect((await fs.getFileStatus(at(''))).type).toBe('directory');
    await expect(fs.deleteDirectory(at(''))).rejects.toThrow('removing a bucket is not supported');
  });
});

describe('many names of one directory', () => {
  const filled = (count: number, options: MemoryObjectStoreOptions = {}) => {
    const opened = open(options);
    for (let index = 0; index < count; index++) opened.store.set(`d/f${index}`, 'x');
    return opened;
  };

  it('are looked up with a listing when that is cheaper', async () => {
    const { store, fs } = filled(2000);
    const wanted = Array.from({ length: 1000 }, (_, index) => `f${index * 2}`);
    expect((await fs.getFileStatuses(at('d'), wanted)).every((status) => status?.constructor === Object)).toBe(true);
    expect([store.count('head'), store.count('list')]).toEqual([0, 2]);
  });

  it('are looked up one by one when they are few, or few among many', async () => {
    const { store, fs } = filled(5000);
    await fs.getFileStatuses(at('d'), ['f1', 'f2', 'f3']);
    expect([store.count('head'), store.count('list')]).toEqual([3, 0]);
    store.requests.length = 0;
    const wanted = Array.from({ length: 20 }, (_, index) => `f${4000 + index * 7}`);
    const statuses = await fs.getFileStatuses(at('d'), wanted);
    expect(statuses.every((status) => status !== undefined && 'size' in status && status.size === 1)).toBe(true);
    expect(store.count('list')).toBeLessThanOrEqual(2);
    expect(store.count('head')).toBeLessThanOrEqual(20);
  });

  it('are looked up one by one without the right to list', async () => {
    const denied = () => new ObjectStoreError('denied', 'AccessDenied');
    const { fs } = filled(100, { failures: (method) => (method === 'list' ? denied() : undefined) });
    const wanted = Array.from({ length: 50 }, (_, index) => `f${index}`);
    expect((await fs.getFileStatuses(at('d'), wanted)).every((status) => status?.constructor === Object)).toBe(true);
    expect(await fs.getFileStatuses(at('d'), ['gone'])).toEqual([expect.any(PermissionError)]);
  });

  it('are deleted with a request for each thousand, and no more requests at once than allowed', async () => {
    const { store, fs } = filled(2500);
    const all = Array.from({ length: 2500 }, (_, index) => `f${index}`);
    expect(new Set(await fs.deleteFiles(at('d'), all))).toEqual(new Set([true]));
    expect(store.count('delete')).toBe(3);
    expect(store.count('head') + store.count('list')).toBe(3);
    expect(store.mostAtOnce).toBeLessThanOrEqual(32);
    expect(store.objects.size).toBe(0);
  });

  it('are tried again only where that may help', async () => {
    const failures = new Map([
      ['d/f1', [passing(), passing()]],
      ['d/f2', [new ObjectStoreError('denied', 'AccessDenied')]],
      ['d/f3', Array.from({ length: 10 }, passing)],
    ]);
    const { store, fs } = filled(20, {
      failures: (method, key) => (method === 'delete' ? failures.get(key)?.shift() : undefined),
    });
    const results = await fs.deleteFiles(
      at('d'),
      Array.from({ length: 20 }, (_, index) => `f${index}`),
    );
    expect(results.map((result) => (result instanceof Error ? result.constructor : result))).toEqual(
      Array.from({ length: 20 }, (_, index) => (index === 2 ? PermissionError : index === 3 ? IoError : true)),
    );
    expect(store.requests.filter(({ method }) => method === 'delete').map(({ keys }) => keys)).toEqual([
      20, 2, 2, 1, 1, 1,
    ]);
    expect([...store.objects.keys()]).toEqual(['d/f2', 'd/f3']);
  });

  it('stay where they are when the signal comes between two batches, and it is said of each', async () => {
    const abort = new AbortController();
    const { store, fs } = filled(50, {
      deleteBatch: 10,
      failures: (method) => {
        if (method === 'delete') abort.abort();
        return undefined;
      },
    });
    const all = Array.from({ length: 50 }, (_, index) => `f${index}`);
    const results = await fs.deleteFiles(at('d'), all, { signal: abort.signal });
    for (const [index, result] of results.entries()) expect(store.objects.has(`d/f${index}`)).toBe(result !== true);
  });
});

describe('writes', () => {
  it('of small files take one request, of large ones parts', async () => {
    const { store, fs } = open();
    await fs.createExclusive(at('small'), pattern(8 * MIB));
    expect([store.count('put'), store.count('startUpload')]).toEqual([1, 0]);
    const bytes = pattern(20 * MIB + 1);
    const writer = await fs.createAtomic(at('large'));
    await writer.write(bytes.subarray(0, 10 * MIB));
    await writer.write(bytes.subarray(10 * MIB));
    // Over the border of two parts.
    await writer.patch(8 * MIB - 2, Uint8Array.of(1, 2, 3, 4));
    await writer.commit();
    bytes.set([1, 2, 3, 4], 8 * MIB - 2);
    expect(Buffer.compare(await readAll(fs, at('large')), bytes)).toBe(0);
    expect([store.count('putPart'), store.count('complete'), store.uploads.size]).toEqual([3, 1, 0]);
  });

  it('of a known size are sent as they come', async () => {
    const { store, fs } = open();
    const bytes = pattern(20 * MIB);
    const writer = await fs.createAtomic(at('large'), { overwrite: true, size: bytes.length });
    for (let start = 0; start < bytes.length; start += MIB) await writer.write(bytes.subarray(start, start + MIB));
    expect(store.count('putPart')).toBe(2);
    expect(store.objects.has('large')).toBe(false);
    await writer.commit();
    expect(Buffer.compare(await readAll(fs, at('large')), bytes)).toBe(0);
    const given = await fs.createAtomic(at('given-up'), { overwrite: true, size: bytes.length });
    await given.write(bytes);
    await given.abort();
    expect([store.objects.has('given-up'), store.uploads.size]).toEqual([false, 0]);
    const longer = await fs.createAtomic(at('longer'), { overwrite: true, size: 9 * MIB });
    await longer.write(bytes);
    await longer.commit();
    expect((await fs.getFileStatus(at('longer'))).size).toBe(bytes.length);
    const empty = await fs.createAtomic(at('empty'), { overwrite: true, size: 9 * MIB });
    await empty.commit();
    expect((await fs.getFileStatus(at('empty'))).size).toBe(0);
  });

  it('leave nothing behind when a part fails, and reject once', async () => {
    const failure = () => new ObjectStoreError('denied', 'AccessDenied');
    const { store, fs } = open({ failures: first(1, 'putPart', failure) });
    const writer = await fs.createAtomic(at('large'), { size: 30 * MIB });
    await writer.write(pattern(30 * MIB)).catch(() => undefined);
    await expect(writer.commit()).rejects.toThrow(PermissionError);
    expect([store.objects.size, store.uploads.size]).toEqual([0, 0]);
  });

  it.each([
    ['put', 100],
    ['complete', 9 * MIB],
    ['startUpload', 9 * MIB],
    ['putPart', 9 * MIB],
  ] as const)('know their own object when the answer of %s was lost', async (method, size) => {
    const { store, fs } = open({ lostAnswers: first(1, method, passing) });
    await fs.createExclusive(at('file'), pattern(size));
    expect(Buffer.compare(await readAll(fs, at('file')), pattern(size))).toBe(0);
    await expect(fs.createExclusive(at('file'), pattern(size))).rejects.toThrow(AlreadyExistsError);
    expect(store.count(method)).toBeGreaterThan(1);
  });

  it('do not take the object of another for their own where answers are lost', async () => {
    const opened = open({
      failures: (method) => {
        if (method !== 'put' || opened.store.objects.has('file')) return undefined;
        opened.store.set('file', 'theirs', 'their tag');
        return passing();
      },
    });
    const { fs } = opened;
    await expect(fs.createExclusive(at('file'), pattern(3))).rejects.toThrow(AlreadyExistsError);
    expect(new TextDecoder().decode(await readAll(fs, at('file')))).toBe('theirs');
  });

  it('tell once that a store takes no conditions, and look before they write', async () => {
    const { store, fs, warnings } = open({ refusesConditions: true });
    expect(await fs.makeDirectory(at('d'))).toBe(true);
    expect(await fs.makeDirectory(at('d'))).toBe(false);
    await fs.createExclusive(at('d/large'), pattern(9 * MIB));
    const writer = await fs.createAtomic(at('d/late'));
    store.set('d/late', 'theirs');
    await expect(writer.commit()).rejects.toThrow(AlreadyExistsError);
    expect(store.objects.get('d/late')?.bytes.length).toBe(6);
    expect(warnings).toEqual([expect.stringMatching(/^s3:\/\/bucket: this store takes no conditional writes/)]);
  });

  it('find out that a store passes over conditions in silence', async () => {
    const silent = open({ ignoresConditions: true });
    await silent.fs.createExclusive(at('a'), pattern(3));
    expect(silent.warnings).toEqual([expect.stringContaining('takes no conditional writes')]);
    const honest = open({ ignoresConditions: false });
    await honest.fs.createExclusive(at('a'), pattern(3));
    await honest.fs.createExclusive(at('b'), pattern(3));
    expect(honest.warnings).toEqual([]);
    expect(honest.store.count('put')).toBe(3);
  });
});

describe('reads', () => {
  it('of a large range are several requests, all of the version that was opened', async () => {
    const { store, fs } = open();
    store.set('file', pattern(20 * MIB));
    const source = await fs.open(at('file'));
    expect(Buffer.compare(await source.read(1, 20 * MIB), pattern(20 * MIB).subarray(1))).toBe(0);
    expect(store.count('read')).toBe(3);
    store.set('file', pattern(20 * MIB));
    await expect(source.read(0, 10)).rejects.toThrow('has been replaced by another one');
    store.objects.delete('file');
    await expect(source.read(0, 10)).rejects.toThrow('is not there any more');
  });
});

describe('copies', () => {
  it('beyond what the store takes at once are made of parts', async () => {
    const { store, fs } = open({ copyLimit: 100, copyPart: 50 });
    store.set('a', pattern(120));
    await fs.copyFile(at('a'), at('b'));
    expect([...(store.objects.get('b')?.bytes ?? [])]).toEqual([...pattern(120)]);
    expect([store.count('copy'), store.count('putPart'), store.uploads.size]).toEqual([0, 3, 0]);
  });

  it('into another bucket are not for this file system', async () => {
    const { store, fs } = open();
    store.set('a', 'x');
    await expect(fs.copyFile(at('a'), Path.parse('s3://other/a'))).rejects.toThrow(UnsupportedOperationError);
  });
});

it('a listing that goes in a circle is an error, however large the circle', async () => {
  const { store, fs } = open();
  let page = 0;
  store.list = async () => ({ objects: [], prefixes: [], token: `token-${page++ % 7}` });
  await expect(collect(fs.list(at('d')))).rejects.toThrow('the same token again');
});
