import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUuid, NameTable } from '../../../../src/operations/gc/name-table.js';

const UUID = '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';

/** The bytes of a name somewhere inside a buffer. */
function inside(name: string): [bytes: Uint8Array, start: number, end: number] {
  const bytes = Buffer.from(`??${name}?`, 'latin1');
  return [bytes, 2, 2 + name.length];
}

describe('NameTable', () => {
  it('tells names that are in use from those that are not', () => {
    const table = new NameTable();
    for (const name of [UUID, 'plain', 'other']) table.add(name);
    expect(table.use(UUID)).toBe(true);
    expect(table.useBytes(...inside('plain'))).toBe(true);
    expect(table.use('absent')).toBe(false);
    expect(table.useBytes(...inside(randomUUID()))).toBe(false);
    expect([...table.unused()]).toEqual(['other']);
    expect([...table.names()].sort()).toEqual([UUID, 'other', 'plain'].sort());
    expect([table.isUsed(UUID), table.isUsed('other'), table.isUsed('absent')]).toEqual([true, false, false]);
    expect([table.has(UUID), table.has('other'), table.has('absent')]).toEqual([true, true, false]);
    expect(table.isAllUsed).toBe(false);
    table.use('other');
    expect(table.isAllUsed).toBe(true);
  });

  it('does not forget a mark when a name is added again', () => {
    const table = new NameTable();
    for (const name of [UUID, 'plain']) {
      table.add(name);
      table.use(name);
      table.add(name);
    }
    expect([...table.unused()]).toEqual([]);
    expect(table.size).toBe(2);
  });

  it.each([
    ['capital letters', UUID.toUpperCase()],
    ['a dash in another place', '0a1b2c3-d4e5f-6071-8293-a4b5c6d7e8f9'],
    ['a letter that is no digit', UUID.replace('a', 'g')],
    ['one more character', `${UUID}0`],
    ['a character beyond ASCII', UUID.replace('0', 'é')],
    ['a character beyond Latin-1', UUID.replace('0', '\u0130')],
  ])('keeps a name with %s apart from the UUID it looks like', (_what, name) => {
    const table = new NameTable();
    table.add(UUID);
    table.add(name);
    expect(isUuid(name)).toBe(false);
    expect(table.use(name)).toBe(true);
    expect([...table.unused()]).toEqual([UUID]);
  });

  it('tells UUIDs apart that differ in one digit only', () => {
    const table = new NameTable();
    const all: string[] = [];
    for (let at = 0; at < UUID.length; at++) {
      if (UUID[at] === '-') continue;
      for (const digit of '0f7') all.push(UUID.slice(0, at) + digit + UUID.slice(at + 1));
    }
    const names = [...new Set(all)];
    for (const name of names) table.add(name);
    const [first, ...rest] = names;
    for (const name of rest) expect(table.useBytes(...inside(name))).toBe(true);
    expect([...table.unused()]).toEqual([first]);
  });

  it('probes without marking', () => {
    const table = new NameTable();
    table.add(UUID);
    table.add('plain');
    const { probing } = table;
    expect([probing.use(UUID), probing.use('plain'), probing.use('absent')]).toEqual([true, true, false]);
    expect([probing.useBytes(...inside(UUID)), probing.useBytes(...inside('absent'))]).toEqual([true, false]);
    expect([...table.unused()]).toHaveLength(2);
  });

  it('is a set, whatever the names', async () => {
    const name = fc.oneof(fc.uuid(), fc.string({ minLength: 1, unit: 'binary' }), fc.constantFrom(UUID, 'a', 'b'));
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 300 }), fc.array(name, { maxLength: 100 }), async (added, used) => {
        const table = new NameTable();
        const model = new Map<string, boolean>();
        for (const item of added) {
          table.add(item);
          model.set(item, false);
        }
        for (const item of [...used, ...added.filter((_, index) => index % 3 === 0)]) {
          expect(table.use(item)).toBe(model.has(item));
          if (model.has(item)) model.set(item, true);
        }
        expect(table.size).toBe(model.size);
        expect([...table.names()].sort()).toEqual([...model.keys()].sort());
        expect([...table.unused()].sort()).toEqual(
          [...model].flatMap(([item, isUsed]) => (isUsed ? [] : [item])).sort(),
        );
      }),
    );
  });
});
