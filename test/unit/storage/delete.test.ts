import { chmod, mkdir, readdir, rename, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CkptError, DirectoryNotEmptyError, IoError, PermissionError, suppressedOf } from '../../../src/errors.js';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { LocalFileSystem } from '../../../src/filesystem/local.js';
import { Path } from '../../../src/filesystem/path.js';
import { deleteFileOrEmptyDirectory, deleteRecursively } from '../../../src/storage/delete.js';
import { asNobody, memoryStore, PLACES, treeOf, writeFile } from '../../support/stores.js';
import { tempDirectory } from '../../support/temp.js';

describe.each(PLACES)('deleting one file: %s', (_, place) => {
  it('deletes it, and nothing beside or above it', async () => {
    const { fileSystem, root } = await place();
    await writeFile(fileSystem, root.child('dir/a'));
    await writeFile(fileSystem, root.child('dir/b'));
    await deleteFileOrEmptyDirectory(fileSystem, root.child('dir/a'));
    expect(await treeOf(fileSystem, root)).toEqual(['dir/', 'dir/b']);
  });

  it('is done if nothing is there', async () => {
    const { fileSystem, root } = await place();
    await deleteFileOrEmptyDirectory(fileSystem, root.child('dir/a'));
    expect(await treeOf(fileSystem, root)).toEqual([]);
  });

  it('deletes an empty directory in its place', async () => {
    const { fileSystem, root } = await place();
    await fileSystem.makeDirectory(root.child('keep'));
    await fileSystem.makeDirectory(root.child('a'));
    await deleteFileOrEmptyDirectory(fileSystem, root.child('a'));
    expect(await treeOf(fileSystem, root)).toEqual(['keep/']);
  });

  it('fails at a directory in its place that has something in it', async () => {
    const { fileSystem, root } = await place();
    await writeFile(fileSystem, root.child('a/inside'));
    await expect(deleteFileOrEmptyDirectory(fileSystem, root.child('a'))).rejects.toThrow(DirectoryNotEmptyError);
    expect(await treeOf(fileSystem, root)).toEqual(['a/', 'a/inside']);
  });
});

describe('a deletion that fails', () => {
  const path = Path.parse('memory:/dir/a');

  it('is done all the same if the file is gone afterwards', async () => {
    const { memory } = memoryStore({ failures: (operation) => (operation === 'deleteFile' ? lost : undefined) });
    await deleteFileOrEmptyDirectory(memory, path);
  });

  it.each([
    ['is there', undefined],
    ['cannot be looked for', new IoError(String(path), 'status')],
  ])('is a failure if the file %s', async (_, statusFailure) => {
    const { memory } = memoryStore({
      failures: (operation) =>
        ({ deleteFile: lost, getFileStatus: statusFailure })[operation as 'deleteFile' | 'getFileStatus'],
    });
    memory.put(path, 'x');
    await expect(deleteFileOrEmptyDirectory(memory, path)).rejects.toBe(lost);
  });

  const lost = new IoError(String(path), 'delete');
});

describe.each(PLACES)('deleting a tree: %s', (_, place) => {
  it('leaves nothing of it, and everything beside it', async () => {
    const { fileSystem, root } = await place();
    const names = ['chk-1/_metadata', 'chk-1/a', 'chk-1/sub/b', 'chk-1/sub/sub/c', 'chk-10/_metadata', 'shared/d'];
    for (const name of names) await writeFile(fileSystem, root.child(name));
    await fileSystem.makeDirectory(root.child('chk-1/empty/inside'));
    await deleteRecursively(fileSystem, root.child('chk-1'));
    expect(await treeOf(fileSystem, root)).toEqual(['chk-10/', 'chk-10/_metadata', 'shared/', 'shared/d']);
  });

  it('is done if nothing is there', async () => {
    const { fileSystem, root } = await place();
    await writeFile(fileSystem, root.child('a'));
    await deleteRecursively(fileSystem, root.child('chk-1'));
    expect(await treeOf(fileSystem, root)).toEqual(['a']);
  });

  it('deletes a file in its place', async () => {
    const { fileSystem, root } = await place();
    await writeFile(fileSystem, root.child('chk-1'));
    await writeFile(fileSystem, root.child('b'));
    await deleteRecursively(fileSystem, root.child('chk-1'));
    expect(await treeOf(fileSystem, root)).toEqual(['b']);
  });

  it('gets through more files than one listing has', async () => {
    const { fileSystem, root } = await place();
    const names = Array.from({ length: 2500 }, (_each, index) => `chk-1/${index}`);
    for (const name of names) await writeFile(fileSystem, root.child(name));
    await deleteRecursively(fileSystem, root.child('chk-1'));
    expect(await treeOf(fileSystem, root)).toEqual([]);
  }, 60_000);
});

it('removes links and follows none', async () => {
  const directory = await tempDirectory();
  const fileSystem = new LocalFileSystem();
  const root = Path.parse(`file:${directory}`);
  await writeFile(fileSystem, root.child('outside/precious'));
  await mkdir(`${directory}/tree/sub`, { recursive: true });
  await symlink('../outside', `${directory}/tree/to-directory`);
  await symlink('../../outside/precious', `${directory}/tree/sub/to-file`);
  await symlink('nothing', `${directory}/tree/dangling`);
  await symlink('tree', `${directory}/to-tree`);
  await symlink('nothing', `${directory}/dangling`);
  await deleteRecursively(fileSystem, root.child('to-tree'));
  await deleteRecursively(fileSystem, root.child('dangling'));
  expect((await readdir(directory)).sort()).toEqual(['outside', 'tree']);
  await deleteRecursively(fileSystem, root.child('tree'));
  expect(await treeOf(fileSystem, root)).toEqual(['outside/', 'outside/precious']);
});

it.each([
  ['with files', ['file', 'sub/file']],
  ['of directories', ['sub/file']],
])('loses nothing to a link that takes the place of a directory meanwhile, one %s', async (_, names) => {
  const directory = await tempDirectory();
  const local = new LocalFileSystem();
  const root = Path.parse(`file:${directory}`);
  for (const name of names) {
    await writeFile(local, root.child(`outside/${name}`));
    await writeFile(local, root.child(`tree/${name}`));
  }
  // The worst moment: when it has been looked at, and is about to be listed.
  const swapped: FileSystem = Object.create(local, {
    list: {
      value: async function* (path: Path, signal?: AbortSignal) {
        if (path.name === 'tree') {
          await rename(`${directory}/tree`, `${directory}/moved`);
          await symlink('outside', `${directory}/tree`);
        }
        yield* local.list(path, signal);
      },
    },
    getFileStatus: { value: (path: Path) => local.getFileStatus(path) },
    deleteFile: { value: (path: Path) => local.deleteFile(path) },
    deleteFiles: { value: local.deleteFiles.bind(local) },
    deleteDirectory: { value: (path: Path) => local.deleteDirectory(path) },
  });
  await expect(deleteRecursively(swapped, root.child('tree'))).rejects.toThrow(CkptError);
  const left = (await treeOf(local, root)).filter((name) => !name.endsWith('/'));
  expect(left).toEqual([...names.map((name) => `moved/${name}`), ...names.map((name) => `outside/${name}`), 'tree']);
});

it('takes along what is written while it runs', async () => {
  const { memory } = memoryStore({
    failures: (operation, path) => {
      if (operation === 'deleteDirectory' && late.length > 0) memory.put(path.child(late.pop() ?? ''), 'x');
      return undefined;
    },
  });
  const late = ['late-1', 'late-2'];
  const root = Path.parse('memory:/chk-1');
  memory.put(root.child('a'), 'x');
  await deleteRecursively(memory, root);
  expect(memory.snapshot().size).toBe(0);
});

it('gives up on a directory that is filled again and again', async () => {
  let count = 0;
  const { memory } = memoryStore({
    failures: (operation, path) => {
      if (operation === 'deleteDirectory') memory.put(path.child(`late-${count++}`), 'x');
      return undefined;
    },
  });
  const root = Path.parse('memory:/chk-1');
  memory.put(root.child('a'), 'x');
  await expect(deleteRecursively(memory, root)).rejects.toThrow(DirectoryNotEmptyError);
});

it('deletes what it can, and reports the first failure with the others', async () => {
  const failing = new Map(['/t/a', '/t/sub/b'].map((path) => [path, new IoError(`memory:${path}`, 'delete')]));
  const { memory } = memoryStore({
    failures: (operation, path) => (operation === 'deleteFile' ? failing.get(path.path) : undefined),
  });
  for (const name of ['a', 'c', 'sub/b', 'sub/d', 'other/e']) memory.put(Path.parse(`memory:/t/${name}`), 'x');
  const error: unknown = await deleteRecursively(memory, Path.parse('memory:/t')).catch((thrown: unknown) => thrown);
  expect(error).toBe(failing.get('/t/a'));
  expect(suppressedOf(error as Error)).toEqual([failing.get('/t/sub/b')]);
  expect([...memory.snapshot().keys()]).toEqual(['memory:/t/a', 'memory:/t/sub/b']);
  expect(await treeOf(memory, Path.parse('memory:/t'))).toEqual(['a', 'sub/', 'sub/b']);
});

it('goes on after a directory that cannot be listed', async () => {
  const directory = await tempDirectory();
  const fileSystem = new LocalFileSystem();
  const root = Path.parse(`file:${directory}`);
  await chmod(directory, 0o777);
  for (const name of ['t/closed/a', 't/open/b']) await writeFile(fileSystem, root.child(name));
  await chmod(`${directory}/t`, 0o777);
  await chmod(`${directory}/t/open`, 0o777);
  await chmod(`${directory}/t/closed`, 0o000);
  const error: unknown = await asNobody(() => deleteRecursively(fileSystem, root.child('t')).catch((thrown) => thrown));
  await chmod(`${directory}/t/closed`, 0o700);
  expect(error).toBeInstanceOf(PermissionError);
  expect(String(error)).toContain('t/closed');
  expect(await treeOf(fileSystem, root)).toEqual(['t/', 't/closed/', 't/closed/a']);
});

it('stops when it is told to', async () => {
  const controller = new AbortController();
  const { memory } = memoryStore({
    failures: (operation) => {
      if (operation === 'deleteFile') controller.abort(new Error('enough'));
      return undefined;
    },
  });
  for (const name of ['a', 'b', 'c', 'sub/d']) memory.put(Path.parse(`memory:/t/${name}`), 'x');
  const options = { signal: controller.signal };
  await expect(deleteRecursively(memory, Path.parse('memory:/t'), options)).rejects.toThrow('enough');
  expect(memory.snapshot().size).toBeGreaterThan(0);
  await deleteRecursively(memory, Path.parse('memory:/t'));
  expect(memory.snapshot().size).toBe(0);
});
