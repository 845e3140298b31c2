/** The kinds of entries in RocksDB's tables. Origin: RocksDB `db/dbformat.h`. */

/** The lowest byte of the eight behind each key. The other seven are the sequence number. */
export const EntryType = { Delete: 0, Value: 1, Merge: 2, SingleDelete: 7, RangeDelete: 15 } as const;
/** One of the numbers of {@link EntryType}. */
export type EntryType = (typeof EntryType)[keyof typeof EntryType];

/** Kinds that are known and not read here: what they are of Flink never turns on. */
const REFUSED: ReadonlyMap<number, string> = new Map([
  [0x11, 'values in blob files'],
  [0x14, 'keys with timestamps of the user'],
  [0x16, 'wide-column entities'],
  [0x17, 'wide-column entities of a column family'],
  [0x18, 'values with a preferred sequence number'],
]);

/** The name of a kind that is known and not read here. */
export function refusedEntryType(type: number): string | undefined {
  return REFUSED.get(type);
}

/** Bytes behind each user key. */
export const KEY_SUFFIX_BYTES = 8;
