/** How long it takes to go through a database of RocksDB: beside RocksDB's own iterator in a JVM, and a plain read of the files. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSystems } from '../src/filesystem/registry.js';
import { RocksDatabase } from '../src/operations/rocksdb/database.js';
import type { LocalFile } from '../src/operations/rocksdb/state-files.js';
import { runWithFlink } from '../test/support/flink-lab.js';
import { flinkLabDirectory, repoRoot } from '../test/support/paths.js';

const ENTRIES = 2_000_000;
const VALUE_BYTES = 100;
const COMPRESSIONS = ['SNAPPY_COMPRESSION', 'NO_COMPRESSION', 'LZ4_COMPRESSION', 'ZSTD_COMPRESSION'];
const ROUNDS = 3;
const LOOKUPS = 1000;
const FAMILY = 'count';

interface Timing {
  readonly milliseconds: number;
  /** Of the process, in all threads. */
  readonly cpuMilliseconds: number;
}

/** All entries of a database of some hundred megabytes, and single keys. */
export async function sstBench(): Promise<void> {
  if (flinkLabDirectory() === undefined) {
    console.log('  not measured: RocksDB in a JVM writes what is read, and there is no Maven project that has it');
    return;
  }
  const directory = mkdtempSync(join(process.env.CKPT_BENCH_DIRECTORY ?? tmpdir(), 'ckpt-bench-'));
  try {
    for (const compression of COMPRESSIONS) await measureDatabase(join(directory, compression), compression);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measureDatabase(directory: string, compression: string): Promise<void> {
  mkdirSync(directory);
  const program = join(repoRoot(), 'test/flink/java/WriteBigDatabase.java');
  const [line = ''] = await runWithFlink(program, [directory, `${ENTRIES}`, `${VALUE_BYTES}`, compression]);
  const [entries = 0, bytes = 0, jvmMilliseconds = 0] = line.split(' ').map(Number);
  const names = readdirSync(directory);
  const files = names.map((name): LocalFile => {
    return { name, source: { kind: 'file', path: join(directory, name), start: 0, length: -1 } };
  });
  const fileBytes = names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  const rate = (milliseconds: number): string => `${(bytes / 1000 / milliseconds).toFixed(0)} MB/s of entries`;
  const say = (what: string, milliseconds: number, more = ''): void =>
    console.log(`  ${what.padEnd(40)} ${milliseconds.toFixed(0).padStart(6)} ms  ${rate(milliseconds)}${more}`);

  console.log(`  ${compression}: ${entries} entries, ${mb(bytes)} in ${mb(fileBytes)} of files`);
  const plain = await best(async () => {
    for (const name of names) readFileSync(join(directory, name));
  });
  say('readFile of all files', plain.milliseconds);
  say('iterator of RocksDB in a JVM', jvmMilliseconds);
  const ours = await best(() => readAll(files, { entries, bytes }));
  const ratio = (jvmMilliseconds / ours.milliseconds).toFixed(1);
  const cpu = `${rate(ours.cpuMilliseconds)} a second of CPU`;
  say('RocksDatabase.entries', ours.milliseconds, `, ${cpu}; ${ratio} times as fast as the iterator in a JVM`);
  const keys = await someKeys(files);
  const lookups = await best(() => lookUp(files, keys));
  const each = (lookups.milliseconds / keys.length).toFixed(2);
  console.log(`  ${'RocksDatabase.get'.padEnd(40)} ${each.padStart(6)} ms for each of ${keys.length} keys`);
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

function open(files: readonly LocalFile[]): Promise<RocksDatabase> {
  return RocksDatabase.open(files, { fileSystems: createFileSystems({ configuration: new Map() }) });
}

async function readAll(files: readonly LocalFile[], expected: { entries: number; bytes: number }): Promise<void> {
  const database = await open(files);
  let entries = 0;
  let bytes = 0;
  for await (const batch of database.entries(FAMILY)) {
    entries += batch.length;
    bytes += batch.valueEnd(batch.length - 1);
  }
  await database.close();
  if (entries !== expected.entries || bytes !== expected.bytes)
    throw new Error(`read ${entries} entries, ${bytes} bytes`);
}

/** Keys from all over the database. */
async function someKeys(files: readonly LocalFile[]): Promise<Uint8Array[]> {
  const database = await open(files);
  const keys: Uint8Array[] = [];
  for await (const batch of database.entries(FAMILY)) keys.push(batch.key(0).slice());
  await database.close();
  const step = Math.max(1, Math.floor(keys.length / LOOKUPS));
  return keys.filter((_, index) => index % step === 0);
}

async function lookUp(files: readonly LocalFile[], keys: readonly Uint8Array[]): Promise<void> {
  const database = await open(files);
  for (const key of keys) if ((await database.get(FAMILY, key)) === undefined) throw new Error('a key is not found');
  await database.close();
}

/** The fastest of some rounds: the others were disturbed. */
async function best(work: () => Promise<void>): Promise<Timing> {
  let milliseconds = Number.POSITIVE_INFINITY;
  let cpuMilliseconds = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = process.cpuUsage();
    const start = performance.now();
    await work();
    milliseconds = Math.min(milliseconds, performance.now() - start);
    const { user, system } = process.cpuUsage(cpu);
    cpuMilliseconds = Math.min(cpuMilliseconds, (user + system) / 1000);
  }
  return { milliseconds, cpuMilliseconds };
}
