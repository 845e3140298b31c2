import { describe, expect, it } from 'vitest';
import { runPass } from '../../../../src/format/byte-request.js';
import { EntryBatch } from '../../../../src/format/sst/entry-batch.js';
import { FamilyScan } from '../../../../src/format/sst/family-scan.js';
import type { KeyRange } from '../../../../src/format/sst/index-walk.js';
import { type ColumnFamily, Manifest, type ManifestTable } from '../../../../src/format/sst/manifest.js';
import { DeletedRanges, type RangeDeletion } from '../../../../src/format/sst/range-deletions.js';
import type { TableRequest } from '../../../../src/format/sst/sorted-run.js';
import { openTable, type SstTable } from '../../../../src/format/sst/table.js';
import { databaseFixtures, type WrittenDatabase } from '../../../support/rocksdb.js';

function fixture(name: string): WrittenDatabase {
  const found = databaseFixtures().get(name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
}

function familiesOf({ files }: WrittenDatabase): readonly ColumnFamily[] {
  const manifest = new Manifest();
  const [, bytes = new Uint8Array()] = [...files].find(([name]) => name.startsWith('MANIFEST')) ?? [];
  for (let at = 0; at < bytes.length; at += 100) manifest.push(bytes, at, Math.min(bytes.length, at + 100));
  manifest.finish();
  return manifest.families;
}

function bytesOf({ files }: WrittenDatabase, number: number): Uint8Array {
  return files.get(`${String(number).padStart(6, '0')}.sst`) ?? new Uint8Array();
}

/** Scans a single table. @returns the number of entries and what was asked for */
function scan(
  database: WrittenDatabase,
  table: ManifestTable,
  range: KeyRange,
  tables: Map<number, SstTable> = new Map(),
): { readonly entries: number; readonly requests: readonly TableRequest[] } {
  const pass = new FamilyScan([[table]], { range, tables });
  const batch = new EntryBatch();
  const requests: TableRequest[] = [];
  let entries = 0;
  for (let hasMore = true; hasMore; ) {
    const filling = pass.fill(batch);
    let step = filling.next();
    while (!step.done) {
      requests.push(step.value);
      step = filling.next(bytesOf(database, step.value.table).subarray(step.value.start, step.value.end));
    }
    hasMore = step.value;
    entries += batch.length;
  }
  return { entries, requests };
}

describe('a MANIFEST', () => {
  it('tells the families that were not dropped, and their tables', () => {
    const database = fixture('rocksdb-6.20-block-256');
    const families = familiesOf(database);
    expect(families.map(({ id, name }) => `${id} ${name}`)).toEqual([
      '0 default',
      '1 values',
      '2 lists',
      '3 ranges',
      '5 foreign',
    ]);
    const tables = families.flatMap((family) => family.tables);
    const files = [...database.files.keys()].filter((name) => name.endsWith('.sst'));
    expect(tables.map(({ number }) => `${String(number).padStart(6, '0')}.sst`).sort()).toEqual(files.sort());
    for (const table of tables) {
      expect(table.size).toBe(bytesOf(database, table.number).length);
      expect(table.smallestSequence).toBeLessThanOrEqual(table.largestSequence);
    }
    expect(new Set(tables.map(({ level }) => level)).size).toBeGreaterThan(1);
  });
});

describe.each(['rocksdb-6.20-block-256', 'rocksdb-8.10-index-ktwolevelindexsearch'])('a scan of %s', (name) => {
  const database = fixture(name);
  const tables = familiesOf(database).find((family) => family.name === 'lists')?.tables ?? [];
  const [table] = [...tables].sort((a, b) => b.size - a.size);
  if (!table) throw new Error('there is no table');

  it('asks for what may hold the keys, and for nothing twice', () => {
    const opened = runPass(openTable(table.size), bytesOf(database, table.number));
    const tablesOpen = new Map([[table.number, opened]]);
    const all = scan(database, table, {}, tablesOpen);
    expect(all.entries).toBeGreaterThan(3);
    const from = table.smallest.subarray(0, -8);
    const one = scan(database, table, { from, to: Uint8Array.of(...from, 0) }, tablesOpen);
    expect(one.entries).toBe(1);
    const read = (requests: readonly TableRequest[]): number =>
      requests.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(read(one.requests)).toBeLessThan(read(all.requests));
    // A part of the index where it has parts, and the blocks of the key, which are neighbours.
    expect(one.requests.length).toBeLessThanOrEqual(opened.properties.indexType === 'two-level' ? 3 : 1);
    const places = all.requests.map(({ start, end }) => [start, end] as const).sort(([a], [b]) => a - b);
    for (const [index, [start]] of places.entries()) {
      expect(start).toBeGreaterThanOrEqual(places[index - 1]?.[1] ?? 0);
    }
  });

  it('does not even open a table that cannot hold them', () => {
    expect(scan(database, table, { to: table.smallest.subarray(0, -8) })).toEqual({ entries: 0, requests: [] });
    const behind = Uint8Array.of(...table.largest.subarray(0, -8), 0);
    expect(scan(database, table, { from: behind })).toEqual({ entries: 0, requests: [] });
  });

  it('tells beforehand what it will ask for next', () => {
    const { requests } = scan(database, table, {});
    for (const [index, { ahead }] of requests.entries()) {
      if (ahead) expect(requests[index + 1]).toMatchObject(ahead);
    }
  });
});

describe('deleted ranges', () => {
  const range = (start: string, end: string, sequence: number): RangeDeletion => ({
    start: Buffer.from(start),
    end: Buffer.from(end),
    sequence,
  });
  const covering = (deletions: readonly RangeDeletion[]): string => {
    const ranges = new DeletedRanges(deletions);
    return [...'abcdefgh'].map((key) => ranges.covering(Buffer.from(key), 1)).join(' ');
  };

  it('cover keys from their start to before their end, the newest of several', () => {
    expect(covering([range('b', 'd', 5)])).toBe('0 5 5 0 0 0 0 0');
    expect(covering([range('b', 'f', 5), range('c', 'd', 9), range('a', 'c', 7)])).toBe('7 7 9 5 5 0 0 0');
    expect(covering([range('a', 'h', 1), range('c', 'e', 3), range('d', 'g', 2)])).toBe('1 1 3 3 2 2 1 0');
    expect(covering([range('a', 'b', 4), range('a', 'b', 6), range('g', 'h', 2)])).toBe('6 0 0 0 0 0 2 0');
  });

  it('that are empty or turned around cover nothing', () => {
    expect(covering([range('c', 'c', 5), range('e', 'b', 5)])).toBe('0 0 0 0 0 0 0 0');
  });

  it('are over behind the last one', () => {
    const ranges = new DeletedRanges([range('b', 'd', 5)]);
    expect(ranges.covering(Buffer.from('c'), 1)).toBe(5);
    expect(ranges.isOver).toBe(false);
    expect(ranges.covering(Buffer.from('d'), 1)).toBe(0);
    expect(ranges.isOver).toBe(true);
  });
});
