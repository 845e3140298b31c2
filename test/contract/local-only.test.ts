/** What only a real file system can show: links, pipes, permissions, kills, and names that are no text. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as nodeFsSync from 'node:fs';
import * as nodeFs from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  AlreadyExistsError,
  DirectoryNotEmptyError,
  InvalidPathError,
  IoError,
  NotFoundError,
  PermissionError,
  WrongFileTypeError,
} from '../../src/errors.js';
import { LocalFileSystem } from '../../src/filesystem/local.js';
import { listLocal } from '../../src/filesystem/local-listing.js';
import { Path } from '../../src/filesystem/path.js';
import { isTemporaryName, markerName } from '../../src/filesystem/temporary-name.js';
import { repoRoot } from '../support/paths.js';
import { tempDirectory } from '../support/temp.js';
import { collect, expectError, readAll, writeFile } from './file-system.contract.js';

const run = promisify(execFile);
const NOBODY = 65534;

let directory: string;
let root: Path;
const fs = new LocalFileSystem();
const at = (name: string) => root.entry(name);
const native = (name: string) => join(directory, name);
const text = async (path: Path) => Buffer.from(await readAll(fs, path)).toString();
const namesIn = async (path: Path) => (await collect(fs.list(path))).map(({ name }) => name).sort();

beforeEach(async () => {
  directory = await tempDirectory();
  root = Path.parse(`file:${directory}`);
});

describe('links', () => {
  beforeEach(async () => {
    await writeFile(fs, at('file'), 'contents');
    await fs.makeDirectory(at('dir'));
    await writeFile(fs, at('dir').entry('inside'), 'x');
    await nodeFs.symlink('file', native('to-file'));
    await nodeFs.symlink('dir', native('to-dir'));
    await nodeFs.symlink('nothing', native('dangling'));
    await nodeFs.symlink('circle', native('circle'));
  });

  it('are followed, and reported as links', async () => {
    const entries = await collect(fs.list(root));
    const seen = entries.map(({ name, type, isLink }) => `${name} ${type} ${isLink}`).sort();
    expect(seen).toEqual([
      'circle other true',
      'dangling other true',
      'dir directory false',
      'file file false',
      'to-dir directory true',
      'to-file file true',
    ]);
    expect(await fs.getFileStatus(at('to-file'))).toMatchObject({ type: 'file', size: 8, isLink: true });
    expect(await fs.getFileStatus(at('to-dir'))).toMatchObject({ type: 'directory', isLink: true });
    expect((await fs.getFileStatus(at('to-file'))).identity).toBe((await fs.getFileStatus(at('file'))).identity);
    expect(await text(at('to-file'))).toBe('contents');
    expect(await namesIn(at('to-dir'))).toEqual(['inside']);
  });

  it('that lead nowhere are nothing to read, but something that is there', async () => {
    await expectError(fs.getFileStatus(at('dangling')), NotFoundError, at('dangling'));
    await expectError(fs.open(at('dangling')), NotFoundError, at('dangling'));
    await expectError(fs.open(at('circle')), IoError, at('circle'));
    await expectError(fs.createExclusive(at('dangling'), Buffer.from('x')), AlreadyExistsError, at('dangling'));
    await expectError(fs.createAtomic(at('dangling')), AlreadyExistsError, at('dangling'));
    await expectError(fs.makeDirectory(at('dangling')), AlreadyExistsError, at('dangling'));
    await expectError(fs.makeDirectory(at('dangling').entry('x')), AlreadyExistsError, at('dangling').entry('x'));
    await expectError(fs.rename(at('file'), at('dangling')), AlreadyExistsError, at('dangling'));
    await expect(nodeFs.lstat(native('nothing'))).rejects.toThrow('ENOENT');
  });

  it('are removed themselves, never what they lead to', async () => {
    await expectError(fs.deleteDirectory(at('to-dir')), WrongFileTypeError, at('to-dir'));
    await expectError(fs.deleteDirectory(at('to-file')), WrongFileTypeError, at('to-file'));
    for (const link of ['to-file', 'to-dir', 'dangling', 'circle']) expect(await fs.deleteFile(at(link))).toBe(true);
    expect(await namesIn(root)).toEqual(['dir', 'file']);
    expect(await namesIn(at('dir'))).toEqual(['inside']);
  });

  it('are replaced by an overwriting file, what they lead to stays', async () => {
    const writer = await fs.createAtomic(at('to-file'), { overwrite: true });
    await writer.write(Buffer.from('new'));
    await writer.commit();
    expect(await text(at('to-file'))).toBe('new');
    expect(await text(at('file'))).toBe('contents');
  });

  it('are renamed as links', async () => {
    await fs.rename(at('to-file'), at('moved'));
    expect(await nodeFs.readlink(native('moved'))).toBe('file');
    expect(await text(at('file'))).toBe('contents');
    expect(await namesIn(root)).not.toContain('to-file');
  });

  it('count as the directory that they lead to', async () => {
    expect(await fs.makeDirectory(at('to-dir'))).toBe(false);
    expect(await fs.makeDirectory(at('to-dir').entry('new'))).toBe(true);
    await writeFile(fs, at('to-dir').entry('written'), 'x');
    expect(await namesIn(at('dir'))).toEqual(['inside', 'new', 'written']);
  });

  it('are resolved to one path, also above the last name', async () => {
    const resolved = await fs.resolveLinks(at('to-dir').entry('inside'));
    expect(resolved.toString()).toBe(at('dir').entry('inside').toString());
    await expectError(fs.resolveLinks(at('dangling')), NotFoundError, at('dangling'));
  });

  it('hard ones are two names of one file', async () => {
    await nodeFs.link(native('file'), native('second'));
    const [first, second] = await Promise.all([fs.getFileStatus(at('file')), fs.getFileStatus(at('second'))]);
    expect(second).toMatchObject({ linkCount: 2, isLink: false });
    expect(second.identity).toBe(first.identity);
  });
});

describe('what is neither file nor directory', () => {
  it('is not opened, so a pipe does not hang and its writer notices nothing', async () => {
    await run('mkfifo', [native('pipe')]);
    const writer = spawn('sh', ['-c', 'echo waiting; echo data > "$1"; echo noticed', 'sh', native('pipe')]);
    onTestFinished(() => {
      writer.kill('SIGKILL');
    });
    let heard = '';
    writer.stdout.on('data', (chunk) => {
      heard += String(chunk);
    });
    await once(writer.stdout, 'data');
    await expectError(fs.open(at('pipe')), WrongFileTypeError, at('pipe'));
    expect((await fs.getFileStatus(at('pipe'))).type).toBe('other');
    expect(await collect(fs.list(root))).toMatchObject([{ name: 'pipe', type: 'other', isLink: false }]);
    expect(heard).toBe('waiting\n');
    expect(await fs.deleteFile(at('pipe'))).toBe(true);
  });

  it('may be a device or a socket', async () => {
    await expectError(fs.open(Path.parse('file:/dev/null')), WrongFileTypeError, Path.parse('file:/dev/null'));
    const server = createServer().listen(native('socket'));
    await once(server, 'listening');
    await expectError(fs.open(at('socket')), WrongFileTypeError, at('socket'));
    expect(await collect(fs.list(root))).toMatchObject([{ name: 'socket', type: 'other' }]);
    server.close();
  });
});

describe('names that are no text', () => {
  const rawName = (bytes: readonly number[]) => Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(bytes)]);

  it('are listed, opened, renamed and removed like others', async () => {
    const names = [
      [0xff],
      [0x61, 0xfe, 0x62],
      [0xc3],
      [0xed, 0xa0, 0x80],
      [0xe2, 0x82, 0x41],
      [0xf0, 0x9f, 0x98, 0x80, 0x80],
    ];
    for (const name of names) await nodeFs.writeFile(rawName(name), Buffer.from(name));
    await nodeFs.writeFile(native('\ufffd'), 'a name of its own');
    const listed = await namesIn(root);
    expect(new Set(listed).size).toBe(names.length + 1);
    for (const name of listed) {
      const bytes = await readAll(fs, at(name));
      if (name !== '\ufffd') expect(names).toContainEqual([...bytes]);
      expect((await fs.getFileStatus(at(name))).size).toBe(bytes.length);
    }
    expect(await text(at('\ufffd'))).toBe('a name of its own');
    const [odd = ''] = listed.filter((name) => name !== '\ufffd');
    await fs.rename(at(odd), at(`${odd}2`));
    expect(await fs.deleteFile(at(`${odd}2`))).toBe(true);
    for (const name of listed) expect(await fs.deleteFile(at(name))).toBe(name !== odd);
    expect(await namesIn(root)).toEqual([]);
  });

  it('may be those of directories', async () => {
    await nodeFs.mkdir(rawName([0x64, 0xff]));
    const [name = ''] = await namesIn(root);
    const inside = at(name).entry('file');
    await writeFile(fs, inside, 'x');
    expect(await namesIn(at(name))).toEqual(['file']);
    expect((await fs.resolveLinks(inside)).equals(inside)).toBe(true);
    await expectError(fs.deleteDirectory(at(name)), DirectoryNotEmptyError, at(name));
    expect(await fs.deleteFile(inside)).toBe(true);
    expect(await fs.deleteDirectory(at(name))).toBe(true);
    expect(await fs.makeDirectory(at(name))).toBe(true);
    expect(await nodeFs.readdir(directory, { encoding: 'buffer' })).toEqual([Buffer.from([0x64, 0xff])]);
  });

  it('that no file can have belong to nothing', async () => {
    await nodeFs.writeFile(native('\ufffd'), 'must not be taken for another');
    for (const name of ['nul\0', '\ud800', '\udc00', '\udc7f']) {
      await expectError(fs.getFileStatus(at(name)), NotFoundError, at(name));
      await expectError(fs.open(at(name)), NotFoundError, at(name));
      expect(await fs.deleteFile(at(name))).toBe(false);
      await expectError(fs.createExclusive(at(name), Buffer.from('x')), NotFoundError, at(name));
    }
    expect(await namesIn(root)).toEqual(['\ufffd']);
  });

  it('that are too long are an I/O error', async () => {
    const long = at('x'.repeat(256));
    await expectError(fs.getFileStatus(long), IoError, long);
    await expectError(fs.open(long), IoError, long);
    await expectError(fs.createExclusive(long, Buffer.from('x')), IoError, long);
    await expectError(fs.makeDirectory(long), IoError, long);
    await expectError(fs.deleteFile(long), IoError, long);
    expect(await namesIn(root)).toEqual([]);
  });
});

describe('paths that are not qualified', () => {
  it.each(['s3://bucket/key', '/plain', 'relative', 'file://host/a'])(
    '%s is refused, not looked up',
    async (string) => {
      const path = Path.parse(string);
      await expect(fs.getFileStatus(path)).rejects.toThrow(InvalidPathError);
      await expect(fs.deleteFile(path)).rejects.toThrow(InvalidPathError);
      await expect(collect(fs.list(path))).rejects.toThrow(InvalidPathError);
      await expect(fs.makeDirectory(path)).rejects.toThrow(InvalidPathError);
    },
  );
});

describe('without permission', () => {
  /** Nothing is forbidden to root, so as root this becomes somebody else for a while. */
  async function asNobody(work: () => Promise<void>): Promise<void> {
    if (process.getuid?.() !== 0 || process.seteuid === undefined) return work();
    process.seteuid(NOBODY);
    try {
      await work();
    } finally {
      process.seteuid(0);
    }
  }

  beforeEach(async () => {
    await writeFile(fs, at('locked'), 'secret');
    await fs.makeDirectory(at('closed'));
    await writeFile(fs, at('closed').entry('file'), 'x');
    await fs.makeDirectory(at('read-only').entry('sub'));
    await writeFile(fs, at('read-only').entry('file'), 'contents');
    await nodeFs.symlink('../closed/file', native('read-only/link'));
    await nodeFs.chmod(native('locked'), 0o200);
    await nodeFs.chmod(native('closed'), 0o300);
    await nodeFs.chmod(native('read-only'), 0o555);
    await nodeFs.chmod(directory, 0o755);
    onTestFinished(() => nodeFs.chmod(native('closed'), 0o700));
  });

  it('says so, for reading', async () => {
    await asNobody(async () => {
      await expectError(fs.open(at('locked')), PermissionError, at('locked'));
      await expectError(collect(fs.list(at('closed'))), PermissionError, at('closed'));
      expect((await fs.getFileStatus(at('locked'))).size).toBe(6);
    });
  });

  it('reads a read-only directory and changes nothing in it', async () => {
    const before = await nodeFs.stat(native('read-only'));
    await asNobody(async () => {
      const inside = at('read-only');
      expect((await namesIn(inside)).length).toBe(3);
      expect(await text(inside.entry('file'))).toBe('contents');
      expect(await fs.makeDirectory(inside)).toBe(false);
      expect(await fs.makeDirectory(inside.entry('sub'))).toBe(false);
      const newFile = inside.entry('new');
      await expectError(fs.createAtomic(newFile), PermissionError, newFile);
      await expectError(fs.createExclusive(newFile, Buffer.from('x')), PermissionError, newFile);
      await expectError(fs.makeDirectory(newFile), PermissionError, newFile);
      await expectError(fs.deleteFile(inside.entry('file')), PermissionError, inside.entry('file'));
      await expectError(fs.deleteDirectory(inside.entry('sub')), PermissionError, inside.entry('sub'));
      await expectError(fs.rename(inside.entry('file'), newFile), PermissionError, newFile);
      await expectError(fs.createAtomic(inside.entry('file')), AlreadyExistsError, inside.entry('file'));
    });
    expect((await nodeFs.readdir(native('read-only'))).sort()).toEqual(['file', 'link', 'sub']);
    expect((await nodeFs.stat(native('read-only'))).mtimeMs).toBe(before.mtimeMs);
  });

  it('does not move a file out of a directory that keeps it', async () => {
    await fs.makeDirectory(at('open'));
    await nodeFs.chmod(native('open'), 0o777);
    // Its owner may give it a second name, but not take the first one away.
    if (process.getuid?.() === 0) await nodeFs.chown(native('read-only/file'), NOBODY, NOBODY);
    await asNobody(async () => {
      const from = at('read-only').entry('file');
      await expect(fs.rename(from, at('open').entry('file'))).rejects.toThrow(PermissionError);
    });
    expect(await namesIn(at('open'))).toEqual([]);
    expect(await text(at('read-only').entry('file'))).toBe('contents');
  });
});

describe('a kill', () => {
  function start(mode: string, path: string) {
    const script = join(repoRoot(), 'test/support/write-atomically.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', script, mode, path], {
      cwd: repoRoot(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return child;
  }

  it.each(['without', 'with'])('in the middle of a write leaves nothing at the path, %s an old file', async (old) => {
    if (old === 'with') await writeFile(fs, at('file'), 'old');
    const child = start('hang', native('file'));
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const names = await namesIn(root);
    expect(names.filter((name) => !isTemporaryName(name))).toEqual(old === 'with' ? ['file'] : []);
    expect(names.filter(isTemporaryName).length).toBe(1);
    if (old === 'with') expect(await text(at('file'))).toBe('old');
    else await expectError(fs.getFileStatus(at('file')), NotFoundError, at('file'));
    await writeFile(fs, at('another'), "what is left behind is in nobody's way");
  });

  it('at any instant of replacing leaves a whole file', async () => {
    for (let round = 0; round < 8; round++) {
      const child = start('loop', native('file'));
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, round * 7));
      child.kill('SIGKILL');
      await once(child, 'exit');
      const contents = await text(at('file'));
      expect(contents).toBe(contents.charAt(0).repeat(200_000));
    }
  });

  it('is not needed for a write to fail: then nothing is left', async () => {
    const script = join(repoRoot(), 'test/support/write-atomically.ts');
    const command = 'trap "" XFSZ; ulimit -f 100; exec "$@"';
    const { stdout } = await run(
      'sh',
      ['-c', command, 'sh', process.execPath, '--import', 'tsx', script, 'limit', native('file')],
      { cwd: repoRoot() },
    );
    expect(stdout.trim()).toBe('IO_ERROR IO_ERROR');
    expect(await namesIn(root)).toEqual([]);
  });
});

describe('time stamps', () => {
  it('of a file stay when it is read', async () => {
    await writeFile(fs, at('file'), 'contents');
    const longAgo = new Date('2001-02-03T04:05:06Z');
    await nodeFs.utimes(native('file'), longAgo, longAgo);
    const before = await nodeFs.stat(native('file'));
    expect(await text(at('file'))).toBe('contents');
    await fs.getFileStatus(at('file'));
    const after = await nodeFs.stat(native('file'));
    expect([after.mtimeMs, after.ctimeMs]).toEqual([before.mtimeMs, before.ctimeMs]);
    if (process.platform === 'linux') expect(after.atimeMs).toBe(before.atimeMs);
  });

  it('are all looked at for the newest', async () => {
    await writeFile(fs, at('file'), 'contents');
    const longAgo = new Date('2001-02-03T04:05:06Z');
    await nodeFs.utimes(native('file'), longAgo, longAgo);
    const status = await fs.getFileStatus(at('file'));
    expect(status.modificationTime).toBe(longAgo.getTime());
    expect(status.newestTime).toBeGreaterThan(longAgo.getTime());
  });

  it('and the file itself survive a rename', async () => {
    await writeFile(fs, at('file'), 'contents');
    const before = await fs.getFileStatus(at('file'));
    await fs.rename(at('file'), at('moved'));
    const after = await fs.getFileStatus(at('moved'));
    expect([after.modificationTime, after.identity]).toEqual([before.modificationTime, before.identity]);
    expect(after.linkCount).toBe(1);
  });
});

it('keeps owner and mode of a file that it replaces', async () => {
  await writeFile(fs, at('file'), 'old');
  await nodeFs.chmod(native('file'), 0o640);
  if (process.getuid?.() === 0) await nodeFs.chown(native('file'), NOBODY, NOBODY);
  const before = await nodeFs.stat(native('file'));
  const writer = await fs.createAtomic(at('file'), { overwrite: true });
  await writer.commit();
  const after = await nodeFs.stat(native('file'));
  expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
});

describe('a store without hard links', () => {
  const plain = new LocalFileSystem({ hardLinks: 'avoid' });

  it('leaves no marker behind', async () => {
    await writeFile(plain, at('file'), 'x');
    await plain.rename(at('file'), at('moved'));
    await expectError(plain.createExclusive(at('moved'), Buffer.from('y')), AlreadyExistsError, at('moved'));
    expect(await namesIn(root)).toEqual(['moved']);
  });

  it('names the marker that a killed run has left, and changes nothing', async () => {
    const marker = native(markerName('file'));
    await nodeFs.writeFile(marker, '');
    const error = await plain.createExclusive(at('file'), Buffer.from('x')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(IoError);
    expect(String(error)).toContain(marker);
    expect(await namesIn(root)).toEqual([markerName('file')]);
    await nodeFs.unlink(marker);
    await writeFile(plain, at('file'), 'x');
  });
});

describe('a system that does not tell types with names', () => {
  class DirentFromStats {
    constructor(readonly name: Buffer) {}
  }
  const noTypes = { opendir: fakeOpendir(async () => new DirentFromStats(Buffer.from('file'))) };
  const vanished = Object.assign(new Error('ENOENT: lstat'), { code: 'ENOENT', syscall: 'lstat' });
  const noTypesAndARace = { opendir: fakeOpendir(() => Promise.reject(vanished)) };

  /** A directory handle that gives what Node makes of such a system. */
  function fakeOpendir(read: () => Promise<unknown>): typeof nodeFs.opendir {
    return (async () => ({ read, close: async () => undefined })) as unknown as typeof nodeFs.opendir;
  }

  it.each([
    ['one by one', noTypes],
    ['with a race', noTypesAndARace],
  ])('is listed all the same, %s', async (_, calls) => {
    await writeFile(fs, at('file'), 'x');
    await fs.makeDirectory(at('dir'));
    await nodeFs.symlink('dir', native('link'));
    const entries = await collect(listLocal(root, undefined, calls));
    expect(entries.map(({ name, type, isLink }) => `${name} ${type} ${isLink}`).sort()).toEqual([
      'dir directory false',
      'file file false',
      'link directory true',
    ]);
  });
});

it('leaves out a link that vanishes between its listing and the look at what it leads to', async () => {
  const isLink = { isFile: () => false, isDirectory: () => false, isSymbolicLink: () => true };
  const listed = [{ name: Buffer.from('vanished'), ...isLink }, { name: Buffer.from('dangling'), ...isLink }, null];
  await nodeFs.symlink('nowhere', native('dangling'));
  const opendir = (async () => ({
    read: async () => listed.shift() ?? null,
    readSync: () => listed.shift() ?? null,
    close: async () => undefined,
  })) as unknown as typeof nodeFs.opendir;
  expect(await collect(listLocal(root, undefined, { opendir }))).toMatchObject([{ name: 'dangling', type: 'other' }]);
});

it('lists while entries come and go', async () => {
  let isOver = false;
  const churn = async () => {
    for (let round = 0; !isOver; round++) {
      await nodeFs.symlink('nowhere', native(`link-${round}`));
      await nodeFs.writeFile(native(`file-${round}`), '');
      if (round >= 50) await nodeFs.unlink(native(`link-${round - 50}`));
      if (round >= 50) await nodeFs.unlink(native(`file-${round - 50}`));
    }
  };
  const churning = churn();
  for (let round = 0; round < 100; round++) {
    for (const { name, type } of await collect(fs.list(root))) {
      expect(type).toBe(name.startsWith('link') ? 'other' : 'file');
    }
  }
  isOver = true;
  await churning;
});

it('makes a directory although its parents are removed again and again', async () => {
  let isOver = false;
  const vandal = async () => {
    while (!isOver) await nodeFs.rm(native('a'), { recursive: true, force: true, maxRetries: 5 });
  };
  const vandalizing = vandal();
  const results = await Promise.allSettled(Array.from({ length: 200 }, () => fs.makeDirectory(at('a').child('b/c/d'))));
  isOver = true;
  await vandalizing;
  // Who loses every attempt gets an error of ours, nobody hangs and nobody sees another error.
  for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(NotFoundError);
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
});

describe('many files at once', () => {
  it('are looked at without following links', async () => {
    await writeFile(fs, at('file'), 'contents');
    await nodeFs.link(native('file'), native('second-name'));
    await nodeFs.symlink('file', native('to-file'));
    await nodeFs.symlink('nothing', native('dangling'));
    const [file, second, link, dangling] = await fs.getFileStatuses(root, [
      'file',
      'second-name',
      'to-file',
      'dangling',
    ]);
    expect(file).toMatchObject({ type: 'file', size: 8, linkCount: 2 });
    expect(second).toEqual(file);
    expect(link).toMatchObject({ type: 'link', size: 0 });
    expect(dangling).toMatchObject({ type: 'link', size: 0 });
  });

  it('have the same times as one by one, to the last nanosecond of a millisecond', async () => {
    const times = [
      '2026-11-30T12:00:00.123999950Z',
      '2026-11-30T12:00:00.123999999Z',
      '2026-11-30T12:00:00.124Z',
      '2026-11-30T12:00:00.123456789Z',
      '1969-12-31T23:59:59.999999999Z',
      '1960-01-01T00:00:00.000000001Z',
      '2106-02-07T06:28:15.999999990Z',
    ];
    const names = times.map((_, index) => `file-${index}`);
    for (const [index, time] of times.entries()) {
      await writeFile(fs, at(`file-${index}`), '');
      await promisify(execFile)('touch', ['-d', time, native(`file-${index}`)]);
    }
    const together = await fs.getFileStatuses(root, names);
    for (const [index, name] of names.entries()) {
      const { modificationTime, newestTime } = await fs.getFileStatus(at(name));
      expect(together[index], times[index]).toMatchObject({ modificationTime, newestTime });
      expect(Math.abs(modificationTime - Date.parse(times[index] ?? ''))).toBeLessThanOrEqual(1);
    }
  });

  it('are removed, of a link the link alone', async () => {
    await writeFile(fs, at('file'), 'contents');
    await nodeFs.symlink('file', native('to-file'));
    await nodeFs.symlink('nothing', native('dangling'));
    expect(await fs.deleteFiles(root, ['to-file', 'dangling'])).toEqual([true, true]);
    expect(await namesIn(root)).toEqual(['file']);
  });

  it('with names that are no text', async () => {
    const bytes = Buffer.from([0x66, 0xff, 0x6f]);
    await nodeFs.writeFile(Buffer.concat([Buffer.from(`${directory}/`), bytes]), 'x');
    const names = await namesIn(root);
    expect(await fs.getFileStatuses(root, names)).toEqual([expect.objectContaining({ type: 'file', size: 1 })]);
    expect(await fs.deleteFiles(root, names)).toEqual([true]);
    expect(await namesIn(root)).toEqual([]);
  });

  it('stay where they are if a link to another directory has taken the place of theirs', async () => {
    await writeFile(fs, at('real').entry('a'), 'x');
    await writeFile(fs, at('victim').entry('a'), 'x');
    const { identity } = await fs.getFileStatus(at('real'));
    await nodeFs.rename(native('real'), native('moved'));
    await nodeFs.symlink('victim', native('real'));
    expect(await fs.deleteFiles(at('real'), ['a'], { identity })).toEqual([expect.any(IoError)]);
    expect(await namesIn(at('victim'))).toEqual(['a']);
    await nodeFs.rm(native('real'));
    expect(await fs.deleteFiles(at('real'), ['a'], { identity })).toEqual([false]);
  });

  it('let timers run in between', async () => {
    const names = Array.from({ length: 12_000 }, (_, index) => `f${index}`);
    for (const name of names) nodeFsSync.writeFileSync(native(name), '');
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    const results = await fs.deleteFiles(root, names);
    clearInterval(timer);
    expect(results.every((result) => result === true)).toBe(true);
    expect(ticks).toBeGreaterThan(0);
  });
});
