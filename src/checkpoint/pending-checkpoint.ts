/**
 * A checkpoint that is being taken: collects answers, then becomes complete, or is aborted and leaves nothing behind.
 * Origin: Flink `PendingCheckpoint`.
 */
import { CheckpointAbortedError, IllegalStateError, UsageError } from '../errors.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { MasterState, OperatorState } from '../model/checkpoint-metadata.js';
import { type CheckpointProperties, isSavepoint } from '../model/checkpoint-properties.js';
import type { ByteStreamStateHandle } from '../model/state-handles.js';
import { checkCheckpointId } from '../storage/checkpoint-id.js';
import type { CheckpointStorageLocation, CompletedCheckpointStorageLocation } from '../storage/checkpoint-storage.js';
import { type Checkpoint, type DiscardAsyncOptions, type DiscardObject, discardConcurrently } from './checkpoint.js';
import { CompletedCheckpoint, type CompletedCheckpointOptions } from './completed-checkpoint.js';
import { bestEffort, type DiscardContext, discardOperatorState, operatorDiscardables } from './discard-handle.js';
import { encodeCheckpoint } from './encode-checkpoint.js';
import type { CheckpointFailureReason } from './failure-reason.js';
import { type Logger, SILENT_LOGGER } from './logger.js';
import {
  type AcknowledgeResult,
  type CheckpointPlan,
  type CoordinatorInfo,
  PendingState,
  type TaskStateSnapshot,
} from './pending-state.js';

/** What a {@link PendingCheckpoint} is made with. */
export interface PendingCheckpointOptions {
  readonly jobId: string;
  readonly checkpointId: bigint;
  /** When it was triggered, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly plan: CheckpointPlan;
  /** Ids of the operators whose coordinators must answer; default none. */
  readonly operatorCoordinatorsToConfirm?: Iterable<string>;
  /** Names of the master hooks that must answer; default none. */
  readonly masterStateIdentifiers?: Iterable<string>;
  readonly properties: CheckpointProperties;
  /** Where it is stored; may be told later, before it is finalized. */
  readonly targetLocation?: CheckpointStorageLocation | undefined;
  /** For the files of its state. */
  readonly fileSystems: FileSystems;
  /** Gets the failures that are swallowed; default: nobody. */
  readonly logger?: Logger | undefined;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number;
}

/** How a checkpoint is finalized. */
export interface FinalizeOptions {
  /** Version of the metadata; default the newest, 6. Names and uids of operators are dropped before 5, properties before 4. */
  readonly version?: number;
  /** See {@link CompletedCheckpointOptions}. */
  readonly onDiscarded?: CompletedCheckpointOptions['onDiscarded'];
}

/** See the module. */
export class PendingCheckpoint implements Checkpoint {
  readonly jobId: string;
  readonly checkpointId: bigint;
  readonly timestamp: number;
  readonly properties: CheckpointProperties;
  readonly plan: CheckpointPlan;
  readonly #fileSystems: FileSystems;
  readonly #logger: Logger;
  readonly #clock: () => number;
  readonly #state: PendingState;
  #targetLocation: CheckpointStorageLocation | undefined;
  /** Ends when everything has ended that was asked for so far. */
  #last: Promise<unknown> = Promise.resolve();
  #isDisposed = false;
  #isDiscarded = false;
  #failureCause: CheckpointAbortedError | undefined;

  /** @throws UsageError if there is no task to wait for, or for a negative number */
  constructor(options: PendingCheckpointOptions) {
    const { plan } = options;
    checkCheckpointId(options.checkpointId);
    if (plan.tasksToWaitFor.length === 0) throw new UsageError('a checkpoint needs a task that takes part in it');
    this.jobId = options.jobId;
    this.checkpointId = options.checkpointId;
    this.timestamp = options.timestamp;
    this.properties = options.properties;
    this.plan = plan;
    this.#fileSystems = options.fileSystems;
    this.#logger = options.logger ?? SILENT_LOGGER;
    this.#clock = options.clock ?? Date.now;
    this.#targetLocation = options.targetLocation;
    const { operatorCoordinatorsToConfirm = [], masterStateIdentifiers = [] } = options;
    this.#state = new PendingState(plan, operatorCoordinatorsToConfirm, masterStateIdentifiers);
  }

  /** Where it is stored, if that is known yet. */
  get checkpointStorageLocation(): CheckpointStorageLocation | undefined {
    return this.#targetLocation;
  }

  setCheckpointTargetLocation(location: CheckpointStorageLocation): void {
    this.#targetLocation = location;
  }

  /** What has been answered so far, by operator id. Empty once it was discarded. */
  get operatorStates(): ReadonlyMap<string, OperatorState> {
    return this.#state.operatorStates();
  }

  get masterStates(): readonly MasterState[] {
    return this.#state.masterStates;
  }

  get numberOfNonAcknowledgedTasks(): number {
    return this.#state.awaitedTasks;
  }

  get numberOfNonAcknowledgedOperatorCoordinators(): number {
    return this.#state.awaitedCoordinators;
  }

  /** -1 once it was disposed. */
  get numberOfAcknowledgedTasks(): number {
    return this.#isDisposed ? -1 : this.#state.acknowledgedTasks;
  }

  /** True if all tasks, coordinators and master hooks have answered and it was not disposed. */
  get isFullyAcknowledged(): boolean {
    return this.#state.isComplete && !this.#isDisposed;
  }

  /** True once it was finalized or aborted. */
  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Why it was aborted, if it was. */
  get failureCause(): CheckpointAbortedError | undefined {
    return this.#failureCause;
  }

  /** False for savepoints: whoever asked for one waits for it. */
  get canBeSubsumed(): boolean {
    return !isSavepoint(this.properties);
  }

  isAcknowledgedBy(executionAttemptId: string): boolean {
    return !this.#state.isAwaited(executionAttemptId);
  }

  /** Takes the answer of a task. The handles are the checkpoint's if the result is SUCCESS, else they stay the caller's. */
  acknowledgeTask(executionAttemptId: string, snapshot: TaskStateSnapshot | null): AcknowledgeResult {
    return this.#isDisposed ? 'DISCARDED' : this.#state.acknowledgeTask(executionAttemptId, snapshot);
  }

  /** Takes the answer of a coordinator. A second one counts as UNKNOWN if the first had no state. */
  acknowledgeCoordinatorState(info: CoordinatorInfo, handle: ByteStreamStateHandle | null): AcknowledgeResult {
    return this.#isDisposed ? 'DISCARDED' : this.#state.acknowledgeCoordinatorState(info, handle);
  }

  /** Takes the answer of a master hook. */
  acknowledgeMasterState(identifier: string, state: MasterState | null): AcknowledgeResult {
    return this.#isDisposed ? 'DISCARDED' : this.#state.acknowledgeMasterState(identifier, state);
  }

  /**
   * Writes the metadata, and with that makes the checkpoint complete. It is disposed then, and its state the completed
   * checkpoint's. If it fails nothing has changed: call it again, or abort.
   * @throws IllegalStateError if it was disposed, or not everybody has answered; AlreadyExistsError, UnwritableMetadataError,
   *   other errors of the file system
   */
  finalizeCheckpoint(options: FinalizeOptions = {}): Promise<CompletedCheckpoint> {
    return this.#alone(() => this.#finalize(options));
  }

  /**
   * Gives the checkpoint up and discards what it has. A finalized one is left alone.
   * @throws IllegalStateError for a savepoint that is to be subsumed: it is aborted, but somebody has made a mistake. Failures
   *   to discard are logged, not thrown
   */
  async abort(reason: CheckpointFailureReason, cause?: unknown): Promise<void> {
    await this.#alone(async () => {
      if (!this.#isDisposed) {
        this.#failureCause = new CheckpointAbortedError(
          this.checkpointId,
          reason,
          cause === undefined ? {} : { cause },
        );
      }
      await this.#dispose({ releaseState: true });
    });
    if (reason === 'CHECKPOINT_SUBSUMED' && !this.canBeSubsumed) {
      throw this.#illegal('is a savepoint: it must never be subsumed');
    }
  }

  /**
   * Stops waiting for answers. Idempotent: what a second call asks for is not done.
   * @param options `releaseState`: discard what has been answered so far
   */
  dispose(options: { readonly releaseState: boolean }): Promise<void> {
    return this.#alone(() => this.#dispose(options));
  }

  markAsDiscarded(): DiscardObject {
    return {
      discard: () => this.#alone(() => this.#discard((context) => this.#discardInOrder(context))),
      discardAsync: (options) => this.#alone(() => this.#discard((context) => this.#discardAtOnce(context, options))),
    };
  }

  /**
   * Deletes the state that has been answered, shared state too (no other checkpoint uses it yet), and everything in the
   * directory of the checkpoint. Failures are logged, not thrown. A second call does nothing, and neither does one after the
   * checkpoint was finalized: its state is the completed checkpoint's.
   * @throws IllegalStateError at a second call if the checkpoint was not disposed
   */
  discard(): Promise<void> {
    return this.markAsDiscarded().discard();
  }

  toString(): string {
    return `Pending Checkpoint ${this.checkpointId} @ ${this.timestamp} - confirmed=${this.numberOfAcknowledgedTasks}, pending=${this.numberOfNonAcknowledgedTasks}`;
  }

  async #finalize(options: FinalizeOptions): Promise<CompletedCheckpoint> {
    if (this.#isDisposed) throw this.#illegal('has been disposed, it cannot be finalized');
    if (!this.#state.isComplete) throw this.#illegal('has not been acknowledged by everybody yet');
    const { checkpointId, masterStates, properties } = this;
    const states = this.#state.operatorStates();
    this.plan.fulfillFinishedTaskStatus?.(states);
    const operatorStates = [...states.values()];
    const bytes = encodeCheckpoint({ checkpointId, masterStates, operatorStates, properties }, options.version);
    const storageLocation = await this.#store(bytes);
    const completed = new CompletedCheckpoint({
      jobId: this.jobId,
      checkpointId,
      timestamp: this.timestamp,
      completionTimestamp: this.#clock(),
      operatorStates,
      masterHookStates: masterStates,
      properties,
      storageLocation,
      fileSystems: this.#fileSystems,
      logger: this.#logger,
      onDiscarded: options.onDiscarded,
    });
    this.#markDisposed();
    // From here on the completed checkpoint owns the state: no discard of this one may touch it.
    this.#isDiscarded = true;
    return completed;
  }

  async #store(metadata: Uint8Array): Promise<CompletedCheckpointStorageLocation> {
    if (this.#targetLocation === undefined) throw this.#illegal('has no location yet');
    const stream = await this.#targetLocation.createMetadataOutputStream();
    try {
      await stream.write(metadata);
      return await stream.closeAndFinalizeCheckpoint();
    } finally {
      await stream.close();
    }
  }

  async #dispose(options: { readonly releaseState: boolean }): Promise<void> {
    if (this.#isDisposed) return;
    this.#markDisposed();
    if (options.releaseState) await this.#discard((context) => this.#discardInOrder(context));
  }

  #markDisposed(): void {
    this.#isDisposed = true;
    this.#state.stopWaiting();
  }

  async #discard(discardStates: (context: DiscardContext) => Promise<void>): Promise<void> {
    if (this.#isDiscarded) {
      if (!this.#isDisposed) throw this.#illegal('must be disposed before it is discarded');
      return;
    }
    this.#isDiscarded = true;
    const context: DiscardContext = {
      fileSystems: this.#fileSystems,
      exclusiveDirectory: this.#targetLocation?.exclusiveDirectory,
      logger: this.#logger,
      sharedState: 'unregistered',
    };
    await this.#logFailure('the state', () => discardStates(context));
    await this.#logFailure('the location', async () => this.#targetLocation?.disposeOnFailure());
    this.#state.forgetState();
  }

  #discardInOrder(context: DiscardContext): Promise<void> {
    return bestEffort(this.#state.operatorStates().values(), (state) => discardOperatorState(state, context));
  }

  async #discardAtOnce(context: DiscardContext, options?: DiscardAsyncOptions): Promise<void> {
    const handles = [...this.#state.operatorStates().values()].flatMap(operatorDiscardables);
    const failure = await discardConcurrently(handles, context, options);
    if (failure !== undefined) throw failure;
  }

  async #logFailure(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = `could not discard ${what} of pending checkpoint ${this.checkpointId} of job ${this.jobId}`;
      this.#logger.warn(message, error);
    }
  }

  /** Does something when nothing else is going on: an abort must not meet a checkpoint that is half finalized. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #illegal(reason: string): IllegalStateError {
    const { checkpointId, jobId } = this;
    return new IllegalStateError(`checkpoint ${checkpointId} of job ${jobId} ${reason}`, { checkpointId, jobId });
  }
}
