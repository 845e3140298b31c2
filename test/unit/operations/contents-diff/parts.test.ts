import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EntryColumns } from '../../../../src/operations/contents-diff/entry-columns.js';
import { entryChanges, fieldChanges } from '../../../../src/operations/contents-diff/field-changes.js';
import { passesByKeyGroups, passesBySlices } from '../../../../src/operations/contents-diff/passes.js';
import { hashText } from '../../../../src/operations/file-index.js';
import { Hash64 } from '../../../../src/operations/file-set.js';

describe('fieldChanges', () => {
  it('names each part that differs, and no other', () => {
    const old = { id: 1, tags: ['a', 'b'], owner: { name: 'x', age: 3 }, gone: true };
    const now = { id: 1, tags: ['a', 'c', 'd'], owner: { name: 'y', age: 3 }, added: null };
    expect(fieldChanges(old, now)).toEqual([
      { path: '.tags[1]', old: 'b', new: 'c' },
      { path: '.tags[2]', old: undefined, new: 'd' },
      { path: '.owner.name', old: 'x', new: 'y' },
      { path: '.gone', old: true, new: undefined },
      { path: '.added', old: undefined, new: null },
    ]);
    expect(fieldChanges(1, '1')).toEqual([{ path: '', old: 1, new: '1' }]);
    expect(fieldChanges(old, structuredClone(old))).toEqual([]);
  });

  it('compares maps by their keys, in whatever order they come', () => {
    const old = [
      { key: 'a', value: 1 },
      { key: 'b', value: { n: 1 } },
    ];
    const now = [
      { key: 'b', value: { n: 2 } },
      { key: 'a', value: 1 },
      { key: [3], value: 4 },
    ];
    const expected = [
      { path: '{"b"}.n', old: 1, new: 2 },
      { path: '{[3]}', old: undefined, new: 4 },
    ];
    expect(entryChanges(old, now)).toEqual(expected);
    expect(fieldChanges({ map: old }, { map: now })).toEqual(
      expected.map((change) => ({ ...change, path: `.map${change.path}` })),
    );
  });

  it('stops at a hundred', () => {
    const list = (base: number): number[] => Array.from({ length: 1000 }, (_, index) => base + index);
    expect(fieldChanges(list(0), list(1))).toHaveLength(100);
  });
});

describe('passes', () => {
  const numbers = fc.record({
    bytes: fc.integer({ min: 0, max: 100_000 }),
    maxParallelism: fc.integer({ min: 1, max: 300 }),
    passBytes: fc.integer({ min: 50, max: 5000 }),
  });

  it('look at every key group and every slice of it once', () => {
    fc.assert(
      fc.property(numbers, ({ bytes, maxParallelism, passBytes }) => {
        const seen = new Map<number, number[]>();
        for (const { keyGroups, slice, slices } of passesByKeyGroups(bytes, maxParallelism, passBytes)) {
          for (let group = keyGroups?.first ?? 0; group <= (keyGroups?.last ?? -1); group++) {
            seen.set(group, [...(seen.get(group) ?? []), slice]);
            expect(slices).toBeGreaterThan(slice);
          }
        }
        expect([...seen.keys()]).toEqual(Array.from({ length: maxParallelism }, (_, group) => group));
        const [slices] = seen.values();
        expect(slices).toEqual(slices?.map((_, index) => index));
        for (const other of seen.values()) expect(other).toEqual(slices);
      }),
    );
  });

  it('are small enough where state is spread evenly', () => {
    fc.assert(
      fc.property(numbers, ({ bytes, maxParallelism, passBytes }) => {
        for (const { keyGroups, slices } of passesByKeyGroups(bytes, maxParallelism, passBytes)) {
          const groups = (keyGroups?.last ?? 0) - (keyGroups?.first ?? 0) + 1;
          expect(((bytes / maxParallelism) * groups) / slices).toBeLessThanOrEqual(passBytes);
        }
        for (const { slices } of passesBySlices(bytes, passBytes))
          expect(bytes / slices).toBeLessThanOrEqual(passBytes);
      }),
    );
  });
});

describe('EntryColumns', () => {
  const identity = (text: string): Hash64 => hashText(new Hash64().start(1), text);
  const value = (text: string): Hash64 => hashText(new Hash64().start(2), text);
  const changes = (columns: EntryColumns): string[] => [...columns.compared()].map(({ change }) => change);

  it('tells what has become of each entry', () => {
    const columns = new EntryColumns();
    columns.add('old', 0, identity('a'), value('1'), true);
    columns.add('old', 0, identity('b'), value('1'), true);
    columns.add('old', 0, identity('c'), value('1'), true);
    columns.add('new', 0, identity('b'), value('1'), true);
    columns.add('new', 0, identity('c'), value('2'), true);
    columns.add('new', 0, identity('d'), value('1'), true);
    expect(changes(columns)).toEqual(['removed', 'unchanged', 'changed', 'added']);
  });

  it('adds up the parts of an entry in any order', () => {
    const columns = new EntryColumns();
    for (const [index, part] of ['x', 'y', 'z'].entries()) {
      columns.add('old', 0, identity('map'), value(part), index === 0);
    }
    for (const [index, part] of ['z', 'x', 'y'].entries()) {
      columns.add('new', 0, identity('map'), value(part), index === 0);
    }
    expect(changes(columns)).toEqual(['unchanged']);
    columns.add('new', 0, identity('map'), value('more'), false);
    expect(changes(columns)).toEqual(['changed']);
  });

  it('counts elements that are there several times', () => {
    const columns = new EntryColumns();
    for (let i = 0; i < 3; i++) columns.add('old', 0, identity('e'), undefined, true);
    columns.add('new', 0, identity('e'), undefined, true);
    expect([...columns.compared()]).toMatchObject([{ change: 'removed', old: 3, new: 1 }]);
  });

  it('holds very many', () => {
    const columns = new EntryColumns();
    const hash = new Hash64();
    for (let i = 0; i < 100_000; i++) columns.add('old', i % 7, hash.start(1).word(i), value('v'), true);
    for (let i = 0; i < 100_000; i++) columns.add('new', i % 7, hash.start(1).word(i), value('v'), true);
    expect(columns.size).toBe(100_000);
    expect(new Set(changes(columns))).toEqual(new Set(['unchanged']));
  });
});
