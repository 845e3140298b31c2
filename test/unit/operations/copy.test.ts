import { link, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IoError, RefusedError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../../src/filesystem/registry.js';
import type { StreamStateHandle } from '../../../src/model/state-handles.js';
import { type CopyOptions, type CopyResult, copyCheckpoint } from '../../../src/operations/copy/copy.js';
import { SourceDamagedError } from '../../../src/operations/copy/copy-files.js';
import { COPY_MARKER } from '../../../src/operations/copy/marker.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import { allCases } from '../../support/corpus.js';
import { type OnChange, watching } from '../../support/dying-file-system.js';
import {
  checkpointAt,
  file,
  incremental,
  metadata,
  operator,
  relativeFile,
  subtask,
} from '../../support/made-metadata.js';
import { fileSystemsOf } from '../../support/mapped-case.js';
import { snapshotOf } from '../../support/snapshot.js';
import { asNobody } from '../../support/stores.js';
import { tempDirectory, withTempDirectory } from '../../support/temp.js';

const plain = createFileSystems({ configuration: new Map() });

async function checkpoint(directory: string, ...handles: readonly StreamStateHandle[]): Promise<string> {
  const operatorStates = [operator({ subtasks: [subtask({ managedKeyedState: incremental(handles) })] })];
  return checkpointAt(directory, metadata({ operatorStates }));
}

async function copy(
  source: string,
  target: string,
  options: Partial<CopyOptions> = {},
  fileSystems: FileSystems = plain,
): Promise<CopyResult> {
  const pointer = await resolvePointer(fileSystems, source);
  return copyCheckpoint(fileSystems, pointer, fileSystems.qualify(Path.parse(target)), {
    now: () => Date.now(),
    ...options,
  });
}

/** `chk-1` with two files that have one name. */
async function twoOfOneName(): Promise<{ root: string; source: string; target: string }> {
  const root = await tempDirectory();
  const source = await checkpoint(join(root, 'chk-1'), file(`file:${root}/shared/a`, 5), relativeFile('a', 3));
  await mkdir(join(root, 'shared'));
  await writeFile(join(root, 'shared/a'), 'first');
  await writeFile(join(source, 'a'), 'own');
  return { root, source, target: join(root, 'copy') };
}

const contentsOf = async (directory: string): Promise<string[]> =>
  Promise.all(
    (await readdir(directory)).filter((n) => n !== '_metadata').map((n) => readFile(join(directory, n), 'utf8')),
  );

describe('copy', () => {
  it('gives files of one name two names, and changes nothing in the source', async () => {
    const { root, source, target } = await twoOfOneName();
    const before = await snapshotOf(source);
    expect(await copy(source, target)).toMatchObject({ files: 3, alreadyThere: 0 });
    expect((await contentsOf(target)).sort()).toEqual(['first', 'own']);
    expect(await snapshotOf(source)).toEqual(before);
    expect(await readdir(root)).toContain('copy');
  });

  it('refuses a target that is not empty, or lies in the source or around it, also through a link', async () => {
    const { root, source, target } = await twoOfOneName();
    await mkdir(target);
    await writeFile(join(target, 'x'), '');
    await symlink(source, join(root, 'link'));
    await writeFile(join(root, 'file'), '');
    for (const to of [target, source, root, join(source, 'in/it'), join(root, 'link', 'in')]) {
      await expect(copy(source, to), to).rejects.toBeInstanceOf(RefusedError);
    }
    await expect(copy(source, join(root, 'file'))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect((await readdir(source)).sort()).toEqual(['_metadata', 'a']);
    expect(await readdir(target)).toEqual(['x']);
  });

  it.each(['../b', 'x/../../b', '../chk-1-other/b'])('refuses a relative path that leads out: %s', async (relative) => {
    const root = await tempDirectory();
    const source = await checkpoint(join(root, 'chk-1'), relativeFile(relative, 1));
    await expect(copy(source, join(root, 'copy'))).rejects.toThrow('leads out of the directory');
    expect(await readdir(root)).toEqual(['chk-1']);
  });

  it('ends without metadata where a file is missing or of another length, and goes on when it is there', async () => {
    const { source, target } = await twoOfOneName();
    await truncate(join(source, 'a'), 2);
    await expect(copy(source, target)).rejects.toBeInstanceOf(SourceDamagedError);
    expect(await readdir(target)).not.toContain('_metadata');
    const gone = await checkpoint(join(target, '../chk-2'), relativeFile('gone', 3));
    await expect(copy(gone, `${target}-2`)).rejects.toBeInstanceOf(IoError);
    expect(await readdir(`${target}-2`)).toEqual([COPY_MARKER]);
    await writeFile(join(source, 'a'), 'own');
    expect(await copy(source, target)).toMatchObject({ files: 3 });
    expect((await contentsOf(target)).sort()).toEqual(['first', 'own']);
  });

  it('takes what an earlier run copied, but no link, no other name of a file, nothing of another length', async () => {
    const { root, source, target } = await twoOfOneName();
    const stop: OnChange = (operation, path) => {
      if (path.name === '_metadata' && operation === 'commit') throw new IoError(path.toString(), 'a test');
    };
    await expect(copy(source, target, {}, watching(plain, stop))).rejects.toThrow('a test');
    const [first = '', second = ''] = (await readdir(target)).filter((name) => name.startsWith('a'));
    expect(await copy(source, target, {}, watching(plain, stop)).catch((error: Error) => error.message)).toContain(
      'a test',
    );
    const { rm } = await import('node:fs/promises');
    for (const name of [first, second]) await rm(join(target, name));
    await symlink(join(source, 'a'), join(target, first));
    await link(join(root, 'shared/a'), join(target, second));
    expect(await copy(source, target)).toMatchObject({ files: 3, alreadyThere: 0 });
    expect((await contentsOf(target)).sort()).toEqual(['first', 'own']);
    await writeFile(join(target, first), 'changed');
    await writeFile(join(target, second), 'changed');
    expect(await contentsOf(source)).toEqual(['own']);
    expect(await readFile(join(root, 'shared/a'), 'utf8')).toBe('first');
  });

  it('compares contents where asked to', async () => {
    const { source, target } = await twoOfOneName();
    const stop: OnChange = (operation, path) => {
      if (path.name === '_metadata' && operation === 'commit') throw new IoError(path.toString(), 'a test');
    };
    await expect(copy(source, target, {}, watching(plain, stop))).rejects.toThrow('a test');
    const damaged = (await readdir(target)).filter((name) => name.startsWith('a'));
    for (const name of damaged)
      await writeFile(join(target, name), 'x'.repeat((await readFile(join(target, name))).length));
    expect(await copy(source, target, { checksum: true })).toMatchObject({ alreadyThere: 0 });
    expect((await contentsOf(target)).sort()).toEqual(['first', 'own']);
  });

  it('fails where it cannot write: exit 1, not a wrong pointer', async () => {
    const { root, source } = await twoOfOneName();
    // Nobody but root may write there.
    const { chmod } = await import('node:fs/promises');
    await chmod(root, 0o755);
    await asNobody(async () => {
      await expect(copy(source, join(root, 'new'))).rejects.toBeInstanceOf(IoError);
    });
  });

  it('ends without metadata when the disk is full at any change', { timeout: 120_000 }, async () => {
    const { root, source } = await twoOfOneName();
    let changes = 0;
    await copy(
      source,
      join(root, 'all'),
      {},
      watching(plain, () => changes++),
    );
    for (let n = 1; n <= changes; n++) {
      const target = join(root, `full-${n}`);
      let count = 0;
      const full = watching(plain, (_operation, path) => {
        if (++count >= n) throw new IoError(path.toString(), 'write', { cause: new Error('ENOSPC: no space left') });
      });
      const failure = await copy(source, target, {}, full).then(
        () => undefined,
        (error: unknown) => error,
      );
      // The marker alone stayed.
      if (failure) expect(failure).toBeInstanceOf(IoError);
      const names = await readdir(target).catch((): string[] => []);
      expect(names.includes('_metadata') && !names.includes(COPY_MARKER), `full at ${n}`).toBe(false);
      await copy(source, target);
      expect((await contentsOf(target)).sort()).toEqual(['first', 'own']);
    }
  });

  it.runIf(allCases().some(({ label }) => label.includes('task-owned')))(
    'tells which files operator state names',
    async () => {
      for (const name of ['2.3.0/task-owned', '2.3.0/crashed', '2.3.0/pipeline', '1.20.5/task-owned']) {
        const corpusCase = allCases().find(({ label }) => label === `corpus/${name}`);
        const pointer = corpusCase?.pointers.at(-1);
        if (!corpusCase || !pointer) throw new Error(`no case ${name}`);
        await withTempDirectory(async (root) => {
          const result = await copy(pointer.externalPointer, join(root, 'copy'), {}, fileSystemsOf(corpusCase));
          const found = result.stateReferences.map(({ path }) => path);
          const wanted = name.includes('pipeline')
            ? /^(?:file:)?\/tmp\/flink\/checkpoints\/[\d.]+\/pipeline\/output\/[\d-]+(?:\/\.?part-[\w-]+(?:\.inprogress\.[\w-]+)?)?$/
            : /^file:\/tmp\/flink\/checkpoints\/[\w./-]+\/taskowned\/[0-9a-f-]{36}$/;
          expect(found.length, name).toBeGreaterThan(1);
          for (const path of found) expect(path).toMatch(wanted);
          expect(result.unsearchedState).toEqual([]);
        });
      }
    },
  );
});
