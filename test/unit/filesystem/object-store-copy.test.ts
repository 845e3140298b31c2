import { describe, expect, it } from 'vitest';
import { AlreadyExistsError } from '../../../src/errors.js';
import { ObjectStoreError } from '../../../src/filesystem/object-store/object-store.js';
import { ObjectStoreFileSystem } from '../../../src/filesystem/object-store/object-store-file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../../src/filesystem/registry.js';
import { StoreRequests } from '../../../src/filesystem/requests.js';
import { copyCheckpoint } from '../../../src/operations/copy/copy.js';
import { move } from '../../../src/operations/discard/removal.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import { metadataNaming } from '../../support/discard-tree.js';
import { MemoryObjectStore, type MemoryObjectStoreOptions } from '../../support/memory-object-store.js';

const FILES = ['a', 'b', 'c'];

interface Buckets {
  readonly one: MemoryObjectStore;
  readonly two: MemoryObjectStore;
  readonly fileSystems: FileSystems;
}

/** Two buckets, of one service or of two; the first has a checkpoint. */
function buckets(isOneService: boolean, two: MemoryObjectStoreOptions = {}): Buckets {
  const service = new Map<string, MemoryObjectStore>();
  const make = (name: string, options: MemoryObjectStoreOptions): MemoryObjectStore => {
    const store = new MemoryObjectStore({ ...options, ...(isOneService && { service }) });
    service.set(name, store);
    return store;
  };
  const stores = { one: make('one', {}), two: make('two', two) };
  const open = async (authority: string | undefined): Promise<ObjectStoreFileSystem> =>
    new ObjectStoreFileSystem({
      scheme: 's3',
      authority: authority ?? '',
      store: authority === 'one' ? stores.one : stores.two,
      requests: new StoreRequests({ firstPause: 1, attempts: 2 }),
      openOther: open,
    });
  const loader = (_settings: unknown, _scheme: string, authority: string | undefined) => open(authority);
  for (const name of FILES) stores.one.set(`chk-1/${name}`, 'data');
  stores.one.set('chk-1/_metadata', metadataNaming(FILES));
  return { ...stores, fileSystems: createFileSystems({ configuration: new Map() }, new Map([['s3', loader]])) };
}

async function copy({ fileSystems }: Buckets): Promise<void> {
  const pointer = await resolvePointer(fileSystems, 's3://one/chk-1');
  await copyCheckpoint(fileSystems, pointer, Path.parse('s3://two/copy'), { now: () => Date.now() });
}

/** How often a state file was read. */
function readsOf({ one }: Buckets): number {
  return one.requests.filter(({ method, key }) => method === 'read' && !key.endsWith('_metadata')).length;
}

const COPIED = ['copy/', 'copy/_metadata', 'copy/a', 'copy/b', 'copy/c'];

describe('a copy from bucket to bucket', () => {
  it('is made by the service that has both', async () => {
    const both = buckets(true);
    await copy(both);
    expect([...both.two.objects.keys()].sort()).toEqual(COPIED);
    expect(both.two.count('copy')).toBe(FILES.length);
    expect(readsOf(both)).toBe(0);
  });

  it('goes through this program between two services', async () => {
    const both = buckets(false);
    await copy(both);
    expect([...both.two.objects.keys()].sort()).toEqual(COPIED);
    expect(both.two.count('copy')).toBe(0);
    expect(readsOf(both)).toBeGreaterThanOrEqual(FILES.length);
  });

  it.each(['denied', 'missing', 'unsupported'] as const)(
    'goes through it as well where the service says %s',
    async (kind) => {
      const failures: MemoryObjectStoreOptions['failures'] = (method) =>
        method === 'copy' ? new ObjectStoreError(kind, 'not here') : undefined;
      const both = buckets(true, { failures });
      await copy(both);
      expect([...both.two.objects.keys()].sort()).toEqual(COPIED);
      expect(readsOf(both)).toBeGreaterThanOrEqual(FILES.length);
    },
  );
});

describe('a move from bucket to bucket', () => {
  const options = { identity: undefined, signal: undefined };
  const from = Path.parse('s3://one/chk-1');
  const aside = Path.parse('s3://two/aside');

  it.each([
    ['of one service', true, 0],
    ['of two', false, FILES.length - 1],
  ])('%s takes the files along, and replaces none', async (_what, isOneService, leastReads) => {
    const both = buckets(isOneService);
    both.two.set('aside/b', 'another');
    const results = await move(both.fileSystems, [from], aside).removeFiles(from, FILES, options);
    expect(results).toEqual([true, expect.any(AlreadyExistsError), true]);
    expect([...both.two.objects.keys()].sort()).toEqual(['aside/a', 'aside/b', 'aside/c']);
    expect([...both.one.objects.keys()].sort()).toEqual(['chk-1/_metadata', 'chk-1/b']);
    expect(Buffer.from(both.two.objects.get('aside/b')?.bytes ?? '').toString()).toBe('another');
    expect(readsOf(both)).toBeGreaterThanOrEqual(leastReads);
  });
});
