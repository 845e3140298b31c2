import { describe, expect, it } from 'vitest';
import { PendingCheckpoint, type PendingCheckpointOptions } from '../../../src/checkpoint/pending-checkpoint.js';
import {
  type CheckpointPlan,
  type CheckpointTask,
  PendingState,
  type SubtaskState,
} from '../../../src/checkpoint/pending-state.js';
import {
  AlreadyExistsError,
  CheckpointAbortedError,
  IllegalStateError,
  IoError,
  suppressedOf,
  UnwritableMetadataError,
  UsageError,
} from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { readCheckpointProperties } from '../../../src/format/java/properties.js';
import { parseMetadata } from '../../../src/format/metadata/model-reader.js';
import type { MasterState, OperatorState } from '../../../src/model/checkpoint-metadata.js';
import { forCheckpoint, forSavepoint } from '../../../src/model/checkpoint-properties.js';
import { FsCheckpointStorage } from '../../../src/storage/fs-storage.js';
import { MemoryBackendCheckpointStorage } from '../../../src/storage/memory-storage.js';
import { memoryStore, PLACES, type Place, readFile, treeOf, writeFile } from '../../support/stores.js';
import * as states from './states.js';

const CHECKPOINT = forCheckpoint('RETAIN_ON_CANCELLATION');
const SAVEPOINT = forSavepoint({ forced: true, formatType: 'NATIVE' });
const MASTER: MasterState = { name: 'hook', version: 1, bytes: Uint8Array.of(7) };
const COORDINATOR = { operatorId: states.OTHER_OPERATOR, currentParallelism: 2, maxParallelism: 128 };

function task(subtaskIndex: number, operators = [states.OPERATOR]): CheckpointTask {
  return {
    executionAttemptId: `attempt-${subtaskIndex}`,
    subtaskIndex,
    parallelism: 2,
    maxParallelism: 128,
    operators: operators.map((operatorId) => ({
      operatorId,
      name: `name of ${operatorId}`,
      uid: `uid of ${operatorId}`,
    })),
  };
}

function snapshot(state: SubtaskState, operatorId = states.OPERATOR) {
  return { subtaskStates: new Map([[operatorId, state]]) };
}

/** A subtask state without its index. */
function keyed(handle: ReturnType<typeof states.keyGroups>): SubtaskState {
  const { index: _, ...state } = states.subtask(0, { managedKeyedState: handle });
  return state;
}

async function start(place: Place, more: Partial<PendingCheckpointOptions> = {}) {
  const { fileSystems, fileSystem, root } = place;
  const storage = new FsCheckpointStorage({
    fileSystems,
    jobId: states.JOB,
    checkpointDirectory: root,
    fileStateSizeThreshold: 0,
  });
  await storage.initializeBaseLocations();
  const location = await storage.initializeLocationForCheckpoint(5n);
  const logged: [string, unknown][] = [];
  const pending = new PendingCheckpoint({
    jobId: states.JOB,
    checkpointId: 5n,
    timestamp: 1000,
    plan: { tasksToWaitFor: [task(0), task(1)] },
    properties: CHECKPOINT,
    targetLocation: location,
    fileSystems,
    logger: { warn: (message, error) => logged.push([message, error]) },
    clock: () => 2000,
    ...more,
  });
  const job = root.child(states.JOB);
  const write = async (scope: 'EXCLUSIVE' | 'SHARED') => {
    const stream = await location.createCheckpointStateOutputStream(scope);
    await stream.write(Buffer.from('state'));
    const handle = await stream.closeAndGetHandle();
    if (handle === null) throw new Error('nothing was written');
    return handle;
  };
  return { fileSystem, job, location, logged, pending, write };
}

const memoryPlace = (options = {}): Place => {
  const { memory, fileSystems } = memoryStore(options);
  return { fileSystems, fileSystem: memory, root: Path.parse('memory:/cp') };
};

describe('answers', () => {
  it('of tasks count once', async () => {
    const { pending } = await start(memoryPlace());
    expect(pending.acknowledgeTask('attempt-0', null)).toBe('SUCCESS');
    expect(pending.acknowledgeTask('attempt-0', null)).toBe('DUPLICATE');
    expect(pending.acknowledgeTask('attempt-7', null)).toBe('UNKNOWN');
    expect(pending.isAcknowledgedBy('attempt-0')).toBe(true);
    expect(pending.isAcknowledgedBy('attempt-1')).toBe(false);
    expect([pending.numberOfAcknowledgedTasks, pending.numberOfNonAcknowledgedTasks]).toEqual([1, 1]);
    expect(String(pending)).toBe('Pending Checkpoint 5 @ 1000 - confirmed=1, pending=1');
    expect(pending.isFullyAcknowledged).toBe(false);
    expect(pending.acknowledgeTask('attempt-1', null)).toBe('SUCCESS');
    expect(pending.isFullyAcknowledged).toBe(true);
  });

  it('of coordinators count once, and as in Flink one without state is not remembered', async () => {
    const operatorCoordinatorsToConfirm = [states.OPERATOR, states.OTHER_OPERATOR];
    const { pending } = await start(memoryPlace(), { operatorCoordinatorsToConfirm });
    expect(pending.numberOfNonAcknowledgedOperatorCoordinators).toBe(2);
    expect(pending.acknowledgeCoordinatorState(COORDINATOR, states.inline('c'))).toBe('SUCCESS');
    expect(pending.acknowledgeCoordinatorState(COORDINATOR, states.inline('d'))).toBe('DUPLICATE');
    expect(pending.operatorStates.get(states.OTHER_OPERATOR)?.coordinatorState?.handleName).toBe('c');
    const second = { ...COORDINATOR, operatorId: states.OPERATOR };
    expect(pending.acknowledgeCoordinatorState(second, null)).toBe('SUCCESS');
    expect(pending.acknowledgeCoordinatorState(second, null)).toBe('UNKNOWN');
    expect(pending.acknowledgeCoordinatorState({ ...COORDINATOR, operatorId: '00' }, null)).toBe('UNKNOWN');
  });

  it('of master hooks count once', async () => {
    const { pending } = await start(memoryPlace(), { masterStateIdentifiers: ['hook', 'empty'] });
    expect(pending.acknowledgeMasterState('hook', MASTER)).toBe('SUCCESS');
    expect(pending.acknowledgeMasterState('hook', MASTER)).toBe('DUPLICATE');
    expect(pending.acknowledgeMasterState('empty', null)).toBe('SUCCESS');
    expect(pending.acknowledgeMasterState('other', MASTER)).toBe('UNKNOWN');
    expect(pending.masterStates).toEqual([MASTER]);
  });

  it('all must be there', async () => {
    const { pending } = await start(memoryPlace(), {
      plan: { tasksToWaitFor: [task(0)] },
      operatorCoordinatorsToConfirm: [states.OTHER_OPERATOR],
      masterStateIdentifiers: ['hook'],
    });
    const answers = [
      () => pending.acknowledgeTask('attempt-0', null),
      () => pending.acknowledgeCoordinatorState(COORDINATOR, null),
      () => pending.acknowledgeMasterState('hook', null),
    ];
    for (const answer of answers) {
      expect(pending.isFullyAcknowledged).toBe(false);
      await expect(pending.finalizeCheckpoint()).rejects.toThrow(IllegalStateError);
      answer();
    }
    expect(pending.isFullyAcknowledged).toBe(true);
  });

  it('make operators of what the tasks and the coordinators say', async () => {
    const operators = [states.OPERATOR, states.OTHER_OPERATOR];
    const { pending } = await start(memoryPlace(), {
      plan: { tasksToWaitFor: [task(1, operators), task(0, operators)] },
      operatorCoordinatorsToConfirm: [states.OTHER_OPERATOR],
    });
    pending.acknowledgeCoordinatorState(COORDINATOR, states.inline('c'));
    expect(pending.operatorStates.get(states.OTHER_OPERATOR)).toMatchObject({ name: null, uid: null, subtasks: [] });
    const state = keyed(states.keyGroups(states.inline('k')));
    pending.acknowledgeTask('attempt-1', snapshot(state));
    pending.acknowledgeTask('attempt-0', snapshot(state));
    const [first, second] = operators.map((operatorId) => pending.operatorStates.get(operatorId));
    expect(first).toMatchObject({ parallelism: 2, maxParallelism: 128, finished: false, coordinatorState: null });
    expect(first?.subtasks).toEqual([
      { ...state, index: 0 },
      { ...state, index: 1 },
    ]);
    expect(second).toMatchObject({ name: `name of ${states.OTHER_OPERATOR}`, uid: `uid of ${states.OTHER_OPERATOR}` });
    expect(second?.coordinatorState?.handleName).toBe('c');
    expect(second?.subtasks).toEqual([]);
  });

  it('of tasks that have finished go to the plan', () => {
    const told: string[] = [];
    const plan: CheckpointPlan = {
      tasksToWaitFor: [task(0), task(1)],
      reportTaskFinishedOnRestore: ({ executionAttemptId }) => told.push(`restored ${executionAttemptId}`),
      reportTaskHasFinishedOperators: ({ executionAttemptId }) => told.push(`finished ${executionAttemptId}`),
    };
    const state = new PendingState(plan, [], []);
    const subtaskStates = new Map();
    expect(state.acknowledgeTask('attempt-0', { subtaskStates, isTaskDeployedAsFinished: true })).toBe('SUCCESS');
    expect(state.operatorStates().size).toBe(0);
    expect(state.acknowledgeTask('attempt-1', { subtaskStates, isTaskFinished: true })).toBe('SUCCESS');
    expect(state.operatorStates().size).toBe(1);
    expect(told).toEqual(['restored attempt-0', 'finished attempt-1']);
  });

  it('come too late once it was disposed', async () => {
    const { pending } = await start(memoryPlace(), { masterStateIdentifiers: ['hook'] });
    await pending.dispose({ releaseState: false });
    expect(pending.acknowledgeTask('attempt-0', null)).toBe('DISCARDED');
    expect(pending.acknowledgeCoordinatorState(COORDINATOR, null)).toBe('DISCARDED');
    expect(pending.acknowledgeMasterState('hook', MASTER)).toBe('DISCARDED');
    expect(pending.masterStates).toEqual([]);
    expect(pending.isDisposed).toBe(true);
    expect(pending.isFullyAcknowledged).toBe(false);
    expect([pending.numberOfAcknowledgedTasks, pending.numberOfNonAcknowledgedTasks]).toEqual([-1, 0]);
  });
});

describe.each(PLACES)('a pending checkpoint: %s', (_, place) => {
  it('becomes complete with metadata that can be read', async () => {
    const { fileSystem, job, pending, write } = await start(await place(), {
      operatorCoordinatorsToConfirm: [states.OTHER_OPERATOR],
      masterStateIdentifiers: ['hook'],
    });
    const exclusive = keyed(states.keyGroups(await write('EXCLUSIVE')));
    const shared = keyed(states.keyGroups(await write('SHARED')));
    pending.acknowledgeTask('attempt-1', snapshot(shared));
    pending.acknowledgeTask('attempt-0', snapshot(exclusive));
    pending.acknowledgeCoordinatorState(COORDINATOR, states.inline('c'));
    pending.acknowledgeMasterState('hook', MASTER);
    const operatorStates = [...pending.operatorStates.values()];
    const completed = await pending.finalizeCheckpoint();

    const path = job.child('chk-5/_metadata');
    const metadata = parseMetadata(await readFile(fileSystem, path));
    expect(metadata).toMatchObject({ version: 6, checkpointId: 5n, operatorStates, masterStates: [MASTER] });
    expect(readCheckpointProperties(metadata.propertiesBlock ?? new Uint8Array(0), 0).properties).toEqual(CHECKPOINT);

    expect(completed).toMatchObject({
      jobId: states.JOB,
      checkpointId: 5n,
      timestamp: 1000,
      completionTimestamp: 2000,
      properties: CHECKPOINT,
      masterHookStates: [MASTER],
      externalPointer: String(job.child('chk-5')),
    });
    expect([...completed.operatorStates.values()]).toEqual(operatorStates);
    expect(completed.metadataHandle).toMatchObject({ filePath: String(path) });
    expect(pending.isDisposed).toBe(true);

    await completed.discard();
    expect(await treeOf(fileSystem, job)).toEqual(['shared/', 'taskowned/']);
  });

  it('leaves nothing behind when it is aborted, neither of its own nor in shared', async () => {
    const { fileSystem, job, pending, write, logged } = await start(await place());
    pending.acknowledgeTask('attempt-0', snapshot(keyed(states.keyGroups(await write('SHARED')))));
    await write('EXCLUSIVE');
    await writeFile(fileSystem, job.child('chk-5/sub/late'));
    await writeFile(fileSystem, job.child('chk-4/_metadata'));
    await writeFile(fileSystem, job.child('shared/of another'));
    const cause = new Error('too late');
    await pending.abort('CHECKPOINT_EXPIRED', cause);
    expect(await treeOf(fileSystem, job)).toEqual([
      'chk-4/',
      'chk-4/_metadata',
      'shared/',
      'shared/of another',
      'taskowned/',
    ]);
    expect(pending.failureCause).toBeInstanceOf(CheckpointAbortedError);
    expect(pending.failureCause).toMatchObject({ data: { checkpointId: 5n, reason: 'CHECKPOINT_EXPIRED' }, cause });
    expect(pending.isDisposed).toBe(true);
    expect(pending.operatorStates.size).toBe(0);
    expect(logged).toEqual([]);
    await expect(pending.finalizeCheckpoint()).rejects.toThrow(IllegalStateError);
  });
});

describe('finalizing', () => {
  async function acknowledged(more: Partial<PendingCheckpointOptions> = {}, place = memoryPlace()) {
    const plan = { tasksToWaitFor: [task(0)] };
    const started = await start(place, { plan, ...more });
    const state = keyed(states.keyGroups(await started.write('EXCLUSIVE')));
    started.pending.acknowledgeTask('attempt-0', snapshot(state));
    return started;
  }
  const metadataOf = async ({ fileSystem, job }: { fileSystem: Place['fileSystem']; job: Path }) =>
    parseMetadata(await readFile(fileSystem, job.child('chk-5/_metadata')));

  it.each([3, 4, 5, 6])('writes version %i, with what that version has room for', async (version) => {
    const started = await acknowledged();
    await started.pending.finalizeCheckpoint({ version });
    const metadata = await metadataOf(started);
    expect(metadata.version).toBe(version);
    expect(metadata.propertiesBlock === null).toBe(version < 4);
    expect(metadata.operatorStates[0]?.uid).toBe(version < 5 ? null : `uid of ${states.OPERATOR}`);
    expect(metadata.operatorStates[0]?.subtasks).toHaveLength(1);
  });

  it.each([
    ['an unknown version', 7, {}],
    ['coordinator state in version 2', 2, { operatorCoordinatorsToConfirm: [states.OTHER_OPERATOR] }],
  ])('of %s fails before anything is written', async (_, version, more) => {
    const started = await acknowledged(more);
    started.pending.acknowledgeCoordinatorState(COORDINATOR, states.inline('c'));
    const before = await treeOf(started.fileSystem, started.job);
    await expect(started.pending.finalizeCheckpoint({ version })).rejects.toThrow(UnwritableMetadataError);
    expect(await treeOf(started.fileSystem, started.job)).toEqual(before);
    await started.pending.finalizeCheckpoint();
    expect((await metadataOf(started)).version).toBe(6);
  });

  it('lets the plan add what has finished', async () => {
    const finished: OperatorState = { ...states.operator(states.OTHER_OPERATOR, []), finished: true };
    const plan: CheckpointPlan = {
      tasksToWaitFor: [task(0)],
      fulfillFinishedTaskStatus: (all) => all.set(finished.operatorId, finished),
    };
    const started = await acknowledged({ plan });
    await started.pending.finalizeCheckpoint();
    const [, second] = (await metadataOf(started)).operatorStates;
    expect(second).toMatchObject({ operatorId: states.OTHER_OPERATOR, finished: true });
  });

  it('never overwrites metadata', async () => {
    const { fileSystem, job, pending } = await acknowledged();
    await writeFile(fileSystem, job.child('chk-5/_metadata'), 'of somebody else');
    await expect(pending.finalizeCheckpoint()).rejects.toThrow(AlreadyExistsError);
    expect(Buffer.from(await readFile(fileSystem, job.child('chk-5/_metadata'))).toString()).toBe('of somebody else');
    expect(pending.isDisposed).toBe(false);
  });

  it.each(['createAtomic', 'write', 'commit'] as const)('may be tried again after a failure at %s', async (at) => {
    let broken = false;
    const failure = new IoError('memory:/cp', at);
    const place = memoryPlace({ failures: (operation: string) => (broken && operation === at ? failure : undefined) });
    const { fileSystem, job, pending } = await acknowledged({}, place);
    const before = await treeOf(fileSystem, job);
    broken = true;
    await expect(pending.finalizeCheckpoint()).rejects.toBe(failure);
    expect(await treeOf(fileSystem, job)).toEqual(before);
    expect([pending.isDisposed, pending.isFullyAcknowledged]).toEqual([false, true]);
    broken = false;
    await pending.finalizeCheckpoint();
    expect(await treeOf(fileSystem, job)).toContain('chk-5/_metadata');
  });

  it('happens once, also if two ask for it at once', async () => {
    const { pending } = await acknowledged();
    const results = await Promise.allSettled([pending.finalizeCheckpoint(), pending.finalizeCheckpoint()]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(results[1]).toMatchObject({ reason: expect.any(IllegalStateError) });
  });

  it('needs a location, which may come late', async () => {
    const { fileSystem, job, location, pending } = await acknowledged({ targetLocation: undefined });
    expect(pending.checkpointStorageLocation).toBeUndefined();
    await expect(pending.finalizeCheckpoint()).rejects.toThrow(IllegalStateError);
    pending.setCheckpointTargetLocation(location);
    expect(pending.checkpointStorageLocation).toBe(location);
    await pending.finalizeCheckpoint();
    expect(await treeOf(fileSystem, job)).toContain('chk-5/_metadata');
  });

  it('makes the state the completed checkpoint’s: nobody can discard it by the pending one any more', async () => {
    const { fileSystem, job, pending } = await acknowledged();
    await pending.finalizeCheckpoint();
    const complete = await treeOf(fileSystem, job);
    await pending.discard();
    await pending.markAsDiscarded().discardAsync();
    await pending.abort('CHECKPOINT_EXPIRED');
    await pending.dispose({ releaseState: true });
    expect(await treeOf(fileSystem, job)).toEqual(complete);
    expect(pending.failureCause).toBeUndefined();
  });

  it('is not disturbed by an abort that comes while it is under way', async () => {
    const { fileSystem, job, pending } = await acknowledged();
    const [completed] = await Promise.all([
      pending.finalizeCheckpoint(),
      pending.abort('TASK_FAILURE'),
      pending.discard(),
    ]);
    expect(await treeOf(fileSystem, job)).toContain('chk-5/_metadata');
    expect(completed.operatorStates.size).toBe(1);
    expect(pending.failureCause).toBeUndefined();
  });

  it('tells who wants to know when the completed checkpoint is discarded', async () => {
    let told = 0;
    const { pending } = await acknowledged();
    const completed = await pending.finalizeCheckpoint({ onDiscarded: () => told++ });
    await completed.discard();
    expect(told).toBe(1);
  });

  it('works in memory', async () => {
    const { memory, fileSystems } = memoryStore();
    const storage = new MemoryBackendCheckpointStorage({ fileSystems, jobId: states.JOB });
    const targetLocation = await storage.initializeLocationForCheckpoint(5n);
    const { pending } = await acknowledged({ targetLocation });
    const { metadataHandle } = await pending.finalizeCheckpoint();
    if (metadataHandle.type !== 'ByteStreamStateHandle') throw new Error('it is not in memory');
    expect(parseMetadata(metadataHandle.bytes)).toMatchObject({ checkpointId: 5n });
    expect(memory.operations).toEqual([]);
  });
});

describe('aborting', () => {
  it('of a savepoint as subsumed is a mistake, but it is aborted', async () => {
    const { fileSystem, job, pending } = await start(memoryPlace(), { properties: SAVEPOINT });
    expect(pending.canBeSubsumed).toBe(false);
    await expect(pending.abort('CHECKPOINT_SUBSUMED')).rejects.toThrow(IllegalStateError);
    expect(pending.isDisposed).toBe(true);
    expect(await treeOf(fileSystem, job)).toEqual(['shared/', 'taskowned/']);
  });

  it('of a savepoint for another reason, or of a checkpoint as subsumed, is none', async () => {
    const savepoint = await start(memoryPlace(), { properties: SAVEPOINT });
    await savepoint.pending.abort('CHECKPOINT_EXPIRED');
    const checkpoint = await start(memoryPlace());
    expect(checkpoint.pending.canBeSubsumed).toBe(true);
    await checkpoint.pending.abort('CHECKPOINT_SUBSUMED');
    expect(checkpoint.pending.failureCause?.data.reason).toBe('CHECKPOINT_SUBSUMED');
  });

  it('keeps its first reason', async () => {
    const { pending } = await start(memoryPlace());
    await pending.abort('CHECKPOINT_EXPIRED');
    await pending.abort('TASK_FAILURE');
    expect(pending.failureCause?.data.reason).toBe('CHECKPOINT_EXPIRED');
  });

  it('logs what it could not discard, and throws nothing', async () => {
    const broken = new Map<string, IoError>();
    const { pending, write, job, logged } = await start(
      memoryPlace({
        failures: (operation: string, path: Path) =>
          operation === 'deleteFile' ? broken.get(String(path)) : undefined,
      }),
    );
    const shared = await write('SHARED');
    pending.acknowledgeTask('attempt-0', snapshot(keyed(states.keyGroups(shared))));
    const { relativePath } = (await write('EXCLUSIVE')) as { relativePath: string };
    const paths = [(shared as { filePath: string }).filePath, String(job.child(`chk-5/${relativePath}`))];
    for (const path of paths) broken.set(path, new IoError(path, 'delete'));
    await pending.abort('TASK_FAILURE');
    expect(logged).toEqual([
      [expect.stringContaining(`${states.OPERATOR}, subtask 0`), broken.get(paths[0] ?? '')],
      [expect.stringContaining(`pending checkpoint 5 of job ${states.JOB}`), broken.get(paths[1] ?? '')],
    ]);
    expect(pending.operatorStates.size).toBe(0);
  });
});

describe('discarding', () => {
  it('works without a disposal at first, and asks for one the second time', async () => {
    const { fileSystem, job, pending } = await start(memoryPlace());
    await writeFile(fileSystem, job.child('chk-5/x'));
    await pending.discard();
    expect(await treeOf(fileSystem, job)).toEqual(['shared/', 'taskowned/']);
    await expect(pending.discard()).rejects.toThrow(IllegalStateError);
    await expect(pending.markAsDiscarded().discardAsync()).rejects.toThrow(IllegalStateError);
    await pending.dispose({ releaseState: true });
    await pending.discard();
  });

  it('does nothing a second time', async () => {
    const { fileSystem, job, pending } = await start(memoryPlace());
    await pending.dispose({ releaseState: false });
    await pending.discard();
    await writeFile(fileSystem, job.child('chk-5/of a later attempt'));
    await pending.discard();
    expect(await treeOf(fileSystem, job)).toContain('chk-5/of a later attempt');
  });

  it('in parallel deletes the same, and logs the first failure with the others', async () => {
    const broken = new Map<string, IoError>();
    const { fileSystem, pending, write, job, logged } = await start(
      memoryPlace({
        failures: (operation: string, path: Path) =>
          operation === 'deleteFile' ? broken.get(String(path)) : undefined,
      }),
    );
    const paths: string[] = [];
    for (const index of [0, 1]) {
      const handle = (await write('SHARED')) as { filePath: string } & ReturnType<typeof states.file>;
      pending.acknowledgeTask(`attempt-${index}`, snapshot(keyed(states.keyGroups(handle))));
      paths.push(handle.filePath);
      broken.set(handle.filePath, new IoError(handle.filePath, 'delete'));
    }
    await write('EXCLUSIVE');
    await pending.markAsDiscarded().discardAsync({ concurrency: 2 });
    const failures = paths.map((path) => broken.get(path));
    expect(logged).toEqual([[expect.stringContaining('the state of pending checkpoint 5'), failures[0]]]);
    expect(suppressedOf(failures[0] as Error)).toEqual([failures[1]]);
    const names = paths.map((path) => path.slice(String(job).length + 1)).sort();
    expect(await treeOf(fileSystem, job)).toEqual(['shared/', ...names, 'taskowned/']);
    expect(pending.operatorStates.size).toBe(0);
  });

  it('can do without a location and without a logger', async () => {
    const { pending } = await start(memoryPlace(), { targetLocation: undefined, logger: undefined });
    pending.acknowledgeTask('attempt-0', snapshot(keyed(states.keyGroups(states.relative('nowhere')))));
    await pending.abort('TASK_FAILURE');
    expect(pending.operatorStates.size).toBe(0);
  });
});

it('needs a task, and a number', async () => {
  await expect(start(memoryPlace(), { plan: { tasksToWaitFor: [] } })).rejects.toThrow(UsageError);
  await expect(start(memoryPlace(), { checkpointId: -1n })).rejects.toThrow(UsageError);
});
