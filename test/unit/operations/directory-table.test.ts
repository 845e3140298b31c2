import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Utf8Slice } from '../../../src/bytes/byte-reader.js';
import { encodeModifiedUtf8, isPlainAscii } from '../../../src/bytes/modified-utf8.js';
import { Path } from '../../../src/filesystem/path.js';
import { DirectoryTable, type Located } from '../../../src/operations/directory-table.js';

const own = Path.parse('file:/data/job/chk-7');

/** A text as the reader hands it on: in the middle of other bytes. */
function slice(text: string): Utf8Slice {
  const bytes = Buffer.from(encodeModifiedUtf8(text));
  const result = new Utf8Slice();
  result.buffer = Buffer.concat([Buffer.from('/x'), bytes, Buffer.from('/y')]);
  result.start = 2;
  result.end = 2 + bytes.length;
  result.plain = isPlainAscii(bytes, 0, bytes.length);
  return result;
}

function pathOf(table: DirectoryTable, { directory, nameBytes, nameStart, nameEnd, plain }: Located): string {
  const name = Buffer.from(nameBytes.subarray(nameStart, nameEnd)).toString(plain ? 'latin1' : 'utf8');
  return `${table.directories[directory]?.path}/${name}`;
}

const located = (table: DirectoryTable, path: string): string => pathOf(table, table.locate(slice(path)));
const relative = (table: DirectoryTable, path: string): string => pathOf(table, table.locateRelative(slice(path)));

describe('DirectoryTable', () => {
  it('has the own directory first', () => {
    const table = new DirectoryTable(own);
    expect(table.directories).toEqual([{ path: `${own}`, files: 0, bytes: 0, absolute: false, changelog: false }]);
    expect(table.add(`${own}`)).toBe(0);
    expect(relative(table, 'abc')).toBe('file:/data/job/chk-7/abc');
    expect(table.locate(slice('file:/data/job/chk-7/abc')).directory).toBe(0);
  });

  it('finds one directory for all its files, however they are written', () => {
    const table = new DirectoryTable(own);
    for (const path of ['file:/a/b/x', 'file:///a/b/x', 'file:/a//b/x', 'file:/a/c/../b/x', 'file:/a/b/./x']) {
      expect(located(table, path)).toBe('file:/a/b/x');
    }
    expect(table.directories.map(({ path }) => path)).toEqual([`${own}`, 'file:/a/b']);
  });

  it('keeps names that are not ASCII, also behind one that is', () => {
    const table = new DirectoryTable(own);
    for (const name of ['plain', 'größe', '😀', 'again', 'a\u0000b', '窓']) {
      expect(located(table, `s3://bucket/x/${name}`)).toBe(`s3://bucket/x/${name}`);
    }
    expect(located(table, 's3://bucket/größe/a')).toBe('s3://bucket/größe/a');
    expect(located(table, 's3://bucket/größe/b')).toBe('s3://bucket/größe/b');
    expect(relative(table, 'größe')).toBe(`${own}/größe`);
    expect(table.directories).toHaveLength(3);
  });

  it('tells apart directories of which one begins like the other', () => {
    const table = new DirectoryTable(own);
    expect(located(table, 'file:/a/b/x')).toBe('file:/a/b/x');
    expect(located(table, 'file:/a/bc/x')).toBe('file:/a/bc/x');
    expect(located(table, 'file:/a/b/c/x')).toBe('file:/a/b/c/x');
    expect(located(table, 'file:/a/x')).toBe('file:/a/x');
  });

  it('resolves what leads out of a directory, and says so', () => {
    const table = new DirectoryTable(own);
    expect(table.locateRelative(slice('../shared/x'))).toMatchObject({ climbs: true });
    expect(relative(table, '../shared/x')).toBe('file:/data/job/shared/x');
    expect(table.locate(slice('file:/a/../b/x'))).toMatchObject({ climbs: true });
    expect(table.locate(slice('file:/a/../b/y'))).toMatchObject({ climbs: true });
    expect(table.locate(slice('file:/a/b..c/..x'))).toMatchObject({ climbs: false });
    expect(table.locateRelative(slice('below/x'))).toMatchObject({ climbs: false });
  });

  it('has files at a root', () => {
    for (const root of ['file:/', 's3://bucket/', 's3://bucket']) {
      const table = new DirectoryTable(Path.parse(root));
      const child = Path.parse(root).child('x').toString();
      expect(relative(table, 'x')).toBe(child);
      expect(located(table, child)).toBe(child);
      expect(table.directories).toHaveLength(1);
    }
    const table = new DirectoryTable(own);
    for (const path of ['file:/./x', 'file:/x', 'file:/a/../x', 'file:///x'])
      expect(located(table, path)).toBe('file:/x');
    expect(table.directories).toHaveLength(2);
  });

  it('takes paths that Flink refuses as they are', () => {
    const table = new DirectoryTable(own);
    expect(located(table, '::/x')).toBe('::/x');
    expect(located(table, 'nothing')).toBe('/nothing');
  });

  it('gives every path as Path prints it', () => {
    const name = fc.oneof(
      fc.constantFrom('a', 'b', '..', '.', '', 'ö', '😀', 'a:b', 'a\\b', '.hidden', ' '),
      fc.string({ unit: 'grapheme', maxLength: 4 }).map((text) => text.replaceAll('/', '')),
    );
    const path = fc
      .tuple(fc.constantFrom('file:', 's3://b', 'hdfs://n:1'), fc.array(name, { minLength: 2, maxLength: 5 }))
      .map(([front, names]) => `${front}/${names.join('/')}`)
      .filter((text) => Path.parse(text).name !== '');
    fc.assert(
      fc.property(fc.array(path, { minLength: 1, maxLength: 12 }), (paths) => {
        const table = new DirectoryTable(own);
        for (const text of paths) {
          const expected = Path.parse(text).toString();
          const parent = expected.slice(0, expected.lastIndexOf('/'));
          expect(located(table, text)).toBe(expected);
          expect(table.directories.some((directory) => directory.path === parent)).toBe(true);
        }
      }),
    );
  });
});
