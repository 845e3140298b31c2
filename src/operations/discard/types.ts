/** What a discard is about to do and what it has done: the types that its steps, its report and its JSON share. */
import type { Path } from '../../filesystem/path.js';

/** The steps of a discard, in their order: nobody may restore from what is half gone, so the metadata goes first. */
export type DiscardStep = 'metadata' | 'state' | 'location';

/**
 * Why a file stays: `used-by-other` another checkpoint names it, `shared-segment` another one has a part of this merged
 * file, `outside-tree` it lies outside of what may be deleted, `young` a running job may be writing it.
 */
export type KeepReason = 'used-by-other' | 'shared-segment' | 'outside-tree' | 'young';

/** Something that goes. */
export interface PlannedDeletion {
  /** As the metadata names it, qualified; a directory of step `location` is removed only if it is empty by then. */
  readonly path: string;
  /** What becomes free: 0 for a directory, and for a file that has another name. */
  readonly bytes: number;
  readonly step: DiscardStep;
}

/** A file that stays although the checkpoint names it. */
export interface KeptFile {
  readonly path: string;
  /** Its length; of a file outside the area, which nobody looked at, as recorded. */
  readonly bytes: number;
  readonly reason: KeepReason;
  /** Pointers of those who name it, as far as they are known. */
  readonly usedBy: readonly string[];
}

/**
 * What is there of a checkpoint that is to be discarded: all of it (`complete`), what an interrupted discard has left with
 * its tombstone (`half-discarded`), or just the directory, everything else being gone (`emptied`).
 */
export type TargetState = 'complete' | 'half-discarded' | 'emptied';

/** A checkpoint that is to be discarded. */
export interface DiscardTarget {
  /** As the user wrote it. */
  readonly given: string;
  /** The external pointer. */
  readonly directory: Path;
  /** The metadata file while the checkpoint is complete. */
  readonly metadataPath: Path;
  /** What the metadata file is called once the discard has begun. */
  readonly tombstonePath: Path;
  readonly state: TargetState;
  /** True if a tombstone stands beside complete metadata: a discard was killed between two steps. */
  readonly hasTombstone: boolean;
}

/** A pointer of which nothing was discarded, and why. */
export interface FailedPointer {
  readonly given: string;
  readonly error: unknown;
}

/** How far the search for others who use the files has reached. */
export interface SearchReach {
  /** The directories that were searched, with everything below them. */
  readonly roots: readonly string[];
  /** Checkpoint directories found there, those to be discarded included. */
  readonly checkpoints: number;
  /** Metadata files of others that were read to their end. */
  readonly metadataFiles: number;
  /** Metadata and directories that could not be read, with what is wrong: whether they use a file is unknown. */
  readonly unreadable: readonly { readonly path: string; readonly message: string }[];
  /** False if it was asked for that others do not count. */
  readonly searched: boolean;
}

/** What the removal of one checkpoint takes. */
export interface TargetWork {
  readonly target: DiscardTarget;
  /** The metadata, or the tombstone, when it was looked at; undefined if none is left. */
  readonly metadata: MetadataWork | undefined;
  /** Identity of the directory; undefined where the store has none. */
  readonly identity: string | undefined;
  /** Place of the directory in {@link DiscardPlan.delete}; undefined if something will be left in it. */
  readonly locationIndex: number | undefined;
  /** What will be left in the directory and belongs to nobody that is known. */
  readonly strayEntries: readonly string[];
}

/** The metadata of a checkpoint that goes. */
export interface MetadataWork {
  readonly size: number;
  readonly modificationTime: number;
  /** What becomes free. */
  readonly bytes: number;
  /** Place in {@link DiscardPlan.delete}. */
  readonly index: number;
}

/** One file that goes. */
export interface FileWork {
  readonly name: string;
  /** What becomes free. */
  readonly bytes: number;
  readonly modificationTime: number;
  /** Place in {@link DiscardPlan.delete}. */
  readonly index: number;
  /** The checkpoints that name it: a set of `DiscardPlan.targetSets`. */
  readonly targets: number;
}

/** Files of one directory that go. */
export interface DirectoryWork {
  readonly directory: Path;
  readonly identity: string | undefined;
  readonly files: readonly FileWork[];
}

/** A directory of file merging that will be empty. */
export interface ManagedDirectoryWork {
  readonly directory: Path;
  readonly index: number;
  readonly targets: number;
}

/** Everything that a discard will do. Nothing has been changed yet. */
export interface DiscardPlan {
  /** The area: directories below which something may be deleted, qualified. */
  readonly roots: readonly Path[];
  readonly failed: readonly FailedPointer[];
  readonly targets: readonly TargetWork[];
  readonly directories: readonly DirectoryWork[];
  readonly managedDirectories: readonly ManagedDirectoryWork[];
  /** Members of each set of checkpoints, as places in {@link targets}. */
  readonly targetSets: readonly (readonly number[])[];
  /** In the order in which failures count: metadata, state in the order of the metadata, locations. */
  readonly delete: readonly PlannedDeletion[];
  readonly keep: readonly KeptFile[];
  /** Files that the checkpoints name and that are not there any more. */
  readonly alreadyGone: number;
  /** What lies in the directories and belongs to nobody that is known. */
  readonly strayEntries: readonly string[];
  readonly search: SearchReach;
  /** Directories below the roots in which another run holds a lock, or has left one. */
  readonly locks: readonly Path[];
  /** Checkpoint directories in the area with the number of entries in each: to see whether something has changed. */
  readonly area: readonly { readonly directory: Path; readonly entries: number }[];
}

/** A failure of one step on one path. */
export interface DiscardFailure {
  readonly path: string;
  readonly message: string;
  readonly error: unknown;
}

/** What a discard has done. */
export interface DiscardResult {
  /** True if everything planned was done: no failure, no interruption, nothing unexpected left. */
  readonly done: boolean;
  /** Files removed or moved, metadata included, directories not. */
  readonly deletedFiles: number;
  /** What became free. */
  readonly deletedBytes: number;
  /** Files that somebody else had removed before. */
  readonly alreadyGone: number;
  /** What keeps the directories. */
  readonly strayEntries: readonly string[];
  /** In the order of the plan: the first one is the error, the others are suppressed. */
  readonly failures: readonly DiscardFailure[];
  /** True if the signal stopped it. */
  readonly interrupted: boolean;
}
