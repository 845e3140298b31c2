import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { NameSearch } from '../../../../src/operations/gc/name-search.js';

const wanted = [randomUUID(), randomUUID(), randomUUID(), 'not-a-uuid.wal'];
const encodings = ['latin1', 'utf16le'] as const;

function bigEndian(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

describe('NameSearch', () => {
  it.each(encodings)('finds names spelled in %s', (encoding) => {
    const search = new NameSearch(wanted);
    const bytes = Buffer.concat([Buffer.from('x--x'), Buffer.from(`file:/a/${wanted[0]}|/b/${wanted[3]}`, encoding)]);
    search.begin().push(bytes, 0, bytes.length);
    expect(wanted.map((name) => search.has(name))).toEqual([true, false, false, true]);
  });

  it('finds names spelled in UTF-16 as Java writes it', () => {
    const search = new NameSearch(wanted);
    const bytes = bigEndian(`file:/a/${wanted[1]} ${wanted[3]}`);
    search.begin().push(bytes, 0, bytes.length);
    expect(wanted.map((name) => search.has(name))).toEqual([false, true, false, true]);
  });

  it('finds a name wherever chunks cut it', () => {
    for (const spell of [Buffer.from, bigEndian]) {
      const bytes = Buffer.concat([Buffer.alloc(5), spell(`${wanted[2]}`), spell(`${wanted[3]}`), Buffer.alloc(3)]);
      for (let cut = 1; cut < bytes.length; cut++) {
        const search = new NameSearch(wanted);
        const stream = search.begin();
        stream.push(bytes, 0, cut);
        stream.push(bytes, cut, bytes.length);
        expect([cut, search.has(wanted[2] as string), search.has(wanted[3] as string)]).toEqual([cut, true, true]);
      }
      const search = new NameSearch(wanted);
      const stream = search.begin();
      for (let at = 0; at < bytes.length; at++) stream.push(bytes, at, at + 1);
      expect([search.has(wanted[2] as string), search.has(wanted[3] as string)]).toEqual([true, true]);
    }
  });

  it('does not join what two streams end and begin with', () => {
    const search = new NameSearch(wanted);
    const name = Buffer.from(wanted[0] as string);
    search.begin().push(name, 0, 20);
    search.begin().push(name, 20, name.length);
    expect(search.has(wanted[0] as string)).toBe(false);
  });

  it('finds nothing in dashes and other UUIDs', () => {
    const search = new NameSearch(wanted);
    const bytes = Buffer.from(`${'-'.repeat(100)}${randomUUID()}${randomUUID().toUpperCase()}`);
    search.begin().push(bytes, 0, bytes.length);
    expect(wanted.some((name) => search.has(name))).toBe(false);
  });
});
