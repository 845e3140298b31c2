/**
 * What a snapshot was meant to be and when Flink may delete it: `CheckpointProperties` of `flink-runtime`, with its presets
 * and the questions that follow from them. The file format of it is in `format/java/properties.ts`.
 */

/** Which files a snapshot may have in common with earlier and later ones (`SnapshotType.SharingFilesStrategy`). */
export type SharingFilesStrategy = (typeof SHARING_FILES_STRATEGIES)[number];

/** The values of {@link SharingFilesStrategy}, in the order of Flink's enum. */
export const SHARING_FILES_STRATEGIES = ['FORWARD_BACKWARD', 'FORWARD', 'NO_SHARING'] as const;

/** Whether a savepoint is in the format all state backends read, or in that of its own (`SavepointFormatType`). */
export type SavepointFormatType = (typeof SAVEPOINT_FORMAT_TYPES)[number];

/** The values of {@link SavepointFormatType}, in the order of Flink's enum. */
export const SAVEPOINT_FORMAT_TYPES = ['CANONICAL', 'NATIVE'] as const;

/** What the job does once the savepoint is complete (`SavepointType.PostCheckpointAction`). */
export type PostCheckpointAction = (typeof POST_CHECKPOINT_ACTIONS)[number];

/** The values of {@link PostCheckpointAction}, in the order of Flink's enum. */
export const POST_CHECKPOINT_ACTIONS = ['NONE', 'SUSPEND', 'TERMINATE'] as const;

/** The type of a checkpoint. Flink has two: {@link CHECKPOINT} and {@link FULL_CHECKPOINT}. */
export interface CheckpointType {
  readonly kind: 'CheckpointType';
  readonly name: string;
  readonly sharingFilesStrategy: SharingFilesStrategy;
}

/** The type of a savepoint, also of one with which a job was stopped. It shares no files. */
export interface SavepointType {
  readonly kind: 'SavepointType';
  readonly name: string;
  readonly sharingFilesStrategy: 'NO_SHARING';
  readonly formatType: SavepointFormatType;
  readonly postCheckpointAction: PostCheckpointAction;
}

/** The type of a snapshot. */
export type SnapshotType = CheckpointType | SavepointType;

/** How a snapshot was triggered, and in which situations Flink discards it. */
export interface CheckpointProperties {
  readonly checkpointType: SnapshotType;
  /** True if it had to be triggered even with too many checkpoints under way. */
  readonly forced: boolean;
  /** Discard once newer checkpoints have replaced it. */
  readonly discardSubsumed: boolean;
  /** Discard when the job reaches FINISHED. */
  readonly discardFinished: boolean;
  /** Discard when the job reaches CANCELED. */
  readonly discardCancelled: boolean;
  /** Discard when the job reaches FAILED. */
  readonly discardFailed: boolean;
  /** Discard when the job reaches SUSPENDED. */
  readonly discardSuspended: boolean;
  /** True if a job was restored from it without owning it; set in the memory of the job only, never seen in files. */
  readonly unclaimed: boolean;
}

/** What is kept of a job's checkpoints when it ends (`CheckpointRetentionPolicy`). */
export type CheckpointRetentionPolicy =
  | 'RETAIN_ON_CANCELLATION'
  | 'RETAIN_ON_FAILURE'
  | 'NEVER_RETAIN_AFTER_TERMINATION';

/** The states of a job, in the order of Flink's `JobStatus`. */
export const JOB_STATUSES = [
  'INITIALIZING',
  'CREATED',
  'RUNNING',
  'FAILING',
  'FAILED',
  'CANCELLING',
  'CANCELED',
  'FINISHED',
  'RESTARTING',
  'SUSPENDED',
  'RECONCILING',
] as const;

/** The state of a job. */
export type JobStatus = (typeof JOB_STATUSES)[number];

/** A checkpoint, full or incremental. */
export const CHECKPOINT: CheckpointType = {
  kind: 'CheckpointType',
  name: 'Checkpoint',
  sharingFilesStrategy: 'FORWARD_BACKWARD',
};

/** A checkpoint that uses no file of an earlier one, e.g. the first after a restore without claiming. */
export const FULL_CHECKPOINT: CheckpointType = {
  kind: 'CheckpointType',
  name: 'Full Checkpoint',
  sharingFilesStrategy: 'FORWARD',
};

const SAVEPOINT_NAMES: Readonly<Record<PostCheckpointAction, string>> = {
  NONE: 'Savepoint',
  SUSPEND: 'Suspend Savepoint',
  TERMINATE: 'Terminate Savepoint',
};

/** The type of a savepoint after which the job goes on (NONE), stops (SUSPEND), or is drained and ends (TERMINATE). */
export function savepointType(
  postCheckpointAction: PostCheckpointAction,
  formatType: SavepointFormatType,
): SavepointType {
  return {
    kind: 'SavepointType',
    name: SAVEPOINT_NAMES[postCheckpointAction],
    sharingFilesStrategy: 'NO_SHARING',
    formatType,
    postCheckpointAction,
  };
}

const DISCARD_ALWAYS = {
  discardSubsumed: true,
  discardFinished: true,
  discardCancelled: true,
  discardFailed: true,
  discardSuspended: true,
} as const;

const DISCARD_NEVER = {
  discardSubsumed: false,
  discardFinished: false,
  discardCancelled: false,
  discardFailed: false,
  discardSuspended: false,
} as const;

const CHECKPOINT_NEVER_RETAINED: CheckpointProperties = {
  checkpointType: CHECKPOINT,
  forced: false,
  ...DISCARD_ALWAYS,
  unclaimed: false,
};

const CHECKPOINTS: Readonly<Record<CheckpointRetentionPolicy, CheckpointProperties>> = {
  NEVER_RETAIN_AFTER_TERMINATION: CHECKPOINT_NEVER_RETAINED,
  RETAIN_ON_FAILURE: { ...CHECKPOINT_NEVER_RETAINED, discardFailed: false },
  RETAIN_ON_CANCELLATION: {
    ...CHECKPOINT_NEVER_RETAINED,
    discardCancelled: false,
    discardFailed: false,
    discardSuspended: false,
  },
};

/** The properties of a checkpoint. A finished job's are discarded under every policy. */
export function forCheckpoint(policy: CheckpointRetentionPolicy): CheckpointProperties {
  return CHECKPOINTS[policy];
}

/** The properties of a savepoint after which the job goes on. Flink never discards it by itself. */
export function forSavepoint(options: {
  readonly forced: boolean;
  readonly formatType: SavepointFormatType;
}): CheckpointProperties {
  return {
    checkpointType: savepointType('NONE', options.formatType),
    forced: options.forced,
    ...DISCARD_NEVER,
    unclaimed: false,
  };
}

/**
 * The properties of a savepoint with which a job is stopped.
 * @param options `terminate`: drain the job, so that it never resumes from this point
 */
export function forSyncSavepoint(options: {
  readonly forced: boolean;
  readonly terminate: boolean;
  readonly formatType: SavepointFormatType;
}): CheckpointProperties {
  return {
    checkpointType: savepointType(options.terminate ? 'TERMINATE' : 'SUSPEND', options.formatType),
    forced: options.forced,
    ...DISCARD_NEVER,
    unclaimed: false,
  };
}

/** The properties that a snapshot has in the memory of a job that was restored from it in NO_CLAIM mode. */
export function forUnclaimedSnapshot(): CheckpointProperties {
  return { ...forSavepoint({ forced: false, formatType: 'CANONICAL' }), unclaimed: true };
}

/** True for a savepoint, also for one with which a job was stopped. */
export function isSavepoint(properties: CheckpointProperties): boolean {
  return properties.checkpointType.kind === 'SavepointType';
}

/** True for a savepoint with which a job was stopped. */
export function isSynchronous(properties: CheckpointProperties): boolean {
  const type = properties.checkpointType;
  return type.kind === 'SavepointType' && type.postCheckpointAction !== 'NONE';
}

/** True if a job was restored from the snapshot without owning it. */
export function isUnclaimed(properties: CheckpointProperties): boolean {
  return properties.unclaimed;
}

/** True if Flink discards the snapshot once newer checkpoints have replaced it. */
export function shouldBeDiscardedOnSubsume(properties: CheckpointProperties): boolean {
  return properties.discardSubsumed;
}

/**
 * True if Flink discards the snapshot when its job ends in this state (`CompletedCheckpoint.shouldBeDiscardedOnShutdown`).
 * False for every state that is not an end. With a high-availability store, SUSPENDED discards nothing all the same.
 */
export function shouldBeDiscardedOnShutdown(properties: CheckpointProperties, jobStatus: JobStatus): boolean {
  switch (jobStatus) {
    case 'FINISHED':
      return properties.discardFinished;
    case 'CANCELED':
      return properties.discardCancelled;
    case 'FAILED':
      return properties.discardFailed;
    case 'SUSPENDED':
      return properties.discardSuspended;
    default:
      return false;
  }
}

/** Flink's equality of snapshot types. */
export function snapshotTypesEqual(a: SnapshotType, b: SnapshotType): boolean {
  if (a.kind !== b.kind || a.name !== b.name || a.sharingFilesStrategy !== b.sharingFilesStrategy) return false;
  if (a.kind !== 'SavepointType' || b.kind !== 'SavepointType') return true;
  return a.formatType === b.formatType && a.postCheckpointAction === b.postCheckpointAction;
}

/** Flink's equality of properties, which does not look at `unclaimed`. */
export function checkpointPropertiesEqual(a: CheckpointProperties, b: CheckpointProperties): boolean {
  return (
    snapshotTypesEqual(a.checkpointType, b.checkpointType) &&
    a.forced === b.forced &&
    a.discardSubsumed === b.discardSubsumed &&
    a.discardFinished === b.discardFinished &&
    a.discardCancelled === b.discardCancelled &&
    a.discardFailed === b.discardFailed &&
    a.discardSuspended === b.discardSuspended
  );
}
