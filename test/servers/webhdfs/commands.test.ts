import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { openWebHdfs } from '../../../src/filesystem/webhdfs/open-web-hdfs.js';
import { collect, readAll } from '../../contract/file-system.contract.js';
import { fixtureCase } from '../../support/corpus.js';
import { MiniDfs, whyNoMiniDfs } from '../../support/minidfs.js';
import { runCkpt } from '../../support/run-ckpt.js';

/** Two incremental checkpoints of a job, and a savepoint. */
const CASE = 'flink-2.3.0/rocksdb-incremental';
/** A port that nobody listens on, and that fetch does not refuse by itself. */
const CLOSED_PORT = 59_999;
const reason = whyNoMiniDfs();

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into without types
type Json = any;

describe.skipIf(reason !== undefined)(
  `every command on HDFS${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    const { directory, mapping } = fixtureCase(CASE);
    let server: MiniDfs;
    let fileSystem: FileSystem;
    let job = '';
    let count = 0;

    beforeAll(async () => {
      server = await MiniDfs.start();
      const configuration = new Map([
        ['ckpt.hdfs.http-address', server.http()],
        ['ckpt.hdfs.user', 'flink'],
      ]);
      fileSystem = await openWebHdfs({ configuration }, 'hdfs', server.rpc());
    }, 600_000);
    afterAll(() => server?.stop());

    /** Runs a command; the names in the metadata lead to `root`. */
    const ckpt = async (root: Path | undefined, args: readonly string[], expected = 0) => {
      const options = [
        ...['-D', `ckpt.hdfs.http-address=${server.http()}`, '-D', 'ckpt.hdfs.user=flink'],
        ...(root === undefined ? [] : ['--map', `${mapping.uri}=${root}`]),
      ];
      const result = await runCkpt([...args, ...options]);
      expect([result.exitCode, result.stderr]).toEqual([expected, expect.anything()]);
      return result;
    };
    const json = async (root: Path | undefined, args: readonly string[], expected = 0): Promise<Json> =>
      JSON.parse((await ckpt(root, [...args, '--json'], expected)).stdout);

    /** Puts the case where nothing is yet. */
    const upload = async (): Promise<Path> => {
      const root = Path.parse(`hdfs://${server.rpc()}/case-${++count}`);
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      for (const entry of entries) {
        const file = join(entry.parentPath, entry.name);
        if (!entry.isFile() || file.endsWith('.json')) continue;
        const target = file.slice(directory.length + 1);
        job = /^[0-9a-f]{32}/.exec(target)?.[0] ?? job;
        await fileSystem.createExclusive(root.child(target), await readFile(file));
      }
      return root;
    };

    const filesBelow = async (path: Path): Promise<string[]> => {
      const found: string[] = [];
      for (const { name, type } of await collect(fileSystem.list(path))) {
        if (type === 'directory') found.push(...(await filesBelow(path.entry(name))));
        else found.push(path.entry(name).path);
      }
      return found.sort();
    };

    const newest = async (root: Path) =>
      (await json(root, ['resolve', '--latest', root.toString()])).externalPointer as string;

    it('list, resolve, inspect and verify read it as from a disk', async () => {
      const root = await upload();
      const pointer = await newest(root);
      expect(pointer).toMatch(/\/chk-\d+$/);
      const local = await runCkpt(['list', directory, '--map', `${mapping.uri}=${directory}`, '--json']);
      const listed = await json(root, ['list', root.toString()]);
      const ids = (document: Json) =>
        JSON.stringify(document)
          .match(/chk-\d+|savepoint-[0-9a-f]{6}-[0-9a-f]{12}/g)
          ?.sort();
      expect(ids(listed)).toEqual(ids(JSON.parse(local.stdout)));
      const onDisk = await runCkpt(['inspect', pointer, '--map', `${mapping.uri}=${directory}`, '--json']);
      expect(await json(root, ['inspect', pointer])).toEqual({
        ...JSON.parse(onDisk.stdout),
        time: expect.any(String),
      });
      await ckpt(root, ['verify', pointer, '--deep']);
    }, 300_000);

    it('verify finds what is missing and what is cut', async () => {
      const root = await upload();
      const shared = await filesBelow(root.child(`${job}/shared`));
      await server.command('remove', shared[0] ?? '');
      await server.command('truncate', shared[1] ?? '', 1);
      const { stdout } = await ckpt(root, ['verify', root.toString(), '--json'], 1);
      expect(stdout).toContain(shared[0]?.split('/').at(-1));
    }, 300_000);

    it('gc finds what nobody names, and deletes only that', async () => {
      const root = await upload();
      const before = await filesBelow(root);
      for (const name of ['a', 'b', 'c']) {
        await fileSystem.createExclusive(root.child(`${job}/shared/left-${name}`), Buffer.from('left'));
      }
      const dry = await json(root, ['gc', root.toString(), '--min-age', '0s']);
      expect(dry.unreferenced.map(({ path }: Json) => path.split('/').at(-1)).sort()).toEqual([
        'left-a',
        'left-b',
        'left-c',
      ]);
      await ckpt(root, ['gc', root.toString(), '--min-age', '0s', '--delete', '--yes']);
      expect(await filesBelow(root)).toEqual(before);
    }, 300_000);

    it('discard removes a checkpoint and nothing that another one needs', async () => {
      const root = await upload();
      const pointer = await newest(root);
      const checkpoints = (await collect(fileSystem.list(root.child(job)))).filter(({ name }) => /^chk-/.test(name));
      expect(checkpoints.length).toBeGreaterThan(1);
      const older = checkpoints.map(({ name }) => name).find((name) => !pointer.endsWith(`/${name}`)) ?? '';
      await ckpt(root, ['discard', root.child(`${job}/${older}`).toString(), '--yes']);
      expect((await collect(fileSystem.list(root.child(job)))).map(({ name }) => name)).not.toContain(older);
      await ckpt(root, ['verify', pointer, '--deep']);
    }, 300_000);

    it('copy takes a checkpoint to another directory, to a disk and back', async () => {
      const root = await upload();
      const pointer = await newest(root);
      const disk = await mkdtemp(join(tmpdir(), 'ckpt-hdfs-'));
      try {
        const beside = Path.parse(`${root}-copies`);
        const places = [beside.child('chk-1'), Path.parse(`file:${disk}/there`), beside.child('back')];
        let from = pointer;
        for (const place of places) {
          await ckpt(root, ['copy', from, place.toString()]);
          await ckpt(root, ['verify', place.toString(), '--deep']);
          from = place.toString();
        }
        const first = await readAll(fileSystem, places[0]?.child('_metadata') ?? root);
        expect(first.byteLength).toBeGreaterThan(100);
        expect((await filesBelow(beside)).filter((name) => name.includes('.ckpt-'))).toEqual([]);
      } finally {
        await rm(disk, { recursive: true, force: true });
      }
    }, 300_000);

    it('savepoint makes a directory of its own', async () => {
      const root = await upload();
      const pointer = await newest(root);
      const target = Path.parse(`${root}-savepoints`);
      const { savepointDirectory } = await json(root, [
        'savepoint',
        '--from',
        pointer,
        '--target-directory',
        target.toString(),
      ]);
      const made = (await collect(fileSystem.list(target))).map(({ name }) => name);
      expect(made).toEqual([expect.stringMatching(/^savepoint-[0-9a-f]{6}-[0-9a-f]{12}$/)]);
      expect(savepointDirectory).toBe(target.child(made[0] ?? '').toString());
      await ckpt(root, ['verify', savepointDirectory, '--deep']);
    }, 300_000);

    it('says what is wrong with a name node that is not there, in one line', async () => {
      const { stderr } = await runCkpt([
        'list',
        'hdfs://127.0.0.1:9/x',
        '-D',
        `ckpt.hdfs.http-address=127.0.0.1:${CLOSED_PORT}`,
      ]);
      expect(stderr).toContain('ECONNREFUSED');
      expect(stderr).not.toContain('    at ');
    });
  },
);
