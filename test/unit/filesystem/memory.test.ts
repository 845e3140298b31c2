import { describe, expect, it } from 'vitest';
import { InvalidPathError, IoError } from '../../../src/errors.js';
import type { MemoryOperation } from '../../../src/filesystem/memory.js';
import { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';

const p = Path.parse;
const list = async (fs: MemoryFileSystem, path: string) => {
  const entries = [];
  for await (const batch of fs.list(p(path))) entries.push(...batch);
  return entries;
};

describe('MemoryFileSystem, as a tool of tests', () => {
  it('fails where it is told to, and logs everything', async () => {
    const failAt = new Set<MemoryOperation>(['deleteFile', 'commit', 'read', 'list']);
    const fs = new MemoryFileSystem({
      failures: (operation, path) =>
        failAt.has(operation) ? new IoError(path.toString(), operation, { cause: new Error('told to') }) : undefined,
    });
    fs.put(p('memory:/file'), 'contents');
    await expect(fs.deleteFile(p('memory:/file'))).rejects.toThrow('told to');
    await expect(list(fs, 'memory:/')).rejects.toThrow('told to');
    await expect((await fs.open(p('memory:/file'))).read(0, 1)).rejects.toThrow('told to');
    const writer = await fs.createAtomic(p('memory:/new'));
    await writer.write(Buffer.from('x'));
    await expect(writer.commit()).rejects.toThrow('told to');
    expect([...fs.snapshot().keys()]).toEqual(['memory:/file']);
    expect(fs.operations.map(({ operation, path }) => `${operation} ${path}`)).toEqual([
      'deleteFile memory:/file',
      'list memory:/',
      'open memory:/file',
      'read memory:/file',
      'createAtomic memory:/new',
      'write memory:/new',
      'commit memory:/new',
    ]);
  });

  it('does not commit a file with a hole where a write has failed', async () => {
    let writes = 0;
    const fs = new MemoryFileSystem({
      failures: (operation) => (operation === 'write' && ++writes === 2 ? new Error('full') : undefined),
    });
    const writer = await fs.createAtomic(p('memory:/file'));
    const chunk = Buffer.from('x');
    await writer.write(chunk);
    await expect(writer.write(chunk)).rejects.toThrow('full');
    await expect(writer.write(chunk)).rejects.toThrow('full');
    await expect(writer.commit()).rejects.toThrow('full');
    expect(fs.snapshot().size).toBe(0);
  });

  it('runs by the clock of the test', async () => {
    let now = 1000;
    const fs = new MemoryFileSystem({ clock: () => now });
    await fs.createExclusive(p('memory:/a'), Buffer.from('x'));
    now = 2000;
    await fs.createExclusive(p('memory:/b'), Buffer.from('x'));
    fs.put(p('memory:/c'), 'x', 500);
    const times = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => (await fs.getFileStatus(p(`memory:/${name}`))).modificationTime),
    );
    expect(times).toEqual([1000, 2000, 500]);
    await fs.rename(p('memory:/a'), p('memory:/d'));
    expect(await fs.getFileStatus(p('memory:/d'))).toMatchObject({ modificationTime: 1000, newestTime: 2000 });
  });

  it('gives a file several names', async () => {
    const fs = new MemoryFileSystem();
    fs.put(p('memory:/dir/a'), 'contents');
    fs.link(p('memory:/dir/a'), p('memory:/other/b'));
    const [a, b] = await Promise.all([p('memory:/dir/a'), p('memory:/other/b')].map((path) => fs.getFileStatus(path)));
    expect(a?.linkCount).toBe(2);
    expect(b?.identity).toBe(a?.identity);
    await fs.deleteFile(p('memory:/dir/a'));
    expect(await fs.getFileStatus(p('memory:/other/b'))).toMatchObject({ linkCount: 1, size: 8 });
    fs.put(p('memory:/other/b'), 'replaced');
    expect((await fs.getFileStatus(p('memory:/other/b'))).identity).not.toBe(a?.identity);
  });

  it('refuses paths of others', async () => {
    const fs = new MemoryFileSystem();
    expect(() => fs.qualify(p('s3://b/k'))).toThrow(InvalidPathError);
    await expect(fs.open(p('/plain'))).rejects.toThrow(InvalidPathError);
    expect(fs.qualify(p('a/b')).toString()).toBe('memory:/a/b');
    expect(fs.qualify(p('.')).toString()).toBe('memory:/');
    expect(fs.qualify(p('/a')).toString()).toBe('memory:/a');
    expect(fs.qualify(p('//auth/a')).toString()).toBe('memory://auth/a');
  });

  it('keeps authorities apart', async () => {
    const fs = new MemoryFileSystem();
    fs.put(p('memory://one/x'), '1');
    fs.put(p('memory://two/x'), '2');
    expect(await fs.deleteFile(p('memory://one/x'))).toBe(true);
    expect([...fs.snapshot().keys()]).toEqual(['memory://two/x']);
  });
});

describe('MemoryFileSystem as an object store', () => {
  const store = () => new MemoryFileSystem({ kind: 'object-store', scheme: 's3' });

  it('has a directory as long as something is in it', async () => {
    const fs = store();
    fs.put(p('s3://b/dir/sub/file'), 'x');
    expect((await fs.getFileStatus(p('s3://b/dir'))).type).toBe('directory');
    expect(await fs.makeDirectory(p('s3://b/dir'))).toBe(false);
    await fs.deleteFile(p('s3://b/dir/sub/file'));
    await expect(fs.getFileStatus(p('s3://b/dir'))).rejects.toThrow('no such file');
    expect(await fs.makeDirectory(p('s3://b/dir'))).toBe(true);
    expect((await fs.getFileStatus(p('s3://b/dir'))).type).toBe('directory');
  });

  it('takes an empty object of the name of a directory for a marker', async () => {
    const fs = store();
    fs.put(p('s3://b/chk-5'), '');
    fs.put(p('s3://b/chk-5/_metadata'), 'x');
    expect(await list(fs, 's3://b/')).toMatchObject([{ name: 'chk-5', type: 'directory' }]);
    expect(await list(fs, 's3://b/chk-5')).toMatchObject([{ name: '_metadata', type: 'file', size: 1 }]);
    expect((await fs.getFileStatus(p('s3://b/chk-5'))).type).toBe('directory');
    await fs.deleteFile(p('s3://b/chk-5/_metadata'));
    expect((await fs.getFileStatus(p('s3://b/chk-5'))).type).toBe('file');
  });

  it('lists an object and the directory of its name', async () => {
    const fs = store();
    fs.put(p('s3://b/x'), 'data');
    fs.put(p('s3://b/x/y'), 'data');
    expect(await list(fs, 's3://b/')).toMatchObject([
      { name: 'x', type: 'file', size: 4 },
      { name: 'x', type: 'directory' },
    ]);
    expect((await list(fs, 's3://b/x')).length).toBe(1);
  });
});
