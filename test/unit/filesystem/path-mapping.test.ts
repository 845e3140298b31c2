import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { PathMapping } from '../../../src/filesystem/path-mapping.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';

const systems = createFileSystems({ configuration: new Map(), workingDirectory: '/cwd' });
const qualify = (path: Path) => systems.qualify(path);
const parse = (...args: string[]) => PathMapping.parse(args, qualify);
const real = (mapping: PathMapping, name: string) => mapping.toReal(qualify(Path.parse(name))).toString();

describe('PathMapping.parse', () => {
  it.each([
    ['/old=/new', '/old/x', 'file:/new/x'],
    ['file:/old=/new', '/old/x', 'file:/new/x'],
    ['file:///old=file:///new', 'file:/old/x', 'file:/new/x'],
    ['/old/=/new/', '/old/x', 'file:/new/x'],
    ['old=new', '/cwd/old/x', 'file:/cwd/new/x'],
    ['./old=../new', '/cwd/old', 'file:/new'],
    ['s3://bucket/p=/mnt', 's3://bucket/p/chk-1', 'file:/mnt/chk-1'],
    ['s3://bucket=/mnt', 's3://bucket/p', 'file:/mnt/p'],
    ['s3://bucket/=/mnt', 's3://bucket/p', 'file:/mnt/p'],
    ['s3://bucket=/mnt', 's3://bucket', 'file:/mnt'],
    ['hdfs:///x=s3://b', 'hdfs:/x/y', 's3://b/y'],
    ['/=/mnt', '/a/b', 'file:/mnt/a/b'],
    ['/a=/', '/a/b', 'file:/b'],
    ['/a\\=b=/c', '/a=b/d', 'file:/c/d'],
    ['/a=/b\\=c\\=d', '/a/x', 'file:/b=c=d/x'],
    ['/with blank =/x', '/with blank /y', 'file:/x/y'],
  ])('%s takes %s to %s', (argument, name, expected) => {
    expect(real(parse(argument), name)).toBe(expected);
  });

  it.each(['/old', '', '=', '/old=', '=/new', '/a=/b=/c', '/a\\=/b', 'a==b', 'file:a=/b', '/a=::', 'file://host/a=/b'])(
    '%s is wrong use',
    (argument) => {
      expect(() => parse(argument)).toThrow(UsageError);
      expect(() => parse(argument)).toThrow(`"${argument}" is not OLD=NEW`);
    },
  );

  it('takes the same pair twice, but not two places for one name', () => {
    expect(real(parse('/a=/b', 'file:///a/=/b'), '/a/x')).toBe('file:/b/x');
    expect(() => parse('/a=/b', 'file:/a=/c')).toThrow(UsageError);
  });
});

describe('PathMapping.toReal', () => {
  it('goes by whole names', () => {
    const mapping = parse('/data/chk-1=/mnt', 's3://b=/bucket');
    expect(real(mapping, '/data/chk-10/x')).toBe('file:/data/chk-10/x');
    expect(real(mapping, '/data/chk-1')).toBe('file:/mnt');
    expect(real(mapping, 's3://bb/x')).toBe('s3://bb/x');
    expect(real(mapping, 's3a://b/x')).toBe('s3a://b/x');
  });

  it('keeps three prefixes of one host name apart', () => {
    const mapping = parse('hdfs://nsA/x=/a', 'hdfs://nsB/x=/b', 'hdfs:///x=/none');
    expect(['hdfs://nsA/x/f', 'hdfs://nsB/x/f', 'hdfs:///x/f'].map((name) => real(mapping, name))).toEqual([
      'file:/a/f',
      'file:/b/f',
      'file:/none/f',
    ]);
  });

  it('takes the longest prefix, in whatever order they were given', () => {
    for (const args of [
      ['/a=/1', '/a/b=/2', '/a/b/c=/3', '/=/0'],
      ['/=/0', '/a/b/c=/3', '/a/b=/2', '/a=/1'],
    ]) {
      const mapping = parse(...args);
      expect(['/x', '/a/x', '/a/b/x', '/a/b/c/x'].map((name) => real(mapping, name))).toEqual([
        'file:/0/x',
        'file:/1/x',
        'file:/2/x',
        'file:/3/x',
      ]);
    }
  });

  it('maps once: two places can be swapped', () => {
    const mapping = parse('/a=/b', '/b=/a');
    expect(real(mapping, '/a/x')).toBe('file:/b/x');
    expect(real(mapping, '/b/x')).toBe('file:/a/x');
  });

  it('carries odd names over letter by letter', () => {
    const odd = Path.parse('file:/a').entry('x\\y').entry('ab:c');
    expect(parse('/a=s3://b').toReal(odd).path).toBe('/x\\y/ab:c');
  });

  it('does not map what ".." leads out of', () => {
    expect(real(parse('/a=/mnt'), '/a/../b')).toBe('file:/b');
    expect(real(parse('/=/mnt'), '/../b')).toBe('file:/../b');
  });
});

describe('PathMapping.toNamed', () => {
  it('is the way back', () => {
    const mapping = parse('s3://b/p=/mnt', 's3://b/p/shared=/fast');
    expect(mapping.toNamed(Path.parse('file:/mnt/chk-1'))?.toString()).toBe('s3://b/p/chk-1');
    expect(mapping.toNamed(Path.parse('file:/fast/x'))?.toString()).toBe('s3://b/p/shared/x');
    expect(mapping.toNamed(Path.parse('file:/elsewhere'))?.toString()).toBe('file:/elsewhere');
  });

  it('knows that a hidden place has no name', () => {
    const mapping = parse('s3://b/p=/mnt', 's3://b/p/shared=/fast', '/old=/new');
    expect(mapping.toNamed(Path.parse('file:/mnt/shared/x'))?.toString()).toBe('file:/mnt/shared/x');
    expect(mapping.toNamed(Path.parse('file:/old/x'))).toBeUndefined();
  });

  it('is the path itself without a mapping', () => {
    const path = Path.parse('s3://b/p');
    expect(PathMapping.none.isEmpty).toBe(true);
    expect(PathMapping.none.toReal(path)).toBe(path);
    expect(PathMapping.none.toNamed(path)).toBe(path);
    expect(parse('/a=/b').isEmpty).toBe(false);
  });
});
