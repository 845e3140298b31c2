import { existsSync, readFileSync } from 'node:fs';
import pMap from 'p-map';
import { describe, expect, it } from 'vitest';
import { mapFileSystems } from '../../src/filesystem/map.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { diffContents } from '../../src/operations/contents-diff/diff-contents.js';
import type { ContentsDiff } from '../../src/operations/contents-diff/result.js';
import { resolvePointer } from '../../src/operations/pointer.js';
import { allCases, type CorpusPointer } from '../support/corpus.js';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Entries = Map<string, { readonly value: string; readonly count: number }>;
interface Counts {
  unchanged: number;
  changed: number;
  added: number;
  removed: number;
}

/** The oracle of contents that real Flink read. */
function contentsOf({ oracleFile }: CorpusPointer): string | undefined {
  const file = oracleFile?.replace(/\.oracle\.json$/, '.contents.json');
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** Every entry of every state by what identifies it: `operator/section/state` to its entries. */
function statesOf(pointer: CorpusPointer): Map<string, Entries> {
  const document = JSON.parse(readFileSync(contentsOf(pointer) ?? '', 'utf8')) as { operators: OperatorJson[] };
  const states = new Map<string, Entries>();
  for (const { operatorId, keyedState = {}, operatorState = {} } of document.operators) {
    for (const [section, all] of [
      ['keyed', keyedState],
      ['operator', operatorState],
    ] as const) {
      for (const [name, state] of Object.entries(all)) states.set(`${operatorId}/${section}/${name}`, entriesOf(state));
    }
  }
  return states;
}

interface OperatorJson {
  readonly operatorId: string;
  readonly keyedState?: Readonly<Record<string, StateJson>>;
  readonly operatorState?: Readonly<Record<string, StateJson>>;
}

interface StateJson {
  readonly kind: string;
  readonly entries?: readonly { readonly [name: string]: Json }[];
  readonly elements?: readonly Json[];
  readonly subtasks?: readonly (readonly Json[])[];
}

function entriesOf({ entries, elements, subtasks, kind }: StateJson): Entries {
  const found: Entries = new Map();
  const add = (identity: Json, value: Json | undefined): void => {
    const key = JSON.stringify(identity);
    const count = (found.get(key)?.count ?? 0) + 1;
    found.set(key, { value: JSON.stringify(value) ?? '', count });
  };
  for (const entry of entries ?? []) {
    const { key = null, namespace = null, timestamp = null, value, entries: map } = entry;
    const sorted = Array.isArray(map) ? map.map((item) => JSON.stringify(item)).sort() : undefined;
    add([key, kind === 'broadcast' ? null : namespace, timestamp], sorted ?? value);
  }
  for (const element of [...(elements ?? []), ...(subtasks ?? []).flat()]) add([element], undefined);
  return found;
}

function expectedCounts(old: CorpusPointer, now: CorpusPointer): Map<string, Counts> {
  const [before, after] = [statesOf(old), statesOf(now)];
  const counts = new Map<string, Counts>();
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [a, b] = [before.get(name) ?? new Map(), after.get(name) ?? new Map()] as [Entries, Entries];
    const result: Counts = { unchanged: 0, changed: 0, added: 0, removed: 0 };
    for (const key of new Set([...a.keys(), ...b.keys()])) {
      const [one, other] = [a.get(key), b.get(key)];
      const difference = (other?.count ?? 0) - (one?.count ?? 0);
      if (difference > 0) result.added += difference;
      if (difference < 0) result.removed -= difference;
      if (one && other && difference === 0 && one.value !== other.value) result.changed++;
      else result.unchanged += Math.min(one?.count ?? 0, other?.count ?? 0);
    }
    counts.set(name, result);
  }
  return counts;
}

function countsOf({ operators }: ContentsDiff): Map<string, Counts> {
  return new Map(
    operators.flatMap(({ operatorId, states }) =>
      states.map(({ section, name, unchanged, changed, added, removed }): [string, Counts] => [
        `${operatorId}/${section}/${name}`,
        { unchanged, changed, added, removed },
      ]),
    ),
  );
}

/** States without an entry on either side may be left out. */
function without<T extends Counts>(counts: Map<string, T>): Map<string, T> {
  return new Map(
    [...counts]
      .filter(([, { unchanged, changed, added, removed }]) => unchanged + changed + added + removed > 0)
      .sort(),
  );
}

function systemsOf(...pointers: readonly CorpusPointer[]): FileSystems {
  const systems = createFileSystems({ configuration: new Map() });
  const maps = new Set(pointers.map(({ case: { mapping } }) => `${mapping.uri}=${mapping.directory}`));
  return mapFileSystems(
    systems,
    PathMapping.parse([...maps], (path) => systems.qualify(path)),
  );
}

async function diffOf(old: CorpusPointer, now: CorpusPointer, passBytes?: number, limit = 2): Promise<ContentsDiff> {
  const systems = systemsOf(old, now);
  const [first, second] = await Promise.all(
    [old, now].map(({ externalPointer }) => resolvePointer(systems, externalPointer)),
  );
  if (!first || !second) throw new Error('unreachable');
  return diffContents(systems, first, second, { limit, passBytes });
}

/** Kryo values are no values to this program, and those of a heap backend have no length: real Flink knows more of them. */
function isComparable(counted: ContentsDiff): boolean {
  return counted.undecoded.length === 0;
}

const withContents = allCases().map(({ label, pointers }) => ({
  label,
  pointers: pointers.filter((pointer) => contentsOf(pointer) !== undefined),
}));
/** Neighbours within a case: what changes from one checkpoint to the next, or into a savepoint. */
const neighbours = withContents.flatMap(({ pointers }) =>
  pointers.slice(1).map((pointer, index) => [pointers[index] as CorpusPointer, pointer] as const),
);

describe('diff --contents of neighbours in the corpus', () => {
  it.each(
    neighbours.map(([old, now]) => [`${old.label} → ${now.externalPointer.split('/').at(-1)}`, old, now] as const),
  )('%s counts what real Flink finds in both', async (_label, old, now) => {
    const result = await diffOf(old, now);
    expect(result.unread).toEqual([]);
    if (!isComparable(result)) return;
    const expected = without(expectedCounts(old, now));
    expect(without(countsOf(result))).toEqual(expected);
    const differs = [...expected.values()].some(({ changed, added, removed }) => changed + added + removed > 0);
    expect(result.same).toBe(!differs);
  });
});

describe('diff --contents', () => {
  it('finds every checkpoint the same as itself', async () => {
    const pointers = withContents.flatMap((found) => found.pointers.slice(-1));
    expect(pointers.length).toBeGreaterThan(5);
    await pMap(
      pointers,
      async (pointer) => {
        const { same, differences, undecoded, more } = await diffOf(pointer, pointer);
        expect({ pointer: pointer.label, differences, more }).toEqual({
          pointer: pointer.label,
          differences: [],
          more: 0,
        });
        expect(same).toBe(undecoded.length === 0);
      },
      { concurrency: 4 },
    );
  }, 120_000);

  it('says the same however small its passes are', async () => {
    for (const [old, now] of neighbours.filter((_, index) => index % 12 === 0)) {
      const whole = await diffOf(old, now, undefined, 1000);
      const inPasses = await diffOf(old, now, 4000, 1000);
      const sorted = (result: ContentsDiff): string[] => result.differences.map((one) => JSON.stringify(one)).sort();
      expect(countsOf(inPasses)).toEqual(countsOf(whole));
      expect(sorted(inPasses)).toEqual(sorted(whole));
    }
  }, 240_000);

  const withKryo = neighbours.filter(([old]) => /types-hashmap/.test(old.label));
  it.skipIf(withKryo.length === 0)(
    'adds up what its passes cannot decode',
    async () => {
      for (const [old, now] of withKryo) {
        const sorted = ({ undecoded }: ContentsDiff): string[] => undecoded.map((lost) => JSON.stringify(lost)).sort();
        const whole = sorted(await diffOf(old, now, undefined, 0));
        expect(whole.length).toBeGreaterThan(0);
        expect(sorted(await diffOf(old, now, 4000, 0))).toEqual(whole);
      }
    },
    120_000,
  );

  it('shows as many differences of each state as were asked for, and says how many more there are', async () => {
    const [pair] = neighbours.filter(([old]) => old.label.includes('hashmap-inline'));
    if (!pair) throw new Error('there is no such case');
    const all = await diffOf(...pair, undefined, 1_000_000);
    expect(all.more).toBe(0);
    const some = await diffOf(...pair, undefined, 3);
    const shown = new Map<string, number>();
    for (const { operatorId, state } of some.differences) {
      const name = `${operatorId} ${state}`;
      shown.set(name, (shown.get(name) ?? 0) + 1);
    }
    expect(Math.max(...shown.values())).toBe(3);
    expect(some.more).toBe(all.differences.length - some.differences.length);
    expect(some.more).toBeGreaterThan(0);
    expect((await diffOf(...pair, undefined, 0)).differences).toEqual([]);
  });
});
