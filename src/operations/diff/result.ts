/** What `diff` tells of two checkpoints. */
import type { DistributionMode } from '../../model/state-handles.js';
import type { DocumentValue } from '../document/values.js';
import type { Bytes } from '../inspect-result.js';

/** How an operator with another id was recognised. */
export type RenumberedBy = 'uid' | 'name' | 'states';

/** An operator that has another id in the second checkpoint. */
export interface Renumbered {
  readonly old: string;
  readonly new: string;
  readonly by: RenumberedBy;
}

/** One thing of an operator that is not as before. */
export interface Change {
  /** In the second checkpoint; null for what belongs to no operator (master states). */
  readonly operatorId: string | null;
  /** `stateHandles`: of the same size, but not the same state; the values are hashes. */
  readonly field: string;
  readonly old: DocumentValue;
  readonly new: DocumentValue;
}

/** How the files that two checkpoints name compare. One file is one place: a copy elsewhere is another file. */
export interface FileDifference {
  /** Files that both name. */
  readonly common: number;
  readonly added: number;
  readonly removed: number;
  /** Recorded bytes of the added ones; of merged files those of the segments. */
  readonly addedBytes: number;
  readonly removedBytes: number;
  readonly commonBytes: number;
  /** Of the added ones those that have the name and size of a removed one, if both checkpoints are the same one: copies. */
  readonly relocated: number;
}

/** A named operator state. */
export interface DiffedState {
  readonly name: string;
  readonly kind: 'managed-operator' | 'raw-operator';
  readonly distributionMode: DistributionMode;
}

/** An operator of one of the checkpoints, or of both. */
export interface DiffedOperator {
  /** In the second checkpoint; of a removed one in the first. */
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  readonly change: 'added' | 'removed' | 'renumbered' | 'changed' | 'same';
  /** Null where it is not there. */
  readonly oldStateSize: Bytes | null;
  readonly newStateSize: Bytes | null;
  /** Bytes more than before. */
  readonly growth: Bytes;
}

/** One of the two. */
export interface DiffSide {
  readonly pointer: string;
  readonly checkpointId: Bytes;
  readonly version: number;
  readonly stateSize: Bytes;
}

/** The document of `ckpt diff`. */
export interface DiffResult {
  /**
   * True if the operators and all their state are the same, and so are the files, or those of one are copies of those of
   * the other. Checkpoint ids and times may differ.
   */
  readonly same: boolean;
  /** Ids of operators that only the second has. */
  readonly added: readonly string[];
  /** Ids of operators that only the first has. */
  readonly removed: readonly string[];
  readonly renumbered: readonly Renumbered[];
  readonly changed: readonly Change[];
  readonly files: FileDifference;
  readonly old: DiffSide;
  readonly new: DiffSide;
  /** All, in the order of the second; removed ones last. */
  readonly operators: readonly DiffedOperator[];
}
