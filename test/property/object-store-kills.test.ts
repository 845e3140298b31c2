import pMap from 'p-map';
import { describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/filesystem/object-store/object-store.js';
import { ObjectStoreFileSystem } from '../../src/filesystem/object-store/object-store-file-system.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { StoreRequests } from '../../src/filesystem/requests.js';
import { copyCheckpoint } from '../../src/operations/copy/copy.js';
import { COPY_MARKER } from '../../src/operations/copy/marker.js';
import { executePlan } from '../../src/operations/discard/execute.js';
import { withLock } from '../../src/operations/discard/lock.js';
import { planDiscard } from '../../src/operations/discard/plan.js';
import { resolveTargets } from '../../src/operations/discard/targets.js';
import { listCheckpoints } from '../../src/operations/list/list.js';
import { resolvePointer } from '../../src/operations/pointer.js';
import { savepointFrom } from '../../src/operations/savepoint-from.js';
import { verifyCheckpoint } from '../../src/operations/verify.js';
import { JOB, metadataNaming } from '../support/discard-tree.js';
import { DyingCaller } from '../support/dying-object-store.js';
import { MemoryObjectStore, type MemoryObjectStoreOptions } from '../support/memory-object-store.js';

const ROOT = 's3://bucket/root';
const CHK = `root/${JOB}/chk-1`;
const OWN = Array.from({ length: 8 }, (_, index) => `state-${index}`);
const SHARED = Array.from({ length: 3 }, (_, index) => `root/${JOB}/shared/shared-${index}`);
const BOTH = `root/${JOB}/shared/both`;
const OTHER = `root/${JOB}/chk-2`;
const TEN_MINUTES = 10 * 60_000;

/** What real stores are like, as far as it matters here. */
const STORES: readonly (readonly [string, MemoryObjectStoreOptions])[] = [
  ['S3', {}],
  ['without batches', { deleteBatch: 1 }],
  ['without conditions', { refusesConditions: true }],
];

/** A checkpoint with files of its own and shared ones, and another that shares one of them. */
function makeTree(options: MemoryObjectStoreOptions): MemoryObjectStore {
  const store = new MemoryObjectStore(options);
  const uri = (key: string) => `s3://bucket/${key}`;
  for (const key of [...OWN.map((name) => `${CHK}/${name}`), ...SHARED, BOTH, `${OTHER}/state`]) store.set(key, 'data');
  // The marker that Flink's own plug-ins leave.
  store.set(`${CHK}/`, '');
  store.set(`${CHK}/_metadata`, metadataNaming([...OWN, ...SHARED.map(uri), uri(BOTH)], 1n));
  store.set(`${OTHER}/_metadata`, metadataNaming(['state', uri(BOTH)], 2n));
  return store;
}

function systemsOf(store: ObjectStore): FileSystems {
  const fileSystem = new ObjectStoreFileSystem({
    scheme: 's3',
    authority: 'bucket',
    store,
    requests: new StoreRequests({ firstPause: 1 }),
  });
  return createFileSystems({ configuration: new Map() }, new Map([['s3', async () => fileSystem]]));
}

async function discard(fileSystems: FileSystems): Promise<boolean> {
  const targets = await resolveTargets(fileSystems, [`s3://bucket/${CHK}`]);
  if (targets.failed.length > 0) return false;
  // The dead caller lives on in this process, so nobody can see that its lock is stale.
  const pointers = targets.targets.map(({ directory }) => directory.toString());
  const lock = { command: 'discard', pointers, ifHeld: 'break' } as const;
  const result = await withLock(fileSystems, targets.area.roots, lock, async () =>
    executePlan(fileSystems, await planDiscard(fileSystems, targets, { job: 'stopped' })),
  );
  expect(result).toMatchObject({ done: true, failures: [] });
  return true;
}

async function verified(fileSystems: FileSystems, pointer: string): Promise<boolean> {
  return (await verifyCheckpoint(fileSystems, await resolvePointer(fileSystems, pointer))).ok;
}

/** Runs until the caller dies or is done. @returns whether it died */
async function runToDeath(caller: DyingCaller, work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => false), caller.died.then(() => true)]);
}

/** Dies at every change there is, in every way; the last of them is none, and gets to the end. */
async function atEveryChange(
  options: MemoryObjectStoreOptions,
  work: (fileSystems: FileSystems) => Promise<unknown>,
  judge: (store: MemoryObjectStore, when: string) => Promise<void>,
): Promise<void> {
  const whole = new DyingCaller(Number.POSITIVE_INFINITY, 'before');
  await work(systemsOf(whole.watch(makeTree(options))));
  expect(whole.changes).toBeGreaterThan(4);
  const changes = Array.from({ length: whole.changes + 1 }, (_, index) => index + 1);
  const deaths = (['before', 'half', 'after'] as const).flatMap((death) => changes.map((n) => ({ death, n })));
  // A run that takes over from another one waits a moment.
  await pMap(
    deaths,
    async ({ death, n }) => {
      const store = makeTree(options);
      const caller = new DyingCaller(n, death);
      const died = await runToDeath(caller, work(systemsOf(caller.watch(store))));
      expect(died).toBe(n <= whole.changes);
      await judge(store, `${death} change ${n}`);
    },
    { concurrency: 50 },
  );
}

describe.each(STORES)('an object store (%s), with a caller who dies at any change', (_, options) => {
  it('loses nothing in a discard, and the next run finishes it', async () => {
    await atEveryChange(options, discard, async (store, when) => {
      const there = (key: string) => store.objects.has(key);
      const named = [...OWN.map((name) => `${CHK}/${name}`), ...SHARED];
      const expectOthers = () => {
        for (const key of [BOTH, `${OTHER}/state`, `${OTHER}/_metadata`])
          expect(there(key), `${key} ${when}`).toBe(true);
      };
      expectOthers();
      if (there(`${CHK}/_metadata`)) {
        expect(
          named.filter((key) => !there(key)),
          when,
        ).toEqual([]);
      } else if (named.some(there)) {
        expect(there(`${CHK}/_metadata.discarding`), when).toBe(true);
      }
      await discard(systemsOf(store));
      expectOthers();
      const left = [...store.objects.keys()].filter((key) => !key.startsWith(OTHER) && key !== BOTH);
      // The lock of a caller who died when all was done stays until somebody else takes it over.
      expect(
        left.filter((key) => !key.includes('.ckpt-lock')),
        when,
      ).toEqual([]);
    });
  }, 120_000);

  it('never makes a copy look whole that is not, and the next run finishes it', async () => {
    const copy = (later: number) => async (fileSystems: FileSystems) => {
      const pointer = await resolvePointer(fileSystems, `s3://bucket/${CHK}`);
      const now = () => Date.now() + later;
      await copyCheckpoint(fileSystems, pointer, Path.parse('s3://bucket/elsewhere/copy'), { now });
    };
    await atEveryChange(options, copy(0), async (store, when) => {
      const source = [...makeTree({}).objects.keys()];
      const fileSystems = systemsOf(store);
      const isWhole = () => verified(fileSystems, 's3://bucket/elsewhere/copy');
      const target = 'elsewhere/copy';
      if (store.objects.has(`${target}/_metadata`)) expect(await isWhole(), when).toBe(true);
      await copy(TEN_MINUTES)(fileSystems).catch((error: unknown) => {
        // It was done but for the answer, so the place is taken.
        expect(store.objects.has(`${target}/${COPY_MARKER}`), `${when}: ${error}`).toBe(false);
        expect(store.objects.has(`${target}/_metadata`), `${when}: ${error}`).toBe(true);
      });
      expect(await isWhole(), when).toBe(true);
      expect(store.objects.has(`${target}/${COPY_MARKER}`), when).toBe(false);
      expect(
        source.filter((key) => !store.objects.has(key)),
        when,
      ).toEqual([]);
    });
  }, 120_000);

  it('makes one savepoint of a checkpoint, whatever happens on the way', async () => {
    const make = (later: number) => async (fileSystems: FileSystems) => {
      const pointer = await resolvePointer(fileSystems, `s3://bucket/${CHK}`);
      const now = () => Date.now() + later;
      return savepointFrom(fileSystems, pointer, Path.parse('s3://bucket/savepoints'), undefined, { now });
    };
    await atEveryChange(options, make(0), async (store, when) => {
      const whole = (name: string) => store.objects.has(`${name}/_metadata`);
      const directories = () => [
        ...new Set([...store.objects.keys()].map((key) => /^(savepoints\/[^/]+)/.exec(key)?.[1])),
      ];
      const fileSystems = systemsOf(store);
      for (const name of directories()) {
        if (!name || !whole(name)) continue;
        expect(await verified(fileSystems, `s3://bucket/${name}`), when).toBe(true);
      }
      const { savepointDirectory } = await make(TEN_MINUTES)(fileSystems);
      expect(await verified(fileSystems, savepointDirectory), when).toBe(true);
    });
  }, 120_000);
});

it('markers of directories are no data to list, and go with a discard', async () => {
  const store = makeTree({});
  store.set(`root/${JOB}/`, '');
  store.set(`root/savepoint-4f1a2b-0123456789ab/`, '');
  const { entries } = await listCheckpoints(systemsOf(store), [Path.parse(ROOT)], { now: Date.now(), minAge: 0 });
  const shown = entries.map(({ pointer, status, metadataBytes }) => ({ pointer, status, metadataBytes }));
  expect(shown).toEqual([
    { pointer: `${ROOT}/${JOB}/chk-1`, status: 'complete', metadataBytes: expect.any(Number) },
    { pointer: `${ROOT}/${JOB}/chk-2`, status: 'complete', metadataBytes: expect.any(Number) },
    { pointer: `${ROOT}/savepoint-4f1a2b-0123456789ab`, status: 'incomplete', metadataBytes: null },
  ]);
  await discard(systemsOf(store));
  expect(store.objects.has(`${CHK}/`)).toBe(false);
});
