/** What `ckpt inspect` finds out. */
import type { UidVerdict } from '../format/hash/uid-verdict.js';
import type { DocumentValue } from './document/values.js';

/** Bytes as JSON has them: a number, or digits beyond 2^53. */
export type Bytes = number | string;

/** What a directory is for the checkpoint that names it. */
export type DirectoryRole = 'exclusive' | 'shared' | 'taskowned' | 'changelog' | 'foreign';

/** How the files of a checkpoint are named, which decides whether its directory can be moved by itself. */
export type Relocatable = 'inline' | 'relative' | 'absolute-inside' | 'foreign';

/** A keyed state backend as far as the metadata tells. */
export type Backend = 'hashmap' | 'rocksdb' | 'forst' | 'changelog' | 'unknown';

/** A subtask by its index and size. */
export interface SubtaskSize {
  readonly index: number;
  readonly bytes: Bytes;
}

/** An operator of {@link InspectResult}. */
export interface InspectedOperator {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly finished: boolean;
  readonly stateSize: Bytes;
  readonly checkpointedSize: Bytes;
  readonly keyedStateSize: Bytes;
  readonly operatorStateSize: Bytes;
  readonly channelStateSize: Bytes;
  readonly coordinatorStateSize: Bytes;
  /** Null without keyed state. */
  readonly backend: Backend | null;
  /** Distinct files. */
  readonly files: number;
  /** Subtasks that the file has. */
  readonly subtasks: number;
  /** Of them, finished ones. */
  readonly finishedSubtasks: number;
  /** Null without subtasks. */
  readonly largestSubtask: SubtaskSize | null;
  readonly smallestSubtask: SubtaskSize | null;
  /** Whether the user set the uid, as far as the file tells. */
  readonly uidVerdict: UidVerdict;
  /** False if nothing is lost when a job starts without it. */
  readonly hasState: boolean;
}

/** The document of `ckpt inspect`. */
export interface InspectResult {
  /** The external pointer, qualified. */
  readonly pointer: string;
  readonly metadataPath: string;
  readonly metadataSize: number;
  /** When the metadata was written, ISO 8601. */
  readonly time: string;
  /** From the path; null if it does not tell. */
  readonly jobId: string | null;
  readonly version: number;
  /** Derived from the version. */
  readonly flinkVersions: string;
  readonly checkpointId: Bytes;
  readonly kind: 'checkpoint' | 'savepoint' | 'unknown';
  readonly formatType: 'CANONICAL' | 'NATIVE' | null;
  readonly incremental: boolean;
  readonly unaligned: boolean;
  readonly changelog: boolean;
  readonly fileMerging: boolean;
  readonly relocatable: Relocatable;
  readonly directories: readonly {
    readonly uri: string;
    readonly role: DirectoryRole;
    readonly files: number;
    readonly bytes: number;
  }[];
  readonly stateSize: Bytes;
  readonly checkpointedSize: Bytes;
  readonly inlineBytes: number;
  readonly fileBytes: number;
  readonly files: number;
  readonly properties: DocumentValue;
  readonly masterStates: readonly { readonly name: string; readonly version: number; readonly size: number }[];
  readonly operatorStates: readonly InspectedOperator[];
  /** Bytes behind the end of the metadata, which Flink ignores. */
  readonly trailingBytes: number;
}
