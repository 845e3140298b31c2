import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { InvalidPathError } from '../../../src/errors.js';
import { qualifyLocal } from '../../../src/filesystem/local-path.js';
import { Path } from '../../../src/filesystem/path.js';

/** One line of path-oracle.jsonl, written by real Flink (path-oracle.java beside it says how). */
interface Answer {
  readonly string?: string;
  readonly pair?: readonly [string, string];
  /** Null where Flink throws; the other fields are absent then. */
  readonly printed: string | null;
  readonly scheme: string | null;
  readonly authority: string | null;
  readonly path: string;
  readonly name: string;
  readonly absolute: boolean;
  readonly parent: string | null;
  readonly again: string | null;
  readonly qualified: string | null;
}

const answers: readonly Answer[] = readFileSync(new URL('path-oracle.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

/** The printed path, or null for a refusal: as the oracle writes it. */
function print(make: () => Path | undefined, ifNone = ''): string | null {
  try {
    return make()?.toString() ?? ifNone;
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidPathError);
    return null;
  }
}

function make({ string, pair }: Answer): Path {
  return pair === undefined ? Path.parse(string ?? '') : Path.parse(pair[0]).child(pair[1]);
}

describe('Path, against the answers of Flink 2.3.0', () => {
  it('has hundreds of answers', () => {
    expect(answers.filter(({ string }) => string !== undefined).length).toBeGreaterThan(400);
    expect(answers.filter(({ pair }) => pair !== undefined).length).toBeGreaterThan(400);
    expect(answers.filter(({ printed }) => printed === null).length).toBeGreaterThan(100);
  });

  it.each(answers.map((answer) => [JSON.stringify(answer.string ?? answer.pair), answer] as const))(
    '%s',
    (_, answer) => {
      const printed = print(() => make(answer));
      expect(printed).toBe(answer.printed);
      if (printed === null) return;
      const path = make(answer);
      expect({
        scheme: path.scheme ?? null,
        authority: path.authority ?? null,
        path: path.path,
        name: path.name,
        absolute: path.isAbsolute,
        parent: print(() => path.parent, 'no parent'),
        again: print(() => Path.parse(path.toString())),
      }).toEqual({
        scheme: answer.scheme,
        authority: answer.authority,
        path: answer.path,
        name: answer.name,
        absolute: answer.absolute,
        parent: answer.parent,
        again: answer.again,
      });
      const endsWithSlash = path.path.length > 1 && path.path.endsWith('/');
      if (endsWithSlash && answer.again !== null) expect(path.tidy.path).toBe(Path.parse(answer.again).path);
      if (!endsWithSlash) expect(path.tidy).toBe(path);
    },
  );
});

describe('qualifyLocal, against the answers of Flink 2.3.0', () => {
  // A path of another store, or with a host, is nothing local: Flink qualifies it and fails later.
  const isLocal = ({ scheme, authority, printed }: Answer) =>
    printed !== null && (scheme === null || scheme === 'file') && authority === null;
  const isForeign = ({ scheme, authority, printed }: Answer) =>
    printed !== null && ((scheme !== null && scheme !== 'file') || authority !== null);

  it.each(answers.filter(isLocal).map((answer) => [JSON.stringify(answer.string ?? answer.pair), answer] as const))(
    'qualifies %s',
    (_, answer) => {
      // Flink leaves the slash of "file:/a/b/..", its file status drops it. It fails for "/c:a", which no drive has.
      const expected = answer.qualified === null ? undefined : Path.parse(answer.qualified).toString();
      const qualified = qualifyLocal(make(answer), '/cwd/here').toString();
      expect(qualified).toBe(expected ?? `file:${make(answer).tidy.path}`);
    },
  );

  it.each(answers.filter(isForeign).map((answer) => [JSON.stringify(answer.string ?? answer.pair), answer] as const))(
    'refuses %s',
    (_, answer) => {
      expect(() => qualifyLocal(make(answer), '/cwd/here')).toThrow(InvalidPathError);
    },
  );

  it('tells who forgot a slash what to write', () => {
    expect(() => qualifyLocal(Path.parse('file://data/chk-1'), '/')).toThrow('file:///data/chk-1');
  });

  it('keeps a working directory that is no path string as it is', () => {
    expect(qualifyLocal(Path.parse('../x'), '/odd\\name/sub').path).toBe('/odd\\name/x');
    expect(qualifyLocal(Path.parse('.'), '/a:b/c').path).toBe('/a:b/c');
  });
});

describe('Path.entry', () => {
  it('takes a name letter by letter where child reads a path', () => {
    const directory = Path.parse('file:/data');
    expect(directory.entry('a\\b').path).toBe('/data/a\\b');
    expect(directory.child('a\\b').path).toBe('/data/a/b');
    expect(directory.entry('ab:c').toString()).toBe('file:/data/ab:c');
    expect(() => directory.child('ab:c')).toThrow(InvalidPathError);
  });

  it('works below every kind of path', () => {
    expect(Path.parse('file:/').entry('a').toString()).toBe('file:/a');
    expect(Path.parse('s3://b').entry('a').toString()).toBe('s3://b/a');
    expect(Path.parse('s3://b/').entry('a').toString()).toBe('s3://b/a');
    expect(Path.parse('.').entry('a').toString()).toBe('a');
    expect(Path.parse('/a/b/..').entry('c').toString()).toBe('/a/c');
  });

  it.each(['', '.', '..', 'a/b', '/', '../x'])('refuses %j, which no honest listing shows', (name) => {
    expect(() => Path.parse('/data').entry(name)).toThrow(InvalidPathError);
  });

  it('says whether the printed path can be parsed again', () => {
    const directory = Path.parse('file:/data');
    expect(directory.entry('a b%20:c').isFaithful).toBe(true);
    expect(directory.entry('a\\b').isFaithful).toBe(false);
    expect(Path.parse('.').isFaithful).toBe(false);
  });

  it('gives an odd directory back as the parent', () => {
    expect(Path.parse('/data').entry('a\\b').entry('c').parent?.path).toBe('/data/a\\b');
  });
});

describe('Path comparisons', () => {
  it.each([
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/a', '/', true],
    ['/a/bc', '/a/b', false],
    ['/chk-10/x', '/chk-1', false],
    ['/a', '/a/b', false],
    ['file:/a/b', '/a', false],
    ['s3://b/k', 's3://b', true],
    ['s3://b/k', 's3://b/', true],
    ['s3://b', 's3://b/', true],
    ['s3://bucket/k', 's3://b', false],
    ['s3a://b/k', 's3://b', false],
    ['hdfs://nsA/x', 'hdfs:/', false],
    ['a/b', 'a', true],
    ['a', '.', true],
    ['../a', '.', false],
    ['../../a', '..', false],
    ['../a', '..', true],
    ['/../a', '/', false],
    ['/a', '.', false],
    ['a', '/', false],
    ['/a/b', '/a/x/..', true],
  ])('%s starts with %s: %s', (path, prefix, expected) => {
    expect(Path.parse(path).startsWith(Path.parse(prefix))).toBe(expected);
  });

  it('gives what follows a prefix', () => {
    expect(Path.parse('s3://b/k/l').relativeTo(Path.parse('s3://b'))).toBe('k/l');
    expect(Path.parse('/a/b').relativeTo(Path.parse('/a/b'))).toBe('');
    expect(Path.parse('/a/b').relativeTo(Path.parse('/b'))).toBeUndefined();
  });

  it('compares the components', () => {
    expect(Path.parse('file:///a').equals(Path.parse('file:/a/'))).toBe(true);
    expect(Path.parse('/a').equals(Path.parse('file:/a'))).toBe(false);
    expect(Path.parse('FILE:/a').equals(Path.parse('file:/a'))).toBe(false);
  });

  it('is its string in JSON', () => {
    expect(JSON.stringify({ path: Path.parse('file:///a b') })).toBe('{"path":"file:/a b"}');
  });

  it('names the string that it refuses', () => {
    expect(() => Path.parse('file:a')).toThrow('"file:a" is not a valid path');
    expect(() => Path.parse('')).toThrow('it is empty');
  });
});
