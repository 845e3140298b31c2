import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { keyQuery } from '../../src/operations/state/key-query.js';
import { type ReadRequest, type ReadResult, readState } from '../../src/operations/state/read-state.js';
import { type Row, textOf } from '../../src/operations/state/rows.js';
import { allCases, type CorpusPointer, pointersOf } from '../support/corpus.js';
import { fileSystemsOf } from '../support/mapped-case.js';
import { sourceOf } from '../support/metadata-cycle.js';

/** Cases of each form that state can have. */
const FORMS = [
  'fixtures/flink-2.3.0/savepoint-native-hashmap',
  'fixtures/flink-2.3.0/savepoint-canonical-rocksdb',
  'fixtures/flink-2.3.0/rocksdb-incremental',
  'fixtures/flink-2.3.0/changelog-hashmap',
  'fixtures/flink-2.3.0/raw-state',
  'corpus/2.3.0/forst',
  'corpus/2.3.0/claim-rescaled',
  'corpus/2.3.0/compressed-canonical-rocksdb',
  'corpus/2.3.0/sessions-rocksdb',
  'corpus/2.3.0/sql-rocksdb',
  'corpus/2.3.0/sql-hashmap',
  'corpus/2.3.0/timers-heap',
  'corpus/2.3.0/timers-rocksdb',
];

const pointers = pointersOf(allCases()).filter(({ case: { label } }) => FORMS.includes(label));

async function read(
  pointer: CorpusPointer,
  request: Partial<ReadRequest>,
): Promise<{
  readonly rows: readonly string[];
  readonly keys: ReadonlyMap<string, Set<string>>;
  readonly result: ReadResult;
}> {
  const directory = Path.parse(pointer.externalPointer);
  const source = sourceOf(readFileSync(pointer.metadataFile));
  const input = { source, metadataPath: directory.child('_metadata'), directory };
  const rows: string[] = [];
  const keys = new Map<string, Set<string>>();
  const take = (row: Row, operatorId: string): void => {
    if (row.keyGroup === null) return;
    rows.push(JSON.stringify({ operatorId, ...row }));
    const known = keys.get(operatorId) ?? new Set();
    keys.set(operatorId, known.add(textOf(row.key)));
  };
  const result = await readState(
    fileSystemsOf(pointer.case),
    input,
    { query: keyQuery({}), mode: 'values', ...request },
    {
      rows: (some, { operatorId }) => {
        for (const row of some) take(row, operatorId);
      },
    },
  );
  return { rows, keys, result };
}

describe.each(pointers)('$label', (pointer) => {
  it('has for each key what reading all has for it, and the key is found without a scan', async () => {
    const { rows, keys } = await read(pointer, {});
    expect(rows.length).toBeGreaterThan(0);
    for (const [operator, texts] of keys) {
      for (const key of [...texts].slice(0, 6)) {
        const found = await read(pointer, { operator, query: keyQuery({ key }) });
        const expected = rows.filter((row) => {
          const { operatorId, key: own } = JSON.parse(row);
          return operatorId === operator && textOf(own) === key;
        });
        expect([...found.rows].sort()).toEqual(expected.sort());
        expect(found.result.scanned).toEqual([]);
      }
    }
  });

  it('is counted as it is read, and what lies beyond a limit too', async () => {
    const all = await read(pointer, {});
    const counted = await read(pointer, { mode: 'count' });
    expect(counted.rows).toEqual([]);
    expect(counted.result.counts).toEqual(all.result.counts);
    const limited = await read(pointer, { limit: 5 });
    expect(limited.result).toMatchObject({ entries: all.result.entries, more: all.result.entries - 5 });
  });
});
