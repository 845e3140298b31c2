/** The second look at entries that differ: only these few are kept with their keys and values. */
import type { StateValue } from '../../format/value/value-serializer.js';
import type { Row } from '../state/rows.js';
import type { ComparedEntry, Side } from './entry-columns.js';
import { entryChanges, type FieldChange, fieldChanges } from './field-changes.js';
import type { EntryDifference } from './result.js';

/** Characters of a shown map, about; more is left out. */
const MOST_TEXT = 1024 * 1024;

interface MapEntry {
  readonly key: StateValue;
  readonly value: StateValue;
}

interface ShownSide {
  readonly row: Row;
  readonly entries: MapEntry[] | undefined;
  text: number;
  isCut: boolean;
}

interface Shown {
  readonly compared: ComparedEntry;
  readonly sides: Partial<Record<Side, ShownSide>>;
}

/** Collects rows of the entries that are to be shown. */
export class ShownEntries {
  private readonly shown = new Map<string, Shown>();

  constructor(wanted: readonly ComparedEntry[]) {
    for (const compared of wanted) this.shown.set(nameOf(compared), { compared, sides: {} });
  }

  /** Takes a row, if it is wanted. @param identity its hash */
  take(side: Side, identity: { readonly high: number; readonly low: number }, row: Row): void {
    const shown = this.shown.get(nameOf(identity));
    if (!shown) return;
    const known = shown.sides[side];
    const one = known ?? { row, entries: row.entries ? [] : undefined, text: 0, isCut: false };
    shown.sides[side] = one;
    for (const entry of row.entries ?? []) {
      if (one.text > MOST_TEXT) {
        one.isCut = true;
        return;
      }
      one.entries?.push(entry);
      one.text += JSON.stringify(entry).length;
    }
  }

  /** What was found, in the order of the entries that were wanted. */
  *differences(operator: { readonly operatorId: string; readonly uid: string | null }): Generator<EntryDifference> {
    for (const { compared, sides } of this.shown.values()) {
      const { old, new: now } = sides;
      const any = now ?? old;
      if (!any || compared.change === 'unchanged') continue;
      const { state, keyGroup, key, namespace } = any.row;
      const times = Math.abs(compared.new - compared.old);
      const isCut = old?.isCut || now?.isCut;
      yield {
        operatorId: operator.operatorId,
        uid: operator.uid,
        state,
        change: compared.change,
        keyGroup,
        ...(key !== undefined && { key }),
        ...(namespace !== undefined && { namespace }),
        ...(old && compared.change !== 'added' && { old: shownValue(old) }),
        ...(now && compared.change !== 'removed' && { new: shownValue(now) }),
        ...(compared.change === 'changed' && { fields: changesOf(old, now) }),
        ...(times > 1 && { times }),
        ...(isCut && { cut: true as const }),
      };
    }
  }
}

function shownValue({ row, entries }: ShownSide): StateValue {
  if (entries) return entries.map(({ key, value }) => ({ key, value }));
  return row.value ?? row.timestamp ?? null;
}

function changesOf(old: ShownSide | undefined, now: ShownSide | undefined): FieldChange[] {
  if (old?.entries && now?.entries) return entryChanges(old.entries, now.entries);
  return fieldChanges(old && shownValue(old), now && shownValue(now));
}

function nameOf({ high, low }: { readonly high: number; readonly low: number }): string {
  return `${high >>> 0} ${low >>> 0}`;
}
