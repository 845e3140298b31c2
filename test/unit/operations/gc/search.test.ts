import { mkdir, symlink, writeFile as writeLocalFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import type { MemoryFileSystem } from '../../../../src/filesystem/memory.js';
import { Path } from '../../../../src/filesystem/path.js';
import type { FileSystems } from '../../../../src/filesystem/registry.js';
import { removeGarbage } from '../../../../src/operations/gc/remove.js';
import { type GcSearchOptions, searchGarbage } from '../../../../src/operations/gc/search.js';
import { hex, i8, join as joinBytes, utf } from '../../../support/byte-builder.js';
import { jobIdOf, metadataOf, uuidOf } from '../../../support/gc-tree.js';
import {
  inline,
  metadataFile,
  operator,
  operatorHandle,
  present,
  relative,
  state,
  subtask,
} from '../../../support/metadata-builder.js';
import { localPlace, memoryStore, treeOf, writeFile } from '../../../support/stores.js';

const DAY = 86_400_000;
const START = 1_700_000_000_000;
const J = jobIdOf(0);
const K = jobIdOf(1);
const root = 'memory:/root';
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(uuidOf) as [string, string, string, string];

/** A tree in memory, made a day and an hour ago, and the search in it. */
class World {
  time = START;
  readonly memory: MemoryFileSystem;
  readonly fileSystems: FileSystems;

  constructor() {
    const { memory, fileSystems } = memoryStore({ clock: () => this.time });
    this.memory = memory;
    this.fileSystems = fileSystems;
  }

  /** Files by their paths below the root, or whole. */
  async write(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
    for (const [path, contents] of Object.entries(files)) {
      await writeFile(this.memory, Path.parse(path.startsWith('memory:') ? path : `${root}/${path}`), contents);
    }
  }

  pass(milliseconds: number): void {
    this.time += milliseconds;
  }

  search(options: Partial<GcSearchOptions> & { readonly at?: string } = {}) {
    const { at = root, ...more } = options;
    return searchGarbage(this.fileSystems, { roots: [Path.parse(at)], minAge: DAY, now: () => this.time, ...more });
  }

  /** What is offered, below the root, with its kind. */
  async offered(options: Partial<GcSearchOptions> & { readonly at?: string } = {}): Promise<Record<string, string>> {
    const { findings } = await this.search(options);
    expect(findings.blocked).toEqual([]);
    return Object.fromEntries(findings.unreferenced.map(({ path, kind }) => [path.slice(root.length + 1), kind]));
  }

  tree(): Promise<string[]> {
    return treeOf(this.memory, Path.parse(root));
  }
}

async function worldOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<World> {
  const world = new World();
  await world.write(files);
  world.pass(DAY + 3_600_000);
  return world;
}

/** Metadata of a checkpoint that names files in `shared/` of a job below the root. */
function naming(shared: readonly string[], own: readonly string[] = []): Uint8Array {
  return metadataOf(6, 1, { shared: shared.map((path) => `${root}/${path}`), relative: own });
}

/** A whole checkpoint with one shared file. */
const whole = { [`${J}/chk-1/_metadata`]: naming([`${J}/shared/${a}`]), [`${J}/shared/${a}`]: 'x' };

describe('what is young', () => {
  it('spares a file by itself, and a directory for its youngest file', async () => {
    const world = await worldOf({
      ...whole,
      [`${J}/shared/${b}`]: 'old',
      [`${J}/chk-2/${b}`]: 'old',
      [`${J}/chk-3/${b}`]: 'old',
      [`${J}/taskowned/job_${J}_tm_gone/${b}`]: 'old',
    });
    await world.write({
      [`${J}/shared/${c}`]: 'young',
      [`${J}/chk-2/${c}`]: 'young',
      [`${J}/taskowned/job_${J}_tm_gone/${c}`]: 'young',
    });
    expect(await world.offered()).toEqual({
      [`${J}/shared/${b}`]: 'shared',
      [`${J}/chk-3/${b}`]: 'incomplete-checkpoint',
    });
    const { findings } = await world.search();
    expect(findings.spared).toEqual(
      expect.arrayContaining([
        { path: `${root}/${J}/shared/${c}`, reason: 'young' },
        { path: `${root}/${J}/chk-2`, reason: 'young' },
        { path: `${root}/${J}/taskowned/job_${J}_tm_gone`, reason: 'young' },
      ]),
    );
    expect(Object.keys(await world.offered({ minAge: 0 }))).toHaveLength(7);
  });

  it('counts a time in the future as young, whatever the age asked for', async () => {
    const world = await worldOf(whole);
    world.pass(DAY);
    await world.write({ [`${J}/shared/${b}`]: 'x' });
    world.pass(-2 * DAY);
    expect(await world.offered({ minAge: 0 })).toEqual({});
  });
});

describe('who uses a file', () => {
  it('is asked in the directories of other jobs if the root is that of one', async () => {
    const world = await worldOf({
      ...whole,
      [`${J}/shared/${b}`]: 'of the other job',
      [`${J}/shared/${c}`]: 'of nobody',
      [`${K}/chk-7/_metadata`]: naming([`${J}/shared/${b}`]),
    });
    for (const at of [`${root}/${J}`, `${root}/${J}/shared`, root]) {
      expect(await world.offered({ at })).toEqual({ [`${J}/shared/${c}`]: 'shared' });
    }
  });

  it('is asked beside the checkpoint if the root is one, or the directory of shared files', async () => {
    const bare = 'memory:/root/base';
    const world = await worldOf({
      [`${bare}/chk-1/_metadata`]: metadataOf(6, 1, { shared: [`${bare}/shared/${a}`], relative: [] }),
      [`${bare}/shared/${a}`]: 'x',
      [`${bare}/shared/${b}`]: 'x',
      [`${bare}/chk-2/${c}`]: 'x',
      'base/taskowned/job_x_tm_y/z': 'x',
    });
    const everything = {
      [`base/shared/${b}`]: 'shared',
      [`base/chk-2/${c}`]: 'incomplete-checkpoint',
      'base/taskowned/job_x_tm_y/z': 'managed-directory',
    };
    expect(await world.offered()).toEqual(everything);
    expect(await world.offered({ at: `${bare}/chk-2` })).toEqual({ [`base/chk-2/${c}`]: 'incomplete-checkpoint' });
    // What is above a directory of this name, and is no job, is not known from here.
    expect(await world.offered({ at: `${bare}/shared` })).toEqual({});
  });

  it('is asked where --used-by says, and nothing is offered there', async () => {
    const elsewhere = 'memory:/elsewhere';
    const world = await worldOf({
      ...whole,
      [`${J}/shared/${b}`]: 'of a savepoint',
      [`${elsewhere}/savepoint-aaaaaa-bbbbbbbbbbbb/_metadata`]: naming([`${J}/shared/${b}`]),
      [`${elsewhere}/${K}/shared/${c}`]: 'garbage of others',
    });
    expect(await world.offered()).toEqual({ [`${J}/shared/${b}`]: 'shared' });
    expect(await world.offered({ usedBy: [Path.parse(elsewhere)] })).toEqual({});
  });

  it('may be metadata of any name in the directory of a checkpoint', async () => {
    const world = await worldOf({
      ...whole,
      [`${J}/shared/${b}`]: 'x',
      [`${J}/chk-2/edited`]: naming([`${J}/shared/${b}`], [c]),
      [`${J}/chk-2/${c}`]: 'x',
      [`${J}/chk-2/${d}`]: 'x',
    });
    expect(await world.offered()).toEqual({ [`${J}/chk-2/${d}`]: 'exclusive' });
  });

  it('is nobody if the metadata was never finished, be it cut off', async () => {
    const unfinished = `._metadata.inprogress.${d}`;
    const world = await worldOf({
      ...whole,
      [`${J}/chk-1/${unfinished}`]: naming([`${J}/shared/${a}`]).subarray(0, 20),
      [`${J}/chk-1/.ckpt-${'0'.repeat(32)}.tmp`]: 'x',
      [`${J}/chk-2/${unfinished}`]: naming([`${J}/shared/${a}`]).subarray(0, 20),
      [`${J}/chk-2/${b}`]: 'x',
    });
    expect(await world.offered()).toEqual({
      [`${J}/chk-1/${unfinished}`]: 'in-progress',
      [`${J}/chk-1/.ckpt-${'0'.repeat(32)}.tmp`]: 'in-progress',
      [`${J}/chk-2/${unfinished}`]: 'in-progress',
      [`${J}/chk-2/${b}`]: 'incomplete-checkpoint',
    });
  });
});

describe('what is not offered unless asked for', () => {
  it('a savepoint without metadata, which may have been claimed', async () => {
    const savepoint = 'savepoint-aaaaaa-bbbbbbbbbbbb';
    const world = await worldOf({ ...whole, [`${savepoint}/${b}`]: 'x' });
    const { findings } = await world.search();
    expect(findings.unreferenced).toEqual([]);
    expect(findings.spared).toEqual([{ path: `${root}/${savepoint}`, reason: 'may-be-claimed' }]);
    await world.write({ 'memory:/elsewhere/none': 'x' });
    expect(await world.offered({ usedBy: [Path.parse('memory:/elsewhere')] })).toEqual({
      [`${savepoint}/${b}`]: 'incomplete-checkpoint',
    });
  });

  it('a working directory of ForSt', async () => {
    const working = `${J}/shared/op_Async_0a_1_2__attempt_0`;
    const world = await worldOf({ ...whole, [`${working}/db/${b}`]: 'x' });
    const { findings } = await world.search();
    expect(findings.unreferenced).toEqual([]);
    expect(findings.spared).toEqual([{ path: `${root}/${working}`, reason: 'working-directory' }]);
    expect(await world.offered({ workingDirectories: true })).toEqual({ [`${working}/db/${b}`]: 'shared' });
  });

  it('changelog files without a job id in their path', async () => {
    const base = 'memory:/root/dstl';
    const world = await worldOf({
      ...whole,
      [`${J}/chk-2/_metadata`]: metadataOf(6, 2, {
        shared: [`${root}/${J}/shared/${a}`],
        relative: [],
        changelog: [`${base}/${b}`],
      }),
      [`dstl/${b}`]: 'x',
      [`dstl/${c}`]: 'x',
    });
    expect(await world.offered()).toEqual({});
    const flat = { changelogBases: [Path.parse(base)] };
    expect(await world.offered(flat)).toEqual({ [`dstl/${c}`]: 'changelog' });
  });

  it('changelog files of a directory that the metadata calls by another name', async () => {
    const mentions = { shared: [`${root}/${J}/shared/${a}`], relative: [], changelog: [`memory:/flink/dstl/${b}`] };
    const world = await worldOf({
      ...whole,
      [`${J}/chk-2/_metadata`]: metadataOf(6, 2, mentions),
      [`memory:/mount/dstl/${b}`]: 'x',
    });
    const { findings } = await world.search({ changelogBases: [Path.parse('memory:/mount/dstl')] });
    expect(findings.blocked).toMatchObject([{ path: `${root}/${J}/chk-2`, reason: 'other-name' }]);
  });

  it('changelog files if no checkpoint was found that could name them', async () => {
    const world = await worldOf({ [`dstl/${J}/dstl/${b}`]: 'x' });
    const { findings } = await world.search();
    expect(findings.unreferenced).toEqual([]);
    expect(findings.spared).toEqual([{ path: `${root}/dstl/${J}/dstl`, reason: 'job-unknown' }]);
    await world.write({ [`${J}/taskowned/job_x_tm_y/z`]: 'x' });
    expect(await world.offered()).toEqual({ [`dstl/${J}/dstl/${b}`]: 'changelog' });
  });
});

describe('what is none of its business', () => {
  it('stays, whatever it is called', async () => {
    const world = await worldOf({
      ...whole,
      'output/shared/part-0': 'x',
      'output/taskowned-not/part-0': 'x',
      [`output/.part-0.inprogress.${b}`]: 'x',
      [`output/.ckpt-${'0'.repeat(32)}.tmp`]: 'x',
      [`dstl/${b}`]: 'x',
      [`${J}/chk-1/README`]: 'x',
      [`${J}/notes`]: 'x',
      'chk-x/y': 'x',
      'mine/_metadata': naming([`${J}/shared/${a}`]),
      [`mine/${b}`]: 'x',
      [`dstl/${J}/other/${b}`]: 'x',
      '.ckpt-lock': 'x',
      [`${J}/shared/.ckpt-lock`]: 'x',
    });
    expect(await world.offered({ minAge: 0, workingDirectories: true })).toEqual({});
  });
});

describe('what blocks', () => {
  it('is a file of a checkpoint that is not where it should be, until the checkpoint is assumed to be dead', async () => {
    const world = await worldOf({
      ...whole,
      [`${J}/chk-2/_metadata`]: naming([`${J}/shared/${b}`, `${J}/shared/${c}`], [d]),
      [`${J}/chk-2/${d}`]: 'x',
      [`${J}/shared/${b}`]: 'x',
    });
    const { findings } = await world.search();
    expect(findings.blocked).toMatchObject([{ path: `${root}/${J}/chk-2`, reason: 'files-missing' }]);
    expect(findings.blocked[0]?.message).toContain(`${J}/shared/${c}`);
    expect(findings.unreferenced).toEqual([]);
    for (const pointer of [`${root}/${J}/chk-2`, `${root}/${J}/chk-2/_metadata`]) {
      expect(await world.offered({ assumeDead: [pointer] })).toEqual({ [`${J}/shared/${b}`]: 'shared' });
    }
    const spared = (await world.search({ assumeDead: [`${root}/${J}/chk-2`] })).findings.spared;
    expect(spared).toEqual([{ path: `${root}/${J}/chk-2`, reason: 'assumed-dead' }]);
  });

  it('is metadata that cannot be read, until the checkpoint is assumed to be dead', async () => {
    const world = await worldOf({ ...whole, [`${J}/chk-2/_metadata`]: '', [`${J}/shared/${b}`]: 'x' });
    expect((await world.search()).findings.blocked).toMatchObject([
      { path: `${root}/${J}/chk-2/_metadata`, reason: 'unreadable' },
    ]);
    expect(await world.offered({ assumeDead: [`${root}/${J}/chk-2`] })).toEqual({ [`${J}/shared/${b}`]: 'shared' });
  });

  it('is not removed by declaring a whole checkpoint dead', async () => {
    const world = await worldOf(whole);
    const { findings } = await world.search({ assumeDead: [`${root}/${J}/chk-1`] });
    expect(findings.unreferenced).toEqual([]);
    expect(findings.warnings).toHaveLength(1);
  });

  it('is a checkpoint elsewhere that names files here by another name', async () => {
    const elsewhere = 'memory:/elsewhere';
    const world = await worldOf({
      ...whole,
      [`${elsewhere}/savepoint-aaaaaa-bbbbbbbbbbbb/_metadata`]: metadataOf(6, 1, {
        shared: [`hdfs://host/flink/${J}/shared/${b}`],
        relative: [],
      }),
      [`${J}/shared/${b}`]: 'x',
    });
    const { findings } = await world.search({ usedBy: [Path.parse(elsewhere)] });
    expect(findings.blocked).toMatchObject([
      { path: `${elsewhere}/savepoint-aaaaaa-bbbbbbbbbbbb`, reason: 'other-name' },
    ]);
  });

  it('is not a file that somebody else may have put elsewhere', async () => {
    const world = await worldOf({
      ...whole,
      [`${J}/chk-2/_metadata`]: metadataOf(6, 1, {
        shared: [`${root}/${J}/shared/${a}`, `hdfs://host/flink/${K}/shared/${b}`],
        relative: [],
      }),
      [`${J}/shared/${c}`]: 'x',
    });
    expect(await world.offered()).toEqual({ [`${J}/shared/${c}`]: 'shared' });
  });
});

/** Metadata whose one operator has this as its state. */
function withOperatorState(handle: Uint8Array): Uint8Array {
  return metadataFile(6, {
    operators: [
      operator(6, {
        subtasks: [subtask(6, { managedOperator: present(operatorHandle([state('pending', 0, [0])], handle)) })],
      }),
    ],
  });
}

/** State with a snappy stream in it: one chunk, in which the text is cut in two. */
async function snappyStream(text: string): Promise<Uint8Array> {
  const data = Buffer.from(text, 'latin1');
  const literal = (part: Uint8Array): Uint8Array => joinBytes(i8((part.length - 1) << 2), part);
  const block = joinBytes(i8(data.length), literal(data.subarray(0, 20)), literal(data.subarray(20)));
  const checksum = Number.parseInt(await crc32(data, 0x82f63b78), 16);
  const masked = (((checksum >>> 15) | (checksum << 17)) + 0xa282ead8) >>> 0;
  const chunk = Buffer.alloc(8);
  chunk.writeUInt32LE((block.length + 4) << 8, 0);
  chunk.writeUInt32LE(masked, 4);
  return joinBytes(hex('00000006 01'), utf('header'), hex('ff060000734e61507059'), chunk, block);
}

describe('files in taskowned/', () => {
  const files = { [`${J}/taskowned/${a}`]: 'x', [`${J}/taskowned/${b}`]: 'x' };
  const told = async (world: World, options: Partial<GcSearchOptions> = {}) => {
    const { findings } = await world.search({ taskOwned: true, ...options });
    const inState = Object.fromEntries(findings.taskOwned.map((file) => [file.path.slice(-36), file.inState]));
    return { inState, offered: findings.unreferenced.map(({ path }) => path.slice(-36)) };
  };

  it.each([
    ['inline state', async () => inline('s', Buffer.from(`file:/x/${a}`))],
    ['inline state in snappy frames', async () => inline('s', await snappyStream(`file:/x/${a}`))],
  ])('are found in %s', async (_what, make) => {
    const world = await worldOf({ ...files, [`${J}/chk-1/_metadata`]: withOperatorState(await make()) });
    expect(await told(world)).toEqual({ inState: { [a]: true, [b]: false }, offered: [b] });
    expect((await told(world, { taskOwned: false })).offered).toEqual([]);
  });

  it('are found in a state file, and nothing can be told of them if it is not there or damaged', async () => {
    const metadata = { [`${J}/chk-1/_metadata`]: withOperatorState(relative(d, 1)) };
    const found = await worldOf({ ...files, ...metadata, [`${J}/chk-1/${d}`]: `file:/x/${a}` });
    expect(await told(found)).toEqual({ inState: { [a]: true, [b]: false }, offered: [b] });
    const missing = await worldOf({ ...files, ...metadata });
    expect(await told(missing)).toEqual({ inState: { [a]: null, [b]: null }, offered: [] });
    const damaged = new Uint8Array(await snappyStream(`file:/x/${a}`));
    damaged.set([(damaged.at(-1) ?? 0) ^ 1], damaged.length - 1);
    const broken = await worldOf({ ...files, ...metadata, [`${J}/chk-1/${d}`]: damaged });
    expect(await told(broken)).toEqual({ inState: { [a]: null, [b]: null }, offered: [] });
  });

  it('are all offered, if asked for, where no state is', async () => {
    const world = await worldOf({ ...whole, ...files });
    expect(await told(world)).toEqual({ inState: { [a]: false, [b]: false }, offered: [b, a].sort() });
  });

  it('are spared while they are young', async () => {
    const world = await worldOf(whole);
    await world.write(files);
    expect(await told(world)).toEqual({ inState: { [a]: false, [b]: false }, offered: [] });
  });
});

it('does not offer a file beside metadata that operator state names', async () => {
  const world = await worldOf({
    [`${J}/chk-1/_metadata`]: withOperatorState(inline('s', Buffer.from(a))),
    [`${J}/chk-1/${a}`]: 'x',
    [`${J}/chk-1/${b}`]: 'x',
  });
  const { findings } = await world.search();
  expect(findings.unreferenced.map(({ path, kind }) => [path.slice(-36), kind])).toEqual([[b, 'exclusive']]);
  expect(findings.spared).toEqual([{ path: `${root}/${J}/chk-1/${a}`, reason: 'in-state' }]);
});

describe('what a discard has left', () => {
  const half = {
    ...whole,
    [`${J}/chk-2/_metadata.discarding`]: naming([`${J}/shared/${a}`, `${J}/shared/${b}`], [c]),
    [`${J}/chk-2/${c}`]: 'x',
    [`${J}/shared/${b}`]: 'x',
  };

  it('is offered as a whole, but for what others use, and is finished', async () => {
    const world = await worldOf(half);
    expect(await world.offered()).toEqual({
      [`${J}/chk-2/_metadata.discarding`]: 'tombstone',
      [`${J}/chk-2/${c}`]: 'exclusive',
      [`${J}/shared/${b}`]: 'shared',
    });
    const result = await removeGarbage(world.fileSystems, await world.search());
    expect([result.deletedFiles, result.failed]).toEqual([3, []]);
    expect(await world.tree()).toEqual([
      `${J}/`,
      `${J}/chk-1/`,
      `${J}/chk-1/_metadata`,
      `${J}/shared/`,
      `${J}/shared/${a}`,
    ]);
  });

  it('stays while it is young', async () => {
    const world = await worldOf(whole);
    await world.write(Object.fromEntries(Object.entries(half).filter(([path]) => !(path in whole))));
    const { findings } = await world.search();
    expect(findings.unreferenced).toEqual([]);
    expect(findings.spared).toEqual([{ path: `${root}/${J}/chk-2/_metadata.discarding`, reason: 'young' }]);
  });

  it('stays where --used-by says, and is kept for who is there', async () => {
    const world = await worldOf({
      ...half,
      'memory:/other/savepoint-aaaaaa-bbbbbbbbbbbb/_metadata': naming([`${J}/shared/${b}`]),
    });
    expect(await world.offered({ usedBy: [Path.parse('memory:/other')] })).toEqual({
      [`${J}/chk-2/_metadata.discarding`]: 'tombstone',
      [`${J}/chk-2/${c}`]: 'exclusive',
    });
  });
});

describe('empty directories', () => {
  it('are removed only if asked for, with those that become empty, never the root or what a handle names', async () => {
    const managed = `job_${J}_tm_a`;
    const world = await worldOf({
      [`${J}/chk-1/_metadata`]: metadataOf(6, 1, {
        shared: [`${root}/${J}/shared/${a}`],
        relative: [],
        managed: { taskOwned: `${root}/${J}/taskowned/${managed}`, shared: `${root}/${J}/shared/${managed}` },
      }),
      [`${J}/shared/${a}`]: 'x',
      [`${J}/chk-2/${b}`]: 'x',
      [`${K}/chk-3/${b}`]: 'x',
      [`${J}/taskowned/${managed}/${uuidOf('state')}`]: 'x',
    });
    for (const directory of [`${K}/shared`, `${K}/taskowned`, `${J}/shared/${managed}`, 'output/empty', `${J}/mine`]) {
      await world.memory.makeDirectory(Path.parse(`${root}/${directory}`));
    }
    world.pass(2 * DAY);
    expect((await world.search()).findings.emptyDirectories).toEqual([]);
    const search = await world.search({ emptyDirectories: true });
    expect(search.findings.emptyDirectories.map(String).sort()).toEqual(
      [`${J}/chk-2`, `${K}`, `${K}/chk-3`, `${K}/shared`, `${K}/taskowned`].map((path) => `${root}/${path}`).sort(),
    );
    const { deletedDirectories, failed } = await removeGarbage(world.fileSystems, search);
    expect([deletedDirectories, failed]).toEqual([5, []]);
    expect((await world.tree()).filter((path) => path.endsWith('/'))).toEqual(
      [`${J}/`, `${J}/chk-1/`, `${J}/mine/`, `${J}/shared/`, `${J}/shared/${managed}/`, `${J}/taskowned/`]
        .concat(`${J}/taskowned/${managed}/`, 'output/', 'output/empty/')
        .sort(),
    );
  });
});

describe('links', () => {
  it('are nobody’s garbage, and what lies behind one that leads out of the roots is not offered', async () => {
    const { fileSystems, root: place } = await localPlace();
    const at = place.path;
    await mkdir(join(at, 'root', J, 'shared'), { recursive: true });
    await mkdir(join(at, 'out', K, 'shared'), { recursive: true });
    await writeLocalFile(join(at, 'out', K, 'shared', b), 'x');
    await writeLocalFile(join(at, 'root', J, 'shared', c), 'x');
    await symlink(join(at, 'out', K, 'shared', b), join(at, 'root', J, 'shared', a));
    await symlink(join(at, 'out', K), join(at, 'root', K));
    const { findings } = await searchGarbage(fileSystems, {
      roots: [Path.parse(`file:${at}/root`)],
      minAge: 0,
      now: Date.now,
    });
    expect(findings.unreferenced.map(({ name }) => name)).toEqual([c]);
    expect(findings.spared).toEqual([{ path: `file:${at}/root/${K}/shared`, reason: 'outside-roots' }]);
  });

  it('block if one that leads nowhere, or a directory, stands in the place of metadata', async () => {
    for (const make of [(path: string) => symlink('/not/mounted/now/_metadata', path), (path: string) => mkdir(path)]) {
      const { fileSystems, root: place } = await localPlace();
      await mkdir(join(place.path, J, 'chk-1'), { recursive: true });
      await writeLocalFile(join(place.path, J, 'chk-1', a), 'x');
      await make(join(place.path, J, 'chk-1', '_metadata'));
      const { findings } = await searchGarbage(fileSystems, { roots: [place], minAge: 0, now: Date.now });
      expect(findings.blocked).toMatchObject([{ path: `${place}/${J}/chk-1`, reason: 'unreadable' }]);
      expect(findings.unreferenced).toEqual([]);
    }
  });
});
