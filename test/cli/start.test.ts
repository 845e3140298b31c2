import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { repoRoot } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';

/** Names of the packages that a run loads, and how many files of `dist` it takes. */
async function loadedBy(args: readonly string[], env: Record<string, string> = {}) {
  const register = pathToFileURL(join(repoRoot(), 'test', 'support', 'report-loads.mjs')).href;
  const { stderr, exitCode } = await runCkpt(args, { env, nodeOptions: ['--import', register] });
  const urls = stderr.split('\n').flatMap((line) => /^loads (file:.*)$/.exec(line)?.[1] ?? []);
  const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  return { packages: [...new Set(packages)].sort(), chunks: urls.filter((url) => url.includes('/dist/')), exitCode };
}

describe('a start loads', () => {
  it('nothing at all for the version', async () => {
    const { packages, chunks } = await loadedBy(['--version']);
    expect({ packages, chunks }).toEqual({ packages: [], chunks: [] });
  });

  it('only commander for help', async () => {
    expect((await loadedBy(['--help'])).packages).toEqual(['commander']);
    expect((await loadedBy(['uid', '--help'])).chunks.some((url) => /\/uid-/.test(url))).toBe(false);
  });

  it('only commander and the command for uid', async () => {
    const { packages, chunks, exitCode } = await loadedBy(['uid', 'x']);
    expect(exitCode).toBe(0);
    expect(packages).toEqual(['commander']);
    expect(chunks.some((url) => /\/uid-/.test(url))).toBe(true);
  });

  it('chalk as soon as there is colour', async () => {
    expect((await loadedBy(['uid', 'x'], { FORCE_COLOR: '1' })).packages).toEqual(['chalk', 'commander']);
  });
});
