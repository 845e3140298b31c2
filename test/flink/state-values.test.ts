import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { runWithFlink } from '../support/flink-lab.js';
import { flinkValueLines } from '../support/flink-values.js';
import { fixturesDirectory, repoRoot } from '../support/paths.js';

const PROGRAM = join(repoRoot(), 'test/flink/java/WriteValues.java');
const MINUTES = 60_000;

it('real serializers write what the fixture says', { timeout: 5 * MINUTES }, async () => {
  const lines = await runWithFlink(PROGRAM, []);
  if (process.env.CKPT_FLINK_WRITE === '1') {
    const text = `${lines.join('\n')}\n`;
    writeFileSync(join(fixturesDirectory(), 'state-values', 'values.jsonl.gz'), gzipSync(text, { level: 9 }));
  }
  // The order of a set of subclasses, and of Java's small maps, differs between runs.
  expect(lines.map(comparable)).toEqual(flinkValueLines().map(comparable));
});

function comparable(line: string): unknown {
  const { snapshot, values, ...rest } = JSON.parse(line);
  // The hash code of an object that has none of its own is another one in each run.
  return {
    ...rest,
    snapshotBytes: snapshot.length,
    values: values.map(({ bytes, value }: Record<string, unknown>) => ({ bytes, value })),
  };
}
