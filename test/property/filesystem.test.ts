import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidPathError } from '../../src/errors.js';
import { fromNativeName, toNativePath } from '../../src/filesystem/local-path.js';
import { Path } from '../../src/filesystem/path.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';

/** Strings made of what means something in a path, so that most of them are odd. */
const pathString = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '/',
        '/',
        '//',
        '.',
        '..',
        ':',
        '\\',
        'a',
        'ab',
        'chk-1',
        'file:',
        's3://b',
        '%20',
        '?',
        '#',
        '[',
        ']',
        '@',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''))
  .filter((string) => string !== '');

function parse(string: string): Path | undefined {
  try {
    return Path.parse(string);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidPathError);
    return undefined;
  }
}

const name = fc.stringMatching(/^[a-z0-9._ =-]{1,8}$/).filter((text) => text !== '.' && text !== '..');
const absolute = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`);
const prefix = fc.oneof(
  absolute.map((path) => `file:${path}`),
  absolute.map((path) => `s3://bucket${path}`),
  absolute.map((path) => `hdfs://nn:8020${path}`),
  fc.constantFrom('s3://bucket', 's3://other'),
);

describe('Path', () => {
  it('parses what it prints to the same path', () => {
    fc.assert(
      fc.property(pathString, (string) => {
        const path = parse(string);
        // The exceptions: an empty path prints nothing, an IPv6 scope is escaped once more each time (as in Java).
        fc.pre(path !== undefined && path.toString() !== '' && !string.includes('['));
        if (path === undefined) return;
        // "/a/b/.." keeps a slash, which the second parsing drops; a scheme of one letter is a drive the second time.
        const again = Path.parse(path.toString());
        if (path.scheme?.length !== 1) expect(again.equals(path.tidy)).toBe(true);
        expect(Path.parse(again.toString()).equals(again)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves no segment to resolve but a leading ".."', () => {
    fc.assert(
      fc.property(pathString, (string) => {
        const path = parse(string);
        if (path === undefined) return;
        expect(path.path).not.toMatch(/\/\/|\\/);
        expect(path.path.replace(/^\.\/(?=[^/]*:)/, '')).toMatch(/^\/?(?:\.\.(?:\/|$))*(?!.*(?:^|\/)\.\.?(?:\/|$))/s);
      }),
      { numRuns: 2000 },
    );
  });

  it('of an entry has the directory as parent and the name as name', () => {
    const entryName = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 10 })
      .filter((text) => !text.includes('/') && text !== '.' && text !== '..');
    fc.assert(
      fc.property(prefix, entryName, (string, entry) => {
        const directory = Path.parse(string);
        const path = directory.entry(entry);
        expect(path.name).toBe(entry);
        expect(path.startsWith(directory)).toBe(true);
        expect(path.relativeTo(directory)).toBe(entry);
        expect(path.parent?.startsWith(directory)).toBe(true);
        expect(path.isFaithful).toBe(!entry.includes('\\'));
      }),
    );
  });

  it('starts with a prefix exactly if names are left over', () => {
    fc.assert(
      fc.property(prefix, fc.array(name, { maxLength: 3 }), name, (string, rest, more) => {
        const directory = Path.parse(string);
        const below = rest.reduce((path, part) => path.child(part), directory);
        expect(below.startsWith(directory)).toBe(true);
        expect(directory.startsWith(below)).toBe(rest.length === 0);
        if (directory.name !== '') {
          const sibling = Path.verbatim({ ...directory, path: directory.path + more });
          expect(sibling.startsWith(directory)).toBe(false);
        }
      }),
    );
  });
});

describe('PathMapping', () => {
  const rules = fc.uniqueArray(fc.tuple(prefix, prefix), {
    minLength: 1,
    maxLength: 4,
    selector: ([old]) => Path.parse(old).tidy.toString(),
  });
  const make = (pairs: readonly (readonly [string, string])[]) =>
    PathMapping.parse(
      pairs.map(([old, replacement]) => `${old.replaceAll('=', '\\=')}=${replacement.replaceAll('=', '\\=')}`),
      (path) => path,
    );

  it('leads there and back', () => {
    fc.assert(
      fc.property(rules, fc.nat(), fc.array(name, { maxLength: 3 }), (pairs, pick, rest) => {
        const mapping = make(pairs);
        const [old] = pairs[pick % pairs.length] ?? ['file:/'];
        const named = rest.reduce((path, part) => path.entry(part), Path.parse(old));
        const real = mapping.toReal(named);
        const back = mapping.toNamed(real);
        expect(back).toBeDefined();
        if (back !== undefined) expect(mapping.toReal(back).equals(real)).toBe(true);
        if (pairs.length === 1) expect(back?.equals(named)).toBe(true);
      }),
    );
  });

  it('leaves other paths alone', () => {
    fc.assert(
      fc.property(rules, prefix, (pairs, string) => {
        const path = Path.parse(string);
        fc.pre(!pairs.some(([old]) => path.startsWith(Path.parse(old))));
        expect(make(pairs).toReal(path)).toBe(path);
      }),
    );
  });
});

describe('native names', () => {
  it('come back byte for byte, whatever they are', () => {
    const bytes = fc
      .uint8Array({ minLength: 1, maxLength: 20 })
      .filter((array) => !array.includes(0) && !array.includes(0x2f));
    fc.assert(
      fc.property(bytes, (array) => {
        const text = fromNativeName(Buffer.from(array));
        fc.pre(text !== '.' && text !== '..');
        const native = toNativePath(Path.parse('file:/').entry(text));
        expect(Buffer.from(native)).toEqual(Buffer.from([0x2f, ...array]));
      }),
      { numRuns: 1000 },
    );
  });
});
