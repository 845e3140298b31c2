/** The command suite: every command on a remote store, by the binary, with what real Flink left on a disk and a copy of it there. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { fixtureCase } from './corpus.js';
import { type CkptResult, runCkpt } from './run-ckpt.js';
import { treeOf, writeFile } from './stores.js';
import { tempDirectory } from './temp.js';

/** A store that runs, and how `ckpt` gets to it. */
export interface CommandStore {
  /** Two buckets or containers, as paths: `gs://bucket`. */
  readonly bucket: string;
  readonly otherBucket: string;
  /** One that does not exist. */
  readonly missingBucket: string;
  /** For `-D`. */
  readonly options: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string>>;
  /** Must not be printed by any command. */
  readonly secrets: readonly string[];
}

const CASE = 'flink-1.14.6/rocksdb-incremental';
const JOB = '1bb49fcd23efd70ff31e208002814033';
const SAVEPOINT = 'savepoint-1bb49f-f8d758738b50';
/** More than any store deletes with one request of those tested here, more than a page for none. */
const GARBAGE = 300;

/** Registers the suite. @param open asked for after the hooks of the caller */
export function describeStoreCommands(name: string, open: () => CommandStore): void {
  // Each test runs many commands.
  describe(`commands on ${name}`, { timeout: 300_000 }, () => {
    const { directory, mapping } = fixtureCase(CASE);
    let store: CommandStore;
    let systems: FileSystems;
    /** Where the case is, in names of the store. */
    let root: string;
    let map: readonly string[];

    const ckpt = async (...args: readonly string[]): Promise<CkptResult> => {
      const definitions = [...store.options].flatMap(([key, value]) => ['-D', `${key}=${value}`]);
      const result = await runCkpt([...args, ...definitions], { env: store.environment });
      for (const secret of store.secrets) expect(result.stdout + result.stderr).not.toContain(secret);
      return result;
    };
    const json = async (...args: readonly string[]) => {
      const { stdout, stderr, exitCode } = await ckpt(...args, '--json');
      try {
        return { document: JSON.parse(stdout), stderr, exitCode };
      } catch (error) {
        throw new Error(`${args.join(' ')}: ${exitCode}, ${stdout} ${stderr}`, { cause: error });
      }
    };
    const tree = async (path: string) => treeOf(await systems.get(Path.parse(path)), Path.parse(path));

    beforeAll(async () => {
      store = open();
      systems = createFileSystems({ configuration: store.options, environment: store.environment });
      root = `${store.bucket}/deep/case`;
      map = ['--map', `${mapping.uri}=${root}`];
      const fileSystem = await systems.get(Path.parse(root));
      for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (!entry.isFile() || file.endsWith('.json')) continue;
        const target = Path.parse(`${root}/${relative(directory, file).split(sep).join('/')}`);
        await writeFile(fileSystem, target, await readFile(file));
      }
    });

    it('list, inspect, dump, verify, resolve and a dry gc read it as on a disk, and change nothing', async () => {
      const before = await tree(root);
      const list = await json('list', root, ...map);
      expect(list.exitCode).toBe(0);
      expect(
        list.document.entries
          .map(({ pointer, status }: { pointer: string; status: string }) => [pointer, status])
          .sort(),
      ).toEqual(
        [`${JOB}/chk-1`, `${JOB}/chk-2`, `${JOB}/chk-3`, SAVEPOINT].map((each) => [
          `${mapping.uri}/${each}`,
          'complete',
        ]),
      );
      const pointer = `${root}/${JOB}/chk-3`;
      const there = await json('inspect', pointer, ...map);
      const here = await json('inspect', join(directory, JOB, 'chk-3'), '--map', `${mapping.uri}=${directory}`);
      expect(here.exitCode).toBe(0);
      expect({ ...there.document, time: '' }).toEqual({ ...here.document, time: '' });
      expect((await json('dump', pointer, ...map)).document).toEqual(
        (await json('dump', join(directory, JOB, 'chk-3'), '--map', `${mapping.uri}=${directory}`)).document,
      );
      const verified = await json('verify', '--deep', root, ...map);
      expect(verified).toMatchObject({ exitCode: 0, document: { ok: true } });
      expect(verified.document.pointers).toHaveLength(4);
      const latest = await json('resolve', '--latest', '--job', JOB, root, ...map);
      expect(latest.document.externalPointer).toBe(`${mapping.uri}/${SAVEPOINT}`);
      const garbage = await json('gc', root, '--min-age', '0s', ...map);
      expect(garbage.document).toMatchObject({ blocked: [], unreferenced: [], totals: { files: 0 } });
      expect(await tree(root)).toEqual(before);
    });

    it('verify finds what is missing and what is too short', async () => {
      const broken = `${store.bucket}/broken`;
      const source = `${root}/${JOB}/chk-1`;
      expect((await json('copy', source, `${broken}/one`, ...map)).exitCode).toBe(0);
      const fileSystem = await systems.get(Path.parse(broken));
      const [first = '', second = ''] = (await tree(`${broken}/one`)).filter((file) => !file.endsWith('_metadata'));
      await fileSystem.deleteFile(Path.parse(`${broken}/one/${first}`));
      const cut = await fileSystem.createAtomic(Path.parse(`${broken}/one/${second}`), { overwrite: true });
      await cut.commit();
      const { document, exitCode } = await json('verify', `${broken}/one`);
      expect(exitCode).toBe(1);
      const faults = document.pointers[0].faults.map(({ fault, path }: { fault: string; path: string }) => [
        fault,
        path,
      ]);
      expect(faults).toContainEqual(['missing', `${broken}/one/${first}`]);
      expect(faults).toContainEqual(['too-short', `${broken}/one/${second}`]);
    });

    it('copy goes to another bucket, to this machine and back; savepoint makes new ones', async () => {
      const local = await tempDirectory();
      for (const each of [`${JOB}/chk-3`, SAVEPOINT]) {
        const target = each.split('/').at(-1);
        const elsewhere = `${store.otherBucket}/copies/${target}`;
        const back = `${store.otherBucket}/back/${target}`;
        expect((await json('copy', `${root}/${each}`, elsewhere, '--verify', ...map)).document.verified).toBe(true);
        expect((await json('copy', elsewhere, join(local, `${target}`), '--verify')).document.verified).toBe(true);
        expect((await json('copy', join(local, `${target}`), back, '--verify')).document.verified).toBe(true);
        expect((await json('copy', back, `${back}-again`, '--verify')).document.verified).toBe(true);
        expect((await json('verify', '--deep', `${back}-again`)).document.ok).toBe(true);
        const difference = await json('diff', elsewhere, `${back}-again`);
        expect(difference.document).toMatchObject({ changed: [], added: [], removed: [] });
        expect((await json('copy', `${root}/${each}`, back, ...map)).exitCode).toBe(5);
      }
      const savepoints = `${store.otherBucket}/savepoints`;
      const empty = await json('savepoint', '--job-id', JOB, '--target-directory', savepoints);
      expect(empty.document.savepointDirectory).toMatch(/\/savepoint-1bb49f-[0-9a-f]{12}$/);
      expect(await tree(savepoints)).toEqual([`${empty.document.savepointDirectory.slice(savepoints.length + 1)}/`]);
      const full = await json('savepoint', '--from', `${root}/${SAVEPOINT}`, '--target-directory', savepoints, ...map);
      expect(full.exitCode).toBe(0);
      expect((await json('verify', '--deep', full.document.savepointDirectory)).document.ok).toBe(true);
    });

    it('gc deletes what nobody names, and nothing else', async () => {
      const before = await tree(root);
      const fileSystem = await systems.get(Path.parse(root));
      await Promise.all(
        Array.from({ length: GARBAGE }, (_, index) =>
          writeFile(fileSystem, Path.parse(`${root}/${JOB}/shared/garbage-${index}`), 'xyz'),
        ),
      );
      const spared = await json('gc', root, ...map);
      expect(spared.document.unreferenced).toEqual([]);
      const { document, exitCode } = await json('gc', root, '--delete', '--yes', '--min-age', '0s', ...map);
      expect(exitCode).toBe(0);
      expect(document).toMatchObject({ deletedFiles: GARBAGE, deletedBytes: GARBAGE * 3, failed: [] });
      expect(await tree(root)).toEqual(before);
    });

    it('discard takes what no other checkpoint uses, and what is left is whole', async () => {
      const pointer = `${root}/${JOB}/chk-1`;
      const dry = await json('discard', pointer, '--dry-run', ...map);
      expect(await tree(pointer)).toContain('_metadata');
      const done = await json('discard', pointer, '--yes', ...map);
      expect(done).toMatchObject({ exitCode: 0, document: { done: true, error: null, suppressed: [] } });
      expect(done.document.deletedFiles).toBe(
        dry.document.plan.delete.filter(({ step }: { step: string }) => step !== 'location').length,
      );
      expect(await tree(pointer)).toEqual([]);
      expect((await json('verify', '--deep', root, ...map)).document).toMatchObject({ ok: true });
      expect((await json('gc', root, '--min-age', '0s', ...map)).document.totals.files).toBe(0);
      expect((await json('discard', pointer, '--yes', ...map)).exitCode).toBe(3);
      const pruned = await json('prune', root, '--keep', '1', '--yes', '--job-stopped', ...map);
      expect(pruned).toMatchObject({ exitCode: 0 });
      expect((await tree(root)).filter((path) => path.endsWith('_metadata'))).toEqual([
        `${JOB}/chk-3/_metadata`,
        `${SAVEPOINT}/_metadata`,
      ]);
      expect((await json('verify', '--deep', root, ...map)).document).toMatchObject({ ok: true });
    });

    it('says what is not there, and exits with 3', async () => {
      const gone = await ckpt('list', `${store.missingBucket}/x`, '--verbose');
      expect(gone).toMatchObject({ exitCode: 3, stdout: '' });
      expect(gone.stderr).toContain(`${store.missingBucket}/x`);
      expect(await ckpt('inspect', `${store.bucket}/nothing/here`)).toMatchObject({ exitCode: 3 });
      expect(await ckpt('resolve', '--latest', `${store.otherBucket}/savepoint`)).toMatchObject({ exitCode: 3 });
    });
  });
}
