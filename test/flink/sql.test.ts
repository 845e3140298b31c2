import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allCases } from '../support/corpus.js';
import { flinkLab } from '../support/flink-lab.js';
import {
  contentsOf,
  differences,
  readablePointer,
  runInFlink,
  type SqlAnswer,
  type WrittenSql,
  writtenSql,
} from '../support/flink-sql.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

/**
 * Not 1.20.5/types-rocksdb: Flink 2.3 makes of a POJO with collections another serializer than 1.20 did, and refuses it.
 * Of each the last pointer. `CKPT_SQL_CASES` takes others.
 */
const CASES = (
  process.env.CKPT_SQL_CASES ??
  `2.3.0/hashmap-files 2.3.0/savepoint-canonical-hashmap 2.3.0/savepoint-canonical-rocksdb 2.3.0/savepoint-native-hashmap
  2.3.0/types-hashmap 2.3.0/types-rocksdb 2.3.0/ttl-hashmap 2.3.0/ttl-rocksdb 2.3.0/avro-hashmap 2.3.0/avro-rocksdb
  2.3.0/sql-hashmap 2.3.0/sql-rocksdb 2.3.0/async-hashmap 2.3.0/timers-rocksdb 2.3.0/sessions-hashmap 2.3.0/sessions-rocksdb
  2.3.0/rocksdb-incremental 2.3.0/file-merging 2.3.0/operator-state 2.3.0/forst 2.3.0/changelog-hashmap 2.3.0/compressed-hashmap
  1.20.5/hashmap-inline 1.20.5/savepoint-canonical-rocksdb 1.20.5/ttl-hashmap 1.20.5/rocksdb-incremental`
).split(/\s+/);

const isPart = process.env.CKPT_SQL_CASES !== undefined;

/** Operators that are in nearly every case: once is enough. */
const COMMON = new Set(['orders-source', 'orders-progress']);

interface Expected {
  readonly written: WrittenSql;
  readonly operator: unknown;
}

const expected: Expected[] = [];
let answers: ReadonlyMap<string, SqlAnswer> = new Map();

/** The statement that is written by itself, and the job if it is another thing. */
async function expectOf(id: string, pointer: string, operator: { operatorId: string }): Promise<void> {
  const first = await writtenSql(id, pointer, operator.operatorId);
  expected.push({ written: first, operator });
  if (first.language !== 'sql') return;
  expected.push({ written: await writtenSql(`${id} --java`, pointer, operator.operatorId, ['--java']), operator });
}

async function expectOfCorpus(temporary: string): Promise<void> {
  for (const name of CASES) {
    const found = allCases().find(({ label }) => label === `corpus/${name}`);
    const pointer = found?.pointers.at(-1);
    if (!pointer) continue;
    const place = await readablePointer(pointer, join(temporary, name.replace('/', '-')));
    for (const operator of contentsOf(pointer) ?? []) {
      if (COMMON.has(operator.uid) && !name.endsWith('operator-state')) continue;
      await expectOf(`${name} ${operator.uid ?? operator.operatorId}`, place, operator);
    }
  }
}

/** Keys of many types, hostile names, windows: `read` says what is in there. */
async function expectOfKeyTypes(temporary: string): Promise<void> {
  const made = execFileSync(join(flinkLab(), 'keytypes'), ['--out', join(temporary, 'keys')]).toString();
  for (const [what, pointer] of Object.entries<string>(JSON.parse(made))) {
    const { stdout } = await runCkpt(['read', pointer, '--json']);
    for (const operator of JSON.parse(stdout).operators) {
      if (operator.uid !== 'numbers') await expectOf(`keys ${what} ${operator.uid}`, pointer, operator);
    }
  }
}

describe('what is written runs in real Flink', () => {
  beforeAll(
    () =>
      withTempDirectory(async (temporary) => {
        await expectOfCorpus(temporary);
        if (!isPart) await expectOfKeyTypes(temporary);
        answers = await runInFlink(
          expected.map(({ written }) => written),
          mkdtempSync(join(temporary, 'classes-')),
        );
      }),
    60 * MINUTES,
  );

  it('and reads the same as ckpt and the corpus say', () => {
    const found = expected.flatMap(({ written, operator }) => {
      if (written.language === null) return [];
      const answer = answers.get(written.id);
      return (answer ? differences(written, answer, operator) : ['no answer']).map((text) => `${written.id}: ${text}`);
    });
    expect(found).toEqual([]);
  });

  it.skipIf(isPart)('and what Flink has no way to read is a changelog', () => {
    const nothing = expected.filter(({ written }) => written.language === null);
    expect(nothing.map(({ written }) => `${written.id}: ${written.reason}`)).toMatchInlineSnapshot(`
      [
        "2.3.0/changelog-hashmap orders-keyed: the connector cannot read a changelog; the State Processor API can read none of the states",
      ]
    `);
  });

  it.skipIf(isPart)('and what a job leaves out is known', () => {
    const reasons = new Set<string>();
    for (const { written } of expected) {
      if (written.language !== 'java') continue;
      for (const { state, reason } of written.leftOut) reasons.add(`${state}: ${reason}`);
    }
    expect([...reasons].sort()).toMatchInlineSnapshot(`
      [
        "accState: SQL has no spelling of a RAW type without its serializer",
        "data-state-with-append: values of SQL within others are not taken apart",
        "distinctAcc_0: ExternalSerializer is internal to Flink, and no TypeInformation makes one",
        "distinctAcc_0_null_state: ExternalSerializer is internal to Flink, and no TypeInformation makes one",
      ]
    `);
  });
});
