/** What has changed in a value, field by field. */
import type { StateValue } from '../../format/value/value-serializer.js';

/** A part of a value that is not as before. Undefined where it is not there. */
export interface FieldChange {
  /** From the value on: `.name`, `[3]`, `{"key"}` of an entry of a map; empty for the value itself. */
  readonly path: string;
  readonly old: StateValue | undefined;
  readonly new: StateValue | undefined;
}

/** Parts that are told of. */
const MOST_FIELDS = 100;

/** An entry of a map. */
interface Entry {
  readonly key: StateValue;
  readonly value: StateValue;
}

/** The parts in which two values differ, at most 100 of them. */
export function fieldChanges(old: StateValue | undefined, now: StateValue | undefined): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(old, now, '', changes);
  return changes;
}

/** The entries in which two maps differ: their values field by field. */
export function entryChanges(old: readonly Entry[], now: readonly Entry[]): FieldChange[] {
  const changes: FieldChange[] = [];
  compareMaps(old, now, '', changes);
  return changes;
}

function compare(old: StateValue | undefined, now: StateValue | undefined, path: string, changes: FieldChange[]): void {
  if (changes.length >= MOST_FIELDS || JSON.stringify(old) === JSON.stringify(now)) return;
  if (isEntries(old) && isEntries(now)) compareMaps(old, now, path, changes);
  else if (Array.isArray(old) && Array.isArray(now)) compareLists(old, now, path, changes);
  else if (isRecord(old) && isRecord(now)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      compare(old[name], now[name], `${path}.${name}`, changes);
    }
  } else {
    changes.push({ path, old, new: now });
  }
}

function compareLists(
  old: readonly StateValue[],
  now: readonly StateValue[],
  path: string,
  changes: FieldChange[],
): void {
  const length = Math.max(old.length, now.length);
  for (let i = 0; i < length && changes.length < MOST_FIELDS; i++) compare(old[i], now[i], `${path}[${i}]`, changes);
}

function compareMaps(old: readonly Entry[], now: readonly Entry[], path: string, changes: FieldChange[]): void {
  const after = new Map(now.map(({ key, value }) => [JSON.stringify(key), value]));
  for (const { key, value } of old) {
    const name = JSON.stringify(key);
    compare(value, after.get(name), `${path}{${name}}`, changes);
    after.delete(name);
  }
  for (const [name, value] of after) compare(undefined, value, `${path}{${name}}`, changes);
}

function isRecord(value: StateValue | undefined): value is { readonly [name: string]: StateValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How maps inside of values are shown: lists of keys and values. */
function isEntries(value: StateValue | undefined): value is readonly (Entry & { [name: string]: StateValue })[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((item) => isRecord(item) && 'key' in item && 'value' in item && Object.keys(item).length === 2);
}
