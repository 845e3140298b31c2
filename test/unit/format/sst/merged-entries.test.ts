import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { EntryBatch } from '../../../../src/format/sst/entry-batch.js';
import { EntryType } from '../../../../src/format/sst/entry-type.js';
import { FamilyScan } from '../../../../src/format/sst/family-scan.js';
import { TableFailure } from '../../../../src/format/sst/sorted-run.js';
import { UnknownFormatError } from '../../../../src/format/unknown-format-error.js';
import { type StoredEntry, table } from '../../../support/table-builder.js';

const { Delete, Merge, SingleDelete, Value } = EntryType;
const entry = (key: string, sequence: number, type: number, value = ''): StoredEntry => ({
  key,
  sequence,
  type,
  value,
});

/** The entries of tables as `key=value`. */
function read(...tables: readonly Uint8Array[]): string[] {
  const scan = new FamilyScan(tables.map((bytes, number) => [{ number, size: bytes.length }]));
  const batch = new EntryBatch();
  const entries: string[] = [];
  for (let hasMore = true; hasMore; ) {
    const filling = scan.fill(batch);
    let step = filling.next();
    while (!step.done) {
      const { table: number, start, end } = step.value;
      step = filling.next((tables[number] ?? new Uint8Array()).subarray(start, end));
    }
    hasMore = step.value;
    for (let i = 0; i < batch.length; i++) {
      entries.push(`${Buffer.from(batch.key(i)).toString('latin1')}=${Buffer.from(batch.value(i)).toString('latin1')}`);
    }
  }
  return entries;
}

/** What reading tables fails with, and in which of them. */
function failure(...tables: readonly Uint8Array[]): { readonly table: number; readonly cause: unknown } {
  try {
    read(...tables);
  } catch (error) {
    if (error instanceof TableFailure) return error;
    throw error;
  }
  throw new Error('it was read');
}

describe('entries of several tables', () => {
  it('are those with the highest sequence numbers, in whichever table they are', () => {
    const older = table([entry('a', 1, Value, 'old'), entry('b', 9, Value, 'new'), entry('d', 3, Value, 'only')]);
    const newer = table([entry('a', 8, Value, 'new'), entry('a', 2, Value, 'older'), entry('b', 4, Value, 'old')]);
    expect(read(older, newer)).toEqual(['a=new', 'b=new', 'd=only']);
    expect(read(newer, older)).toEqual(['a=new', 'b=new', 'd=only']);
  });

  it('are gone where the newest is a deletion', () => {
    const older = table([entry('a', 1, Value, 'x'), entry('b', 2, Value, 'x'), entry('c', 3, Value, 'x')]);
    const newer = table([entry('a', 5, Delete), entry('b', 6, SingleDelete), entry('z', 7, Delete)]);
    expect(read(older, newer)).toEqual(['c=x']);
    expect(read(newer, table([entry('a', 8, Value, 'again')]))).toEqual(['a=again']);
  });

  it('are joined where they were only added to, the oldest first, on top of a value or of nothing', () => {
    const oldest = table([entry('a', 1, Value, 'base'), entry('b', 2, Delete), entry('c', 3, Value, '')]);
    const middle = table([entry('a', 5, Merge, 'one'), entry('a', 4, Merge, ''), entry('b', 6, Merge, 'one')]);
    const newest = table([
      entry('a', 9, Merge, 'two'),
      entry('b', 8, Merge, 'two'),
      entry('c', 10, Merge, 'one'),
      entry('d', 11, Merge, 'single'),
    ]);
    expect(read(newest, oldest, middle)).toEqual(['a=base,,one,two', 'b=one,two', 'c=,one', 'd=single']);
  });

  it('may be thousands for one key, or huge', () => {
    const long = Array.from({ length: 3000 }, (_, index) => entry('k', 5000 - index, Merge, `${index}`));
    const [joined = ''] = read(table(long));
    expect(joined.split(',')).toHaveLength(3000);
    expect(joined.startsWith('k=2999,2998,')).toBe(true);
    const huge = 'x'.repeat(3_000_000);
    expect(read(table([entry('a', 2, Merge, huge), entry('a', 1, Value, huge), entry('b', 3, Value, 'y')]))).toEqual([
      `a=${huge},${huge}`,
      'b=y',
    ]);
  });

  it('are there for the empty key, and for none', () => {
    expect(read(table([entry('', 1, Value, 'x'), entry('a', 2, Value, 'y')]))).toEqual(['=x', 'a=y']);
    expect(read(table([]))).toEqual([]);
    expect(read()).toEqual([]);
  });
});

describe('a table that is not read', () => {
  const sound = table([entry('a', 1, Value, 'x')]);

  it.each([
    [0x11, 'values in blob files'],
    [0x14, 'keys with timestamps of the user'],
    [0x16, 'wide-column entities'],
  ])('has an entry of kind %i: %s', (type, what) => {
    const { table: number, cause } = failure(sound, table([entry('b', 2, type, 'x')]));
    expect(number).toBe(1);
    expect(cause).toBeInstanceOf(UnknownFormatError);
    expect(cause).toMatchObject({ what });
  });

  it('is in another order, or has values that are joined in another way', () => {
    const other = table([entry('a', 1, Value)], { comparator: 'rocksdb.ReverseBytewiseComparator' });
    expect(failure(other).cause).toMatchObject({ what: 'a table in the order of rocksdb.ReverseBytewiseComparator' });
    const max = table([entry('b', 1, Merge)], { mergeOperator: 'MaxOperator' });
    expect(failure(sound, max)).toMatchObject({ table: 1, cause: { what: 'values joined by MaxOperator' } });
    const alike = table([entry('b', 1, Merge)], { mergeOperator: 'StringAppendOperator' });
    expect(failure(sound, alike).cause).toMatchObject({ what: 'values joined by StringAppendOperator' });
    // Where nothing has to be joined the operator does not matter.
    expect(read(table([entry('a', 1, Value, 'x')], { mergeOperator: 'nullptr' }))).toEqual(['a=x']);
  });

  it('breaks the format', () => {
    const broken: readonly (readonly [Uint8Array, string])[] = [
      [table([entry('c', 1, 99)]), 'the type of an entry'],
      [table([entry('b', 2, Value), entry('a', 1, Value)]), 'keys in ascending order'],
      [table([entry('a', 2 ** 53, Value)]), 'a sequence number below 2^53'],
    ];
    for (const [bytes, reading] of broken) {
      const { table: number, cause } = failure(sound, bytes);
      expect(number).toBe(1);
      expect(cause).toBeInstanceOf(ByteFormatError);
      expect(cause).toMatchObject({ reading });
    }
  });
});
