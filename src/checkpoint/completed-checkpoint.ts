/**
 * A checkpoint that is complete, and how it is discarded.
 * Origin: Flink `CompletedCheckpoint`.
 */
import { asError, firstOrSuppressed, UsageError } from '../errors.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { MasterState, OperatorState } from '../model/checkpoint-metadata.js';
import {
  type CheckpointProperties,
  type JobStatus,
  shouldBeDiscardedOnShutdown,
  shouldBeDiscardedOnSubsume,
} from '../model/checkpoint-properties.js';
import { coordinatorStateSize, subtaskSizes } from '../model/state-sizes.js';
import { checkCheckpointId } from '../storage/checkpoint-id.js';
import type { CompletedCheckpointStorageLocation } from '../storage/checkpoint-storage.js';
import {
  type Checkpoint,
  type DiscardAsyncOptions,
  type DiscardObject,
  discardConcurrently,
  NOOP_DISCARD_OBJECT,
} from './checkpoint.js';
import {
  bestEffort,
  type DiscardContext,
  discardOperatorState,
  discardState,
  operatorDiscardables,
} from './discard-handle.js';
import type { Logger } from './logger.js';

/** What a {@link CompletedCheckpoint} is made of. */
export interface CompletedCheckpointOptions {
  readonly jobId: string;
  readonly checkpointId: bigint;
  /** When it was triggered and when it was complete, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly completionTimestamp: number;
  /** Of several with one operator id the last counts. */
  readonly operatorStates: Iterable<OperatorState>;
  readonly masterHookStates?: readonly MasterState[];
  readonly properties: CheckpointProperties;
  readonly storageLocation: CompletedCheckpointStorageLocation;
  /** As they were when it was taken, if it was restored since. */
  readonly restoredProperties?: CheckpointProperties | undefined;
  /** For the files of its state. */
  readonly fileSystems: FileSystems;
  /** Gets the failures that are swallowed; default: nobody. */
  readonly logger?: Logger | undefined;
  /** Whether a shared-state registry holds its shared files, which then stay; default `unregistered`. */
  readonly sharedState?: DiscardContext['sharedState'];
  /** Told at the end of each discard, whether it failed or not. */
  readonly onDiscarded?: (() => void) | undefined;
}

/** See the module. */
export class CompletedCheckpoint implements Checkpoint {
  readonly jobId: string;
  readonly checkpointId: bigint;
  readonly timestamp: number;
  readonly completionTimestamp: number;
  readonly masterHookStates: readonly MasterState[];
  readonly properties: CheckpointProperties;
  readonly restoredProperties: CheckpointProperties | undefined;
  readonly storageLocation: CompletedCheckpointStorageLocation;
  readonly #operatorStates: Map<string, OperatorState>;
  readonly #context: DiscardContext;
  readonly #onDiscarded: (() => void) | undefined;
  #isMarkedAsDiscarded = false;

  /** @throws UsageError for a negative number or time */
  constructor(options: CompletedCheckpointOptions) {
    const { timestamp, completionTimestamp, storageLocation } = options;
    checkCheckpointId(options.checkpointId);
    if (!(timestamp >= 0 && completionTimestamp >= 0)) {
      throw new UsageError(`a checkpoint cannot be of the time ${Math.min(timestamp, completionTimestamp)}`);
    }
    this.jobId = options.jobId;
    this.checkpointId = options.checkpointId;
    this.timestamp = timestamp;
    this.completionTimestamp = completionTimestamp;
    this.masterHookStates = [...(options.masterHookStates ?? [])];
    this.properties = options.properties;
    this.restoredProperties = options.restoredProperties;
    this.storageLocation = storageLocation;
    this.#operatorStates = new Map([...options.operatorStates].map((state) => [state.operatorId, state]));
    this.#context = {
      fileSystems: options.fileSystems,
      exclusiveDirectory: storageLocation.exclusiveDirectory,
      logger: options.logger,
      sharedState: options.sharedState ?? 'unregistered',
    };
    this.#onDiscarded = options.onDiscarded;
  }

  /** By operator id; empty once it was discarded. */
  get operatorStates(): ReadonlyMap<string, OperatorState> {
    return this.#operatorStates;
  }

  /** What a job is restored with. */
  get externalPointer(): string {
    return this.storageLocation.externalPointer;
  }

  get metadataHandle(): CompletedCheckpointStorageLocation['metadataHandle'] {
    return this.storageLocation.metadataHandle;
  }

  /** Bytes of all operator state, by Flink's sums; 0 once it was discarded. */
  get stateSize(): bigint {
    let size = 0n;
    for (const operator of this.#operatorStates.values()) {
      size += coordinatorStateSize(operator);
      for (const entry of operator.subtasks) size += subtaskSizes(entry).stateSize;
    }
    return BigInt.asIntN(64, size);
  }

  get isMarkedAsDiscarded(): boolean {
    return this.#isMarkedAsDiscarded;
  }

  markAsDiscarded(): DiscardObject {
    this.#isMarkedAsDiscarded = true;
    return {
      discard: () => this.#discard(),
      discardAsync: (options) => this.#discardAsync(options),
    };
  }

  /** Marks it, if it is to be discarded now that newer checkpoints have replaced it; else the result discards nothing. */
  markAsDiscardedOnSubsume(): DiscardObject {
    return this.shouldBeDiscardedOnSubsume() ? this.markAsDiscarded() : NOOP_DISCARD_OBJECT;
  }

  /** Marks it, if it is to be discarded now that its job has ended like this; else the result discards nothing. */
  markAsDiscardedOnShutdown(jobStatus: JobStatus): DiscardObject {
    return this.shouldBeDiscardedOnShutdown(jobStatus) ? this.markAsDiscarded() : NOOP_DISCARD_OBJECT;
  }

  shouldBeDiscardedOnSubsume(): boolean {
    return shouldBeDiscardedOnSubsume(this.properties);
  }

  shouldBeDiscardedOnShutdown(jobStatus: JobStatus): boolean {
    return shouldBeDiscardedOnShutdown(this.properties, jobStatus);
  }

  /**
   * Marks and discards it: the metadata, then all operator states, then the location. All three run, whatever fails before.
   * Calling it again is fine: what is gone already is no failure.
   * @throws the first failure, the later ones as its suppressed ones. State files that could not be deleted are no such
   *   failure, as in Flink: the logger is told, and then the directory is not empty
   */
  discard(): Promise<void> {
    return this.markAsDiscarded().discard();
  }

  /**
   * Discards it, if it is to be now that newer checkpoints have replaced it.
   * @returns whether it was
   * @throws as {@link discard}
   */
  async discardOnSubsume(): Promise<boolean> {
    if (!this.shouldBeDiscardedOnSubsume()) return false;
    await this.discard();
    return true;
  }

  /**
   * Discards it, if it is to be now that its job has ended like this.
   * @returns whether it was
   * @throws as {@link discard}
   */
  async discardOnShutdown(jobStatus: JobStatus): Promise<boolean> {
    if (!this.shouldBeDiscardedOnShutdown(jobStatus)) return false;
    await this.discard();
    return true;
  }

  toString(): string {
    const { properties, checkpointId, timestamp, jobId, externalPointer } = this;
    return `${properties.checkpointType.name} ${checkpointId} @ ${timestamp} for ${jobId} located at ${externalPointer}`;
  }

  #discard(): Promise<void> {
    return this.#finish([
      () => discardState(this.metadataHandle, this.#context),
      () => bestEffort(this.#operatorStates.values(), (state) => discardOperatorState(state, this.#context)),
      () => this.storageLocation.disposeStorageLocation(),
    ]);
  }

  #discardAsync(options?: DiscardAsyncOptions): Promise<void> {
    const handles = [...this.#operatorStates.values()].flatMap(operatorDiscardables);
    return this.#finish([
      async () => {
        const failure = await discardConcurrently([...handles, this.metadataHandle], this.#context, options);
        if (failure !== undefined) throw failure;
      },
      () => this.storageLocation.disposeStorageLocation(),
    ]);
  }

  /** Runs all steps and forgets the state, whatever fails. */
  async #finish(steps: readonly (() => Promise<void>)[]): Promise<void> {
    let failure: Error | undefined;
    const forget = async () => {
      this.#operatorStates.clear();
      this.#onDiscarded?.();
    };
    for (const step of [...steps, forget]) {
      try {
        await step();
      } catch (error) {
        failure = firstOrSuppressed(asError(error), failure);
      }
    }
    if (failure !== undefined) throw failure;
  }
}
