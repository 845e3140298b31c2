/**
 * What every `FileSystem` must do: each sentence of `src/filesystem/file-system.ts` as a test. A file system proves itself by
 * a call of {@link describeFileSystem} in a test file of its own; object stores are let off only what their `kind` lets off.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AlreadyExistsError,
  DirectoryNotEmptyError,
  FileSystemError,
  InvalidPathError,
  IoError,
  NotFoundError,
  UnsupportedOperationError,
  WrongFileTypeError,
} from '../../src/errors.js';
import type { DirectoryEntry, FileSystem } from '../../src/filesystem/file-system.js';
import { Path } from '../../src/filesystem/path.js';

/** A file system under test, and what the suite cannot do through the interface. */
export interface Subject {
  readonly fileSystem: FileSystem;
  /** Qualified; an empty directory, or one that an object store will have as soon as something is in it. */
  readonly root: Path;
  /** Shortens a file behind the back of its readers. */
  readonly truncate: (path: Path, size: number) => void | Promise<void>;
  readonly cleanUp: () => void | Promise<void>;
}

/** How much the suite does; a slow store may want less. */
export interface Extent {
  /** Entries of the huge directory, default 20,000. */
  readonly hugeDirectory?: number;
  /** Files of the directory that is emptied while it is listed, default 2,500. */
  readonly busyDirectory?: number;
  /** Callers of a race, default 50. */
  readonly racers?: number;
  /** Of {@link ODD_NAMES} those that a test server cannot take. */
  readonly withoutNames?: readonly string[];
  /** Which of {@link ODD_NAMES} the store cannot have: each must be refused as an invalid path. Default none. */
  readonly unnameable?: (name: string) => boolean;
}

/** Every kind of name that Flink or a user might have, and some that only an attacker has. All are different files. */
export const ODD_NAMES: readonly string[] = [
  'chk-1',
  'chk-10',
  ' leading',
  'trailing ',
  ' ',
  '...',
  '.hidden',
  '-rf',
  '*',
  'a%20b',
  'a b',
  'a%2Fb',
  'a:b',
  'ab:c',
  'C:',
  'a\\b',
  'a?b',
  'a#b',
  'a=b',
  'a&b+c',
  '[a]',
  '{a}',
  "it's",
  '"quoted"',
  '<a>',
  'line\nbreak',
  'tab\tbed',
  '\u007f',
  'é',
  'e\u0301',
  '\u00a0',
  '日本語',
  '\ud83d\ude00',
  '\ufffd',
  '\ufeffbom',
  'UPPER',
  'upper',
  'x'.repeat(255),
];

/** Bytes 0, 1, … 255, 0, …, so that a wrong range is seen. */
export function pattern(length: number): Uint8Array {
  return new Uint8Array(
    Buffer.alloc(
      length,
      Uint8Array.from({ length: 256 }, (_, index) => index),
    ),
  );
}

export async function collect(list: AsyncIterable<readonly DirectoryEntry[]>): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const batch of list) entries.push(...batch);
  return entries;
}

export async function readAll(fileSystem: FileSystem, path: Path): Promise<Uint8Array> {
  const source = await fileSystem.open(path);
  try {
    return await source.read(0, source.size);
  } finally {
    await source.close();
  }
}

export async function writeFile(fileSystem: FileSystem, path: Path, contents: Uint8Array | string): Promise<void> {
  await fileSystem.createExclusive(path, toBytes(contents));
}

function toBytes(contents: Uint8Array | string): Uint8Array {
  return typeof contents === 'string' ? new TextEncoder().encode(contents) : contents;
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Expects a rejection with an error of this class that names this path. */
export async function expectError(
  work: Promise<unknown>,
  type: new (...args: never[]) => FileSystemError,
  path: Path,
): Promise<void> {
  const error = await work.then(
    (value) => expect.fail(`resolved to ${JSON.stringify(value)}, no error`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(type);
  expect(error).toBeInstanceOf(FileSystemError);
  expect((error as FileSystemError).data.path).toBe(path.toString());
  expect((error as FileSystemError).message.startsWith(path.toString())).toBe(true);
}

/** How many fulfilled; the others must all have failed with an error of this class. */
async function countWinners(
  work: readonly Promise<unknown>[],
  type: new (...args: never[]) => FileSystemError,
): Promise<number> {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(type);
  return results.filter(({ status }) => status === 'fulfilled').length;
}

/** Registers the suite for one file system; `make` gives a fresh one for each test. */
export function describeFileSystem(name: string, make: () => Promise<Subject>, extent: Extent = {}): void {
  const { hugeDirectory = 20_000, busyDirectory = 2500, racers = 50, withoutNames = [], unnameable } = extent;
  const impossibleNames = ODD_NAMES.filter((odd) => unnameable?.(odd) === true);
  const oddNames = ODD_NAMES.filter((odd) => !withoutNames.includes(odd) && !impossibleNames.includes(odd));

  describe(`FileSystem contract: ${name}`, () => {
    let subject: Subject;
    let fs: FileSystem;
    let root: Path;
    const isStore = () => fs.kind === 'object-store';
    const at = (relative: string) => root.child(relative);
    const namesIn = async (directory: Path) => (await collect(fs.list(directory))).map((entry) => entry.name).sort();

    beforeEach(async () => {
      subject = await make();
      ({ fileSystem: fs, root } = subject);
    });
    afterEach(async () => {
      await subject.cleanUp();
    });

    describe('qualify', () => {
      it('gives an absolute path with the scheme, and leaves such a path alone', () => {
        const path = fs.qualify(Path.parse('some/relative/../path'));
        expect(path.scheme).toBeDefined();
        expect(path.isAbsolute).toBe(true);
        expect(path.toString().endsWith('/some/path')).toBe(true);
        expect(fs.qualify(path).equals(path)).toBe(true);
        expect(fs.qualify(root).equals(root)).toBe(true);
        expect(root.scheme).toBe(fs.scheme);
      });

      it('drops the slash that a trailing ".." leaves', () => {
        expect(fs.qualify(root.child('x/..')).equals(root)).toBe(true);
        expect(fs.qualify(Path.parse(`${root.entry('x')}/..`)).equals(root)).toBe(true);
      });
    });

    describe('clockOffset', () => {
      it('tells how far the clock of the store is ahead, whether or not anything is there', async () => {
        await writeFile(fs, at('file'), 'x');
        const { modificationTime } = await fs.getFileStatus(at('file'));
        const now = Date.now() + (await fs.clockOffset(at('nothing')));
        // A store may keep and tell its time in seconds; by its own clock the file is from now all the same.
        expect(Math.abs(now - modificationTime)).toBeLessThan(60_000);
      });
    });

    describe('getFileStatus', () => {
      it('describes a file', async () => {
        const before = Date.now();
        await writeFile(fs, at('file'), pattern(1234));
        const status = await fs.getFileStatus(at('file'));
        expect(status).toMatchObject({ type: 'file', size: 1234, isLink: false, linkCount: 1 });
        expect(status.path.equals(at('file'))).toBe(true);
        expect(Number.isInteger(status.modificationTime)).toBe(true);
        // The clock of a store may differ from ours; a day is more than any test machine is off.
        expect(Math.abs(status.modificationTime - before)).toBeLessThan(86_400_000);
        expect(status.newestTime).toBeGreaterThanOrEqual(status.modificationTime);
      });

      it('describes a directory, with or without a slash at the end', async () => {
        await writeFile(fs, at('dir/file'), 'x');
        expect(await fs.getFileStatus(at('dir'))).toMatchObject({ type: 'directory', size: 0, isLink: false });
        expect((await fs.getFileStatus(fs.qualify(Path.parse(`${at('dir')}/`)))).type).toBe('directory');
      });

      it('tells two files apart by their identity', async () => {
        await writeFile(fs, at('a'), 'x');
        await writeFile(fs, at('b'), 'x');
        const [a, again, b] = await Promise.all([at('a'), at('a'), at('b')].map((path) => fs.getFileStatus(path)));
        expect(again?.identity).toBe(a?.identity);
        if (a?.identity !== undefined) expect(b?.identity).not.toBe(a.identity);
      });

      it('rejects with NotFoundError where nothing is, also below a file', async () => {
        await writeFile(fs, at('file'), 'x');
        await expectError(fs.getFileStatus(at('nothing')), NotFoundError, at('nothing'));
        await expectError(fs.getFileStatus(at('no/thing')), NotFoundError, at('no/thing'));
        await expectError(fs.getFileStatus(at('file/below')), NotFoundError, at('file/below'));
      });

      it('does not take a prefix of a name for the name', async () => {
        await writeFile(fs, at('chk-10/_metadata'), 'x');
        await expectError(fs.getFileStatus(at('chk-1')), NotFoundError, at('chk-1'));
      });
    });

    describe('list', () => {
      it('shows every child once, with its type, and nothing else', async () => {
        await writeFile(fs, at('dir/file'), '12345');
        await writeFile(fs, at('dir/empty'), '');
        await writeFile(fs, at('dir/sub/deep/file'), 'x');
        const entries = await collect(fs.list(at('dir')));
        expect(entries.map(({ name, type, isLink }) => ({ name, type, isLink })).sort(byName)).toEqual([
          { name: 'empty', type: 'file', isLink: false },
          { name: 'file', type: 'file', isLink: false },
          { name: 'sub', type: 'directory', isLink: false },
        ]);
        for (const { name, size, modificationTime } of entries) {
          const status = await fs.getFileStatus(at('dir').entry(name));
          if (size !== undefined) expect(size).toBe(status.size);
          if (modificationTime !== undefined) expect(modificationTime).toBe(status.modificationTime);
        }
      });

      it('never shows anything of chk-10 for chk-1', async () => {
        await writeFile(fs, at('chk-1/a'), 'x');
        await writeFile(fs, at('chk-10/b'), 'x');
        await writeFile(fs, at('chk-1x'), 'x');
        expect(await namesIn(at('chk-1'))).toEqual(['a']);
      });

      it('lists a directory that was made and is empty', async () => {
        await fs.makeDirectory(at('empty'));
        expect(await namesIn(at('empty'))).toEqual([]);
        expect(await collect(fs.list(root))).toMatchObject([{ name: 'empty', type: 'directory' }]);
      });

      it('rejects for what is no directory', async () => {
        await writeFile(fs, at('file'), 'x');
        await expectError(collect(fs.list(at('nothing'))), NotFoundError, at('nothing'));
        await expectError(collect(fs.list(at('file'))), WrongFileTypeError, at('file'));
        await expectError(collect(fs.list(at('file/below'))), NotFoundError, at('file/below'));
      });

      it('reports names letter by letter, and they lead to their files', async () => {
        const directory = at('odd');
        await Promise.all(oddNames.map((odd) => writeFile(fs, directory.entry(odd), odd)));
        expect(await namesIn(directory)).toEqual([...oddNames].sort());
        for (const odd of oddNames) expect(toText(await readAll(fs, directory.entry(odd)))).toBe(odd);
        for (const odd of oddNames) expect(await fs.deleteFile(directory.entry(odd))).toBe(true);
      });

      it.runIf(impossibleNames.length > 0)('refuses names that it cannot have', async () => {
        await writeFile(fs, at('dir/file'), 'x');
        for (const odd of impossibleNames) {
          const path = at('dir').entry(odd);
          await expect(writeFile(fs, path, 'x')).rejects.toThrow(InvalidPathError);
          await expect(fs.getFileStatus(path)).rejects.toThrow(InvalidPathError);
          await expect(fs.open(path)).rejects.toThrow(InvalidPathError);
          await expect(fs.makeDirectory(path)).rejects.toThrow(InvalidPathError);
          await expect(fs.rename(at('dir/file'), path)).rejects.toThrow(InvalidPathError);
          await expect(fs.deleteFile(path)).rejects.toThrow(InvalidPathError);
          expect(await fs.getFileStatuses(at('dir'), [odd, 'file'])).toEqual([
            expect.any(InvalidPathError),
            expect.objectContaining({ type: 'file' }),
          ]);
          expect(await fs.deleteFiles(at('dir'), [odd])).toEqual([expect.any(InvalidPathError)]);
        }
        expect(await namesIn(at('dir'))).toEqual(['file']);
      });

      it(`lists ${hugeDirectory} entries, in batches`, async () => {
        const directory = at('huge');
        const expected = Array.from({ length: hugeDirectory }, (_, index) => `state-${index}`);
        for (let start = 0; start < hugeDirectory; start += 100) {
          await Promise.all(
            expected.slice(start, start + 100).map(async (file) => {
              const writer = await fs.createAtomic(directory.entry(file), { sync: false });
              await writer.commit();
            }),
          );
        }
        const names = new Set<string>();
        let largest = 0;
        for await (const batch of fs.list(directory)) {
          largest = Math.max(largest, batch.length);
          for (const { name } of batch) names.add(name);
        }
        expect(names).toEqual(new Set(expected));
        expect(largest).toBeLessThanOrEqual(Math.max(1024, hugeDirectory / 10));
      }, 180_000);

      it('leaves out what vanishes meanwhile, and may be left early', async () => {
        const directory = at('busy');
        const files = Array.from({ length: busyDirectory }, (_, index) => directory.entry(`f${index}`));
        for (let start = 0; start < files.length; start += 100) {
          await Promise.all(files.slice(start, start + 100).map((file) => writeFile(fs, file, '')));
        }
        let batches = 0;
        for await (const _ of fs.list(directory)) {
          batches += 1;
          if (batches === 1) await Promise.all(files.map((file) => fs.deleteFile(file)));
        }
        expect(batches).toBeGreaterThan(0);
        await writeFile(fs, directory.entry('last'), '');
        for await (const batch of fs.list(directory)) {
          expect(batch.length).toBeGreaterThan(0);
          break;
        }
      }, 120_000);

      it('stops with the reason of an aborted signal', async () => {
        await writeFile(fs, at('file'), 'x');
        const reason = new Error('enough');
        await expect(collect(fs.list(root, AbortSignal.abort(reason)))).rejects.toBe(reason);
      });
    });

    describe('open', () => {
      it('reads exactly the range asked for', async () => {
        await writeFile(fs, at('file'), pattern(5000));
        const source = await fs.open(at('file'));
        expect(source.size).toBe(5000);
        expect(await source.read(0, 5000)).toEqual(asBytes(pattern(5000)));
        expect(await source.read(4999, 5000)).toEqual(asBytes(pattern(5000).slice(4999)));
        expect(await source.read(300, 700)).toEqual(asBytes(pattern(5000).slice(300, 700)));
        expect((await source.read(5000, 5000)).byteLength).toBe(0);
        expect((await source.read(0, 0)).byteLength).toBe(0);
        await source.close();
      });

      it('reads many ranges at once', async () => {
        await writeFile(fs, at('file'), pattern(10_000));
        const source = await fs.open(at('file'));
        const starts = Array.from({ length: 100 }, (_, index) => index * 100);
        const ranges = await Promise.all(starts.map((start) => source.read(start, start + 100)));
        expect(ranges).toEqual(starts.map((start) => asBytes(pattern(10_000).slice(start, start + 100))));
        await source.close();
      });

      it('reads into a buffer of the caller and touches nothing beside', async () => {
        await writeFile(fs, at('file'), pattern(100));
        const source = await fs.open(at('file'));
        const target = new Uint8Array(20).fill(0xee);
        await source.readInto(target, 5, 50, 60);
        expect([...target]).toEqual([...Array(5).fill(0xee), ...pattern(100).slice(50, 60), ...Array(5).fill(0xee)]);
        await expect(source.readInto(target, 15, 0, 10)).rejects.toThrow(RangeError);
        await expect(source.readInto(target, -1, 0, 10)).rejects.toThrow(RangeError);
        await source.close();
      });

      it('refuses a range behind the end without allocating it, and can be used afterwards', async () => {
        await writeFile(fs, at('file'), pattern(10));
        const source = await fs.open(at('file'));
        await expectError(source.read(0, 11), IoError, at('file'));
        await expectError(source.read(2 ** 50, 2 ** 51), IoError, at('file'));
        await expect(source.read(5, 4)).rejects.toThrow(RangeError);
        await expect(source.read(-1, 4)).rejects.toThrow(RangeError);
        await expect(source.read(0.5, 4)).rejects.toThrow(RangeError);
        expect([...(await source.read(8, 10))]).toEqual([8, 9]);
        await source.close();
      });

      it('rejects when the file has become shorter, never reads short', async () => {
        await writeFile(fs, at('file'), pattern(100_000));
        const source = await fs.open(at('file'));
        await subject.truncate(at('file'), 50_000);
        expect(source.size).toBe(100_000);
        await expectError(source.read(0, 100_000), IoError, at('file'));
        await expectError(source.read(50_000, 50_001), IoError, at('file'));
        await expectError(source.readInto(new Uint8Array(20), 0, 49_990, 50_010), IoError, at('file'));
        // What an object store has now is another object, of which it may refuse even this part.
        const rest = await source.read(49_000, 50_000).catch((error: unknown) => error);
        if (!isStore() || !(rest instanceof IoError)) {
          expect(rest).toEqual(asBytes(pattern(100_000).slice(49_000, 50_000)));
        }
        await source.close();
      });

      it('stops with the reason of an aborted signal', async () => {
        await writeFile(fs, at('file'), pattern(10));
        const source = await fs.open(at('file'));
        const reason = new Error('enough');
        await expect(source.read(0, 10, AbortSignal.abort(reason))).rejects.toBe(reason);
        expect((await source.read(0, 10)).byteLength).toBe(10);
        await source.close();
      });

      it('closes as often as one likes; afterwards nothing can be read', async () => {
        await writeFile(fs, at('file'), pattern(10));
        const source = await fs.open(at('file'));
        await source.close();
        await source.close();
        await expectError(source.read(0, 1), IoError, at('file'));
      });

      it('rejects for what is no file', async () => {
        await writeFile(fs, at('dir/file'), 'x');
        await expectError(fs.open(at('nothing')), NotFoundError, at('nothing'));
        await expectError(fs.open(at('dir')), WrongFileTypeError, at('dir'));
        await expectError(fs.open(at('dir/file/below')), NotFoundError, at('dir/file/below'));
      });
    });

    it('resolveLinks gives one path for one file', async () => {
      await writeFile(fs, at('file'), 'x');
      const resolved = await fs.resolveLinks(at('file'));
      expect(resolved.isAbsolute).toBe(true);
      expect((await fs.resolveLinks(at('x/../file'))).equals(resolved)).toBe(true);
    });

    describe('makeDirectory', () => {
      it('says whether it made the last directory', async () => {
        expect(await fs.makeDirectory(at('a/b/c'))).toBe(true);
        expect(await fs.makeDirectory(at('a/b/c'))).toBe(false);
        expect((await fs.getFileStatus(at('a/b/c'))).type).toBe('directory');
        expect((await fs.getFileStatus(at('a'))).type).toBe('directory');
      });

      it('takes a directory that is there because something is in it', async () => {
        await writeFile(fs, at('a/b/file'), 'x');
        expect(await fs.makeDirectory(at('a/b'))).toBe(false);
        expect(await fs.makeDirectory(at('a'))).toBe(false);
      });

      it('rejects if a file is at the path, and with real directories in its way', async () => {
        await writeFile(fs, at('file'), 'x');
        await expectError(fs.makeDirectory(at('file')), AlreadyExistsError, at('file'));
        if (isStore()) return;
        await expectError(fs.makeDirectory(at('file/a')), AlreadyExistsError, at('file/a'));
        await expectError(fs.makeDirectory(at('file/a/b')), AlreadyExistsError, at('file/a/b'));
      });

      it(`lets exactly one of ${racers} callers win`, async () => {
        const answers = await Promise.all(Array.from({ length: racers }, () => fs.makeDirectory(at('x/y/z'))));
        expect(answers.filter(Boolean).length).toBe(1);
      });
    });

    describe('createAtomic', () => {
      it('shows nothing before the commit and everything afterwards', async () => {
        const writer = await fs.createAtomic(at('new/dir/file'));
        await writer.write(pattern(1000));
        expect(writer.position).toBe(1000);
        await writer.write(pattern(500));
        expect(writer.position).toBe(1500);
        await expectError(fs.getFileStatus(at('new/dir/file')), NotFoundError, at('new/dir/file'));
        await writer.commit();
        expect(await readAll(fs, at('new/dir/file'))).toEqual(asBytes([...pattern(1000), ...pattern(500)]));
        expect(await namesIn(at('new/dir'))).toEqual(['file']);
      });

      it('may be empty', async () => {
        await (await fs.createAtomic(at('empty'))).commit();
        expect((await fs.getFileStatus(at('empty'))).size).toBe(0);
      });

      it('patches what was written before, and only that', async () => {
        const writer = await fs.createAtomic(at('file'));
        await writer.write(pattern(10));
        await writer.patch(0, Uint8Array.of(100, 101));
        await writer.patch(8, Uint8Array.of(108, 109));
        await writer.write(Uint8Array.of(10));
        await expect(writer.patch(10, Uint8Array.of(1, 2))).rejects.toThrow(RangeError);
        await expect(writer.patch(-1, Uint8Array.of(1))).rejects.toThrow(RangeError);
        expect(writer.position).toBe(11);
        await writer.commit();
        expect([...(await readAll(fs, at('file')))]).toEqual([100, 101, 2, 3, 4, 5, 6, 7, 108, 109, 10]);
      });

      it('does not keep a chunk, and keeps the order of writes that nobody awaits', async () => {
        const writer = await fs.createAtomic(at('file'));
        const chunk = Uint8Array.of(1, 2, 3);
        await writer.write(chunk);
        chunk.fill(9);
        await Promise.all([4, 5, 6, 7].map((byte) => writer.write(Uint8Array.of(byte))));
        void writer.write(Uint8Array.of(8));
        await writer.commit();
        expect([...(await readAll(fs, at('file')))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      });

      it('rejects at once if something is there', async () => {
        await writeFile(fs, at('file'), 'old');
        await fs.makeDirectory(at('dir'));
        await expectError(fs.createAtomic(at('file')), AlreadyExistsError, at('file'));
        await expectError(fs.createAtomic(at('dir')), AlreadyExistsError, at('dir'));
        await expectError(fs.createAtomic(at('dir'), { overwrite: true }), WrongFileTypeError, at('dir'));
        if (!isStore()) await expectError(fs.createAtomic(at('file/x')), AlreadyExistsError, at('file/x'));
        expect(await namesIn(root)).toEqual(['dir', 'file']);
      });

      it('rejects at commit if something has come meanwhile, and leaves nothing behind', async () => {
        const writer = await fs.createAtomic(at('file'));
        await writer.write(pattern(10));
        await writeFile(fs, at('file'), 'theirs');
        await expectError(writer.commit(), AlreadyExistsError, at('file'));
        expect(toText(await readAll(fs, at('file')))).toBe('theirs');
        expect(await namesIn(root)).toEqual(['file']);
        await writer.abort();
      });

      it('keeps the old file until an overwriting commit', async () => {
        await writeFile(fs, at('file'), 'old');
        const writer = await fs.createAtomic(at('file'), { overwrite: true });
        await writer.write(toBytes('new contents'));
        expect(toText(await readAll(fs, at('file')))).toBe('old');
        await writer.commit();
        expect(toText(await readAll(fs, at('file')))).toBe('new contents');
        expect(await namesIn(root)).toEqual(['file']);
        const first = await fs.createAtomic(at('other'), { overwrite: true });
        await first.write(toBytes('first'));
        await first.commit();
        expect(toText(await readAll(fs, at('other')))).toBe('first');
      });

      it('leaves nothing after an abort, however often', async () => {
        const writer = await fs.createAtomic(at('dir/file'));
        await writer.write(pattern(10));
        await writer.abort();
        await writer.abort();
        await expectError(writer.write(pattern(1)), IoError, at('dir/file'));
        await expectError(writer.commit(), IoError, at('dir/file'));
        await writeFile(fs, at('dir/other'), 'x');
        expect(await namesIn(at('dir'))).toEqual(['other']);
      });

      it('does not lose a committed file to an abort, nor commit twice', async () => {
        const writer = await fs.createAtomic(at('file'));
        await writer.write(pattern(10));
        await writer.commit();
        await writer.abort();
        await expectError(writer.commit(), IoError, at('file'));
        expect((await fs.getFileStatus(at('file'))).size).toBe(10);
      });

      it(`lets exactly one of ${racers} commits win`, async () => {
        const writers = await Promise.all(Array.from({ length: racers }, () => fs.createAtomic(at('file'))));
        await Promise.all(writers.map((writer, index) => writer.write(toBytes(`writer ${index}`))));
        expect(
          await countWinners(
            writers.map((writer) => writer.commit()),
            AlreadyExistsError,
          ),
        ).toBe(1);
        expect(toText(await readAll(fs, at('file')))).toMatch(/^writer \d+$/);
        expect(await namesIn(root)).toEqual(['file']);
      });
    });

    describe('createExclusive', () => {
      it('creates a file with its directories', async () => {
        await fs.createExclusive(at('a/b/file'), toBytes('contents'));
        expect(toText(await readAll(fs, at('a/b/file')))).toBe('contents');
        expect(await namesIn(at('a/b'))).toEqual(['file']);
      });

      it('changes nothing that is there', async () => {
        await writeFile(fs, at('file'), 'old');
        await fs.makeDirectory(at('dir'));
        await expectError(fs.createExclusive(at('file'), toBytes('new')), AlreadyExistsError, at('file'));
        await expectError(fs.createExclusive(at('dir'), toBytes('new')), AlreadyExistsError, at('dir'));
        expect(toText(await readAll(fs, at('file')))).toBe('old');
        expect(await namesIn(root)).toEqual(['dir', 'file']);
      });

      it(`lets exactly one of ${racers} callers win, with its whole contents`, async () => {
        const work = Array.from({ length: racers }, (_, index) =>
          fs.createExclusive(at('file'), toBytes(`caller ${index} `.repeat(1000))),
        );
        expect(await countWinners(work, AlreadyExistsError)).toBe(1);
        const winner = (await Promise.allSettled(work)).findIndex(({ status }) => status === 'fulfilled');
        expect(toText(await readAll(fs, at('file')))).toBe(`caller ${winner} `.repeat(1000));
        expect(await namesIn(root)).toEqual(['file']);
      });
    });

    describe('copyFile', () => {
      it('copies the contents, over what is there, and leaves the source as it is', async () => {
        const big = 'x'.repeat(300_000);
        for (const [name, contents] of [
          ['small', 'one'],
          ['empty', ''],
          ['big', big],
        ] as const) {
          await writeFile(fs, at(`a/${name}`), contents);
          await fs.copyFile(at(`a/${name}`), at(`a/${name}-copy`));
          expect(toText(await readAll(fs, at(`a/${name}-copy`)))).toBe(contents);
          expect(toText(await readAll(fs, at(`a/${name}`)))).toBe(contents);
        }
        await fs.copyFile(at('a/small'), at('a/big-copy'), { sync: true });
        expect(toText(await readAll(fs, at('a/big-copy')))).toBe('one');
      });

      it('fails for what is not there or no file', async () => {
        await writeFile(fs, at('a/file'), 'one');
        await expectError(fs.copyFile(at('a/gone'), at('a/to')), NotFoundError, at('a/gone'));
        await expectError(fs.copyFile(at('a'), at('to')), WrongFileTypeError, at('a'));
        expect(await namesIn(at('a'))).toEqual(['file']);
      });
    });

    describe('rename', () => {
      it('moves a file and never replaces one', async () => {
        await writeFile(fs, at('a/from'), 'one');
        await writeFile(fs, at('b/taken'), 'two');
        if (isStore()) {
          await expectError(fs.rename(at('a/from'), at('b/to')), UnsupportedOperationError, at('a/from'));
          expect(toText(await readAll(fs, at('a/from')))).toBe('one');
          return;
        }
        await expectError(fs.rename(at('a/from'), at('b/taken')), AlreadyExistsError, at('b/taken'));
        await expectError(fs.rename(at('a/from'), at('b')), AlreadyExistsError, at('b'));
        await expectError(fs.rename(at('a/from'), at('a/from')), AlreadyExistsError, at('a/from'));
        await expectError(fs.rename(at('a/gone'), at('b/to')), NotFoundError, at('a/gone'));
        await expectError(fs.rename(at('a/from'), at('c/to')), NotFoundError, at('c/to'));
        await expectError(fs.rename(at('a'), at('c')), WrongFileTypeError, at('a'));
        expect([await namesIn(at('a')), await namesIn(at('b'))]).toEqual([['from'], ['taken']]);

        await fs.rename(at('a/from'), at('b/to'));
        expect([await namesIn(at('a')), await namesIn(at('b'))]).toEqual([[], ['taken', 'to']]);
        expect(toText(await readAll(fs, at('b/to')))).toBe('one');
        expect(toText(await readAll(fs, at('b/taken')))).toBe('two');
      });

      it(`lets exactly one of ${racers} files have a name`, async () => {
        if (isStore()) return expect(fs.kind).toBe('object-store');
        const sources = Array.from({ length: racers }, (_, index) => at(`from-${index}`));
        await Promise.all(sources.map((source) => writeFile(fs, source, source.name)));
        const work = sources.map((source) => fs.rename(source, at('to')));
        expect(await countWinners(work, AlreadyExistsError)).toBe(1);
        const winner = (await Promise.allSettled(work)).findIndex(({ status }) => status === 'fulfilled');
        expect(toText(await readAll(fs, at('to')))).toBe(`from-${winner}`);
        expect((await namesIn(root)).length).toBe(racers);
      });
    });

    it(`lets exactly one of ${racers} callers rename one file`, async () => {
      if (isStore()) return expect(fs.kind).toBe('object-store');
      await writeFile(fs, at('from'), 'contents');
      const work = Array.from({ length: racers }, (_, index) => fs.rename(at('from'), at(`to-${index}`)));
      expect(await countWinners(work, NotFoundError)).toBe(1);
      for (const result of await Promise.allSettled(work)) {
        if (result.status === 'rejected') expect(result.reason.data.path).toBe(at('from').toString());
      }
      expect((await namesIn(root)).length).toBe(1);
    });

    describe('deleteFile', () => {
      it('removes a file and says so, and false where nothing is', async () => {
        await writeFile(fs, at('dir/file'), 'x');
        await writeFile(fs, at('dir/other'), 'x');
        expect(await fs.deleteFile(at('dir/file'))).toBe(true);
        expect(await fs.deleteFile(at('dir/file'))).toBe(false);
        expect(await fs.deleteFile(at('no/thing'))).toBe(false);
        expect(await fs.deleteFile(at('dir/other/below'))).toBe(false);
        expect(await namesIn(at('dir'))).toEqual(['other']);
      });

      it('never removes a directory', async () => {
        await fs.makeDirectory(at('empty'));
        await writeFile(fs, at('full/file'), 'x');
        await expectError(fs.deleteFile(at('empty')), WrongFileTypeError, at('empty'));
        await expectError(fs.deleteFile(at('full')), WrongFileTypeError, at('full'));
        expect(await namesIn(root)).toEqual(['empty', 'full']);
      });
    });

    describe('getFileStatuses', () => {
      it('describes many entries at once, in the order of the names, and undefined where nothing is', async () => {
        const directory = at('dir');
        for (let index = 0; index < 40; index++) await writeFile(fs, directory.entry(`f${index}`), pattern(index));
        await writeFile(fs, directory.entry('sub').entry('file'), 'x');
        const names = [...Array.from({ length: 40 }, (_, index) => `f${39 - index}`), 'gone', 'sub'];
        const statuses = await fs.getFileStatuses(directory, names);
        expect(statuses.length).toBe(names.length);
        for (const [index, name] of names.slice(0, 40).entries()) {
          const { type, size, modificationTime, newestTime, linkCount } = await fs.getFileStatus(directory.entry(name));
          expect(statuses[index]).toEqual({ type, size, modificationTime, newestTime, linkCount });
        }
        expect(statuses[40]).toBeUndefined();
        expect(statuses[41]).toMatchObject({ type: 'directory', size: 0 });
      });

      it('takes names letter by letter', async () => {
        await Promise.all(oddNames.map((odd) => writeFile(fs, at('odd').entry(odd), odd)));
        const statuses = await fs.getFileStatuses(at('odd'), oddNames);
        expect(statuses).toEqual(
          oddNames.map((odd) => expect.objectContaining({ type: 'file', size: toBytes(odd).byteLength })),
        );
      });

      it('has an error in place of what no entry can be called, and nothing where no directory is', async () => {
        await writeFile(fs, at('dir/file'), 'x');
        const [up, slash, file] = await fs.getFileStatuses(at('dir'), ['..', 'a/b', 'file']);
        expect(up).toBeInstanceOf(InvalidPathError);
        expect(slash).toBeInstanceOf(InvalidPathError);
        expect(file).toMatchObject({ type: 'file' });
        expect(await fs.getFileStatuses(at('nothing'), ['a', 'b'])).toEqual([undefined, undefined]);
        expect(await fs.getFileStatuses(at('dir/file'), ['a'])).toEqual([undefined]);
        expect(await fs.getFileStatuses(at('dir'), [])).toEqual([]);
      });

      it('stops with the reason of an aborted signal', async () => {
        await writeFile(fs, at('file'), 'x');
        const reason = new Error('enough');
        await expect(fs.getFileStatuses(root, ['file'], AbortSignal.abort(reason))).rejects.toBe(reason);
      });
    });

    describe('deleteFiles', () => {
      it('removes many files of one directory and says of each whether it was there', async () => {
        const directory = at('dir');
        const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
        for (const name of [...names, 'other']) await writeFile(fs, directory.entry(name), name);
        expect(await fs.deleteFiles(directory, ['gone', ...names, 'f0'])).toEqual([
          false,
          ...names.map(() => true),
          false,
        ]);
        expect(await namesIn(directory)).toEqual(['other']);
        expect(await fs.deleteFiles(at('no/thing'), ['a'])).toEqual([false]);
        expect(await fs.deleteFiles(directory.entry('other'), ['below'])).toEqual([false]);
        expect(await fs.deleteFiles(directory, [])).toEqual([]);
      });

      it('takes names letter by letter', async () => {
        await Promise.all(oddNames.map((odd) => writeFile(fs, at('odd').entry(odd), odd)));
        await writeFile(fs, at('odd/last'), 'x');
        expect(await fs.deleteFiles(at('odd'), oddNames)).toEqual(oddNames.map(() => true));
        expect(await namesIn(at('odd'))).toEqual(['last']);
      });

      it('never removes a directory, and goes on behind what it cannot remove', async () => {
        await writeFile(fs, at('dir/full/file'), 'x');
        await fs.makeDirectory(at('dir/empty'));
        await writeFile(fs, at('dir/a'), 'x');
        await writeFile(fs, at('dir/b'), 'x');
        const results = await fs.deleteFiles(at('dir'), ['a', 'full', 'empty', '..', 'x/y', 'b']);
        expect(results).toEqual([
          true,
          expect.any(WrongFileTypeError),
          expect.any(WrongFileTypeError),
          expect.any(InvalidPathError),
          expect.any(InvalidPathError),
          true,
        ]);
        expect((results[1] as WrongFileTypeError).data.path).toBe(at('dir/full').toString());
        expect(await namesIn(at('dir'))).toEqual(['empty', 'full']);
      });

      it('removes nothing once the signal is aborted, and says so', async () => {
        await writeFile(fs, at('dir/a'), 'x');
        expect(await fs.deleteFiles(at('dir'), ['a'], { signal: AbortSignal.abort() })).toEqual([undefined]);
        expect(await namesIn(at('dir'))).toEqual(['a']);
      });

      it('removes nothing from a directory that is another one by now', async () => {
        await writeFile(fs, at('dir/a'), 'x');
        const { identity } = await fs.getFileStatus(at('dir'));
        if (identity === undefined) return;
        expect(await fs.deleteFiles(at('dir'), ['a'], { identity: `${identity}0` })).toEqual([expect.any(IoError)]);
        expect(await namesIn(at('dir'))).toEqual(['a']);
        expect(await fs.deleteFiles(at('dir'), ['a'], { identity })).toEqual([true]);
      });
    });

    describe('deleteDirectory', () => {
      it('removes an empty directory and nothing else', async () => {
        await fs.makeDirectory(at('empty'));
        await writeFile(fs, at('full/file'), 'x');
        expect(await fs.deleteDirectory(at('empty'))).toBe(true);
        expect(await fs.deleteDirectory(at('empty'))).toBe(false);
        expect(await fs.deleteDirectory(at('no/thing'))).toBe(false);
        await expectError(fs.deleteDirectory(at('full')), DirectoryNotEmptyError, at('full'));
        await expectError(fs.deleteDirectory(at('full/file')), WrongFileTypeError, at('full/file'));
        expect(await fs.deleteDirectory(at('full/file/below'))).toBe(false);
        expect(await namesIn(root)).toEqual(['full']);
        expect(await namesIn(at('full'))).toEqual(['file']);
      });
    });
  });
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** A view that compares equal to any other array of these bytes, Buffer or not. */
function asBytes(bytes: Iterable<number>): unknown {
  return {
    asymmetricMatch: (actual: unknown) =>
      actual instanceof Uint8Array && Buffer.compare(actual, Uint8Array.from(bytes)) === 0,
    toString: () => 'bytes',
  };
}
