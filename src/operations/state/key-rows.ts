/** One row for each key, with what all states of an operator have of it. */
import type { MapEntry } from '../../format/entries/decode-entry.js';
import type { StateValue } from '../../format/value/value-serializer.js';
import { type Row, textOf } from './rows.js';

/** What a state has of a key: a value, the entries of a map, the timestamps of timers. */
export type KeyedContent =
  | { readonly value: StateValue }
  | { readonly entries: readonly MapEntry[] }
  | { readonly timestamps: readonly (number | string)[] };

/** A key, or a key with a namespace. */
export interface KeyRow {
  readonly subtask: number;
  readonly keyGroup: number;
  readonly key: StateValue;
  readonly namespace: StateValue;
  /** By the names of the states; only those that have it. */
  readonly states: Readonly<Record<string, KeyedContent>>;
}

/** Puts rows of one key group together, whatever order they come in. Holds all of them. */
export class KeyRows {
  private readonly rows = new Map<string, KeyRow & { readonly states: Record<string, KeyedContent> }>();

  add(row: Row): void {
    const { subtask, keyGroup, key = null, namespace = null, state } = row;
    const identity = JSON.stringify([key, namespace]);
    let known = this.rows.get(identity);
    if (!known) {
      known = { subtask, keyGroup: keyGroup ?? 0, key, namespace, states: Object.create(null) };
      this.rows.set(identity, known);
    }
    known.states[state] = joined(known.states[state], row);
  }

  /** Takes out all there are, by the text of their keys. */
  take(): KeyRow[] {
    const rows = [...this.rows.values()];
    this.rows.clear();
    const text = ({ key, namespace }: KeyRow): string => `${textOf(key)} ${textOf(namespace)}`;
    return rows
      .map((row) => ({ row, text: text(row) }))
      .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
      .map(({ row }) => row);
  }
}

function joined(before: KeyedContent | undefined, { value, entries, timestamp }: Row): KeyedContent {
  if (timestamp !== undefined) {
    return { timestamps: [...(before && 'timestamps' in before ? before.timestamps : []), timestamp] };
  }
  if (entries) return { entries: [...(before && 'entries' in before ? before.entries : []), ...entries] };
  return { value: value ?? null };
}
