/** Databases that RocksDB wrote by `test/flink/java/WriteTables.java`, and what it reads from them itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { RocksDatabase } from '../../src/operations/rocksdb/database.js';
import type { LocalFile } from '../../src/operations/rocksdb/state-files.js';
import { fixturesDirectory } from './paths.js';

/** An entry, key and value in hexadecimal. */
export type HexEntry = readonly [key: string, value: string];

/** A database as a checkpoint has it. */
export interface WrittenDatabase {
  /** By the names that RocksDB gave them. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What RocksDB reads from each column family, by its name. */
  readonly expected: ReadonlyMap<string, readonly HexEntry[]>;
}

/** Part of a fixture: the bytes of the files as latin1, by their names. */
type PackedDatabase = Readonly<Record<string, string>>;

/** The databases that the repository carries, by what is special about them. */
export function databaseFixtures(): ReadonlyMap<string, WrittenDatabase> {
  const directory = join(fixturesDirectory(), 'sst');
  const names = readdirSync(directory).filter((name) => name.endsWith('.json.gz'));
  return new Map(
    names.map((name) => {
      const packed: PackedDatabase = JSON.parse(gunzipSync(readFileSync(join(directory, name))).toString('utf8'));
      const entries = Object.entries(packed).map(([file, text]): [string, Uint8Array] => [
        file,
        Buffer.from(text, 'latin1'),
      ]);
      return [basename(name, '.json.gz'), fromFiles(new Map(entries))];
    }),
  );
}

/** A database that `WriteTables` left in a directory. */
export function writtenDatabase(directory: string): WrittenDatabase {
  return fromFiles(new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))])));
}

function fromFiles(all: ReadonlyMap<string, Uint8Array>): WrittenDatabase {
  const files = new Map<string, Uint8Array>();
  const expected = new Map<string, HexEntry[]>();
  for (const [name, bytes] of all) {
    if (!name.endsWith('.expected')) {
      files.set(name, bytes);
      continue;
    }
    const lines = Buffer.from(bytes).toString('latin1').split('\n').slice(0, -1);
    const entries = lines.map((line): HexEntry => {
      const [key = '', value = ''] = line.split(' ');
      return [key, value];
    });
    expected.set(basename(name, '.expected'), entries);
  }
  return { files, expected };
}

/** Opens a database whose files are in memory. */
export function openDatabase(files: ReadonlyMap<string, Uint8Array>): Promise<RocksDatabase> {
  const local = [...files].map(([name, bytes]): LocalFile => ({ name, source: { kind: 'inline', name, bytes } }));
  return RocksDatabase.open(local, { fileSystems: createFileSystems({ configuration: new Map() }) });
}

/** All entries of a family, or of the keys [from, to) given in hexadecimal. */
export async function readEntries(
  database: RocksDatabase,
  family: string,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined } = {},
): Promise<HexEntry[]> {
  const entries: HexEntry[] = [];
  const range = {
    ...(from !== undefined && { from: Buffer.from(from, 'hex') }),
    ...(to !== undefined && { to: Buffer.from(to, 'hex') }),
  };
  for await (const batch of database.entries(family, range)) {
    for (let i = 0; i < batch.length; i++) {
      entries.push([Buffer.from(batch.key(i)).toString('hex'), Buffer.from(batch.value(i)).toString('hex')]);
    }
  }
  return entries;
}
