/** The contents of a metadata file: Flink's `CheckpointMetadata`, `OperatorState`, `OperatorSubtaskState`, `MasterState`. */
import type {
  AnyChannelStateHandle,
  ByteStreamStateHandle,
  KeyedStateHandle,
  OperatorStateHandle,
  RawStrings,
} from './state-handles.js';

/**
 * Which of the layouts that share a version number a file has: `current`, or `1.14` (changelog handles without sizes and
 * ids), or `1.11` (channel handles without subtask index). The last two occur under version 3 only.
 */
export type MetadataLayout = 'current' | '1.14' | '1.11';

/** Versions that {@link MetadataHeader.version} can have here. */
export const SUPPORTED_VERSIONS = [2, 3, 4, 5, 6] as const;

/** What stands in front of everything else. */
export interface MetadataHeader {
  /** Format version, 2 to 6. */
  readonly version: number;
  readonly layout: MetadataLayout;
  /** Not negative. */
  readonly checkpointId: bigint;
}

/** State of a master hook. */
export interface MasterState {
  readonly name: string;
  /** Version of the hook's serializer. */
  readonly version: number;
  readonly bytes: Uint8Array;
  readonly wire?: { readonly utf?: RawStrings };
}

/** State of one parallel instance of an operator. `index` counts from 0. */
export interface OperatorSubtaskState {
  readonly index: number;
  readonly finished: false;
  readonly managedOperatorState: OperatorStateHandle | null;
  readonly rawOperatorState: OperatorStateHandle | null;
  readonly managedKeyedState: KeyedStateHandle | null;
  readonly rawKeyedState: KeyedStateHandle | null;
  readonly inputChannelState: readonly AnyChannelStateHandle[];
  readonly resultSubpartitionState: readonly AnyChannelStateHandle[];
  readonly wire?: {
    /** Version 2: the dead field, where it is not -1. */
    readonly duration?: bigint;
    /** Presence numbers other than 0 and 1. */
    readonly managedOperatorStatePresence?: number;
    readonly rawOperatorStatePresence?: number;
  };
}

/** A subtask that had finished: no state. */
export interface FinishedOperatorSubtaskState {
  readonly index: number;
  readonly finished: true;
}

/** A subtask entry of the file. */
export type SubtaskEntry = OperatorSubtaskState | FinishedOperatorSubtaskState;

/** An operator without its subtasks. */
export interface OperatorHead {
  /** 32 lower-case hex digits. */
  readonly operatorId: string;
  /** Null where absent; the file stores it from version 5 on. */
  readonly uid: string | null;
  readonly name: string | null;
  readonly parallelism: number;
  readonly maxParallelism: number;
  /** True if all subtasks had finished (Flink's `FullyFinishedOperatorState`). */
  readonly finished: boolean;
  readonly coordinatorState: ByteStreamStateHandle | null;
  readonly wire?: {
    readonly utf?: RawStrings;
    /** Version 2: the dead field, where it is not 1. */
    readonly chainLength?: number;
    /** The count of a finished operator, where it is not -1. */
    readonly subtaskCount?: number;
  };
}

/** State of an operator. Subtasks in the order of the file; an index may occur twice (Flink keeps the last). */
export interface OperatorState extends OperatorHead {
  readonly subtasks: readonly SubtaskEntry[];
}

/** A whole metadata file. */
export interface CheckpointMetadata extends MetadataHeader {
  readonly masterStates: readonly MasterState[];
  /** In the order of the file. */
  readonly operatorStates: readonly OperatorState[];
  /** The block of version 4 and later as stored; null in older versions. */
  readonly propertiesBlock: Uint8Array | null;
  /** Bytes behind the last field, usually none. */
  readonly trailingBytes: Uint8Array;
}
