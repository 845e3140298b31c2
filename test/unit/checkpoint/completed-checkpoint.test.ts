import { chmod, mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { NOOP_DISCARD_OBJECT } from '../../../src/checkpoint/checkpoint.js';
import { CompletedCheckpoint, type CompletedCheckpointOptions } from '../../../src/checkpoint/completed-checkpoint.js';
import { DirectoryNotEmptyError, IoError, PermissionError, suppressedOf, UsageError } from '../../../src/errors.js';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import type { FileSystems } from '../../../src/filesystem/registry.js';
import {
  forCheckpoint,
  forSavepoint,
  JOB_STATUSES,
  shouldBeDiscardedOnShutdown,
} from '../../../src/model/checkpoint-properties.js';
import { FsCompletedCheckpointStorageLocation } from '../../../src/storage/fs-metadata-stream.js';
import { NonPersistentMetadataCheckpointStorageLocation } from '../../../src/storage/metadata-locations.js';
import { asNobody, localPlace, memoryStore, PLACES, treeOf, writeFile } from '../../support/stores.js';
import * as states from './states.js';

const EVERYTHING = [
  'chk-1/',
  'chk-1/_metadata',
  'chk-1/a',
  'chk-1/b',
  'chk-2/',
  'chk-2/_metadata',
  'shared/',
  'shared/p',
  'shared/s',
  'shared/unowned',
];
const WITHOUT_CHK_1 = ['chk-2/', 'chk-2/_metadata', 'shared/', 'shared/unowned'];

/** A checkpoint with two exclusive files in two subtasks, a shared and a private file of an incremental backend. */
function optionsOf(fileSystems: FileSystems, fileSystem: FileSystem, job: Path): CompletedCheckpointOptions {
  const directory = job.child('chk-1');
  const shared = (name: string) => states.file(`${job}/shared/${name}`);
  const metadata = states.file(String(directory.child('_metadata')), 8);
  return {
    jobId: states.JOB,
    checkpointId: 1n,
    timestamp: 1000,
    completionTimestamp: 2000,
    operatorStates: [
      states.operator(states.OPERATOR, [
        states.subtask(0, { managedOperatorState: states.operatorState(states.relative('a')) }),
        states.subtask(1, { managedKeyedState: states.keyGroups(states.relative('b')) }),
      ]),
      states.operator(states.OTHER_OPERATOR, [
        states.subtask(0, { managedKeyedState: states.incremental(states.inline('m'), [shared('s')], [shared('p')]) }),
      ]),
    ],
    properties: forCheckpoint('NEVER_RETAIN_AFTER_TERMINATION'),
    storageLocation: new FsCompletedCheckpointStorageLocation(fileSystem, directory, metadata, String(directory)),
    fileSystems,
  };
}

async function fill(fileSystem: FileSystem, job: Path): Promise<void> {
  for (const name of EVERYTHING) if (!name.endsWith('/')) await writeFile(fileSystem, job.child(name));
}

describe.each(PLACES)('discarding a completed checkpoint: %s', (_, place) => {
  async function setUp(more: Partial<CompletedCheckpointOptions> = {}) {
    const { fileSystems, fileSystem, root } = await place();
    await fill(fileSystem, root);
    expect(await treeOf(fileSystem, root)).toEqual(EVERYTHING);
    const checkpoint = new CompletedCheckpoint({ ...optionsOf(fileSystems, fileSystem, root), ...more });
    return { fileSystem, root, checkpoint };
  }

  it.each(['discard', 'discardAsync'] as const)('by %s leaves what is not its own', async (how) => {
    const { fileSystem, root, checkpoint } = await setUp();
    const discard = checkpoint.markAsDiscarded();
    expect(checkpoint.isMarkedAsDiscarded).toBe(true);
    await discard[how]();
    expect(await treeOf(fileSystem, root)).toEqual(WITHOUT_CHK_1);
    expect(checkpoint.operatorStates.size).toBe(0);
    expect(checkpoint.stateSize).toBe(0n);
    await discard[how]();
    expect(await treeOf(fileSystem, root)).toEqual(WITHOUT_CHK_1);
  });

  it('leaves shared files to the registry that has them', async () => {
    const { fileSystem, root, checkpoint } = await setUp({ sharedState: 'registered' });
    await checkpoint.discard();
    expect(await treeOf(fileSystem, root)).toEqual([
      'chk-2/',
      'chk-2/_metadata',
      'shared/',
      'shared/s',
      'shared/unowned',
    ]);
  });

  it('takes files that are gone already for discarded', async () => {
    const { fileSystem, root, checkpoint } = await setUp();
    for (const name of ['chk-1/_metadata', 'chk-1/b', 'shared/s']) await fileSystem.deleteFile(root.child(name));
    await checkpoint.discard();
    expect(await treeOf(fileSystem, root)).toEqual(WITHOUT_CHK_1);
  });

  it('fails at a stray file, again and again, until it is gone', async () => {
    const { fileSystem, root, checkpoint } = await setUp();
    await writeFile(fileSystem, root.child('chk-1/stray'));
    for (const _attempt of [1, 2]) {
      await expect(checkpoint.discard()).rejects.toThrow(DirectoryNotEmptyError);
      expect(await treeOf(fileSystem, root)).toEqual(['chk-1/', 'chk-1/stray', ...WITHOUT_CHK_1]);
    }
    await fileSystem.deleteFile(root.child('chk-1/stray'));
    await checkpoint.discard();
    expect(await treeOf(fileSystem, root)).toEqual(WITHOUT_CHK_1);
  });

  it('fails at a directory in the place of the metadata, and does the rest', async () => {
    const { fileSystem, root, checkpoint } = await setUp();
    await fileSystem.deleteFile(root.child('chk-1/_metadata'));
    await writeFile(fileSystem, root.child('chk-1/_metadata/inside'));
    const error: unknown = await checkpoint.discard().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DirectoryNotEmptyError);
    expect(String(error)).toContain('_metadata');
    expect(suppressedOf(error as Error).map(String)).toEqual([
      expect.stringContaining('chk-1: directory is not empty'),
    ]);
    expect(await treeOf(fileSystem, root)).toEqual([
      'chk-1/',
      'chk-1/_metadata/',
      'chk-1/_metadata/inside',
      ...WITHOUT_CHK_1,
    ]);
  });

  it('deletes an empty directory in the place of a state file', async () => {
    const { fileSystem, root, checkpoint } = await setUp();
    await fileSystem.deleteFile(root.child('chk-1/a'));
    await fileSystem.makeDirectory(root.child('chk-1/a'));
    await checkpoint.discard();
    expect(await treeOf(fileSystem, root)).toEqual(WITHOUT_CHK_1);
  });
});

/** All subsets of some things. */
function subsets<T>(things: readonly T[]): T[][] {
  const all: T[][] = [[]];
  for (const thing of things) all.push(...all.map((subset) => [...subset, thing]));
  return all;
}

describe('whatever fails', () => {
  const job = Path.parse('memory:/job');
  const DELETIONS = ['chk-1/_metadata', 'chk-1/a', 'chk-1/b', 'shared/p', 'shared/s', 'chk-1'] as const;

  /** The store of a checkpoint of which some paths cannot be deleted. */
  async function setUp(failing: readonly string[]) {
    const failures = new Map(failing.map((name) => [`/job/${name}`, new IoError(`memory:/job/${name}`, 'delete')]));
    const broken = { is: true };
    const { memory, fileSystems } = memoryStore({
      failures: (operation, path) =>
        broken.is && (operation === 'deleteFile' || operation === 'deleteDirectory')
          ? failures.get(path.path)
          : undefined,
    });
    await fill(memory, job);
    const logged: unknown[] = [];
    let notified = 0;
    const options: CompletedCheckpointOptions = {
      ...optionsOf(fileSystems, memory, job),
      logger: { warn: (_message, error) => logged.push(error) },
      onDiscarded: () => notified++,
    };
    const checkpoint = new CompletedCheckpoint(options);
    return { memory, options, checkpoint, logged, broken, failures, notified: () => notified };
  }

  const outcome = (promise: Promise<void>): Promise<Error | undefined> =>
    promise.then(
      () => undefined,
      (error: Error) => error,
    );

  it.each(subsets(DELETIONS).map((failing) => [failing]))('of %j, everything else is done', async (failing) => {
    for (const how of ['discard', 'discardAsync'] as const) {
      const { memory, options, checkpoint, logged, broken, failures, notified } = await setUp(failing);
      const fails = (name: (typeof DELETIONS)[number]) => failing.includes(name);
      const failureOf = (name: string) => failures.get(`/job/${name}`) as Error;

      const error = await outcome(checkpoint.markAsDiscarded()[how]());

      // In order: metadata, (only in parallel:) state, location.
      const stuck = ['chk-1/_metadata', 'chk-1/a', 'chk-1/b'].some((name) => failing.includes(name as 'chk-1/a'));
      const expected: unknown[] = [];
      if (how === 'discard') {
        if (fails('chk-1/_metadata')) expected.push(failureOf('chk-1/_metadata'));
      } else {
        for (const name of ['chk-1/a', 'chk-1/b', 'chk-1/_metadata'] as const) {
          if (fails(name)) expected.push(failureOf(name));
        }
      }
      if (fails('chk-1')) expected.push(failureOf('chk-1'));
      else if (stuck) expected.push(expect.any(DirectoryNotEmptyError));
      expect(error === undefined ? [] : [error, ...suppressedOf(error)]).toEqual(expected);

      // What Flink only logs.
      const swallowed = how === 'discard' ? ['chk-1/a', 'chk-1/b', 'shared/p', 'shared/s'] : ['shared/p', 'shared/s'];
      expect(logged).toEqual(swallowed.filter((name) => failing.includes(name as 'chk-1/a')).map(failureOf));

      // Every step has run, and nothing else was touched.
      const left = new Set<string>([...failing, ...WITHOUT_CHK_1].filter((name) => name !== 'chk-1'));
      if (fails('chk-1') || stuck) left.add('chk-1/');
      expect(await treeOf(memory, job)).toEqual([...left].sort());
      expect(checkpoint.operatorStates.size).toBe(0);
      expect(notified()).toBe(1);

      // Once the store is well again, discarding it anew finishes the work.
      broken.is = false;
      await new CompletedCheckpoint(options).discard();
      expect(await treeOf(memory, job)).toEqual(WITHOUT_CHK_1);
    }
  });

  it('metadata that is left is left alone: nothing else was deleted before it', async () => {
    const { memory, checkpoint } = await setUp([]);
    memory.operations.length = 0;
    await checkpoint.discard();
    const deletions = memory.operations.filter(({ operation }) => operation.startsWith('delete'));
    expect(deletions.map(({ path }) => path.slice('memory:/job/'.length))).toEqual([
      'chk-1/_metadata',
      'chk-1/a',
      'chk-1/b',
      'shared/p',
      'shared/s',
      'chk-1',
    ]);
  });

  it('a failing callback is one more failure', async () => {
    const { options } = await setUp([]);
    const failure = new Error('callback');
    const onDiscarded = () => {
      throw failure;
    };
    const checkpoint = new CompletedCheckpoint({ ...options, onDiscarded });
    await expect(checkpoint.discard()).rejects.toBe(failure);
    expect(checkpoint.operatorStates.size).toBe(0);
  });
});

describe('without permission', () => {
  it('the first refusal is thrown, and what may go goes', async () => {
    const { fileSystems, fileSystem, root } = await localPlace();
    const directory = root.path;
    await fill(fileSystem, root);
    await chmod(directory, 0o777);
    await chmod(`${directory}/shared`, 0o777);
    await chmod(`${directory}/chk-1`, 0o555);
    const checkpoint = new CompletedCheckpoint(optionsOf(fileSystems, fileSystem, root));
    const error: unknown = await asNobody(() => checkpoint.discard().catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(PermissionError);
    expect(String(error)).toContain('chk-1/_metadata');
    expect(suppressedOf(error as Error)).toEqual([expect.any(DirectoryNotEmptyError)]);
    const left = ['chk-1/', 'chk-1/_metadata', 'chk-1/a', 'chk-1/b', ...WITHOUT_CHK_1];
    expect(await treeOf(fileSystem, root)).toEqual(left);
  });

  it('to look, nobody can say that a file is gone', async () => {
    const { fileSystems, fileSystem, root } = await localPlace();
    const directory = root.path;
    await fill(fileSystem, root);
    await mkdir(`${directory}/chk-1/x`);
    await chmod(directory, 0o777);
    await chmod(`${directory}/chk-1`, 0o000);
    const checkpoint = new CompletedCheckpoint(optionsOf(fileSystems, fileSystem, root));
    const error: unknown = await asNobody(() => checkpoint.discard().catch((thrown: unknown) => thrown));
    await chmod(`${directory}/chk-1`, 0o755);
    expect(error).toBeInstanceOf(PermissionError);
    expect(await treeOf(fileSystem, root)).toContain('chk-1/_metadata');
  });
});

describe('a completed checkpoint', () => {
  const job = Path.parse('memory:/job');
  const setUp = (more: Partial<CompletedCheckpointOptions> = {}) => {
    const { memory, fileSystems } = memoryStore();
    return { memory, checkpoint: new CompletedCheckpoint({ ...optionsOf(fileSystems, memory, job), ...more }) };
  };

  it('tells what it is', () => {
    const { checkpoint } = setUp();
    expect(String(checkpoint)).toBe(`Checkpoint 1 @ 1000 for ${states.JOB} located at memory:/job/chk-1`);
    expect(checkpoint.externalPointer).toBe('memory:/job/chk-1');
    expect(checkpoint.metadataHandle).toEqual(states.file('memory:/job/chk-1/_metadata', 8));
    // Two relative files, two shared ones of a byte each, and three bytes inline.
    expect(checkpoint.stateSize).toBe(7n);
    expect(checkpoint.isMarkedAsDiscarded).toBe(false);
    expect([...checkpoint.operatorStates.keys()]).toEqual([states.OPERATOR, states.OTHER_OPERATOR]);
  });

  it('counts coordinator state', () => {
    const state = { ...states.operator(states.OPERATOR, []), coordinatorState: states.inline('c') };
    expect(setUp({ operatorStates: [state] }).checkpoint.stateSize).toBe(3n);
  });

  it('has a number, and times that can be', () => {
    const impossible = [
      { checkpointId: -1n },
      { checkpointId: 2n ** 63n },
      { timestamp: -1 },
      { completionTimestamp: -1 },
      { timestamp: Number.NaN },
    ];
    for (const more of impossible) expect(() => setUp(more)).toThrow(UsageError);
  });

  const presets = [
    forCheckpoint('NEVER_RETAIN_AFTER_TERMINATION'),
    forCheckpoint('RETAIN_ON_FAILURE'),
    forCheckpoint('RETAIN_ON_CANCELLATION'),
    forSavepoint({ forced: false, formatType: 'CANONICAL' }),
  ];

  it('is discarded when its job ends as its properties say', async () => {
    for (const properties of presets) {
      for (const status of JOB_STATUSES) {
        const should = shouldBeDiscardedOnShutdown(properties, status);
        const { memory, checkpoint } = setUp({ properties });
        expect(checkpoint.shouldBeDiscardedOnShutdown(status)).toBe(should);
        expect(await checkpoint.discardOnShutdown(status)).toBe(should);
        expect(memory.operations.some(({ operation }) => operation === 'deleteDirectory')).toBe(should);
        expect(checkpoint.isMarkedAsDiscarded).toBe(should);
        const marked = setUp({ properties }).checkpoint;
        expect(marked.markAsDiscardedOnShutdown(status) !== NOOP_DISCARD_OBJECT).toBe(should);
        expect(marked.isMarkedAsDiscarded).toBe(should);
      }
    }
  });

  it('is discarded when it is subsumed as its properties say', async () => {
    for (const [index, properties] of presets.entries()) {
      const should = index < 3;
      const { memory, checkpoint } = setUp({ properties });
      expect(checkpoint.shouldBeDiscardedOnSubsume()).toBe(should);
      expect(await checkpoint.discardOnSubsume()).toBe(should);
      expect(memory.operations.some(({ operation }) => operation === 'deleteDirectory')).toBe(should);
      expect(setUp({ properties }).checkpoint.markAsDiscardedOnSubsume() !== NOOP_DISCARD_OBJECT).toBe(should);
    }
  });

  it('that is not to be discarded is not: the object for it does nothing', async () => {
    const { memory, checkpoint } = setUp({ properties: presets[3] as (typeof presets)[0] });
    const object = checkpoint.markAsDiscardedOnSubsume();
    await object.discard();
    await object.discardAsync();
    expect(memory.operations).toEqual([]);
    expect(checkpoint.operatorStates.size).toBe(2);
  });

  it('in memory has nothing to delete but its state', async () => {
    const location = new NonPersistentMetadataCheckpointStorageLocation(9);
    const storageLocation = await (await location.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    const operatorStates = [
      states.operator(states.OPERATOR, [
        states.subtask(0, { managedKeyedState: states.keyGroups(states.inline('x')) }),
      ]),
    ];
    const { memory, checkpoint } = setUp({ storageLocation, operatorStates });
    await checkpoint.discard();
    expect(memory.operations).toEqual([]);
    expect(checkpoint.externalPointer).toBe('<checkpoint-not-externally-addressable>');
  });
});
