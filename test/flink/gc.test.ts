import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allCases, type CorpusPointer } from '../support/corpus.js';
import { canRestore, jobOf, type RestoreRequest, restoreAll } from '../support/flink-restore.js';
import { uuidOf } from '../support/gc-tree.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

/** Shared and merged files, changelogs, files that only operator state names, jobs that share files, an aborted checkpoint. */
const CASES = [
  'crashed',
  'rocksdb-incremental',
  'file-merging',
  'file-merging-across',
  'file-merging-hashmap',
  'changelog-rocksdb',
  'changelog-hashmap',
  'claim',
  'claim-subsumed',
  'task-owned',
  'unaligned',
  'savepoint-native-rocksdb',
  'pipeline',
  'forst',
];

const originalOf = (uri: string): string => uri.replace(/^file:/, '');

it.skipIf(!canRestore)(
  'real Flink restores every checkpoint and savepoint that is there after gc --delete',
  async () => {
    const cases = allCases().filter(
      ({ label, flinkVersion }) => flinkVersion === '2.3.0' && CASES.includes(label.split('/').at(-1) ?? ''),
    );
    const byName = new Map(cases.map((tree) => [tree.label.split('/').at(-1) ?? '', tree]));
    expect(byName.size).toBeGreaterThan(2);
    await withTempDirectory(async (temporary) => {
      const requests: RestoreRequest[] = [];
      let deleted = 0;
      for (const [name, { directory, mapping, pointers }] of byName) {
        const copy = join(temporary, name);
        await cp(directory, copy, { recursive: true });
        const inCopy = ({ externalPointer }: CorpusPointer): string =>
          join(copy, originalOf(externalPointer).slice(originalOf(mapping.uri).length));
        const left = await loseOldest(pointers, inCopy);
        await litter(copy);
        const args = [mapping.uri, '--map', `${mapping.uri}=${copy}`, '--json'];
        const more = ['--min-age', '0s', '--taskowned', '--empty-directories', '--delete', '--yes'];
        const { stdout, stderr, exitCode } = await runCkpt(['gc', ...args, ...more]);
        expect({ name, exitCode, stderr }).toEqual({ name, exitCode: 0, stderr: '' });
        const document = JSON.parse(stdout);
        expect(document.deletedFiles).toBe(document.totals.files);
        deleted += document.deletedFiles;
        for (const pointer of left) {
          const place = { [copy]: originalOf(mapping.uri) };
          const { externalPointer } = pointer;
          requests.push({ ...jobOf(directory), id: externalPointer, from: externalPointer, place });
        }
      }
      expect(deleted).toBeGreaterThan(50);
      const verdicts = await restoreAll('2.3.0', requests);
      expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
      expect(verdicts).toHaveLength(requests.length);
    });
  },
  20 * MINUTES,
);

/** The oldest checkpoint of several loses its metadata, as if Flink had been killed while it discarded it. */
async function loseOldest(
  pointers: readonly CorpusPointer[],
  inCopy: (pointer: CorpusPointer) => string,
): Promise<CorpusPointer[]> {
  const checkpoints = pointers.filter(({ kind }) => kind === 'checkpoint');
  const oldest =
    checkpoints.length < 2 ? undefined : checkpoints.reduce((a, b) => (b.checkpointId < a.checkpointId ? b : a));
  if (oldest) await rm(join(inCopy(oldest), '_metadata'));
  return pointers.filter((pointer) => pointer !== oldest);
}

/** Puts files where nobody names them, in every place that there is. */
async function litter(copy: string): Promise<void> {
  for (const job of await readdir(copy)) {
    if (!/^[0-9a-f]{32}$/.test(job)) continue;
    for (const place of [
      'shared',
      'taskowned',
      'chk-99',
      `shared/job_${job}_op_gone_0_1`,
      `taskowned/job_${job}_tm_gone`,
    ]) {
      const directory = join(copy, job, place);
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, uuidOf(place)), 'left');
    }
  }
}
