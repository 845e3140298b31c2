import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeSavepoint, loadCheckpoint, loadCheckpointMetadata } from '../../../src/checkpoint/load-checkpoint.js';
import { PendingCheckpoint } from '../../../src/checkpoint/pending-checkpoint.js';
import {
  CorruptMetadataError,
  DirectoryNotEmptyError,
  NoMetadataError,
  NotMetadataError,
  PointerNotFoundError,
  WrongFileTypeError,
} from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { writeCheckpointProperties } from '../../../src/format/java/properties.js';
import { writeMetadata } from '../../../src/format/metadata/metadata-encoder.js';
import type { CheckpointMetadata } from '../../../src/model/checkpoint-metadata.js';
import { forCheckpoint, forSavepoint } from '../../../src/model/checkpoint-properties.js';
import { MemoryBackendCheckpointStorage } from '../../../src/storage/memory-storage.js';
import { fixtureCase } from '../../support/corpus.js';
import { copyMapped } from '../../support/corpus-case.js';
import { memoryStore, treeOf } from '../../support/stores.js';
import { tempDirectory } from '../../support/temp.js';
import * as states from './states.js';

const DIRECTORY = Path.parse('memory:/savepoint-ac2b98-0123456789ab');
const POINTER = String(DIRECTORY);
const PROPERTIES = forCheckpoint('RETAIN_ON_CANCELLATION');

function metadata(more: Partial<CheckpointMetadata> = {}): Uint8Array {
  return writeMetadata({
    version: 6,
    layout: 'current',
    checkpointId: 9n,
    masterStates: [{ name: 'hook', version: 1, bytes: Uint8Array.of(7) }],
    operatorStates: [
      states.operator(states.OPERATOR, [
        states.subtask(0, { managedKeyedState: states.keyGroups(states.relative('a')) }),
      ]),
    ],
    propertiesBlock: writeCheckpointProperties(PROPERTIES),
    trailingBytes: new Uint8Array(0),
    ...more,
  });
}

function setUp(files: Readonly<Record<string, Uint8Array | string>>) {
  const { memory, fileSystems } = memoryStore();
  for (const [name, contents] of Object.entries(files)) memory.put(DIRECTORY.child(name), contents);
  return { memory, fileSystems, tree: () => treeOf(memory, Path.parse('memory:/')) };
}

describe('loading', () => {
  it('gives the checkpoint, which is nobody’s to discard unless said otherwise', async () => {
    const { fileSystems } = setUp({ _metadata: metadata(), a: 'x' });
    const checkpoint = await loadCheckpoint(`${POINTER}/`, { fileSystems, jobId: states.JOB });
    expect(checkpoint).toMatchObject({
      jobId: states.JOB,
      checkpointId: 9n,
      timestamp: 0,
      completionTimestamp: 0,
      externalPointer: POINTER,
      properties: forSavepoint({ forced: false, formatType: 'NATIVE' }),
      restoredProperties: PROPERTIES,
    });
    expect([...checkpoint.operatorStates.keys()]).toEqual([states.OPERATOR]);
    expect(checkpoint.masterHookStates).toHaveLength(1);
    expect(await checkpoint.discardOnShutdown('FINISHED')).toBe(false);
    const claimed = await loadCheckpoint(POINTER, { fileSystems, jobId: states.JOB, properties: PROPERTIES });
    expect(await claimed.discardOnShutdown('FINISHED')).toBe(true);
  });

  it('does without properties where the version has none', async () => {
    const { fileSystems } = setUp({ _metadata: metadata({ version: 3, propertiesBlock: null }) });
    const checkpoint = await loadCheckpoint(POINTER, { fileSystems, jobId: states.JOB });
    expect(checkpoint.restoredProperties).toBeUndefined();
  });

  it('takes metadata from memory too', async () => {
    const { memory, fileSystems } = memoryStore();
    const storage = new MemoryBackendCheckpointStorage({ fileSystems, jobId: states.JOB });
    const pending = new PendingCheckpoint({
      jobId: states.JOB,
      checkpointId: 4n,
      timestamp: 0,
      plan: {
        tasksToWaitFor: [
          { executionAttemptId: 'a', subtaskIndex: 0, parallelism: 1, maxParallelism: 1, operators: [] },
        ],
      },
      properties: PROPERTIES,
      targetLocation: await storage.initializeLocationForCheckpoint(4n),
      fileSystems,
    });
    pending.acknowledgeTask('a', null);
    const { storageLocation } = await pending.finalizeCheckpoint();
    expect(await loadCheckpointMetadata(storageLocation, fileSystems)).toMatchObject({ checkpointId: 4n });
    expect(memory.operations).toEqual([]);
  });
});

describe('disposing', () => {
  it('deletes all of a savepoint, and its directory', async () => {
    const { fileSystems, tree } = setUp({ _metadata: metadata(), a: 'x' });
    await disposeSavepoint(POINTER, { fileSystems });
    expect(await tree()).toEqual([]);
    await expect(disposeSavepoint(POINTER, { fileSystems })).rejects.toThrow(PointerNotFoundError);
  });

  it('takes a metadata file of any name', async () => {
    const { fileSystems, tree } = setUp({ other: metadata(), a: 'x' });
    await disposeSavepoint(`${POINTER}/other`, { fileSystems });
    expect(await tree()).toEqual([]);
  });

  it('leaves a stray file, and says that the directory is not empty', async () => {
    const { fileSystems, tree } = setUp({ _metadata: metadata(), a: 'x', stray: 'x' });
    await expect(disposeSavepoint(POINTER, { fileSystems })).rejects.toThrow(DirectoryNotEmptyError);
    expect(await tree()).toEqual([`${DIRECTORY.name}/`, `${DIRECTORY.name}/stray`]);
    await expect(disposeSavepoint(POINTER, { fileSystems })).rejects.toThrow(NoMetadataError);
  });

  it('half-deletes the native savepoint of a changelog job, as Flink does', async () => {
    const keyed = (name: string) => ({
      ...states.changelog('memory:/unused', 'memory:/unused'),
      materializedStateHandles: [states.keyGroups(states.relative(name))],
      nonMaterializedStateHandles: [],
    });
    const operatorStates = [
      states.operator(states.OPERATOR, [
        states.subtask(0, { managedKeyedState: keyed('keyed-0') }),
        states.subtask(1, {
          managedKeyedState: keyed('keyed-1'),
          managedOperatorState: states.operatorState(states.relative('operator')),
        }),
      ]),
    ];
    const files = { _metadata: metadata({ operatorStates }), 'keyed-0': 'x', 'keyed-1': 'x', operator: 'x' };
    const { fileSystems, tree } = setUp(files);
    await expect(disposeSavepoint(POINTER, { fileSystems })).rejects.toThrow(DirectoryNotEmptyError);
    const { name } = DIRECTORY;
    expect(await tree()).toEqual([`${name}/`, `${name}/keyed-0`, `${name}/keyed-1`]);
  });

  it.each([
    ['no metadata', 'no metadata at all', NotMetadataError],
    ['metadata that is cut off', metadata().slice(0, 100), CorruptMetadataError],
  ])('does not touch %s', async (_, contents, error) => {
    const { memory, fileSystems, tree } = setUp({ _metadata: contents, a: 'x' });
    const before = await tree();
    await expect(disposeSavepoint(POINTER, { fileSystems })).rejects.toThrow(error);
    expect(await tree()).toEqual(before);
    expect(memory.operations.filter(({ operation }) => operation.startsWith('delete'))).toEqual([]);
  });

  it('fails to read a directory called _metadata', async () => {
    const { memory, fileSystems } = setUp({});
    await memory.makeDirectory(DIRECTORY.child('_metadata'));
    await expect(disposeSavepoint(POINTER, { fileSystems })).rejects.toThrow(WrongFileTypeError);
  });
});

/** What Flink 2.3.0 was seen to do with checkpoints of its own, and what each leaves to the ones beside it. */
describe('disposing of what Flink 2.3.0 wrote', () => {
  async function dispose(name: string, choose: (pointers: readonly string[]) => string) {
    const fixture = fixtureCase(`flink-2.3.0/${name}`);
    const { fileSystems, original } = await copyMapped(fixture, join(await tempDirectory(), 'case'));
    const pointers = fixture.pointers.map(({ externalPointer }) => externalPointer);
    const pointer = choose(pointers);
    const fileSystem = await fileSystems.get(original);
    const before = await treeOf(fileSystem, original);
    await disposeSavepoint(pointer, { fileSystems });
    const after = new Set(await treeOf(fileSystem, original));
    const gone = before.filter((file) => !after.has(file)).map((file) => `${original}/${file}`);
    return { gone, directory: `${pointer.replace(/\/_metadata$/, '')}/`, fileSystems, pointers };
  }
  const first = (pointers: readonly string[]) => pointers[0] ?? '';

  it.each([
    ['a heap checkpoint', 'raw-state', first],
    ['a checkpoint without files of state', 'hashmap-inline', first],
    ['a checkpoint with state in flight', 'unaligned', first],
    ['a native savepoint by its metadata file', 'savepoint-native-hashmap', savepointFile],
    ['a canonical savepoint by its metadata file', 'savepoint-canonical-rocksdb', savepointFile],
  ])('%s: it is gone with its directory, and nothing else is', async (_, name, choose) => {
    const { gone, directory } = await dispose(name, choose);
    expect(gone).toContain(directory);
    expect(gone).toContain(`${directory}_metadata`);
    expect(gone.filter((file) => !file.startsWith(directory))).toEqual([]);
  });

  it('an incremental checkpoint: it takes files along that the next one needs', async () => {
    const { gone, fileSystems, pointers } = await dispose('rocksdb-incremental', (all) => all[1] ?? '');
    const next = await loadCheckpoint(pointers[2] ?? '', { fileSystems, jobId: states.JOB });
    const text = JSON.stringify([...next.operatorStates.values()], (_, value) =>
      typeof value === 'bigint' ? 0 : value,
    );
    expect(gone.filter((file) => file.includes('/shared/') && text.includes(file)).length).toBeGreaterThan(0);
  });

  it.each(['file-merging', 'changelog-hashmap', 'changelog-rocksdb'])(
    '%s: every file of state is left',
    async (name) => {
      const { gone, directory } = await dispose(name, (all) => all.at(-1) ?? '');
      expect(gone).toEqual(expect.arrayContaining([directory, `${directory}_metadata`]));
      expect(gone.filter((file) => !file.startsWith(directory))).toEqual([]);
    },
  );

  function savepointFile(pointers: readonly string[]): string {
    return `${pointers.find((pointer) => /\/savepoint-[^/]*$/.test(pointer))}/_metadata`;
  }
});
