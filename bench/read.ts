/** How long it takes to start, and to read metadata. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flinkLabDirectory } from '../test/support/paths.js';
import { type BigMetadata, writeBigMetadata } from './support/big-metadata.js';
import {
  ckpt,
  type Measurement,
  measure,
  measureBareNode,
  measureNode,
  ratio,
  report,
  repositoryRoot,
} from './support/measure.js';

const SMALL = join(repositoryRoot, 'fixtures/flink-2.3.0/rocksdb-incremental/a9bb24628cd66d4aa93ef718aab300a1/chk-3');
const LARGE: BigMetadata = { operators: 50, parallelism: 200, sstFiles: 60 };
const HUGE: BigMetadata = { operators: 20, parallelism: 256, sstFiles: 1000 };

const over = (measurement: Measurement, bare: Measurement): string =>
  `${(measurement.milliseconds - bare.milliseconds).toFixed(0)} ms over bare node`;

/** Start-up, `inspect`, `dump`. */
export async function readBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ckpt-bench-'));
  try {
    const bare = await measureBareNode();
    report('node -e 0', bare);
    const version = await measureNode(ckpt('--version'), { runs: 10 });
    report('ckpt --version', version, over(version, bare));
    const small = await measureNode(ckpt('inspect', SMALL), { runs: 10 });
    report('ckpt inspect, 4 KB', small, over(small, bare));
    const large = await inspect(directory, 'large', LARGE, bare);
    const huge = await inspect(directory, 'huge', HUGE, bare);
    const factor = huge.bytes / large.bytes;
    const times = (huge.milliseconds - bare.milliseconds) / (large.milliseconds - bare.milliseconds);
    console.log(`  ${factor.toFixed(1)} times the bytes take ${times.toFixed(1)} times the time`);
    await dump(join(directory, 'large', '_metadata'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function inspect(
  directory: string,
  name: string,
  size: BigMetadata,
  bare: Measurement,
): Promise<Measurement & { bytes: number }> {
  const file = join(directory, name, '_metadata');
  mkdirSync(join(directory, name));
  await writeBigMetadata(file, size);
  const bytes = statSync(file).size;
  const measured = await measureNode(ckpt('inspect', '--json', file), { runs: 5 });
  const rate = `${(bytes / 1000 / (measured.milliseconds - bare.milliseconds)).toFixed(0)} MB/s`;
  report(`ckpt inspect --json, ${(bytes / 1e6).toFixed(0)} MB`, measured, over(measured, bare), rate);
  return { ...measured, bytes };
}

async function dump(file: string): Promise<void> {
  const size = `${(statSync(file).size / 1e6).toFixed(0)} MB`;
  const dumped = await measureNode(ckpt('dump', file), { runs: 3 });
  report(`ckpt dump, ${size}`, dumped);
  const lab = flinkLabDirectory();
  if (!lab || !existsSync(join(lab, 'oracle'))) return;
  const flink = await measure(join(lab, 'oracle'), ['--summary', file], { runs: 2 });
  report(
    `Flink's own loader, ${size}, JVM start included`,
    flink,
    ratio(dumped.milliseconds, flink.milliseconds, 'its time for ckpt dump'),
  );
}
