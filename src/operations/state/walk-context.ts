/** What every walk through state is given: where files are, what is wanted, and whom to tell. */
import type { FileSystems } from '../../filesystem/registry.js';
import type { KeyedState } from '../../format/entries/named-state.js';
import type { RawEntry } from '../../format/entries/raw-entry.js';
import type { Batch } from './parse-region.js';
import type { KeyGroups } from './pieces.js';

/** Entries that could not be reached. */
export interface Lost {
  readonly state: KeyedState;
  /** Undefined if nobody knows how many. */
  readonly entries: number | undefined;
  readonly reason: string;
}

/** A file, or bytes of the metadata, that could not be read to the end. */
export interface Unread {
  readonly path: string;
  readonly reason: string;
}

/** See the file comment. */
export interface WalkContext {
  readonly fileSystems: FileSystems;
  readonly signal?: AbortSignal | undefined;
  /** Only these key groups. */
  readonly keyGroups?: KeyGroups | undefined;
  /** False for a state of which nothing is wanted. */
  isWanted(state: KeyedState): boolean;
  /** Told of each state that a file has, wanted or not, perhaps several times. */
  onState(state: KeyedState): void;
  onLost(lost: Lost): void;
  onUnread(unread: Unread): void;
}

/** Entries in the order of a file. */
export type RawBatches = AsyncGenerator<Batch<RawEntry>, void>;
