/** What `list` tells of each checkpoint and each job. */
import type { CkptError } from '../../errors.js';
import type { Bytes } from '../inspect-result.js';

/**
 * `complete`: there is metadata, and what was read of it is sound. `incomplete`: a directory named like a checkpoint without
 * metadata; `in-progress` if something in it changed just now. `half-discarded`: only the tombstone of a discard is left.
 * `broken`: there is metadata that cannot be read, or a directory that cannot be listed, which may hold some.
 */
export type ListStatus = 'complete' | 'incomplete' | 'in-progress' | 'half-discarded' | 'broken';

/** A checkpoint, a savepoint, or what is left of one. */
export interface ListEntry {
  /** The directory, qualified. */
  readonly pointer: string;
  /** From the path; null if it does not tell. */
  readonly jobId: string | null;
  /** The first digits of the job id, from the name of a savepoint directory; else null. */
  readonly jobIdPrefix: string | null;
  /** By the name of the directory; where that says nothing, by the properties in the metadata. */
  readonly kind: 'checkpoint' | 'savepoint' | 'unknown';
  /** From the metadata, else from the name `chk-<n>`. */
  readonly checkpointId: Bytes | null;
  readonly status: ListStatus;
  /** When the metadata was written; without metadata when something in the directory changed last. */
  readonly time: string | null;
  readonly version: number | null;
  readonly metadataBytes: number | null;
  /** The metadata and all distinct files that it names, as recorded; without metadata the files in the directory. */
  readonly totalBytes: number | null;
  /** The part of it that nothing else below the roots names: what would be free if it alone went. */
  readonly exclusiveBytes: number | null;
  /** Names of the operators, else their uids; empty where the version stores neither. */
  readonly operatorNames: readonly string[] | null;
  /** Without metadata: the files in the directory and their bytes; else null. */
  readonly leftFiles: number | null;
  readonly leftBytes: number | null;
  /** Why it is broken, or why the tombstone cannot be read. */
  readonly error: CkptError | null;
}

/** What belongs to one job. */
export interface ListJob {
  /** Null for a savepoint of an unknown job, or where no path tells. */
  readonly jobId: string | null;
  readonly jobIdPrefix: string | null;
  /** Where its checkpoints lie; if that differs, the directory of the newest. Null for a job without any. */
  readonly directory: string | null;
  /** Pointer of the newest complete one: the highest checkpoint id. */
  readonly newest: string | null;
  /** When that was written. */
  readonly time: string | null;
  /** How many of each status. */
  readonly complete: number;
  readonly incomplete: number;
  readonly inProgress: number;
  readonly halfDiscarded: number;
  readonly broken: number;
  readonly metadataBytes: number;
  /** All that its entries hold, each file once. */
  readonly totalBytes: number | null;
  /** Of the newest complete one. */
  readonly operatorNames: readonly string[] | null;
}

/** What `list` found. */
export interface ListResult {
  /** Qualified. */
  readonly roots: readonly string[];
  readonly entries: readonly ListEntry[];
  /** In the order of the entries; those without any last. */
  readonly jobs: readonly ListJob[];
  /** Roots that could not be listed. */
  readonly failed: readonly { readonly path: string; readonly error: CkptError }[];
  /** Metadata that is no entry (of another name, or a tombstone beside the metadata) and could not be read. */
  readonly unread: readonly { readonly path: string; readonly error: CkptError }[];
}
