/** How long `list` takes over many checkpoints, with and without sizes, and `diff` over many files. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BigMetadata, writeBigMetadata } from './support/big-metadata.js';
import { ckpt, type Measurement, measureBareNode, measureNode, report } from './support/measure.js';

const CHECKPOINTS = 1000;
const FILES_OF_EACH = 20;
const SMALL: BigMetadata = { operators: 5, parallelism: 4, sstFiles: 5 };
const SIZED: readonly BigMetadata[] = [
  { operators: 20, parallelism: 64, sstFiles: 25 },
  { operators: 20, parallelism: 64, sstFiles: 100 },
];
const SIZED_CHECKPOINTS = 20;
/** 500,000 files each, most of them of one checkpoint only. */
const DIFFED: readonly BigMetadata[] = [
  { operators: 20, parallelism: 256, sstFiles: 122 },
  { operators: 20, parallelism: 256, sstFiles: 123 },
];

const over = (measurement: Measurement, bare: Measurement): string =>
  `${(measurement.milliseconds - bare.milliseconds).toFixed(0)} ms over bare node`;

/** `list`, `list --sizes`, `diff`. */
export async function listBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ckpt-bench-'));
  try {
    const bare = await measureBareNode();
    report('node -e 0', bare);
    await benchHeaders(join(directory, 'headers'), bare);
    for (const [index, size] of SIZED.entries()) await benchSizes(join(directory, `sizes-${index}`), size, bare);
    await benchDiff(directory, bare);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Copies of one metadata file in as many checkpoints of ten jobs, each with files beside it. */
async function makeTree(root: string, checkpoints: number, size: BigMetadata, files: number): Promise<number> {
  mkdirSync(root, { recursive: true });
  const source = join(root, 'metadata');
  await writeBigMetadata(source, size);
  const bytes = statSync(source).size;
  for (let i = 0; i < checkpoints; i++) {
    const checkpoint = join(root, (i % 10).toString().repeat(32), `chk-${i}`);
    mkdirSync(checkpoint, { recursive: true });
    copyFileSync(source, join(checkpoint, '_metadata'));
    for (let file = 0; file < files; file++) writeFileSync(join(checkpoint, `state-${file}`), 'x');
  }
  rmSync(source);
  return bytes;
}

async function benchHeaders(root: string, bare: Measurement): Promise<void> {
  await makeTree(root, CHECKPOINTS, SMALL, FILES_OF_EACH);
  for (const args of [['list'], ['list', '--json'], ['list', '--latest', '-q']]) {
    const measured = await measureNode(ckpt(...args, root), { runs: 5 });
    report(`ckpt ${args.join(' ')}, ${CHECKPOINTS} checkpoints`, measured, over(measured, bare));
  }
}

async function benchSizes(root: string, size: BigMetadata, bare: Measurement): Promise<void> {
  const bytes = (await makeTree(root, SIZED_CHECKPOINTS, size, 0)) * SIZED_CHECKPOINTS;
  const measured = await measureNode(ckpt('list', '--sizes', '--json', root), { runs: 3 });
  const rate = `${((measured.milliseconds - bare.milliseconds) / (bytes / 1e6)).toFixed(1)} ms/MB`;
  report(`ckpt list --sizes, ${(bytes / 1e6).toFixed(0)} MB of metadata`, measured, over(measured, bare), rate);
}

async function benchDiff(directory: string, bare: Measurement): Promise<void> {
  const pointers = DIFFED.map((_, index) => join(directory, `diff-${index}`));
  for (const [index, size] of DIFFED.entries()) await writeBigMetadata(pointers[index] ?? '', size);
  const bytes = pointers.reduce((sum, pointer) => sum + statSync(pointer).size, 0);
  const measured = await measureNode(ckpt('diff', '--json', ...pointers), { runs: 3, exitCodes: [1] });
  const rate = `${((measured.milliseconds - bare.milliseconds) / (bytes / 1e6)).toFixed(1)} ms/MB`;
  report(`ckpt diff, 2 × 500,000 files, ${(bytes / 1e6).toFixed(0)} MB`, measured, over(measured, bare), rate);
}
