import { describe, expect, it } from 'vitest';
import { AlreadyExistsError } from '../../../../src/errors.js';
import { Path } from '../../../../src/filesystem/path.js';
import { move } from '../../../../src/operations/discard/removal.js';
import { memoryStore, PLACES, readFile, treeOf, writeFile } from '../../../support/stores.js';

const OPTIONS = { identity: undefined, signal: undefined };

describe.each(PLACES)('files that are moved aside: %s', (name, make) => {
  const setUp = async () => {
    const { fileSystems, fileSystem, root } = await make();
    const from = root.child('job/chk-1');
    const to = root.child('aside');
    await writeFile(fileSystem, from.entry('a'), 'state');
    return { fileSystem, from, to, removal: move(fileSystems, [root.child('job')], to) };
  };

  it('lie as they lay', async () => {
    const { fileSystem, from, to, removal } = await setUp();
    expect(await removal.removeFiles(from, ['a', 'gone'], OPTIONS)).toEqual([true, false]);
    expect(await treeOf(fileSystem, to)).toEqual(['chk-1/', 'chk-1/a']);
    expect(Buffer.from(await readFile(fileSystem, to.child('chk-1/a'))).toString()).toBe('state');
    // In an object store nothing is left of a directory without a file, here no marker either.
    const left = await treeOf(fileSystem, from.parent ?? from);
    expect(left).toEqual(name === 'object store' ? [] : ['chk-1/']);
  });

  it('never take the place of another file', async () => {
    const { fileSystem, from, to, removal } = await setUp();
    await writeFile(fileSystem, to.child('chk-1/a'), 'other');
    const [result] = await removal.removeFiles(from, ['a'], OPTIONS);
    expect(result).toBeInstanceOf(AlreadyExistsError);
    expect(Buffer.from(await readFile(fileSystem, from.entry('a'))).toString()).toBe('state');
    expect(Buffer.from(await readFile(fileSystem, to.child('chk-1/a'))).toString()).toBe('other');
  });
});

describe('a move between stores', () => {
  const setUp = async () => {
    const { memory, fileSystems } = memoryStore({ kind: 'object-store' });
    const from = Path.parse('memory://one/chk-1');
    await writeFile(memory, from.entry('a'), 'state');
    const to = Path.parse('memory://two/aside');
    return { memory, from, to, removal: move(fileSystems, [from], to) };
  };

  it('copies, then deletes', async () => {
    const { memory, from, to, removal } = await setUp();
    expect(await removal.removeFiles(from, ['a'], OPTIONS)).toEqual([true]);
    expect([...memory.snapshot().keys()]).toEqual([to.entry('a').toString()]);
  });

  it('goes on where a killed run has copied and not yet deleted', async () => {
    const { memory, from, to, removal } = await setUp();
    await writeFile(memory, to.entry('a'), 'state');
    expect(await removal.removeFiles(from, ['a'], OPTIONS)).toEqual([true]);
    expect([...memory.snapshot().keys()]).toEqual([to.entry('a').toString()]);
  });
});
