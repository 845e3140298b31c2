import { describe, expect, it } from 'vitest';
import {
  CHECKPOINT,
  type CheckpointProperties,
  checkpointPropertiesEqual,
  FULL_CHECKPOINT,
  forCheckpoint,
  forSavepoint,
  forSyncSavepoint,
  forUnclaimedSnapshot,
  isSavepoint,
  isSynchronous,
  isUnclaimed,
  JOB_STATUSES,
  type JobStatus,
  savepointType,
  shouldBeDiscardedOnShutdown,
  shouldBeDiscardedOnSubsume,
  snapshotTypesEqual,
} from '../../../src/model/checkpoint-properties.js';

const SAVEPOINTS: readonly (readonly [string, CheckpointProperties])[] = [
  ['savepoint', forSavepoint({ forced: true, formatType: 'CANONICAL' })],
  ['native savepoint', forSavepoint({ forced: false, formatType: 'NATIVE' })],
  ['stop', forSyncSavepoint({ forced: true, terminate: false, formatType: 'NATIVE' })],
  ['stop with drain', forSyncSavepoint({ forced: true, terminate: true, formatType: 'CANONICAL' })],
  ['unclaimed', forUnclaimedSnapshot()],
];

/** What Flink 2.3.0's `CompletedCheckpoint` answers, run for every preset and status. */
const DISCARDED_ON_SHUTDOWN: readonly (readonly [string, CheckpointProperties, readonly JobStatus[]])[] = [
  ['never retained', forCheckpoint('NEVER_RETAIN_AFTER_TERMINATION'), ['FINISHED', 'CANCELED', 'FAILED', 'SUSPENDED']],
  ['retained on failure', forCheckpoint('RETAIN_ON_FAILURE'), ['FINISHED', 'CANCELED', 'SUSPENDED']],
  ['retained on cancellation', forCheckpoint('RETAIN_ON_CANCELLATION'), ['FINISHED']],
  ...SAVEPOINTS.map(([name, properties]) => [name, properties, []] as const),
];

describe.each(DISCARDED_ON_SHUTDOWN)('%s', (_, properties, discarding) => {
  it.each(JOB_STATUSES)('at %s', (status) => {
    expect(shouldBeDiscardedOnShutdown(properties, status)).toBe(discarding.includes(status));
  });
});

it('looks at one flag for each final status', () => {
  const never = forSavepoint({ forced: false, formatType: 'CANONICAL' });
  const flags = {
    FINISHED: 'discardFinished',
    CANCELED: 'discardCancelled',
    FAILED: 'discardFailed',
    SUSPENDED: 'discardSuspended',
  } as const;
  for (const [status, flag] of Object.entries(flags)) {
    const only = { ...never, [flag]: true };
    expect(JOB_STATUSES.filter((each) => shouldBeDiscardedOnShutdown(only, each))).toEqual([status]);
    expect(shouldBeDiscardedOnSubsume(only)).toBe(false);
  }
  const subsumed = { ...never, discardSubsumed: true };
  expect(JOB_STATUSES.filter((each) => shouldBeDiscardedOnShutdown(subsumed, each))).toEqual([]);
  expect(shouldBeDiscardedOnSubsume(subsumed)).toBe(true);
});

describe('presets', () => {
  it('of checkpoints', () => {
    for (const policy of ['NEVER_RETAIN_AFTER_TERMINATION', 'RETAIN_ON_FAILURE', 'RETAIN_ON_CANCELLATION'] as const) {
      const properties = forCheckpoint(policy);
      expect(properties).toMatchObject({ checkpointType: CHECKPOINT, forced: false, unclaimed: false });
      expect(shouldBeDiscardedOnSubsume(properties)).toBe(true);
      expect(isSavepoint(properties)).toBe(false);
      expect(isSynchronous(properties)).toBe(false);
    }
  });

  it.each(SAVEPOINTS)('of savepoints: %s', (_, properties) => {
    expect(shouldBeDiscardedOnSubsume(properties)).toBe(false);
    expect(isSavepoint(properties)).toBe(true);
  });

  it('of savepoints differ in type, force and claim', () => {
    const facts = SAVEPOINTS.map(([, p]) => [p.checkpointType.name, p.forced, isSynchronous(p), isUnclaimed(p)]);
    expect(facts).toEqual([
      ['Savepoint', true, false, false],
      ['Savepoint', false, false, false],
      ['Suspend Savepoint', true, true, false],
      ['Terminate Savepoint', true, true, false],
      ['Savepoint', false, false, true],
    ]);
  });

  it('name their types as Flink does', () => {
    expect(savepointType('TERMINATE', 'NATIVE')).toEqual({
      kind: 'SavepointType',
      name: 'Terminate Savepoint',
      sharingFilesStrategy: 'NO_SHARING',
      formatType: 'NATIVE',
      postCheckpointAction: 'TERMINATE',
    });
    expect([CHECKPOINT.name, CHECKPOINT.sharingFilesStrategy]).toEqual(['Checkpoint', 'FORWARD_BACKWARD']);
    expect([FULL_CHECKPOINT.name, FULL_CHECKPOINT.sharingFilesStrategy]).toEqual(['Full Checkpoint', 'FORWARD']);
  });
});

describe('equality', () => {
  it('of types looks at every field', () => {
    const type = savepointType('NONE', 'CANONICAL');
    expect(snapshotTypesEqual(type, savepointType('NONE', 'CANONICAL'))).toBe(true);
    expect(snapshotTypesEqual(type, { ...type, name: 'Suspend Savepoint' })).toBe(false);
    expect(snapshotTypesEqual(type, { ...type, formatType: 'NATIVE' })).toBe(false);
    expect(snapshotTypesEqual(type, { ...type, postCheckpointAction: 'SUSPEND' })).toBe(false);
    expect(snapshotTypesEqual(CHECKPOINT, { ...CHECKPOINT })).toBe(true);
    expect(snapshotTypesEqual(CHECKPOINT, { ...CHECKPOINT, sharingFilesStrategy: 'FORWARD' })).toBe(false);
    expect(snapshotTypesEqual({ ...CHECKPOINT, name: type.name, sharingFilesStrategy: 'NO_SHARING' }, type)).toBe(
      false,
    );
  });

  it('of properties ignores unclaimed and nothing else', () => {
    const properties = forSavepoint({ forced: false, formatType: 'CANONICAL' });
    expect(checkpointPropertiesEqual(properties, forUnclaimedSnapshot())).toBe(true);
    expect(checkpointPropertiesEqual(properties, { ...properties, checkpointType: CHECKPOINT })).toBe(false);
    for (const flag of [
      'forced',
      'discardSubsumed',
      'discardFinished',
      'discardCancelled',
      'discardFailed',
      'discardSuspended',
    ] as const) {
      expect(checkpointPropertiesEqual(properties, { ...properties, [flag]: true }), flag).toBe(false);
    }
  });
});
