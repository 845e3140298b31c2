import { describe, expect, it } from 'vitest';
import { DirectoryNotEmptyError, IoError, PermissionError } from '../../../../src/errors.js';
import type { MemoryOperation } from '../../../../src/filesystem/memory.js';
import { Path } from '../../../../src/filesystem/path.js';
import { executePlan } from '../../../../src/operations/discard/execute.js';
import { move } from '../../../../src/operations/discard/removal.js';
import { DiscardTree, JOB, metadataNaming, OTHER_JOB } from '../../../support/discard-tree.js';

const CHK1 = `${JOB}/chk-1`;
const CHK2 = `${JOB}/chk-2`;
const TOMBSTONE = `${CHK1}/_metadata.discarding`;

/** A tree in which operations on these paths (below the root) fail, until `mend` is called. */
function failingTree(kind: 'file-system' | 'object-store' = 'file-system') {
  const failing = new Map<string, MemoryOperation>();
  const tree: DiscardTree = new DiscardTree({
    kind,
    ...(kind === 'object-store' && { scheme: 's3' }),
    failures: (operation, path) => {
      const relative = path.toString().slice(tree.root.length + 1);
      return failing.get(relative) === operation ? new IoError(path.toString(), operation) : undefined;
    },
  });
  return { tree, failing };
}

const shared = (tree: DiscardTree, name: string) => tree.at(`${JOB}/shared/${name}`);

describe.each(['file-system', 'object-store'] as const)('on %s', (kind) => {
  it('removes everything and says what it has freed', async () => {
    const { tree } = failingTree(kind);
    await tree.checkpoint(CHK1, ['a', 'b', shared(tree, 'x')]);
    await tree.checkpoint(CHK2, [shared(tree, 'y')]);
    const size = tree.memory.snapshot().get(tree.at(`${CHK1}/_metadata`))?.byteLength ?? 0;
    expect(await tree.discard([CHK1])).toEqual({
      done: true,
      deletedFiles: 4,
      deletedBytes: size + 12,
      alreadyGone: 0,
      strayEntries: [],
      failures: [],
      interrupted: false,
    });
    expect(tree.names()).toEqual([`${CHK2}/_metadata`, `${JOB}/shared/y`]);
    expect(await tree.exists(CHK1)).toBe(false);
  });

  it('makes the tombstone before anything goes, and removes it after everything else', async () => {
    const { tree } = failingTree(kind);
    await tree.checkpoint(CHK1, ['a', 'b', shared(tree, 'x')]);
    const plan = await tree.plan([CHK1]);
    tree.memory.operations.length = 0;
    await executePlan(tree.fileSystems, plan);
    const changes = tree.memory.operations
      .filter(({ operation }) => ['rename', 'commit', 'deleteFile'].includes(operation))
      .map(({ operation, path }) => `${operation} ${path.slice(tree.root.length + 1)}`);
    const first =
      kind === 'file-system' ? [`rename ${CHK1}/_metadata`] : [`commit ${TOMBSTONE}`, `deleteFile ${CHK1}/_metadata`];
    expect(changes.slice(0, first.length)).toEqual(first);
    expect(changes.at(-1)).toBe(`deleteFile ${TOMBSTONE}`);
    expect(changes.length).toBe(first.length + 4);
  });

  const operationOf = (name: string): MemoryOperation =>
    name === '_metadata' && kind === 'file-system' ? 'rename' : 'deleteFile';
  const names = ['_metadata', 'a', 'b', 'x', '_metadata.discarding'];
  const pathOf = (name: string) => (name === 'x' ? `${JOB}/shared/x` : `${CHK1}/${name}`);
  const subsets = Array.from({ length: 2 ** names.length - 1 }, (_, bits) =>
    names.filter((_name, index) => ((bits + 1) >> index) & 1),
  );

  it.each(subsets.map((subset) => [subset.join(', '), subset] as const))(
    'tells the failures of %s in order, and a second run finishes',
    async (_title, subset) => {
      const { tree, failing } = failingTree(kind);
      await tree.checkpoint(CHK1, ['a', 'b', shared(tree, 'x')]);
      await tree.checkpoint(CHK2, ['c', shared(tree, 'y')]);
      for (const name of subset) failing.set(pathOf(name), operationOf(name));
      const result = await tree.discard([CHK1]);
      const state = subset.filter((name) => ['a', 'b', 'x'].includes(name));
      const expected = subset.includes('_metadata') ? ['_metadata'] : state.length > 0 ? state : subset;
      expect(result.failures.map(({ path }) => path)).toEqual(expected.map((name) => tree.at(pathOf(name))));
      expect(result.failures.every(({ message, path }) => message.startsWith(path))).toBe(true);
      expect(result.done).toBe(false);
      expect(result.interrupted).toBe(false);
      if (subset.includes('_metadata')) {
        // Still complete: nothing of it may be gone.
        expect(tree.names()).toEqual(expect.arrayContaining([`${CHK1}/_metadata`, `${CHK1}/a`, `${CHK1}/b`]));
        expect(tree.names()).toContain(`${JOB}/shared/x`);
        expect(result.deletedFiles).toBe(0);
      } else {
        expect(tree.names()).toContain(TOMBSTONE);
        for (const name of ['a', 'b', 'x']) expect(tree.names().includes(pathOf(name))).toBe(state.includes(name));
      }

      failing.clear();
      const second = await tree.discard([CHK1]);
      expect(second).toMatchObject({ done: true, failures: [] });
      expect(tree.names()).toEqual([`${CHK2}/_metadata`, `${CHK2}/c`, `${JOB}/shared/y`]);
      expect(await tree.exists(CHK1)).toBe(false);
    },
  );
});

describe('the location', () => {
  it('keeps the tombstone if the directory could not be removed for another reason than what is in it', async () => {
    const { tree, failing } = failingTree();
    await tree.checkpoint(CHK1, ['a']);
    failing.set(CHK1, 'deleteDirectory');
    const result = await tree.discard([CHK1]);
    expect(result.failures.map(({ path }) => path)).toEqual([tree.at(CHK1)]);
    expect(tree.names()).toEqual([TOMBSTONE]);
    failing.clear();
    expect(await tree.discard([CHK1])).toMatchObject({ done: true, deletedFiles: 1, alreadyGone: 1 });
    expect(await tree.exists(CHK1)).toBe(false);
  });

  it('has a tombstone again if it could not be removed after the last one', async () => {
    let looks = 0;
    const tree: DiscardTree = new DiscardTree({
      failures: (operation, path) =>
        operation === 'deleteDirectory' && ++looks === 2 ? new IoError(path.toString(), 'delete') : undefined,
    });
    await tree.checkpoint(CHK1, ['a']);
    expect(await tree.discard([CHK1])).toMatchObject({ done: false, failures: [{ path: tree.at(CHK1) }] });
    expect(tree.names()).toEqual([TOMBSTONE]);
    expect(await tree.discard([CHK1])).toMatchObject({ done: true });
    expect(await tree.exists(CHK1)).toBe(false);
  });

  it('stays, without a tombstone, if others use a file in it', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a', 'b']);
    await tree.checkpoint(`${OTHER_JOB}/chk-7`, [tree.at(`${CHK1}/b`)]);
    expect(await tree.discard([CHK1])).toMatchObject({ done: true, failures: [], strayEntries: [] });
    expect(tree.names()).toEqual([`${CHK1}/b`, `${OTHER_JOB}/chk-7/_metadata`]);
  });

  it('stays with entries of nobody, which are a failure of its own', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    tree.put(`${CHK1}/notes.txt`);
    const result = await tree.discard([CHK1]);
    expect(result).toMatchObject({ done: false, deletedFiles: 2, strayEntries: [tree.at(`${CHK1}/notes.txt`)] });
    expect(result.failures).toMatchObject([{ path: tree.at(CHK1), error: expect.any(DirectoryNotEmptyError) }]);
    expect(tree.names()).toEqual([`${CHK1}/notes.txt`]);
  });

  it('stays with entries that have come since the plan was made', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    const plan = await tree.plan([CHK1]);
    tree.put(`${CHK1}/late`);
    const result = await executePlan(tree.fileSystems, plan);
    expect(result).toMatchObject({ done: false, strayEntries: [tree.at(`${CHK1}/late`)] });
    expect(tree.names()).toEqual([`${CHK1}/late`]);
  });

  it('of two metadata files in one directory goes with the last of them', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    tree.put(`${CHK1}/other`, metadataNaming(['a', 'b']));
    tree.put(`${CHK1}/b`);
    expect(await tree.discard([CHK1, tree.at(`${CHK1}/other`)])).toMatchObject({ done: true, deletedFiles: 4 });
    expect(await tree.exists(CHK1)).toBe(false);
  });
});

describe('several checkpoints', () => {
  it('of which one cannot be begun: what it shares with the others stays, and so do their tombstones', async () => {
    const { tree, failing } = failingTree();
    await tree.checkpoint(CHK1, ['a', shared(tree, 'x')]);
    await tree.checkpoint(CHK2, ['b', shared(tree, 'x'), shared(tree, 'y')]);
    await tree.checkpoint(`${JOB}/chk-3`, ['c']);
    failing.set(`${CHK2}/_metadata`, 'rename');
    const result = await tree.discard([CHK1, CHK2, `${JOB}/chk-3`]);
    expect(result.failures.map(({ path }) => path)).toEqual([tree.at(`${CHK2}/_metadata`)]);
    expect(tree.names()).toEqual([TOMBSTONE, `${CHK2}/_metadata`, `${CHK2}/b`, `${JOB}/shared/x`, `${JOB}/shared/y`]);
    failing.clear();
    expect(await tree.discard([CHK1, CHK2])).toMatchObject({ done: true });
    expect(tree.names()).toEqual([]);
  });

  it('of which a shared file cannot go: all that name it keep their tombstones', async () => {
    const { tree, failing } = failingTree();
    await tree.checkpoint(CHK1, ['a', shared(tree, 'x')]);
    await tree.checkpoint(CHK2, ['b', shared(tree, 'x')]);
    failing.set(`${JOB}/shared/x`, 'deleteFile');
    await tree.discard([CHK1, CHK2]);
    expect(tree.names()).toEqual([TOMBSTONE, `${CHK2}/_metadata.discarding`, `${JOB}/shared/x`]);
  });
});

describe('the tombstone', () => {
  it('beside complete metadata of the same contents is what a killed run has left', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    tree.put(TOMBSTONE, metadataNaming(['a']));
    expect(await tree.discard([CHK1])).toMatchObject({ done: true });
    expect(await tree.exists(CHK1)).toBe(false);
  });

  it('of another checkpoint is in the way, until it is discarded by its own path', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    tree.put(TOMBSTONE, metadataNaming(['old']));
    tree.put(`${CHK1}/old`);
    const result = await tree.discard([CHK1]);
    expect(result).toMatchObject({ done: false, deletedFiles: 0, failures: [{ path: tree.at(`${CHK1}/_metadata`) }] });
    expect(await tree.discard([tree.at(TOMBSTONE)])).toMatchObject({ done: true, deletedFiles: 2 });
    expect(tree.names()).toEqual([`${CHK1}/_metadata`, `${CHK1}/a`]);
    expect(await tree.discard([CHK1])).toMatchObject({ done: true });
  });

  it('is not made of metadata that has changed since the plan was made', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    const plan = await tree.plan([CHK1]);
    tree.put(`${CHK1}/_metadata`, metadataNaming(['a', 'b']));
    expect(await executePlan(tree.fileSystems, plan)).toMatchObject({ done: false, deletedFiles: 0 });
    expect(tree.names()).toEqual([`${CHK1}/_metadata`, `${CHK1}/a`]);
  });

  it('that a store has not kept as it was written is taken back, and nothing goes', async () => {
    const { tree } = failingTree('object-store');
    await tree.checkpoint(CHK1, ['a']);
    const plan = await tree.plan([CHK1]);
    const { memory } = tree;
    const createAtomic = memory.createAtomic.bind(memory);
    memory.createAtomic = async (path, options) => {
      const writer = await createAtomic(path, options);
      return {
        get position() {
          return writer.position;
        },
        write: (chunk) => writer.write(chunk.slice(1)),
        patch: (position, bytes) => writer.patch(position, bytes),
        commit: () => writer.commit(),
        abort: () => writer.abort(),
      };
    };
    const result = await executePlan(tree.fileSystems, plan);
    expect(result.failures).toMatchObject([{ path: tree.at(`${CHK1}/_metadata`) }]);
    expect(tree.names()).toEqual([`${CHK1}/_metadata`, `${CHK1}/a`]);
  });
});

describe('an interruption', () => {
  it('before the first step changes nothing', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    const before = tree.names();
    const plan = await tree.plan([CHK1]);
    const result = await executePlan(tree.fileSystems, plan, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ done: false, interrupted: true, deletedFiles: 0 });
    expect(tree.names()).toEqual(before);
  });

  it.each([1, 2, 7, 20])('after %i files keeps the tombstone, and the next run goes on', async (count) => {
    const controller = new AbortController();
    let deleted = 0;
    const tree: DiscardTree = new DiscardTree({
      failures: (operation) => {
        if (operation === 'deleteFile' && ++deleted === count) controller.abort(new Error('stop'));
        return undefined;
      },
    });
    const names = Array.from({ length: 30 }, (_, index) => `file-${index}`);
    await tree.checkpoint(CHK1, names);
    const plan = await tree.plan([CHK1]);
    const result = await executePlan(tree.fileSystems, plan, { signal: controller.signal });
    expect(result).toMatchObject({ done: false, interrupted: true, failures: [] });
    expect(tree.names()).toContain(TOMBSTONE);
    expect(tree.names().length).toBe(31 - result.deletedFiles);
    expect(await tree.discard([CHK1])).toMatchObject({ done: true, alreadyGone: result.deletedFiles });
    expect(tree.names()).toEqual([]);
  });
});

describe('moving', () => {
  const trash = Path.parse('memory:/trash');
  const moving = (tree: DiscardTree) => ({
    removal: move(tree.fileSystems, [Path.parse(tree.root)], trash),
  });

  it('keeps the layout, and the metadata is metadata again', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a', shared(tree, 'x')]);
    const before = [...tree.memory.snapshot()].map(([path, bytes]) => [
      path.replace('memory:/root', 'memory:/trash'),
      bytes,
    ]);
    const result = await executePlan(tree.fileSystems, await tree.plan([CHK1]), moving(tree));
    expect(result).toMatchObject({ done: true, deletedFiles: 3 });
    expect([...tree.memory.snapshot()]).toEqual(before);
    expect(await tree.exists(CHK1)).toBe(false);
  });

  it('replaces nothing that is there', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a', 'b']);
    tree.memory.put(Path.parse(`memory:/trash/${CHK1}/a`), 'older');
    const result = await executePlan(tree.fileSystems, await tree.plan([CHK1]), moving(tree));
    expect(result.failures).toMatchObject([{ path: tree.at(`${CHK1}/a`) }]);
    expect(tree.names().filter((name) => name.startsWith(JOB))).toEqual([TOMBSTONE, `${CHK1}/a`]);
  });

  it('copies where a store cannot rename', async () => {
    const tree = new DiscardTree({ kind: 'object-store', scheme: 's3' });
    await tree.checkpoint(CHK1, ['a']);
    const removal = move(tree.fileSystems, [Path.parse(tree.root)], Path.parse('s3://bucket/trash'));
    expect(await executePlan(tree.fileSystems, await tree.plan([CHK1]), { removal })).toMatchObject({ done: true });
    expect(tree.files()).toEqual([`s3://bucket/trash/${CHK1}/_metadata`, `s3://bucket/trash/${CHK1}/a`]);
  });
});

describe('a directory in the place of a file', () => {
  it('goes if it is empty, as Flink does it, and is a failure if it is not', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a', 'b', 'c']);
    for (const name of ['a', 'b']) await tree.memory.deleteFile(tree.path(`${CHK1}/${name}`));
    await tree.memory.makeDirectory(tree.path(`${CHK1}/a`));
    tree.put(`${CHK1}/b/inside`);
    const result = await tree.discard([CHK1]);
    expect(result.failures).toMatchObject([{ path: tree.at(`${CHK1}/b`), error: expect.any(DirectoryNotEmptyError) }]);
    expect(tree.names()).toEqual([TOMBSTONE, `${CHK1}/b/inside`]);
    expect(await tree.exists(`${CHK1}/a`)).toBe(false);
  });
});

describe('the log', () => {
  it('has each step, and its failure does not stop the rest', async () => {
    const tree = new DiscardTree();
    await tree.checkpoint(CHK1, ['a']);
    const lines: string[] = [];
    const log = {
      append: (records: readonly { action: string; path: string }[]) => {
        for (const { action, path } of records) lines.push(`${action} ${path.slice(tree.root.length + 1)}`);
      },
      close: () => undefined,
    };
    await executePlan(tree.fileSystems, await tree.plan([CHK1]), { log });
    expect(lines).toEqual([
      `tombstone ${CHK1}/_metadata`,
      `deleted ${CHK1}/a`,
      `deleted ${TOMBSTONE}`,
      `directory ${CHK1}`,
    ]);
    await tree.checkpoint(CHK1, ['a']);
    const broken = {
      append: () => {
        throw new PermissionError('/log');
      },
      close: () => undefined,
    };
    const result = await executePlan(tree.fileSystems, await tree.plan([CHK1]), { log: broken });
    expect(result).toMatchObject({ done: false, deletedFiles: 2, failures: [{ path: '/log' }] });
    expect(tree.names()).toEqual([]);
  });
});
