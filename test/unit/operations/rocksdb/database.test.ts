import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CorruptStateError, UnknownStateFormatError } from '../../../../src/errors.js';
import { createFileSystems } from '../../../../src/filesystem/registry.js';
import { RocksDatabase } from '../../../../src/operations/rocksdb/database.js';
import { keysOfKeyGroups } from '../../../../src/operations/rocksdb/key-groups.js';
import type { LocalFile } from '../../../../src/operations/rocksdb/state-files.js';
import { databaseFixtures, type HexEntry, openDatabase, readEntries } from '../../../support/rocksdb.js';

const fixtures = databaseFixtures();
const REFUSED = new Map([
  ['rocksdb-8.10-compression-bzlib2', /sst: a block compressed by bzip2 at byte \d+, which is not read here$/],
  ['rocksdb-8.10-compression-dictionary', /sst: a table compressed with a dictionary at byte \d+, which is not read/],
]);
const readable = [...fixtures].filter(([name]) => !REFUSED.has(name));

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a, 'hex'), Buffer.from(b, 'hex')) < 0;
}

describe('a database of a checkpoint', () => {
  it('is there in every form', () => {
    expect(readable.length).toBeGreaterThan(15);
    for (const [, { expected }] of fixtures) {
      expect([...expected.keys()].sort()).toEqual(['foreign', 'lists', 'ranges', 'values']);
    }
  });

  it.each(readable)('has the entries that RocksDB reads from it: %s', async (_, { files, expected }) => {
    const database = await openDatabase(files);
    expect(database.families.map(({ name }) => name)).toEqual(['default', 'values', 'lists', 'ranges', 'foreign']);
    for (const [family, entries] of expected) {
      expect(entries.length).toBeGreaterThan(5);
      expect(await readEntries(database, family), family).toEqual(entries);
    }
    await database.close();
  });

  it.each(readable)('gives single keys and ranges of keys: %s', async (_, { files, expected }) => {
    const database = await openDatabase(files);
    for (const [family, entries] of expected) {
      for (const [key, value] of entries) {
        const found = await database.get(family, Buffer.from(key, 'hex'));
        expect(Buffer.from(found ?? []).toString('hex')).toBe(value);
      }
      const bounds = [...entries.flatMap(([key]) => [key, `${key}00`, key.slice(0, -2), `${key.slice(0, -2)}ff`]), ''];
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...bounds), fc.constantFrom(...bounds), async (from, to) => {
          const wanted = entries.filter(([key]) => !isBefore(key, from) && isBefore(key, to));
          expect(await readEntries(database, family, { from, to })).toEqual(wanted);
        }),
        { numRuns: 25 },
      );
    }
    await database.close();
  });

  it.each([...REFUSED])('is refused by the name of what it needs: %s', async (name, message) => {
    const { files } = fixtures.get(name) ?? { files: new Map() };
    const database = await openDatabase(files);
    for (const family of ['values', 'lists', 'ranges', 'foreign']) {
      const error = await readEntries(database, family).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnknownStateFormatError);
      expect(String(error)).toMatch(message);
    }
    await database.close();
  });

  it('gives the keys of some key groups', async () => {
    const { files, expected } = fixtures.get('rocksdb-6.20-block-256') ?? { files: new Map(), expected: new Map() };
    const database = await openDatabase(files);
    const entries: readonly HexEntry[] = expected.get('values') ?? [];
    const group = ([key]: HexEntry): number => Number.parseInt(key.slice(0, 2), 16);
    const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex');
    for (const [first, last] of [
      [0, 127],
      [2, 4],
      [7, 7],
      [9, 8],
    ] as const) {
      const { from, to } = keysOfKeyGroups(first, last, 128);
      const wanted = entries.filter((entry) => group(entry) >= first && group(entry) <= last);
      expect(await readEntries(database, 'values', { from: hex(from), to: hex(to) })).toEqual(wanted);
    }
    await database.close();
  });

  it('is refused without the files that belong to it', async () => {
    const { files } = fixtures.get('rocksdb-8.10-format-6') ?? { files: new Map() };
    const without = (pattern: RegExp): Map<string, Uint8Array> =>
      new Map([...files].filter(([name]) => !pattern.test(name)));
    await expect(openDatabase(without(/^CURRENT$/))).rejects.toThrow(CorruptStateError);
    await expect(openDatabase(without(/^MANIFEST/))).rejects.toThrow(/MANIFEST-\d+.*a file of this name/);
    const database = await openDatabase(without(/sst$/));
    await expect(readEntries(database, 'values')).rejects.toThrow(/^\d{6}\.sst: .*a file of this name/);
    await expect(readEntries(database, 'no-such')).rejects.toThrow('a column family "no-such"');
    await database.close();
  });
});

describe('the files of a database', () => {
  const { files, expected } = fixtures.get('rocksdb-8.10-hash-index-in-blocks') ?? {
    files: new Map(),
    expected: new Map(),
  };

  it('must be as long as the MANIFEST says', async () => {
    const [name = '', bytes = new Uint8Array()] = [...files].filter(([file]) => file.endsWith('.sst')).at(-1) ?? [];
    for (const changed of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.of(0)])]) {
      const database = await openDatabase(new Map(files).set(name, changed));
      const reading = Promise.all([...expected.keys()].map((family) => readEntries(database, family)));
      await expect(reading).rejects.toThrow(`expected a table of ${bytes.length} bytes, as the MANIFEST says, found`);
      await database.close();
    }
  });

  it('may be parts of larger files, and in any directory', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ckpt-segments-'));
    try {
      const path = join(directory, 'merged');
      const parts = [...files];
      writeFileSync(path, Buffer.concat(parts.map(([, bytes]) => bytes)));
      let start = 0;
      const local = parts.map(([name, { length }]): LocalFile => {
        start += length;
        return { name: `db/${name}`, source: { kind: 'file', path, start: start - length, length } };
      });
      const fileSystems = createFileSystems({ configuration: new Map() });
      const database = await RocksDatabase.open(local, { fileSystems });
      for (const [family, entries] of expected) expect(await readEntries(database, family)).toEqual(entries);
      await database.close();
      writeFileSync(path, new Uint8Array(10));
      await expect(RocksDatabase.open(local, { fileSystems })).rejects.toThrow(/a segment of \d+ bytes, found the end/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('are read no more when the reader is told to stop, or goes away', async () => {
    const database = await openDatabase(files);
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    const entries = database.entries('values', { signal: stop.signal });
    await expect(entries.next()).rejects.toThrow('enough');
    for await (const batch of database.entries('values')) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await database.close();
  });
});

describe('a damaged database', () => {
  /** Some byte of some file gets another value. */
  function damages(files: ReadonlyMap<string, Uint8Array>): fc.Arbitrary<Map<string, Uint8Array>> {
    const names = [...files.keys()].filter((name) => name !== 'CURRENT');
    return fc
      .tuple(
        fc.constantFrom(...names),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
      )
      .map(([name, place, change]) => {
        const bytes = Uint8Array.from(files.get(name) ?? []);
        const at = Math.floor(place * bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ change;
        return new Map(files).set(name, bytes);
      });
  }

  async function readAll(files: ReadonlyMap<string, Uint8Array>): Promise<unknown> {
    const database = await openDatabase(files);
    const all = new Map<string, readonly HexEntry[]>();
    for (const name of ['foreign', 'lists', 'ranges', 'values']) all.set(name, await readEntries(database, name));
    await database.close();
    return all;
  }

  it.each(readable.filter(([name]) => !name.endsWith('knochecksum')))(
    'is found out, or the damage does not matter: %s',
    async (_, { files, expected }) => {
      let found = 0;
      await fc.assert(
        fc.asyncProperty(damages(files), async (damaged) => {
          try {
            expect(await readAll(damaged)).toEqual(new Map([...expected].sort()));
          } catch (error) {
            if (!(error instanceof CorruptStateError || error instanceof UnknownStateFormatError)) throw error;
            found++;
          }
        }),
        { numRuns: 60 },
      );
      expect(found).toBeGreaterThan(5);
    },
  );

  it('without checksums gives some entries or a typed error', async () => {
    const { files } = fixtures.get('rocksdb-8.10-checksum-knochecksum') ?? { files: new Map() };
    await fc.assert(
      fc.asyncProperty(damages(files), async (damaged) => {
        try {
          await readAll(damaged);
        } catch (error) {
          if (!(error instanceof CorruptStateError || error instanceof UnknownStateFormatError)) throw error;
        }
      }),
      { numRuns: 1000 },
    );
  });
});
