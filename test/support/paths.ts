import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** The absolute path of the repository, without a trailing slash. */
export function repoRoot(): string {
  return root;
}

/** The absolute path of the small checkpoints that the repository carries. */
export function fixturesDirectory(): string {
  return resolve(root, 'fixtures');
}

/** The absolute path of the script that `ckpt` is. It needs a build (`npm run build`) for all but `--version`. */
export function binPath(): string {
  return resolve(root, 'bin', 'ckpt.js');
}

/**
 * The absolute path of the full corpus of checkpoints written by many releases of Flink: `$CKPT_CORPUS`, by default
 * `../shared/corpus` beside the repository. Undefined if it is not there: tests that want it then skip.
 */
export function corpusDirectory(): string | undefined {
  return existing(process.env.CKPT_CORPUS ?? '../shared/corpus');
}

/**
 * The absolute path of the Maven project that runs real Flink: `$CKPT_FLINK_LAB`, by default `test/flink-lab`, else
 * `../shared/flink-lab` beside the repository. Undefined if there is none.
 */
export function flinkLabDirectory(): string | undefined {
  const named = process.env.CKPT_FLINK_LAB;
  return named === undefined ? (existing('test/flink-lab') ?? existing('../shared/flink-lab')) : existing(named);
}

function existing(path: string): string | undefined {
  const absolute = resolve(root, path);
  return existsSync(absolute) ? absolute : undefined;
}
