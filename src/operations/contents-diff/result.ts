/** What `diff --contents` tells. */
import type { StateValue } from '../../format/value/value-serializer.js';
import type { ReadStateHead, Undecoded, UnreadPiece } from '../state/read-state.js';
import type { EntryChange, Side } from './entry-columns.js';
import type { FieldChange } from './field-changes.js';

/** How the entries of a state compare: keys of keyed and broadcast state, timers, elements of lists. */
export interface StateDiff extends ReadStateHead {
  readonly unchanged: number;
  readonly changed: number;
  readonly added: number;
  readonly removed: number;
}

/** An operator with the states that it has on either side. */
export interface OperatorContentsDiff {
  /** In the second checkpoint; of a removed one in the first. */
  readonly operatorId: string;
  /** In the first one, if it is another. */
  readonly oldOperatorId: string | null;
  readonly uid: string | null;
  readonly name: string | null;
  readonly change: 'added' | 'removed' | 'compared';
  readonly states: readonly StateDiff[];
}

/** An entry that is not as before. */
export interface EntryDifference {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly state: string;
  readonly change: Exclude<EntryChange, 'unchanged'>;
  /** Null in operator state. */
  readonly keyGroup: number | null;
  /** Undefined for elements of lists. */
  readonly key?: StateValue;
  readonly namespace?: StateValue;
  /** Undefined where it is not there. Of a map a list of its entries; null for a timer, which is nothing but its key. */
  readonly old?: StateValue;
  readonly new?: StateValue;
  /** Of a changed one. */
  readonly fields?: readonly FieldChange[];
  /** By how many an element of a list is there more or less often, if not once. */
  readonly times?: number;
  /** The value is so large that it is not whole here. */
  readonly cut?: true;
}

/** The document of `ckpt diff --contents`. */
export interface ContentsDiff {
  /** True if both have the same entries, and all of them could be read. */
  readonly same: boolean;
  readonly old: string;
  readonly new: string;
  readonly operators: readonly OperatorContentsDiff[];
  /** As many as were asked for. */
  readonly differences: readonly EntryDifference[];
  /** Differences beyond those. */
  readonly more: number;
  readonly undecoded: readonly (Undecoded & { readonly side: Side })[];
  readonly unread: readonly (UnreadPiece & { readonly side: Side })[];
}
