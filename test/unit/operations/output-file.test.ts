import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotFoundError, PermissionError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { createOutput } from '../../../src/operations/output-file.js';
import { localPlace, memoryStore, PLACES, treeOf } from '../../support/stores.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

describe.each(PLACES)('createOutput in a store: %s', (_, makePlace) => {
  it('makes nothing before the first bytes, and the file when it is committed', async () => {
    const { fileSystems, fileSystem, root } = await makePlace();
    const path = root.child('a/b/file');
    const writer = await createOutput(fileSystems, path);
    expect(writer.position).toBe(0);
    expect(await treeOf(fileSystem, root)).toEqual([]);
    // Not awaited: they are still written one after the other.
    const pieces = [writer.write(bytes('hello ')), writer.write(bytes('world'))];
    expect(writer.position).toBe(11);
    await Promise.all(pieces);
    await writer.patch(0, bytes('J'));
    await writer.commit();
    await writer.abort();
    const source = await fileSystem.open(path);
    expect(Buffer.from(await source.read(0, source.size)).toString()).toBe('Jello world');
    await source.close();
    expect(await treeOf(fileSystem, root)).toEqual(['a/', 'a/b/', 'a/b/file']);
  });

  it('leaves nothing when it is aborted, before or after the first bytes', async () => {
    const { fileSystems, fileSystem, root } = await makePlace();
    await fileSystem.createExclusive(root.child('other'), bytes('x'));
    const unused = await createOutput(fileSystems, root.child('file'));
    await unused.abort();
    const begun = await createOutput(fileSystems, root.child('file'));
    await begun.write(bytes('x'));
    await begun.abort();
    await begun.abort();
    expect(await treeOf(fileSystem, root)).toEqual(['other']);
  });

  it('commits a file of no bytes', async () => {
    const { fileSystems, fileSystem, root } = await makePlace();
    await (await createOutput(fileSystems, root.child('file'))).commit();
    expect((await fileSystem.getFileStatus(root.child('file'))).size).toBe(0);
  });

  it('refuses what exists, at the start or at the end', async () => {
    const { fileSystems, fileSystem, root } = await makePlace();
    const path = root.child('file');
    const late = await createOutput(fileSystems, path);
    await late.write(bytes('late'));
    await fileSystem.createExclusive(path, bytes('first'));
    await expect(late.commit()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(createOutput(fileSystems, path)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const over = await createOutput(fileSystems, path, { overwrite: true });
    await over.write(bytes('over'));
    await over.commit();
    expect((await fileSystem.getFileStatus(path)).size).toBe(4);
    await fileSystem.createExclusive(root.child('directory/x'), bytes('x'));
    for (const options of [{}, { overwrite: true }]) {
      await expect(createOutput(fileSystems, root.child('directory'), options)).rejects.toMatchObject({
        code: 'REFUSED',
      });
    }
  });
});

describe('createOutput', () => {
  it('turns every other failure into one of writing, with its cause', async () => {
    for (const [operation, failure] of [
      ['getFileStatus', new PermissionError('memory:/x')],
      ['createAtomic', new PermissionError('memory:/x')],
      ['write', new NotFoundError('memory:/x')],
      ['commit', new PermissionError('memory:/x')],
    ] as const) {
      const { fileSystems } = memoryStore({ failures: (what) => (what === operation ? failure : undefined) });
      const run = async (): Promise<void> => {
        const writer = await createOutput(fileSystems, Path.parse('memory:/x'));
        await writer.write(bytes('x'));
        await writer.commit();
      };
      await expect(run(), operation).rejects.toMatchObject({ code: 'IO_ERROR', cause: failure });
    }
  });

  it('tells a file in the way from a file that exists', async () => {
    const { fileSystems, root } = await localPlace();
    await writeFile(join(root.path, 'file'), 'x');
    await symlink('nowhere', join(root.path, 'link'));
    await mkdir(join(root.path, 'directory'));
    const begin = async (name: string): Promise<void> => {
      const writer = await createOutput(fileSystems, root.child(name));
      await writer.write(bytes('x'));
    };
    await expect(begin('file/below')).rejects.toMatchObject({
      code: 'IO_ERROR',
      message: expect.stringContaining('a file stands where one of its directories should be'),
    });
    await expect(begin('link')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(begin('directory')).rejects.toMatchObject({ code: 'REFUSED' });
  });
});
