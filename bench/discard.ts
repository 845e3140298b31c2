/** How long a discard takes, the plan included, against `rm -rf` of the same tree. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyGroups, metadata, operator, operatorId, relativeFile, subtask } from '../test/support/made-metadata.js';
import { ckpt, measure, measureBareNode, measureNode, ratio, report } from './support/measure.js';

const JOB = '4f1a2b3c4d5e6f708192a3b4c5d6e7f8';
const SUBTASKS = 1000;
const SIZES = [4000, 100_000];
const RUNS = 3;

/** Discards checkpoints of many small files. */
export async function discardBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'ckpt-bench-'));
  try {
    const bare = await measureBareNode();
    report('node -e 0', bare);
    for (const files of SIZES) {
      const tree = join(directory, `${files}`);
      const before = (): void => makeTree(tree, files);
      const discarded = await measureNode(ckpt('discard', join(tree, JOB, 'chk-1'), '--yes', '--job-stopped'), {
        runs: RUNS,
        before,
      });
      const removed = await measure('rm', ['-rf', join(tree, JOB, 'chk-1')], { runs: RUNS, before });
      report(`rm -rf, ${files} files`, removed);
      report(
        `ckpt discard, ${files} files`,
        discarded,
        `${(discarded.milliseconds - bare.milliseconds).toFixed(0)} ms over bare node`,
        ratio(discarded.milliseconds - bare.milliseconds, removed.milliseconds, 'rm -rf'),
      );
      rmSync(tree, { recursive: true, force: true });
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A checkpoint whose state lies in so many files of its own directory, and a whole one beside it. */
function makeTree(tree: string, files: number): void {
  rmSync(tree, { recursive: true, force: true });
  for (const [checkpoint, count] of [
    ['chk-1', files],
    ['chk-2', 10],
  ] as const) {
    const directory = join(tree, JOB, checkpoint);
    mkdirSync(directory, { recursive: true });
    const names = Array.from({ length: count }, (_, index) => fileName(checkpoint, index));
    for (const name of names) writeFileSync(join(directory, name), 'x');
    writeFileSync(join(directory, '_metadata'), metadata({ operatorStates: operatorsOf(names) }));
  }
}

function fileName(checkpoint: string, index: number): string {
  return `${checkpoint}0a1b-2c3d-4e5f-8a9b-${index.toString(16).padStart(12, '0')}`;
}

function operatorsOf(names: readonly string[]) {
  const operators = [];
  for (let start = 0; start < names.length; start += SUBTASKS) {
    const some = names.slice(start, start + SUBTASKS);
    operators.push(
      operator({
        operatorId: operatorId(start + 1),
        parallelism: some.length,
        maxParallelism: 2 * SUBTASKS,
        subtasks: some.map((name, index) =>
          subtask({ index, managedKeyedState: keyGroups(relativeFile(name, 1), 2 * index) }),
        ),
      }),
    );
  }
  return operators;
}
