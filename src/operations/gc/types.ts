/** What `gc` finds and does: the types that its steps, its report and its JSON share. */
import type { Path } from '../../filesystem/path.js';

/**
 * What a file that nobody names is. `exclusive`: in the directory of a checkpoint that is there, or written by a task for
 * itself.
 */
export type GcKind =
  | 'shared'
  | 'changelog'
  | 'managed-directory'
  | 'incomplete-checkpoint'
  | 'in-progress'
  | 'tombstone'
  | 'exclusive';

/**
 * Why something that no handle names stays. `young`: it may be in progress. `may-be-claimed`: a savepoint without metadata,
 * whose files another job may name. `working-directory`: of a ForSt backend that may run. `in-state`: operator state names
 * it. `state-unread`: operator state that could name it could not be searched. `job-unknown`: no metadata was found that
 * could name it. `outside-roots`: a link leads to it. `assumed-dead`: it belongs to a checkpoint that was taken out.
 * `in-use-now`: a checkpoint that came meanwhile names it. `changed`: something happens to it. `half-discarded`: what is
 * left of a checkpoint cannot be discarded now.
 */
export type SparedReason =
  | 'young'
  | 'may-be-claimed'
  | 'working-directory'
  | 'in-state'
  | 'state-unread'
  | 'job-unknown'
  | 'outside-roots'
  | 'assumed-dead'
  | 'in-use-now'
  | 'changed'
  | 'half-discarded';

/**
 * Why nothing is offered at all. `unreadable`: metadata, or a directory, that could not be read. `files-missing`: files of a
 * checkpoint are not where they should have been found. `other-name`: metadata names files by a name under which the roots
 * are not known. `changing`: checkpoints come and go faster than they can be read.
 */
export type BlockedReason = 'unreadable' | 'files-missing' | 'other-name' | 'changing';

/** A file that nobody names. */
export class GcEntry {
  constructor(
    readonly directory: Path,
    readonly name: string,
    readonly bytes: number,
    readonly kind: GcKind,
    /** Milliseconds since the epoch, by the store's clock. */
    readonly modificationTime: number,
  ) {}

  /** Qualified, as the metadata would name it. */
  get path(): string {
    return this.directory.entry(this.name).toString();
  }

  toJSON(): { path: string; bytes: number; kind: GcKind; modified: string } {
    const { path, bytes, kind } = this;
    return { path, bytes, kind, modified: new Date(this.modificationTime).toISOString() };
  }
}

/** Something that stays although no handle names it. */
export interface SparedPath {
  /** A file, or a directory with all that is in it. */
  readonly path: string;
  readonly reason: SparedReason;
}

/** A plain file in `taskowned/` that no handle names. */
export interface TaskOwnedFile {
  readonly path: string;
  readonly bytes: number;
  /** True if operator state names it; null if that could not be told. */
  readonly inState: boolean | null;
}

/** Something that keeps everything from being offered. */
export interface BlockedPath {
  readonly path: string;
  readonly reason: BlockedReason;
  /** What is wrong, in words, and what would help. */
  readonly message: string;
}

/** Files of one kind in one place, summed up. */
export interface GcGroup {
  /** The place: the directory of a checkpoint, of file merging, `shared`, … */
  readonly path: string;
  readonly kind: GcKind;
  readonly files: number;
  readonly bytes: number;
}

/** Something that could not be removed. */
export interface GcFailure {
  readonly path: string;
  readonly message: string;
}

/** What a search for garbage came to. Nothing has been changed. */
export interface GcFindings {
  readonly roots: readonly Path[];
  readonly unreferenced: readonly GcEntry[];
  readonly spared: readonly SparedPath[];
  readonly taskOwned: readonly TaskOwnedFile[];
  readonly blocked: readonly BlockedPath[];
  /** Directories that are empty, or will be; only if asked for. The innermost first. */
  readonly emptyDirectories: readonly Path[];
  /** Plain files below the roots. */
  readonly files: number;
  /** Checkpoints and savepoints that were read. */
  readonly checkpoints: number;
  /** Things that should be known and change nothing. */
  readonly warnings: readonly string[];
}
