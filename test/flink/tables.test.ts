import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UnknownStateFormatError } from '../../src/errors.js';
import { stateInMemory } from '../../src/operations/state/state-bytes.js';
import { checkLocalFile } from '../../src/operations/verify/check-local-file.js';
import { flinkLab } from '../support/flink-lab.js';
import { repoRoot } from '../support/paths.js';
import { openDatabase, readEntries, writtenDatabase } from '../support/rocksdb.js';

const PROGRAM = join(repoRoot(), 'test/flink/java/WriteTables.java');
const KEYS = 300;

/** What is refused by name, by the name of its case. */
const REFUSED = ['compression-bzlib2', 'compression-dictionary'];

/** Tables that cannot be judged: without checksums, with gaps between aligned blocks, with an index that nobody here reads. */
const UNJUDGED = ['checksum-knochecksum', 'aligned', 'compression-bzlib2'];

/** Builds of RocksDB with the release of Flink that has them on its class path. */
const BUILDS = [
  { build: 'RocksDB 8.10', release: '2.3.0', library: 'org.rocksdb', cases: 49 },
  { build: 'ForSt', release: '2.3.0', library: 'org.forstdb', cases: 49 },
  { build: 'RocksDB 6.20', release: '1.20.5', library: 'org.rocksdb', cases: 45 },
];

/** Lets a build write all its tables. @returns the names of the cases */
async function writeTables(directory: string, release: string, library: string): Promise<string[]> {
  const source = join(directory, 'WriteTables.java');
  await writeFile(source, readFileSync(PROGRAM, 'utf8').replaceAll('org.rocksdb', library));
  const script = `. "$0/lab.sh" && build "$1" && run_java "$lab_build_root/$1" "\${@:2}"`;
  const tables = join(directory, 'tables');
  const { stdout } = await execa('bash', ['-c', script, flinkLab(), release, source, tables, `${KEYS}`]);
  return stdout.split('\n').filter((line) => line !== '');
}

describe.each(BUILDS)('tables of $build', ({ release, library, cases }) => {
  let directory = '';
  let names: string[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ckpt-tables-'));
    names = await writeTables(directory, release, library);
  }, 600_000);
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  it('are there in all forms', async () => {
    expect(names).toHaveLength(cases);
    expect((await readdir(join(directory, 'tables'))).sort()).toEqual([...names].sort());
  });

  it('have the entries that it reads from them itself', async () => {
    for (const name of names) {
      const { files, expected } = writtenDatabase(join(directory, 'tables', name));
      const database = await openDatabase(files);
      expect(expected.size).toBe(4);
      for (const [family, entries] of expected) {
        const found = readEntries(database, family);
        if (REFUSED.includes(name)) await expect(found, name).rejects.toThrow(UnknownStateFormatError);
        else expect(await found, `${name} ${family}`).toEqual(entries);
      }
      await database.close();
    }
  }, 120_000);

  it('are found sound', async () => {
    for (const name of names) {
      const { files } = writtenDatabase(join(directory, 'tables', name));
      for (const [file, bytes] of files) {
        const result = await checkLocalFile(stateInMemory(bytes), file);
        const isJudged = !file.endsWith('.sst') || !UNJUDGED.includes(name);
        if (isJudged) expect(result, `${name} ${file}`).toEqual({ kind: 'sound' });
      }
    }
  }, 120_000);
});
