/** Pieces of state whose contents can be checked, as a metadata file describes them. */
import type { Subject } from './reference-check.js';

/** Where the bytes of a piece of state are. */
export type StateSource =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly number: number;
      /** Where the segment starts in a merged file; 0 for whole files. */
      readonly start: number;
      /** Bytes of the segment; -1 for whole files: as many as there are. */
      readonly length: number;
    }
  | { readonly kind: 'inline'; readonly name: string; readonly bytes: Uint8Array };

/** What the bytes should be. Offsets count from the start of the piece. */
export type StateForm =
  /** Managed keyed state in one file. `form` is unknown where the handle's type does not tell. */
  | {
      readonly kind: 'keyed';
      readonly form: 'unified' | 'unknown';
      readonly firstKeyGroup: number;
      readonly offsets: Float64Array;
      readonly maxParallelism: number;
    }
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
