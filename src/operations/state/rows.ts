/** Entries of state as they are shown: decoded, whatever file they come from. */
import type { MapEntry } from '../../format/entries/decode-entry.js';
import type { KeyedStateKind, OperatorStateKind } from '../../format/entries/named-state.js';
import type { StateValue } from '../../format/value/value-serializer.js';

/**
 * An entry. Keyed: key group, key and namespace, with a value, or the entries of a map, or the timestamp of a timer. Operator
 * state: an element of a list in `value`, or an entry of a broadcast state in `key` and `value`.
 */
export interface Row {
  readonly state: string;
  readonly kind: KeyedStateKind | OperatorStateKind;
  readonly subtask: number;
  /** Null in operator state. */
  readonly keyGroup: number | null;
  /** Undefined in lists of operator state. */
  readonly key?: StateValue;
  readonly namespace?: StateValue;
  /** Undefined where only keys are wanted. */
  readonly value?: StateValue;
  /** Of maps; many of them come in several parts. */
  readonly entries?: readonly MapEntry[];
  /** Milliseconds. */
  readonly timestamp?: number | string;
  /** A piece of a large map: `first` and `middle` are followed by others of the same. Undefined: it is whole. */
  readonly part?: 'first' | 'middle' | 'last';
}

/** What keys, namespaces and values are called where they are compared with text: strings as they are, all else as JSON. */
export function textOf(value: StateValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
