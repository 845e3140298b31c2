/** How long a dry run of `gc` takes over many files, and how that grows; the trees come from real Flink's serializer. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flinkLabDirectory } from '../test/support/paths.js';
import { ckpt, type Measurement, measure, measureBareNode, measureNode, ratio, report } from './support/measure.js';

/** The tree of the bound: at most 2 times `find | wc`, and 4 ms for each MB of metadata, over bare node. */
const BOUND = { checkpoints: 50, files: 100_000 };
const MILLISECONDS_FOR_A_MEGABYTE = 4;
/** How it grows: few checkpoints, or metadata would be all that is measured. */
const GROWTH = [10_000, 100_000, 1_000_000].map((files) => ({ checkpoints: 4, files }));

interface Tree {
  readonly checkpoints: number;
  readonly files: number;
}

/** `gc` of 10,000 to 1,000,000 files. Needs the Maven project that runs Flink. */
export async function gcBench(): Promise<void> {
  const lab = flinkLabDirectory();
  if (!lab || !existsSync(join(lab, 'bigdir'))) {
    console.log('  skipped: there is no Maven project that runs Flink');
    return;
  }
  const bare = await measureBareNode();
  report('node -e 0', bare);
  await benchBound(lab, bare);
  const times: number[] = [];
  for (const tree of GROWTH) times.push(await withTree(lab, tree, (root) => benchGrowth(root, tree, bare)));
  const steps = times.slice(1).map((time, i) => `${(time / (times[i] ?? time)).toFixed(1)} times the time`);
  console.log(`  10 times the files, then again: ${steps.join(', then ')}`);
}

async function benchBound(lab: string, bare: Measurement): Promise<void> {
  await withTree(lab, BOUND, async (root) => {
    const megabytes = metadataBytes(root) / 1e6;
    const find = await measure('sh', ['-c', `find ${root} -type f | wc -l`], { runs: 5 });
    report(`find -type f | wc -l, ${BOUND.files} files`, find);
    const dryRun = await measureNode(ckpt('gc', '--json', '--min-age', '0s', root), { runs: 5 });
    const own = dryRun.milliseconds - bare.milliseconds;
    const allowed = 2 * find.milliseconds + MILLISECONDS_FOR_A_MEGABYTE * megabytes;
    const what = `ckpt gc, ${BOUND.checkpoints} checkpoints, ${megabytes.toFixed(0)} MB`;
    report(
      what,
      dryRun,
      `${own.toFixed(0)} ms over bare node, allowed ${allowed.toFixed(0)}`,
      ratio(own, allowed, 'that'),
    );
  });
}

async function benchGrowth(root: string, { files }: Tree, bare: Measurement): Promise<number> {
  const megabytes = metadataBytes(root) / 1e6;
  const dryRun = await measureNode(ckpt('gc', '--json', '--min-age', '0s', root), { runs: 3 });
  const own = dryRun.milliseconds - bare.milliseconds;
  report(
    `ckpt gc, ${files} files, ${megabytes.toFixed(0)} MB of metadata`,
    dryRun,
    `${own.toFixed(0)} ms over bare node`,
  );
  return own;
}

/** Files of no bytes: their number is what counts. */
async function withTree<T>(lab: string, { checkpoints, files }: Tree, use: (root: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'ckpt-bench-'));
  try {
    const root = join(directory, 'root');
    await measure(join(lab, 'bigdir'), ['--checkpoints', `${checkpoints}`, '--files', `${files}`, '--out', root], {
      runs: 1,
    });
    return await use(root);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function metadataBytes(root: string): number {
  const [job = ''] = readdirSync(root);
  const checkpoints = readdirSync(join(root, job)).filter((name) => name.startsWith('chk-'));
  return checkpoints.reduce((sum, name) => sum + statSync(join(root, job, name, '_metadata')).size, 0);
}
