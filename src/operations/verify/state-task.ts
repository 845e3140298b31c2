/** Pieces of state whose contents can be checked, as a metadata file describes them. */
import type { KeyGroupsForm } from '../state/keyed-file.js';
import type { StateSource as PlainSource } from '../state/state-source.js';
import type { Subject } from './reference-check.js';

/** Where the bytes of a piece are; files with the number that they have in this run. */
export type StateSource =
  | (Extract<PlainSource, { kind: 'file' }> & { readonly number: number })
  | Extract<PlainSource, { kind: 'inline' }>;

/** What the bytes should be. Offsets count from the start of the piece. */
export type StateForm =
  /** Managed keyed state in one file. */
  | (KeyGroupsForm & { readonly kind: 'keyed' })
  /** The header alone, beside RocksDB's own files. */
  | { readonly kind: 'keyed-meta' }
  /** One of RocksDB's own files, by its name there. */
  | { readonly kind: 'local'; readonly name: string }
  | { readonly kind: 'operator'; readonly offsets: Float64Array }
  /** State in a form that only the operator knows; offsets of -1 stand for nothing. */
  | { readonly kind: 'raw'; readonly offsets: Float64Array }
  /** `channels` is undefined if the metadata does not tell them: its bytes are none. `size` is that of all together. */
  | { readonly kind: 'channel'; readonly channels: readonly ChannelBlocksOf[] | undefined; readonly size: number }
  | { readonly kind: 'changelog'; readonly offset: number }
  /** Something that was not understood. */
  | { readonly kind: 'unknown'; readonly what: string };

/** The blocks of one channel. */
export interface ChannelBlocksOf {
  readonly offsets: Float64Array;
  /** Bytes of its blocks with their lengths. */
  readonly size: number;
}

/** A piece of state to check. */
export interface StateTask extends Subject {
  readonly source: StateSource;
  readonly form: StateForm;
}

/** What became of a check. */
export type CheckResult =
  | { readonly kind: 'sound' }
  | { readonly kind: 'corrupt'; readonly expected: string; readonly found: string }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** It could not be judged, or not all of it. `what` names what there is of this kind, in the plural. */
  | { readonly kind: 'unjudged'; readonly what: string };

/** All is well. */
export const SOUND: CheckResult = { kind: 'sound' };
