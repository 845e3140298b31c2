import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { copyOfCase } from '../support/case-copy.js';
import { JOB, metadataNaming, OTHER_JOB, segment } from '../support/discard-tree.js';
import { binPath } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

/** A tree on disk with the root `root`. */
class LocalTree {
  private constructor(readonly root: string) {}

  static async make(): Promise<LocalTree> {
    const root = join(await tempDirectory(), 'root');
    await mkdir(root);
    return new LocalTree(root);
  }

  path(...names: string[]): string {
    return join(this.root, ...names);
  }

  shared(name: string): string {
    return `file:${this.path(JOB, 'shared', name)}`;
  }

  async put(path: string, contents: Uint8Array | string = 'data'): Promise<string> {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, contents);
    return path;
  }

  /** A checkpoint with the files it names. */
  async checkpoint(
    relative: string,
    named: readonly string[],
    id = Number(/\d+$/.exec(relative)?.[0]),
  ): Promise<string> {
    const directory = this.path(relative);
    await mkdir(directory, { recursive: true });
    for (const name of named) {
      const path = name.startsWith('file:') ? name.slice('file:'.length) : join(directory, name);
      if (!existsSync(path)) await this.put(path);
    }
    await writeFile(join(directory, '_metadata'), metadataNaming(named, BigInt(id)));
    return directory;
  }

  /** Every file, by its path below the root. */
  files(): string[] {
    return readdirSync(this.root, { withFileTypes: true, recursive: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
      .sort();
  }
}

async function discard(...args: string[]) {
  const { stdout, stderr, exitCode } = await runCkpt(['discard', ...args]);
  return { stdout, stderr, exitCode };
}

async function discardJson(...args: string[]) {
  const { stdout, stderr, exitCode } = await discard('--json', '--yes', '--job-stopped', ...args);
  return { document: JSON.parse(stdout), stderr, exitCode };
}

describe('ckpt discard', () => {
  it('gives the document of the contract', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['own', tree.shared('x'), tree.shared('both')]);
    await tree.checkpoint(`${JOB}/chk-2`, [tree.shared('both')]);
    const bytes = (await lstat(join(chk1, '_metadata'))).size;
    const { document, stderr, exitCode } = await discardJson(chk1);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(document).toEqual({
      pointers: [{ pointer: `file:${chk1}`, error: null }],
      plan: {
        delete: [
          { path: `file:${chk1}/_metadata`, bytes, step: 'metadata' },
          { path: `file:${chk1}/own`, bytes: 4, step: 'state' },
          { path: tree.shared('x'), bytes: 4, step: 'state' },
          { path: `file:${chk1}`, bytes: 0, step: 'location' },
        ],
        keep: [
          { path: tree.shared('both'), bytes: 4, reason: 'used-by-other', usedBy: [`file:${tree.path(JOB, 'chk-2')}`] },
        ],
      },
      done: true,
      dryRun: false,
      interrupted: false,
      deletedFiles: 3,
      deletedBytes: bytes + 8,
      alreadyGone: 0,
      strayEntries: [],
      error: null,
      suppressed: [],
      movedTo: null,
      search: { roots: [`file:${tree.root}`], checkpoints: 2, metadataFiles: 1, unreadable: [], searched: true },
    });
    expect(tree.files()).toEqual([`${JOB}/chk-2/_metadata`, `${JOB}/shared/both`]);
    expect(readdirSync(tree.root)).toEqual([JOB]);
  });

  it('takes checkpoint 2 of three incremental ones and leaves the others whole', async () => {
    const { path, job, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const { exitCode } = await discard(path(job, 'chk-2'), '--yes', ...map);
    expect(exitCode).toBe(0);
    expect(readdirSync(path(job)).sort()).toEqual(['chk-1', 'chk-3', 'shared']);
    for (const name of ['chk-1', 'chk-3']) {
      const verified = await runCkpt(['verify', path(job, name), '--json', ...map]);
      expect({ exitCode: verified.exitCode, ok: JSON.parse(verified.stdout).ok }).toEqual({ exitCode: 0, ok: true });
    }
  });

  it('never touches the original of a copy', async () => {
    const tree = await LocalTree.make();
    await tree.checkpoint(`${JOB}/chk-1`, ['own', tree.shared('x')]);
    const before = await snapshotOf(tree.root);
    const copy = join(tree.root, '..', 'copy');
    await cp(tree.root, copy, { recursive: true });
    const { document, exitCode } = await discardJson(join(copy, JOB, 'chk-1'));
    expect(exitCode).toBe(0);
    expect(document.plan.keep).toMatchObject([{ path: tree.shared('x'), reason: 'outside-tree' }]);
    expect(existsSync(join(copy, JOB, 'chk-1'))).toBe(false);
    expect(without(await snapshotOf(tree.root), 'atimeNs')).toEqual(without(before, 'atimeNs'));
  });

  it('finishes what a killed run has begun, and then the checkpoint is discarded', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', 'b']);
    await rename(join(chk1, '_metadata'), join(chk1, '_metadata.discarding'));
    await rm(join(chk1, 'a'));
    const { document, exitCode } = await discardJson(chk1);
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({ done: true, deletedFiles: 2, alreadyGone: 1 });
    expect(document.plan.delete[0]).toMatchObject({ path: `file:${chk1}/_metadata.discarding`, step: 'metadata' });
    expect(existsSync(chk1)).toBe(false);
    const again = await discard(chk1, '--yes');
    expect(again.exitCode).toBe(3);
    expect(again.stderr).toContain(chk1);
  });

  it('counts nothing as freed where a file has another name', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    await link(join(chk1, 'a'), tree.path('second-name'));
    const { document } = await discardJson(chk1);
    expect(document).toMatchObject({ deletedFiles: 2 });
    expect(document.deletedBytes).toBe(document.plan.delete[0].bytes);
    expect(readFileSync(tree.path('second-name'), 'utf8')).toBe('data');
  });

  it('names the stray entries that keep a directory, and is exit 1', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    await tree.put(join(chk1, 'notes.txt'));
    const dry = await discard(chk1, '--dry-run', '--job-stopped');
    expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`file:${chk1}/notes.txt`) });
    const { stdout, exitCode } = await discard(chk1, '--yes', '--job-stopped');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`file:${chk1}/notes.txt`);
    expect(readdirSync(chk1)).toEqual(['notes.txt']);
  });

  it('keeps a claimed savepoint as far as a later checkpoint uses it, and is exit 0', async () => {
    const tree = await LocalTree.make();
    const savepoint = await tree.checkpoint('savepoint-4f1a2b-0123456789ab', ['a', 'b'], 3);
    await tree.checkpoint(`${OTHER_JOB}/chk-4`, [`file:${savepoint}/b`]);
    const { document, exitCode } = await discardJson(savepoint);
    expect(exitCode).toBe(0);
    expect(document.plan.keep).toMatchObject([{ usedBy: [`file:${tree.path(OTHER_JOB, 'chk-4')}`] }]);
    expect(document.strayEntries).toEqual([]);
    expect(readdirSync(savepoint)).toEqual(['b']);
  });

  it('has one plan for several pointers, the highest exit code, and an error for each that failed', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x')]);
    const chk2 = await tree.checkpoint(`${JOB}/chk-2`, ['b', tree.shared('x')]);
    const gone = tree.path(JOB, 'chk-7');
    const { document, stderr, exitCode } = await discardJson(chk1, gone, chk2);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('chk-7');
    expect(document.pointers).toMatchObject([
      { pointer: `file:${chk1}`, error: null },
      { pointer: `file:${chk2}`, error: null },
      { pointer: `file:${gone}`, error: { code: 'NOT_FOUND' } },
    ]);
    expect(document).toMatchObject({ done: true, deletedFiles: 5 });
    expect(tree.files()).toEqual([]);
  });
});

describe('nothing is changed', () => {
  async function expectUnchanged(exitCode: number, prepare: (tree: LocalTree) => Promise<readonly string[]>) {
    const tree = await LocalTree.make();
    const args = await prepare(tree);
    const before = without(await snapshotOf(join(tree.root, '..')), 'atimeNs');
    const result = await discard(...args);
    expect({ exitCode: result.exitCode, stderr: result.stderr }).toMatchObject({ exitCode });
    expect(without(await snapshotOf(join(tree.root, '..')), 'atimeNs')).toEqual(before);
    return result;
  }

  it('by a dry run, which shows every file that would go', async () => {
    const { stdout } = await expectUnchanged(0, async (tree) => [
      await tree.checkpoint(
        `${JOB}/chk-1`,
        Array.from({ length: 100 }, (_, index) => `file-${index}`),
      ),
      '--dry-run',
      '--job-stopped',
    ]);
    for (let index = 0; index < 100; index++) expect(stdout).toMatch(new RegExp(`/file-${index}\n`));
  });

  it('without a terminal and without --yes', async () => {
    const { stdout, stderr } = await expectUnchanged(5, async (tree) => [
      await tree.checkpoint(`${JOB}/chk-1`, ['a']),
      '--job-stopped',
    ]);
    expect(stdout).toContain('/chk-1/a');
    expect(stderr).toContain('--yes');
  });

  it('of the newest checkpoint of a job whose files are young, until the job is stopped or they are old', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    const refused = await discard(chk1, '--yes', '--json');
    expect(refused.exitCode).toBe(5);
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code: 'REFUSED', data: { reason: 'newest' } });
    for (const name of readdirSync(chk1)) await utimes(join(chk1, name), 1000, 1000);
    expect((await discard(chk1, '--yes', '--dry-run')).exitCode).toBe(0);
    await utimes(join(chk1, 'a'), new Date(), new Date());
    expect((await discard(chk1, '--yes')).exitCode).toBe(5);
    expect((await discard(chk1, '--yes', '--min-age', '0s')).exitCode).toBe(0);
  });

  it('if metadata nearby cannot be read', async () => {
    const { stderr } = await expectUnchanged(5, async (tree) => {
      await tree.put(tree.path(OTHER_JOB, 'chk-9', '_metadata'), 'broken');
      return [await tree.checkpoint(`${JOB}/chk-1`, ['a']), '--yes', '--job-stopped'];
    });
    expect(stderr).toContain(`${OTHER_JOB}/chk-9/_metadata`);
  });

  it('for a path with ".."', async () => {
    await expectUnchanged(5, async (tree) => {
      const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
      await tree.put(tree.path('victim'));
      await writeFile(join(chk1, '_metadata'), metadataNaming([`file:${chk1}/../../victim`]));
      return [chk1, '--yes', '--job-stopped'];
    });
  });

  it.each(['a directory', 'a file'])('for a link that leads out of the tree: %s', async (what) => {
    const { stderr } = await expectUnchanged(5, async (tree) => {
      const outside = join(tree.root, '..', 'outside');
      await tree.put(join(outside, 'x'));
      const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
      await writeFile(join(chk1, '_metadata'), metadataNaming(['a', tree.shared('x')]));
      if (what === 'a directory') await symlink(outside, tree.path(JOB, 'shared'));
      else {
        await mkdir(tree.path(JOB, 'shared'));
        await symlink(join(outside, 'x'), tree.path(JOB, 'shared', 'x'));
      }
      return [chk1, '--yes', '--job-stopped'];
    });
    expect(stderr).toContain('outside');
  });

  it('of a checkpoint outside the given root', async () => {
    await expectUnchanged(5, async (tree) => {
      await mkdir(tree.path(OTHER_JOB));
      const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
      return [chk1, '--yes', '--job-stopped', '--root', tree.path(OTHER_JOB)];
    });
  });

  it('if what is moved would stay in the tree', async () => {
    await expectUnchanged(5, async (tree) => {
      const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
      return [chk1, '--yes', '--job-stopped', '--move-to', tree.path('trash')];
    });
  });

  it('with broken metadata (4), nothing there (3), or wrong use (2)', async () => {
    await expectUnchanged(4, async (tree) => {
      const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
      await writeFile(join(chk1, '_metadata'), metadataNaming(['a']).slice(0, 50));
      return [chk1, '--yes', '--job-stopped'];
    });
    await expectUnchanged(3, async (tree) => [tree.path(JOB, 'chk-1'), '--yes']);
    await expectUnchanged(3, async (tree) => {
      await tree.put(tree.path(JOB, 'chk-1', 'file'));
      return [tree.path(JOB, 'chk-1'), '--yes'];
    });
    await expectUnchanged(2, async () => ['--yes']);
    await expectUnchanged(2, async (tree) => [await tree.checkpoint('chk-1', []), '--min-age', '15']);
  });
});

describe('on request', () => {
  it('--force takes files that others use', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, [tree.shared('x')]);
    await tree.checkpoint(`${JOB}/chk-2`, [tree.shared('x')]);
    expect((await discardJson(chk1, '--force')).exitCode).toBe(0);
    expect(tree.files()).toEqual([`${JOB}/chk-2/_metadata`]);
  });

  it('--keep-shared takes the own directory alone, whatever cannot be read', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x')]);
    await tree.put(tree.path(OTHER_JOB, 'chk-9', '_metadata'), 'broken');
    const { document, exitCode } = await discardJson(chk1, '--keep-shared');
    expect(exitCode).toBe(0);
    expect(document.plan.keep).toMatchObject([{ path: tree.shared('x'), reason: 'outside-tree' }]);
    expect(tree.files()).toEqual([`${JOB}/shared/x`, `${OTHER_JOB}/chk-9/_metadata`]);
  });

  it('--unreadable takes what is in a chk-N with broken metadata', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x')]);
    await writeFile(join(chk1, '_metadata'), 'broken');
    expect((await discardJson(chk1, '--unreadable')).exitCode).toBe(0);
    expect(tree.files()).toEqual([`${JOB}/shared/x`]);
    expect(existsSync(chk1)).toBe(false);
  });

  it('--allow-outside takes what lies there', async () => {
    const tree = await LocalTree.make();
    const outside = join(tree.root, '..', 'changelog');
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, [`file:${outside}/x`]);
    expect((await discardJson(chk1)).document.plan.keep).toMatchObject([{ reason: 'outside-tree' }]);
    const chk2 = await tree.checkpoint(`${JOB}/chk-2`, [`file:${outside}/x`]);
    expect((await discardJson(chk2, '--allow-outside', outside)).document.plan.keep).toEqual([]);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('--move-to keeps the files elsewhere, with their layout', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x')]);
    const trash = join(tree.root, '..', 'trash');
    const { document } = await discardJson(chk1, '--move-to', trash);
    expect(document).toMatchObject({ done: true, movedTo: `file:${trash}`, deletedFiles: 3 });
    expect(readdirSync(join(trash, JOB, 'chk-1')).sort()).toEqual(['_metadata', 'a']);
    expect(readdirSync(join(trash, JOB, 'shared'))).toEqual(['x']);
    expect(tree.files()).toEqual([]);
  });

  it('--log appends each step', async () => {
    const tree = await LocalTree.make();
    const log = join(tree.root, '..', 'log');
    await writeFile(log, 'before\n');
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    await discardJson(chk1, '--log', log);
    const [first, ...lines] = (await readFile(log, 'utf8')).trim().split('\n');
    expect(first).toBe('before');
    expect(lines.map((line) => JSON.parse(line)).map(({ action, path }) => [action, path])).toEqual([
      ['tombstone', `file:${chk1}/_metadata`],
      ['deleted', `file:${chk1}/a`],
      ['deleted', `file:${chk1}/_metadata.discarding`],
      ['directory', `file:${chk1}`],
    ]);
    const chk2 = await tree.checkpoint(`${JOB}/chk-2`, ['a']);
    const failed = await discard(chk2, '--yes', '--job-stopped', '--log', join(tree.root, 'no', 'log'));
    expect(failed.exitCode).toBe(1);
    expect(readdirSync(chk2).sort()).toEqual(['_metadata', 'a']);
  });

  it('keeps merged files of which others have a part', async () => {
    const tree = await LocalTree.make();
    const merged = tree.shared('merged');
    await tree.put(merged.slice('file:'.length));
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, []);
    const chk2 = await tree.checkpoint(`${JOB}/chk-2`, []);
    await writeFile(join(chk1, '_metadata'), metadataNaming([segment(merged, 0)], 1n));
    await writeFile(join(chk2, '_metadata'), metadataNaming([segment(merged, 2)], 2n));
    expect((await discardJson(chk1)).document.plan.keep).toMatchObject([{ path: merged, reason: 'shared-segment' }]);
    expect((await discardJson(chk2)).document.plan.keep).toEqual([]);
    expect(tree.files()).toEqual([]);
  });
});

describe('a saved plan', () => {
  async function savedPlan() {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', 'b', tree.shared('x')]);
    await tree.checkpoint(`${JOB}/chk-2`, ['c', tree.shared('y')]);
    const plan = join(tree.root, '..', 'plan.json');
    const { exitCode } = await discard(chk1, '--dry-run', '--job-stopped', '--plan-out', plan);
    expect(exitCode).toBe(0);
    return { tree, chk1, plan };
  }

  it('is carried out, from any directory, with or without the pointer', async () => {
    for (const args of [[], ['chk-1']]) {
      const { tree, plan } = await savedPlan();
      const result = await runCkpt(['discard', ...args, '--plan', plan, '--yes'], { cwd: tree.path(JOB) });
      expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(tree.files()).toEqual([`${JOB}/chk-2/_metadata`, `${JOB}/chk-2/c`, `${JOB}/shared/y`]);
    }
  });

  it.each<[string, (tree: LocalTree, chk1: string) => Promise<unknown>]>([
    ['a file of it is gone', (_tree, chk1) => rm(join(chk1, 'a'))],
    ['a file of it was written again', (_tree, chk1) => writeFile(join(chk1, 'a'), 'atad')],
    ['a file was put beside them', (_tree, chk1) => writeFile(join(chk1, 'late'), '')],
    ['its metadata was written again', async (_tree, chk1) => utimes(join(chk1, '_metadata'), 1000, 1000)],
    ['there is a new checkpoint', (tree) => tree.checkpoint(`${JOB}/chk-3`, [])],
    ['another checkpoint uses a file now', (tree) => tree.checkpoint(`${JOB}/chk-3`, [tree.shared('x')])],
    ['another checkpoint is gone', (tree) => rm(tree.path(JOB, 'chk-2'), { recursive: true })],
  ])('is refused if %s', async (_what, change) => {
    const { tree, chk1, plan } = await savedPlan();
    await change(tree, chk1);
    const before = tree.files();
    const { exitCode, stderr } = await discard('--plan', plan, '--yes');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('changed') });
    expect(tree.files()).toEqual(before);
  });

  it('is for its own checkpoints and of this command', async () => {
    const { tree, plan } = await savedPlan();
    expect((await discard(tree.path(JOB, 'chk-2'), '--plan', plan, '--yes')).exitCode).toBe(2);
    expect((await discard('--plan', tree.path(JOB, 'chk-1', '_metadata'), '--yes')).exitCode).toBe(2);
    expect((await discard('--plan', tree.path('nothing'), '--yes')).exitCode).toBe(2);
    expect((await discard(tree.path(JOB, 'chk-1'), '--dry-run', '--job-stopped', '--plan-out', plan)).exitCode).toBe(5);
  });
});

describe('the lock', () => {
  const holder = (pid: number, host = hostname()) =>
    JSON.stringify({
      host,
      pid,
      time: '2026-01-01T00:00:00.000Z',
      command: 'gc',
      pointers: [],
      processes: null,
      token: 'x',
    });

  it('of another run is respected, above, at and below the root, until it is broken', async () => {
    for (const place of ['..', '.', JOB]) {
      const tree = await LocalTree.make();
      const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
      const lock = await tree.put(tree.path(place, '.ckpt-lock'), holder(1, 'elsewhere'));
      const refused = await discard(chk1, '--yes', '--job-stopped');
      expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('process 1 on elsewhere') });
      expect((await discard(chk1, '--dry-run', '--job-stopped')).exitCode).toBe(0);
      expect((await discard(chk1, '--yes', '--job-stopped', '--break-lock')).exitCode).toBe(0);
      expect(existsSync(chk1)).toBe(false);
      expect(existsSync(lock)).toBe(place !== '.');
    }
  });

  it('goes when the run ends, also after a failure', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    await tree.put(join(chk1, 'stray'));
    expect((await discard(chk1, '--yes', '--job-stopped')).exitCode).toBe(1);
    expect((await discard(chk1, '--yes', '--job-stopped')).exitCode).toBe(3);
    expect(readdirSync(tree.root)).toEqual([JOB]);
  });

  it('lets one of two runs work, the other is refused or finds nothing left', async () => {
    const tree = await LocalTree.make();
    const names = Array.from({ length: 3000 }, (_, index) => `file-${index}`);
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, names);
    const runs = await Promise.all([1, 2, 3].map(() => discard(chk1, '--yes', '--job-stopped')));
    const codes = runs.map(({ exitCode }) => exitCode);
    expect(codes.filter((code) => code === 0).length).toBeGreaterThanOrEqual(1);
    for (const code of codes) expect([0, 3, 5]).toContain(code);
    expect(tree.files()).toEqual([]);
  });
});

describe('Ctrl-C', () => {
  it('stops at a safe point and tells what is done; the same command goes on', async () => {
    const tree = await LocalTree.make();
    const names = Array.from({ length: 20_000 }, (_, index) => `file-${index}`);
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, names);
    const args = ['discard', chk1, '--yes', '--job-stopped', '--json'];
    const running = execa(process.execPath, [binPath(), ...args], { reject: false });
    const watch = setInterval(() => {
      if (!existsSync(join(chk1, '_metadata.discarding'))) return;
      clearInterval(watch);
      running.kill('SIGINT');
    }, 1);
    const { stdout, exitCode } = await running;
    clearInterval(watch);
    const document = JSON.parse(stdout);
    expect(exitCode).toBe(130);
    expect(document).toMatchObject({ done: false, interrupted: true, error: null });
    expect(readdirSync(chk1).length).toBe(20_001 - document.deletedFiles);
    expect(readdirSync(tree.root)).toEqual([JOB]);
    const second = await discardJson(chk1);
    expect(second.document).toMatchObject({ done: true, alreadyGone: document.deletedFiles });
    expect(existsSync(chk1)).toBe(false);
  });
});

describe.skipIf(!isRoot)('as somebody who may not do everything', () => {
  it('tells the first failure and the others, and finishes when it may', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x'), tree.shared('y'), 'b']);
    await openUp(join(tree.root, '..'));
    await chown(tree.path(JOB, 'shared'), 0, 0);
    await chmod(tree.path(JOB, 'shared'), 0o755);
    const args = ['discard', chk1, '--yes', '--job-stopped', '--json'];
    const { stdout, exitCode } = await runCkpt(args, { uid: NOBODY });
    expect(exitCode).toBe(1);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({
      done: false,
      deletedFiles: 2,
      error: { path: tree.shared('x'), message: expect.stringContaining('permission denied') },
      suppressed: [{ path: tree.shared('y'), message: expect.stringContaining('permission denied') }],
    });
    expect(readdirSync(chk1)).toEqual(['_metadata.discarding']);
    await chmod(tree.path(JOB, 'shared'), 0o777);
    expect(JSON.parse((await runCkpt(args, { uid: NOBODY })).stdout)).toMatchObject({ done: true, alreadyGone: 2 });
    expect(tree.files()).toEqual([]);
  });

  it('deletes nothing if the tombstone cannot be made', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x')]);
    await openUp(join(tree.root, '..'));
    await chmod(chk1, 0o555);
    await chown(chk1, 0, 0);
    const before = tree.files();
    const { stdout, exitCode } = await runCkpt(['discard', chk1, '--yes', '--job-stopped', '--json'], { uid: NOBODY });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      deletedFiles: 0,
      error: { path: `file:${chk1}/_metadata` },
      suppressed: [],
    });
    expect(tree.files()).toEqual(before);
  });

  it('keeps the tombstone if the directory cannot be removed', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    await openUp(join(tree.root, '..'));
    await chmod(tree.path(JOB), 0o555);
    await chown(tree.path(JOB), 0, 0);
    const { stdout, exitCode } = await runCkpt(['discard', chk1, '--yes', '--job-stopped', '--json'], { uid: NOBODY });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ deletedFiles: 1, error: { path: `file:${chk1}` } });
    expect(readdirSync(chk1)).toEqual(['_metadata.discarding']);
    await chmod(tree.path(JOB), 0o777);
    expect((await runCkpt(['discard', chk1, '--yes'], { uid: NOBODY })).exitCode).toBe(0);
  });

  it('works without a lock where none can be made, with a warning', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    await openUp(join(tree.root, '..'));
    await chown(tree.root, 0, 0);
    await chmod(tree.root, 0o755);
    const { stderr, exitCode } = await runCkpt(['discard', chk1, '--yes', '--job-stopped'], { uid: NOBODY });
    expect({ stderr, exitCode }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('no lock can be made') });
    expect(existsSync(chk1)).toBe(false);
  });
});

describe.skipIf(!hasTerminal)('on a terminal', () => {
  const command = (...args: string[]) => [process.execPath, binPath(), 'discard', ...args];

  it('asks, and does what it is told', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a']);
    const no = await runInTerminal(command(chk1, '--job-stopped'), { type: { after: '[y/N]', keys: 'n\n' } });
    expect(no.exitCode).toBe(5);
    expect(readdirSync(chk1).sort()).toEqual(['_metadata', 'a']);
    const yes = await runInTerminal(command(chk1, '--job-stopped'), { type: { after: '[y/N]', keys: 'y\n' } });
    expect(yes.exitCode).toBe(0);
    expect(yes.screen).toContain('Discarded');
    expect(existsSync(chk1)).toBe(false);
  });

  it('refuses if the tree has changed while somebody thought', async () => {
    const tree = await LocalTree.make();
    const chk1 = await tree.checkpoint(`${JOB}/chk-1`, ['a', tree.shared('x')]);
    const late = join(tree.root, '..', 'late');
    await writeFile(late, metadataNaming([tree.shared('x')], 2n));
    // The metadata of another checkpoint comes to its place between the question and the answer, both by one shell.
    const moving = `mkdir '${tree.path(JOB, 'chk-2')}'; mv '${late}' '${tree.path(JOB, 'chk-2', '_metadata')}'`;
    const answering = `(sleep 2; ${moving}; sleep 1; echo y) | script --quiet --return --command "$*" /dev/null`;
    const { stdout, exitCode } = await execa('sh', ['-c', answering, 'sh', ...command(chk1, '--job-stopped')], {
      reject: false,
      env: { FLINK_CONF_DIR: undefined },
    });
    expect({ stdout, exitCode }).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('changed') });
    expect(readdirSync(chk1).sort()).toEqual(['_metadata', 'a']);
  });
});

function without(snapshot: Awaited<ReturnType<typeof snapshotOf>>, ...fields: string[]) {
  return Object.fromEntries(
    Object.entries(snapshot).map(([path, entry]) => [
      path,
      Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.includes(field))),
    ]),
  );
}

/** Gives a tree to somebody else. */
async function openUp(directory: string): Promise<void> {
  await chown(directory, NOBODY, NOBODY);
  await chmod(directory, (await lstat(directory)).isDirectory() ? 0o777 : 0o666);
  if (!(await lstat(directory)).isDirectory()) return;
  for (const name of await readdir(directory)) await openUp(join(directory, name));
}
