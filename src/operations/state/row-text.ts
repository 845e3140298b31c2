/** Rows as text for people. */
import type { MapEntry } from '../../format/entries/decode-entry.js';
import type { StateValue } from '../../format/value/value-serializer.js';
import type { KeyRow } from './key-rows.js';
import { type Expiry, isExpired } from './lines.js';
import { isStamped, type Row, textOf } from './rows.js';

/** The cells of a row; empty where there is nothing. */
export interface RowText {
  readonly state: string;
  readonly subtask: number;
  readonly keyGroup: string;
  readonly key: string;
  readonly namespace: string;
  readonly value: string;
  readonly lastAccess: string;
  readonly isExpired: boolean;
}

/** @param expiry marks what has expired */
export function rowText(row: Row, expiry?: Expiry): RowText {
  const { state, subtask, keyGroup, key, namespace } = row;
  return {
    state,
    subtask,
    keyGroup: keyGroup === null ? '' : `${keyGroup}`,
    key: key === undefined ? '' : textOf(key),
    namespace: namespaceText(namespace),
    value: valueText(row),
    lastAccess: accessText(row),
    isExpired: expiry !== undefined && isExpired(row, expiry),
  };
}

function namespaceText(namespace: StateValue | undefined): string {
  return namespace === null || namespace === undefined ? '' : textOf(namespace);
}

/** The value without what time to live adds to it. */
function valueText({ value, entries, timestamp, part }: Row): string {
  if (timestamp !== undefined) return timeText(timestamp);
  if (!entries) return value === undefined ? '' : textOf(plain(value));
  const pairs = pairsText(entries);
  return part === 'first' || part === 'middle' ? `${pairs}, …` : pairs;
}

function pairsText(entries: readonly MapEntry[]): string {
  return entries.map((entry) => `${textOf(entry.key)} → ${textOf(plain(entry.value))}`).join(', ');
}

function plain(value: StateValue): StateValue {
  if (Array.isArray(value)) return value.map((element: StateValue) => (isStamped(element) ? element.value : element));
  return isStamped(value) ? value.value : value;
}

const LATEST_TIME = 8.64e15;

function timeText(milliseconds: number | string): string {
  const time = Number(milliseconds);
  return Math.abs(time) <= LATEST_TIME ? new Date(time).toISOString() : String(milliseconds);
}

function accessText(row: Row): string {
  const times = (row.entries?.map(({ value }) => value) ?? (Array.isArray(row.value) ? row.value : [row.value]))
    .filter(isStamped)
    .map(({ lastAccess }) => Number(lastAccess));
  if (!row.ttl || times.length === 0) return '';
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return first === last ? timeText(first) : `${timeText(first)} – ${timeText(last)}`;
}

/** The cells of a key: those of its states by their names. */
export interface KeyText {
  readonly subtask: number;
  readonly keyGroup: string;
  readonly key: string;
  readonly namespace: string;
  readonly states: ReadonlyMap<string, string>;
}

/** A key as text. */
export function keyText({ subtask, keyGroup, key, namespace, states }: KeyRow): KeyText {
  const cells = Object.entries(states).map(([name, content]): [string, string] => {
    if ('timestamps' in content) return [name, content.timestamps.map(timeText).join(', ')];
    return [name, 'entries' in content ? pairsText(content.entries) : textOf(plain(content.value))];
  });
  return {
    subtask,
    keyGroup: `${keyGroup}`,
    key: textOf(key),
    namespace: namespaceText(namespace),
    states: new Map(cells),
  };
}
