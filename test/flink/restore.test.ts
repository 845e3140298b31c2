import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CorpusPointer, fixtureCase } from '../support/corpus.js';
import { canRestore, jobOf, type RestoreRequest, restoreAll, restoreInPlace } from '../support/flink-restore.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

/** The judge itself is on trial here: it must accept what Flink left, and notice what is wrong. */
it.skipIf(!canRestore)(
  'real Flink 2.3.0 restores its own checkpoint, goes on from it, and wrong or missing state is noticed',
  async () => {
    const incremental = lastPointer('flink-2.3.0/rocksdb-incremental');
    const inline = fixtureCase('flink-2.3.0/hashmap-inline');
    await withTempDirectory(async (directory) => {
      const mixed = join(directory, 'mixed');
      await assembleFromTwo(
        inline.pointers.map((pointer) => pointer.directory),
        'orders-keyed',
        mixed,
      );

      const there = restoreInPlace(incremental);
      const again: RestoreRequest = { ...jobOf(incremental.case.directory), id: 'again', from: '@claimed#1' };
      const renamed = { ...again, renameUids: { 'orders-keyed': 'renamed' } };
      const verdicts = await restoreAll('2.3.0', [
        { ...there, id: 'claimed', claimMode: 'CLAIM', thenCheckpoint: join(directory, 'then') },
        again,
        { ...again, id: 'rescaled', from: '@claimed', parallelism: 3 },
        { ...renamed, id: 'no operator' },
        { ...renamed, id: 'non-restored', allowNonRestored: true },
        { ...renamed, id: 'lost', allowNonRestored: true, lost: ['count of ', 'bucket-'] },
        { ...again, id: 'not lost', lost: ['count of '] },
        { ...jobOf(inline.directory), id: 'mixed', from: mixed },
        { ...again, id: 'gone', remove: [join(directory, 'then')] },
      ]);

      const by = Object.fromEntries(verdicts.map((verdict) => [verdict.id, verdict]));
      const right = { ok: true, failures: [], checksPassed: expect.toSatisfy((checks: number) => checks > 100) };
      expect(by.claimed).toMatchObject({
        ...right,
        pointers: [expect.stringMatching(/chk-4$/), expect.stringMatching(/chk-5$/)],
      });
      expect(by.again).toMatchObject(right);
      expect(by.rescaled).toMatchObject(right);
      expect(by['no operator']).toMatchObject({ ok: false, error: expect.stringContaining('Cannot map') });
      expect(by['non-restored']).toMatchObject({
        ok: false,
        failures: expect.arrayContaining([expect.stringMatching(/^count of .*: expected 16, found 0$/)]),
      });
      expect(by.lost).toMatchObject({ ok: true, failures: [] });
      expect(Object.values(by.lost?.lost ?? {}).every((count) => count > 0)).toBe(true);
      expect(by['not lost']).toMatchObject({ ok: false, failures: [], lost: { 'count of ': 0 } });
      // The sources are at record 40, the keyed state is that of record 20.
      expect(by.mixed).toMatchObject({
        ok: false,
        failures: expect.arrayContaining([expect.stringMatching(/^count of .*: expected 8, found 4$/)]),
      });
      expect(by.gone).toMatchObject({ ok: false, error: expect.stringContaining('FileNotFoundException') });
    });
  },
  15 * MINUTES,
);

it.skipIf(!canRestore)(
  'real Flink 1.20.5 restores its own checkpoint with merged files where it wrote it, and not elsewhere',
  async () => {
    const merged = lastPointer('flink-1.20.5/file-merging-hashmap');
    await withTempDirectory(async (directory) => {
      const elsewhere = join(directory, 'elsewhere');
      await mkdir(elsewhere);
      await copyFile(merged.metadataFile, join(elsewhere, '_metadata'));
      const there = restoreInPlace(merged);
      const [inPlace, moved] = await restoreAll('1.20.5', [
        there,
        { ...jobOf(merged.case.directory), id: 'moved', from: elsewhere, remove: Object.values(there.place ?? {}) },
      ]);
      expect(inPlace).toMatchObject({ id: there.id, ok: true, failures: [] });
      expect(inPlace?.checksPassed).toBeGreaterThan(100);
      expect(moved).toMatchObject({ id: 'moved', ok: false, error: expect.stringContaining('FileNotFoundException') });
    });
  },
  15 * MINUTES,
);

function lastPointer(fixture: string): CorpusPointer {
  const pointer = fixtureCase(fixture).pointers.at(-1);
  if (pointer === undefined) throw new Error(`${fixture} has no pointer`);
  return pointer;
}

/** Writes the metadata of the later of two checkpoints, with one operator's state taken from the earlier one. */
async function assembleFromTwo(pointers: readonly string[], uid: string, to: string): Promise<void> {
  const documents: Document[] = [];
  for (const pointer of pointers) documents.push(JSON.parse((await runCkpt(['dump', pointer])).stdout));
  const [earlier, later] = documents;
  if (earlier === undefined || later === undefined) throw new Error('two checkpoints are needed');
  const old = earlier.operatorStates.find((operator) => operator.uid === uid);
  const operatorStates = later.operatorStates.map((operator) => (operator.uid === uid ? old : operator));
  const file = `${to}.json`;
  await writeFile(file, JSON.stringify({ ...later, operatorStates }));
  const { exitCode, stderr } = await runCkpt(['assemble', file, '--out', join(to, '_metadata')]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
}

interface Document {
  readonly operatorStates: readonly { readonly uid: string }[];
}
