import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { repoRoot } from '../support/paths.js';
import { tempDirectory } from '../support/temp.js';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** Runs a program without what npm put into the environment of the tests (its prefix would win over `cwd`). */
async function run(cwd: string, file: string, ...args: string[]): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|node_options$)/i.test(name)));
  return (await execa(file, args, { cwd, env, extendEnv: false, stdin: 'ignore' })).stdout;
}

/** Packs what is built: scripts are off because other tests use `dist/` at the same time. */
async function pack(destination: string): Promise<Packed> {
  const out = await run(repoRoot(), 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', destination);
  const [packed] = JSON.parse(out) as Packed[];
  if (packed === undefined) {
    throw new Error(`npm pack told nothing of its result: ${out}`);
  }
  return packed;
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
}

describe('the package', () => {
  test('holds what users need and nothing else', async () => {
    const { files } = await pack(await tempDirectory());
    const paths = files.map(({ path }) => path);

    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'bin/ckpt.js',
        'dist/cli/main.js',
        'dist/index.d.ts',
        'dist/index.js',
        'package.json',
      ]),
    );
    const others = paths.filter((path) => !/^dist\/[^.]+(\.d)?\.[jt]s$/.test(path));
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'bin/ckpt.js', 'package.json']);
    expect(files.find(({ path }) => path === 'bin/ckpt.js')?.mode).toBe(0o755);
  });

  test('can be installed and used, as a command and as a library', async () => {
    const project = await tempDirectory();
    const { filename } = await pack(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
    await run(project, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`);
    const { version } = await readJson(join(repoRoot(), 'package.json'));

    expect(await run(project, 'npx', 'ckpt', '--version')).toBe(version);
    expect(await run(project, 'npx', 'ckpt', '--help')).toMatch(/^Usage: ckpt /);

    const script = "const library = await import('flink-ckpt'); console.log(Object.keys(library).join())";
    const names = await run(project, process.execPath, '--input-type=module', '--eval', script);
    expect(names.split(',')).toContain('CkptError');

    const { packages } = await readJson(join(project, 'package-lock.json'));
    const building = Object.entries(packages as Record<string, { hasInstallScript?: boolean }>)
      .filter(([, entry]) => entry.hasInstallScript === true)
      .map(([path]) => path);
    expect(building).toEqual([]);
  });
});
