import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allCases, pointersOf } from '../support/corpus.js';
import { contentsOf, differences, readablePointer, runInFlink, type WrittenSql, writtenSql } from '../support/flink-sql.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

const only = process.env.CKPT_SQL_CASES?.split(',');

it(
  'real Flink reads the same by SQL or by the job',
  async () => {
    await withTempDirectory(async (temporary) => {
      const written: WrittenSql[] = [];
      const contents = new Map<string, unknown>();
      const pointers = pointersOf(allCases()).filter(({ case: { label, flinkVersion } }) => label.startsWith('corpus') && (only ? only.some((o) => label.endsWith(o)) : /^(2\.3\.0|1\.20)/.test(flinkVersion)));
      for (const [i, pointer] of pointers.entries()) {
        const operators = contentsOf(pointer);
        if (!operators) continue;
        const place = await readablePointer(pointer, join(temporary, `copy-${i}`));
        for (const operator of operators) {
          for (const options of [[], ['--java']]) {
            const id = `${pointer.label} ${operator.uid ?? operator.operatorId} ${options}`;
            const sql = await writtenSql(id, place, operator.operatorId, options).catch((e) => { console.log(`${id}: NOT WRITTEN ${e.message}`); return undefined; });
            if (!sql) continue;
            if (options.length && written.some((w) => w.language === 'java' && w.statement?.replace(/^\/\/.*$/gm, '') === sql.statement?.replace(/^\/\/.*$/gm, ''))) continue;
            written.push(sql);
            contents.set(id, operator);
          }
        }
      }
      console.log(written.length);
      require('node:fs').writeFileSync('/tmp/sqlw/written.json', JSON.stringify(written, null, 1));
      const answers = await runInFlink(written);
      require('node:fs').writeFileSync('/tmp/sqlw/answers.json', JSON.stringify([...answers.values()]));
      for (const sql of written) {
        const answer = answers.get(sql.id);
        const found = sql.language === null ? [sql.reason] : answer ? differences(sql, answer, contents.get(sql.id)) : ['NO ANSWER'];
        console.log(`${found.length ? 'BAD' : 'ok'} ${sql.language} ${sql.id} ${found.join('\n    ').slice(0, 1800)} ${sql.leftOut.map((l) => `\n      left out ${l.state}: ${l.reason}`).join('')}`);
      }
    });
    expect(1).toBe(1);
  },
  60 * MINUTES,
);
