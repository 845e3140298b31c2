import { symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PermissionError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import type { FileSystems } from '../../../src/filesystem/registry.js';
import { walkTree } from '../../../src/operations/tree.js';
import { localPlace, memoryStore, PLACES } from '../../support/stores.js';

/** Everything a walk reports, sorted: directories with a slash at their end, `!` in front of what cannot be listed. */
async function walked(fileSystems: FileSystems, root: Path, options = {}): Promise<string[]> {
  const seen: string[] = [];
  const begun = new Map<string, number>();
  await walkTree(
    fileSystems,
    root,
    {
      entries(directory, entries) {
        begun.set(directory.toString(), (begun.get(directory.toString()) ?? 0) + 1);
        for (const { name, type } of entries) {
          seen.push(`${directory.entry(name).relativeTo(root)}${type === 'directory' ? '/' : ''}`);
        }
      },
      endDirectory: (directory) => {
        seen.push(`${directory.relativeTo(root)}/.`);
      },
      unlistable: (directory) => seen.push(`!${directory.relativeTo(root)}`),
    },
    options,
  );
  return seen.sort();
}

describe.each(PLACES)('walkTree in a store: %s', (_, makePlace) => {
  it('reports every entry once, and the end of every directory', async () => {
    const { fileSystems, fileSystem, root } = await makePlace();
    for (const path of ['a', 'x/b', 'x/y/c', 'x/y/d']) {
      await fileSystem.createExclusive(root.child(path), new Uint8Array());
    }
    expect(await walked(fileSystems, root)).toEqual(
      ['/.', 'a', 'x/', 'x/.', 'x/b', 'x/y/', 'x/y/.', 'x/y/c', 'x/y/d'].sort(),
    );
    const skip = (path: Path): boolean => path.name === 'y';
    expect(await walked(fileSystems, root, { skip })).toEqual(['/.', 'a', 'x/', 'x/.', 'x/b', 'x/y/'].sort());
  });

  it('comes to an end with hundreds of directories', async () => {
    const { fileSystems, fileSystem, root } = await makePlace();
    for (let i = 0; i < 200; i++) await fileSystem.createExclusive(root.child(`${i % 20}/${i}/f`), new Uint8Array());
    const seen = await walked(fileSystems, root);
    expect(seen.filter((path) => path.endsWith('/f'))).toHaveLength(200);
    expect(seen.filter((path) => path.endsWith('/.'))).toHaveLength(221);
  });

  it('reports a root that is not there', async () => {
    const { fileSystems, root } = await makePlace();
    expect(await walked(fileSystems, root.child('missing'))).toEqual(['!']);
  });
});

describe('walkTree', () => {
  it('goes on beside what cannot be listed', async () => {
    const { memory, fileSystems } = memoryStore({
      failures: (operation, path) =>
        operation === 'list' && path.name === 'closed' ? new PermissionError(path.toString()) : undefined,
    });
    const root = Path.parse('memory:/r');
    for (const path of ['closed/x', 'open/y']) await memory.createExclusive(root.child(path), new Uint8Array());
    expect(await walked(fileSystems, root)).toEqual(['!closed', '/.', 'closed/', 'open/', 'open/.', 'open/y']);
  });

  it('throws what the visitor throws, and the reason of its signal', async () => {
    const { memory, fileSystems } = memoryStore();
    const root = Path.parse('memory:/r');
    await memory.createExclusive(root.child('a/b'), new Uint8Array());
    const failure = new Error('visitor');
    const throwing = {
      entries() {
        throw failure;
      },
      unlistable: () => undefined,
    };
    await expect(walkTree(fileSystems, root, throwing)).rejects.toBe(failure);
    const reason = new Error('stop');
    const controller = new AbortController();
    const aborting = {
      entries: () => controller.abort(reason),
      unlistable: () => undefined,
    };
    await expect(walkTree(fileSystems, root, aborting, { signal: controller.signal })).rejects.toBe(reason);
  });

  it('waits for a slow visitor', async () => {
    const { memory, fileSystems } = memoryStore();
    const root = Path.parse('memory:/r');
    for (let i = 0; i < 50; i++) await memory.createExclusive(root.child(`${i}/f`), new Uint8Array());
    let active = 0;
    let finished = 0;
    await walkTree(fileSystems, root, {
      async entries() {
        active++;
        expect(active).toBeLessThanOrEqual(16);
        await new Promise((resolve) => setTimeout(resolve, 1));
        active--;
        finished++;
      },
      unlistable: () => undefined,
    });
    expect(finished).toBe(51);
  });

  it('follows links that lead elsewhere, each place once, and ends where they go in circles', async () => {
    const { fileSystems, fileSystem, root } = await localPlace();
    const elsewhere = (await localPlace()).root;
    await fileSystem.createExclusive(elsewhere.child('sub/file'), new Uint8Array());
    await fileSystem.createExclusive(root.child('own/file'), new Uint8Array());
    const link = (target: string, path: Path): Promise<void> => symlink(target, path.path);
    await link(elsewhere.path, root.child('out'));
    await link(elsewhere.path, root.child('own/out-again'));
    await link(root.path, elsewhere.child('back'));
    await link(elsewhere.path, elsewhere.child('sub/itself'));
    await link('.', root.child('here'));
    await link('..', root.child('own/up'));
    await link('/', root.child('own/above'));
    await link('nowhere', root.child('dangling'));
    await link('own/file', root.child('to-a-file'));
    const seen = await walked(fileSystems, root);
    expect(seen.filter((path) => path.endsWith('sub/file'))).toHaveLength(1);
    expect(seen.filter((path) => path.endsWith('/.'))).toHaveLength(4);
    expect(seen).toEqual(expect.arrayContaining(['dangling', 'to-a-file', 'here/', 'own/up/', 'own/file']));
    expect(seen).not.toContain('here/own/');
  });
});
