import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../src/filesystem/file-system.js';
import { MemoryFileSystem } from '../../src/filesystem/memory.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { removeGarbage } from '../../src/operations/gc/remove.js';
import { searchGarbage } from '../../src/operations/gc/search.js';
import {
  type BuiltTree,
  buildTree,
  jobIdOf,
  metadataOf,
  type TreePlan,
  treePlans,
  uuidOf,
} from '../support/gc-tree.js';
import { treeOf, writeFile } from '../support/stores.js';

const DAY = 86_400_000;
const root = Path.parse('memory:/root');

/** A store in which something happens right before the n-th operation of whoever works on it. */
class RacingStore {
  now = 1_700_000_000_000;
  readonly memory = new MemoryFileSystem({ clock: () => this.now });
  readonly fileSystems: FileSystems;
  /** Operations so far. */
  operations = 0;
  /** Which of them was the first that deletes; undefined until then. */
  firstDeletion: number | undefined;
  private event: { readonly at: number; readonly happen: () => Promise<void> } | undefined;

  constructor() {
    const racing = this.racing();
    this.fileSystems = createFileSystems({ configuration: new Map() }, new Map([['memory', async () => racing]]));
  }

  /** @param at counted from 0 */
  let(happen: () => Promise<void>, at: number): void {
    this.event = { at, happen };
  }

  private async step(): Promise<void> {
    const { event } = this;
    if (this.operations++ === event?.at) await event.happen();
  }

  private racing(): FileSystem {
    const store = this;
    const { memory } = store;
    return new Proxy<FileSystem>(memory, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || name === 'qualify') return value;
        if (name === 'list') {
          return async function* (directory: Path, signal?: AbortSignal) {
            await store.step();
            yield* memory.list(directory, signal);
          };
        }
        if (name === 'deleteFiles') {
          // One by one, so that something can happen between any two of them.
          return async (directory: Path, names: readonly string[]) => {
            const results: boolean[] = [];
            for (const file of names) {
              store.firstDeletion ??= store.operations;
              await store.step();
              results.push(await memory.deleteFile(directory.entry(file)));
            }
            return results;
          };
        }
        return async (...args: unknown[]) => {
          await store.step();
          return value.apply(target, args);
        };
      },
    });
  }
}

/** What a running job does: it changes what is there, and says which checkpoints are there then. */
type Happening = (
  store: RacingStore,
  tree: BuiltTree,
) => Promise<readonly { readonly metadata: Path; readonly names: ReadonlySet<string> }[]>;

/** The next checkpoint names all that the first one names and a new file; then the first one goes. */
const handOver: Happening = async ({ memory }, tree) => {
  const [old, ...others] = tree.checkpoints as [BuiltTree['checkpoints'][number], ...BuiltTree['checkpoints']];
  const base = old.directory.parent as Path;
  const kept = [...old.names].filter((name) => !Path.parse(name).startsWith(old.directory));
  const uploaded = base.entry('shared').entry(uuidOf('uploaded just now'));
  await writeFile(memory, uploaded);
  const directory = base.entry('chk-900');
  const own = directory.entry(uuidOf('state of 900'));
  await writeFile(memory, own);
  const metadata = directory.entry('_metadata');
  const shared = [...kept, uploaded.toString()];
  await writeFile(memory, metadata, metadataOf(6, 900, { shared, relative: [own.name] }));
  await memory.deleteFile(old.metadata);
  for await (const entries of memory.list(old.directory)) {
    for (const { name } of entries) await memory.deleteFile(old.directory.entry(name));
  }
  await memory.deleteDirectory(old.directory);
  return [...others, { metadata, names: new Set([...shared, own.toString()]) }];
};

/** A checkpoint that is in progress, with files that are old already, completes. */
const complete: Happening = async ({ memory }, tree) => {
  const base = tree.bases[0] as Path;
  const directory = base.entry('chk-100');
  const all = (await treeOf(memory, base)).filter((name) => !name.endsWith('/'));
  const own = all.filter((name) => name.startsWith('chk-100/')).map((name) => name.slice('chk-100/'.length));
  const shared = [...tree.garbage]
    .filter(([path, kind]) => kind === 'shared' && path.startsWith(`${base}/shared/`))
    .map(([path]) => path)
    .filter((path) => all.includes(path.slice(`${base}/`.length)));
  const metadata = directory.entry('_metadata');
  await writeFile(memory, metadata, metadataOf(6, 100, { shared, relative: own }));
  const names = new Set([...shared, ...own.map((name) => directory.entry(name).toString())]);
  return [...tree.checkpoints, { metadata, names }];
};

/** A checkpoint is subsumed; the files that others name stay. */
const vanish: Happening = async ({ memory }, tree) => {
  const [old, ...others] = tree.checkpoints as [BuiltTree['checkpoints'][number], ...BuiltTree['checkpoints']];
  await memory.deleteFile(old.metadata);
  const needed = new Set(others.flatMap(({ names }) => [...names]));
  for (const name of old.names) if (!needed.has(name)) await memory.deleteFile(Path.parse(name));
  return others;
};

/** A run of gc during which something happened, or not. */
interface Race {
  /** Files that are needed in the end and are gone. */
  readonly lost: readonly string[];
  readonly happened: boolean;
  readonly operations: number;
  readonly firstDeletion: number | undefined;
}

/** Runs gc to its end, and lets something happen right before one of its operations. */
async function race(plan: TreePlan, happening: Happening, at: number): Promise<Race> {
  const store = new RacingStore();
  const tree = await buildTree(store.memory, root, plan);
  store.now += 2 * DAY;
  let present: Awaited<ReturnType<Happening>> | undefined;
  store.let(async () => {
    present = await happening(store, tree);
  }, at);
  const search = await searchGarbage(store.fileSystems, { roots: [root], minAge: DAY, now: () => store.now });
  await removeGarbage(store.fileSystems, search);
  const left = new Set((await treeOf(store.memory, root)).map((name) => `${root}/${name}`));
  const needed = (present ?? tree.checkpoints).flatMap(({ names, metadata }) => [...names, metadata.toString()]);
  const lost = [...new Set(needed)].filter((path) => !left.has(path));
  const { operations, firstDeletion } = store;
  return { lost, happened: present !== undefined, operations, firstDeletion };
}

/** A tree with everything in it. */
const busy: TreePlan = {
  isBare: false,
  metadataVersion: 6,
  jobs: [
    {
      shared: 6,
      checkpoints: [
        { kind: 'checkpoint', shared: [0, 1, 2], foreign: [], exclusive: 2, merged: true, changelog: [0] },
        { kind: 'checkpoint', shared: [2, 3], foreign: [], exclusive: 1, merged: false, changelog: [1] },
        { kind: 'savepoint', shared: [1], foreign: [], exclusive: 1, merged: false, changelog: [] },
      ],
      aborted: [3],
      orphans: { shared: 3, nested: 1, managed: 2, changelog: 1, exclusive: 1, unfinished: 1, taskOwned: 1 },
    },
    {
      shared: 2,
      checkpoints: [{ kind: 'checkpoint', shared: [0], foreign: [0, 4], exclusive: 1, merged: false, changelog: [] }],
      aborted: [],
      orphans: { shared: 1, nested: 0, managed: 0, changelog: 0, exclusive: 0, unfinished: 0, taskOwned: 0 },
    },
  ],
};

/** Listings and statuses of one look at this tree, at most. */
const OPERATIONS_OF_A_LOOK = 60;

describe('gc while a job runs', () => {
  it('has garbage to delete in this tree', async () => {
    const store = new RacingStore();
    const tree = await buildTree(store.memory, root, busy);
    store.now += 2 * DAY;
    const search = await searchGarbage(store.fileSystems, { roots: [root], minAge: DAY, now: () => store.now });
    const { deletedFiles } = await removeGarbage(store.fileSystems, search);
    expect(deletedFiles).toBe(tree.garbage.size);
    expect(tree.bases.map(({ name }) => name)).toEqual([jobIdOf(0), jobIdOf(1)]);
  });

  it.each([
    ['one checkpoint hands its files to the next', handOver],
    ['a checkpoint is subsumed', vanish],
  ])('loses no file that is needed when, at any point, %s', async (_what, happening) => {
    const { operations } = await race(busy, happening, Number.POSITIVE_INFINITY);
    for (let at = 0; at < operations; at++) {
      const { lost, happened } = await race(busy, happening, at);
      expect([at, happened, lost]).toEqual([at, true, []]);
    }
  });

  it('loses no file of an old checkpoint that completes before the last look, and stops soon if it does after', async () => {
    const { firstDeletion = 0, operations } = await race(busy, complete, Number.POSITIVE_INFINITY);
    const lastLook = firstDeletion - OPERATIONS_OF_A_LOOK;
    expect(lastLook).toBeGreaterThan(50);
    for (let at = 0; at < operations; at++) {
      const { lost } = await race(busy, complete, at);
      // What goes between two looks is gone; nothing could tell that it would be needed.
      if (at < lastLook) expect([at, lost]).toEqual([at, []]);
      else expect(lost.length).toBeLessThan(8);
    }
  });

  it('loses no file of any tree in a hand-over at any point', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, fc.nat({ max: 400 }), async (plan, at) => {
        const { lost } = await race(plan, handOver, at);
        expect(lost).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
