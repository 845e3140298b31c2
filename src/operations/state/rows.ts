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
  /** Values carry the time of their last access. */
  readonly ttl?: true;
  /** A piece of a large map: `first` and `middle` are followed by others of the same. Undefined: it is whole. */
  readonly part?: 'first' | 'middle' | 'last';
}

/** When a row was last accessed, in milliseconds: of a list or a map its youngest part. Undefined without time to live. */
export function lastAccessOf({ ttl, value, entries }: Row): number | undefined {
  if (!ttl) return undefined;
  const parts = entries ? entries.map((entry) => entry.value) : Array.isArray(value) ? value : [value];
  let newest: number | undefined;
  for (const part of parts) {
    const time = isStamped(part) ? Number(part.lastAccess) : Number.NaN;
    if (!Number.isNaN(time) && (newest === undefined || time > newest)) newest = time;
  }
  return newest;
}

/** True for what a serializer with time to live wrote. */
export function isStamped(
  value: unknown,
): value is { readonly value: StateValue; readonly lastAccess: number | string } {
  return typeof value === 'object' && value !== null && 'lastAccess' in value && 'value' in value;
}

/** What keys, namespaces and values are called where they are compared with text: strings as they are, all else as JSON. */
export function textOf(value: StateValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
