import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PendingCheckpoint } from '../../src/checkpoint/pending-checkpoint.js';
import type { CheckpointTask, SubtaskState } from '../../src/checkpoint/pending-state.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { readCheckpointProperties } from '../../src/format/java/properties.js';
import { parseMetadata } from '../../src/format/metadata/model-reader.js';
import type { CheckpointMetadata, OperatorState, SubtaskEntry } from '../../src/model/checkpoint-metadata.js';
import { forCheckpoint, forSavepoint } from '../../src/model/checkpoint-properties.js';
import type { CheckpointStorageLocation, WrittenStateHandle } from '../../src/storage/checkpoint-storage.js';
import { FsCheckpointStorage } from '../../src/storage/fs-storage.js';
import { type CorpusPointer, fixtureCases, pointersOf } from '../support/corpus.js';
import { oracleOf } from '../support/flink-lab.js';
import { tempDirectory } from '../support/temp.js';

const JOB = 'ac2b9833d8854441eaabf09eca054206';
const OPERATOR = '0a448493b4782967b150582570326227';
const COORDINATED = 'ea632d67b7d595e5b851708ae9ad79d6';

// biome-ignore lint/suspicious/noExplicitAny: a document of Flink is looked into field by field
type Json = any;

const fileSystems = createFileSystems({ configuration: new Map() });
const storageIn = (directory: string, fileStateSizeThreshold = 10) =>
  new FsCheckpointStorage({
    fileSystems,
    jobId: JOB,
    checkpointDirectory: Path.parse(`file:${directory}`),
    fileStateSizeThreshold,
  });

async function write(location: CheckpointStorageLocation, scope: 'EXCLUSIVE' | 'SHARED', size: number) {
  const stream = await location.createCheckpointStateOutputStream(scope);
  await stream.write(new Uint8Array(size).fill(7));
  const handle = await stream.closeAndGetHandle();
  if (handle === null) throw new Error('nothing was written');
  return handle;
}

function keyed(delegateStateHandle: WrittenStateHandle): SubtaskState {
  return {
    finished: false,
    managedOperatorState: null,
    rawOperatorState: null,
    managedKeyedState: {
      type: 'KeyGroupsStateHandle',
      keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 2 },
      keyGroupOffsets: BigInt64Array.of(0n, 5n),
      stateHandleId: '2c8f7b2e-4d3a-4d0b-8f43-8d0b5b6d2f10',
      delegateStateHandle,
    },
    rawKeyedState: null,
    inputChannelState: [],
    resultSubpartitionState: [],
  };
}

function task(subtaskIndex: number, operatorId = OPERATOR): CheckpointTask {
  const operators = [{ operatorId, name: 'keyed', uid: 'uid-of-keyed' }];
  return {
    executionAttemptId: `${operatorId}-${subtaskIndex}`,
    subtaskIndex,
    parallelism: 2,
    maxParallelism: 4,
    operators,
  };
}

/** A checkpoint with state of all sizes and scopes, finalized in one version. */
async function finalize(location: CheckpointStorageLocation, checkpointId: bigint, version: number) {
  const pending = new PendingCheckpoint({
    jobId: JOB,
    checkpointId,
    timestamp: 0,
    plan: { tasksToWaitFor: [task(0), task(1)] },
    operatorCoordinatorsToConfirm: version >= 3 ? [COORDINATED] : [],
    masterStateIdentifiers: ['hook'],
    properties: forCheckpoint('RETAIN_ON_CANCELLATION'),
    targetLocation: location,
    fileSystems,
  });
  const states = [await write(location, 'EXCLUSIVE', 11), await write(location, 'SHARED', 12)];
  for (const [index, handle] of states.entries()) {
    const subtaskStates = new Map([[OPERATOR, keyed(handle)]]);
    expect(pending.acknowledgeTask(`${OPERATOR}-${index}`, { subtaskStates })).toBe('SUCCESS');
  }
  const coordinator = { operatorId: COORDINATED, currentParallelism: 1, maxParallelism: 128 };
  const bytes = Uint8Array.of(1, 2, 3);
  pending.acknowledgeCoordinatorState(coordinator, { type: 'ByteStreamStateHandle', handleName: 'coordinator', bytes });
  pending.acknowledgeMasterState('hook', { name: 'hook', version: 1, bytes });
  return { completed: await pending.finalizeCheckpoint({ version }), states };
}

describe('a checkpoint that was finalized here', () => {
  it('is what real Flink reads, in every version', async () => {
    const directory = await tempDirectory();
    const storage = storageIn(directory);
    const versions = [2, 3, 4, 5, 6];
    const finalized = [];
    for (const version of versions) {
      const location = await storage.initializeLocationForCheckpoint(BigInt(version));
      finalized.push(await finalize(location, BigInt(version), version));
    }
    const pointers = finalized.map(({ completed }) => completed.externalPointer.replace('file:', ''));
    const documents = (await oracleOf(pointers)) as Json[];
    for (const [index, version] of versions.entries()) {
      const document = documents[index];
      const [exclusive, shared] = finalized[index]?.states ?? [];
      expect(document).toMatchObject({
        externalPointer: `file:${directory}/${JOB}/chk-${version}`,
        version,
        checkpointId: version,
        masterStates: [{ name: 'hook', version: 1, bytes: 'AQID' }],
      });
      const operators = new Map<string, Json>(document.operatorStates.map((state: Json) => [state.operatorId, state]));
      expect([...operators.keys()].sort()).toEqual(version >= 3 ? [OPERATOR, COORDINATED] : [OPERATOR]);
      const named = version >= 5;
      expect(operators.get(OPERATOR)).toMatchObject({
        name: named ? 'keyed' : null,
        uid: named ? 'uid-of-keyed' : null,
        parallelism: 2,
        maxParallelism: 4,
        subtasks: [
          {
            index: 0,
            managedKeyedState: [{ delegateStateHandle: { ...json(exclusive), type: 'RelativeFileStateHandle' } }],
          },
          { index: 1, managedKeyedState: [{ delegateStateHandle: { ...json(shared), type: 'FileStateHandle' } }] },
        ],
      });
      if (version >= 3)
        expect(operators.get(COORDINATED).coordinatorState).toMatchObject({ handleName: 'coordinator' });
      expect(document.properties === null).toBe(version < 4);
    }
  }, 120_000);

  it('may be a savepoint', async () => {
    const directory = await tempDirectory();
    const location = await storageIn(directory).initializeLocationForSavepoint(3n, directory);
    const { completed } = await finalize(location, 3n, 6);
    const [document] = (await oracleOf([completed.externalPointer.replace('file:', '')])) as Json[];
    expect(document).toMatchObject({ checkpointId: 3, externalPointer: completed.externalPointer });
    expect(completed.externalPointer).toMatch(/\/savepoint-ac2b98-[0-9a-f]{12}$/);
  }, 120_000);
});

const json = (handle: WrittenStateHandle | undefined): Json => {
  const { stateSize, ...fields } = handle as Exclude<WrittenStateHandle, { type: 'ByteStreamStateHandle' }>;
  return { ...fields, stateSize: Number(stateSize) };
};

const PROPERTIES = forSavepoint({ forced: false, formatType: 'CANONICAL' });

/** Takes a checkpoint of real Flink apart, and lets tasks and coordinators answer with the pieces. */
async function takeAgain(metadata: CheckpointMetadata, location: CheckpointStorageLocation) {
  const running = metadata.operatorStates.filter(({ finished }) => !finished);
  const tasks = new Map<CheckpointTask, SubtaskEntry | undefined>();
  for (const operator of running) {
    for (let index = 0; index < operator.parallelism; index++) {
      tasks.set(
        taskOf(operator, index),
        operator.subtasks.find((entry) => entry.index === index),
      );
    }
  }
  const coordinated = running.filter(({ coordinatorState }) => coordinatorState !== null);
  const { propertiesBlock } = metadata;
  const stored = propertiesBlock === null ? null : readCheckpointProperties(propertiesBlock, 0).properties;
  const pending = new PendingCheckpoint({
    jobId: JOB,
    checkpointId: metadata.checkpointId,
    timestamp: 0,
    plan: {
      tasksToWaitFor: [...tasks.keys()],
      fulfillFinishedTaskStatus: (states) => {
        for (const state of metadata.operatorStates) if (state.finished) states.set(state.operatorId, state);
      },
    },
    operatorCoordinatorsToConfirm: coordinated.map(({ operatorId }) => operatorId),
    masterStateIdentifiers: metadata.masterStates.map(({ name }) => name),
    properties: stored ?? PROPERTIES,
    targetLocation: location,
    fileSystems,
  });
  for (const { operatorId, parallelism, maxParallelism, coordinatorState } of coordinated) {
    pending.acknowledgeCoordinatorState(
      { operatorId, currentParallelism: parallelism, maxParallelism },
      coordinatorState,
    );
  }
  for (const [task, entry] of tasks) {
    const subtaskStates = new Map(entry === undefined ? [] : [[task.operators[0]?.operatorId ?? '', entry]]);
    pending.acknowledgeTask(task.executionAttemptId, { subtaskStates });
  }
  for (const state of metadata.masterStates) pending.acknowledgeMasterState(state.name, state);
  return pending.finalizeCheckpoint({ version: metadata.version });
}

function taskOf(
  { operatorId, name, uid, parallelism, maxParallelism }: OperatorState,
  subtaskIndex: number,
): CheckpointTask {
  const operators = [{ operatorId, name, uid }];
  return { executionAttemptId: `${operatorId}-${subtaskIndex}`, subtaskIndex, parallelism, maxParallelism, operators };
}

/** Sorted, and without what is the same for both. */
function comparable(document: Json, pointers: readonly string[]): Json {
  const text = pointers.reduce((left, pointer) => left.replaceAll(pointer, '<pointer>'), JSON.stringify(document));
  const copy = JSON.parse(text);
  copy.operatorStates.sort((a: Json, b: Json) => (a.operatorId < b.operatorId ? -1 : 1));
  // What was asked for, and who answered.
  for (const key of ['path', 'readByFlink']) delete copy[key];
  return copy;
}

it('a checkpoint of Flink that is acknowledged and finalized anew is the same to real Flink', async () => {
  const pointers: readonly CorpusPointer[] = pointersOf(fixtureCases()).filter(
    ({ oracleFile, externalPointer }) => oracleFile !== undefined && externalPointer.startsWith('file:'),
  );
  const directory = await tempDirectory();
  const again: string[] = [];
  for (const [index, { metadataFile }] of pointers.entries()) {
    const metadata = parseMetadata(new Uint8Array(readFileSync(metadataFile)), metadataFile);
    const storage = storageIn(join(directory, String(index)));
    const location = await storage.initializeLocationForCheckpoint(metadata.checkpointId);
    // The layout of Flink 1.14 shares its version number with the one that is written here.
    if (metadata.layout === 'current') again.push((await takeAgain(metadata, location)).externalPointer);
    else again.push('');
  }
  const kept = pointers.map((pointer, index) => ({ pointer, own: again[index] ?? '' })).filter(({ own }) => own !== '');
  expect(kept.length).toBeGreaterThan(30);
  const documents = (await oracleOf(kept.map(({ own }) => own.replace('file:', '')))) as Json[];
  for (const [index, { pointer, own }] of kept.entries()) {
    const expected = JSON.parse(readFileSync(pointer.oracleFile ?? '', 'utf8'));
    // Names of inline state stay as they were.
    const both = [own, pointer.externalPointer];
    expect(comparable(documents[index], both), pointer.label).toEqual(comparable(expected, both));
  }
}, 300_000);
