import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allCases } from '../support/corpus.js';
import { canRestore, jobOf, type RestoreRequest, restoreAll } from '../support/flink-restore.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

/** Shared and merged files, changelogs, two jobs that share files, savepoints beside checkpoints, an aborted checkpoint. */
const CASES = [
  'rocksdb-incremental',
  'file-merging',
  'file-merging-across',
  'changelog-rocksdb',
  'claim',
  'crashed',
  'task-owned',
  'operator-state',
  'unaligned',
  'savepoint-native-rocksdb',
];

it.skipIf(!canRestore)(
  'real Flink restores every checkpoint and savepoint that is left after prune',
  async () => {
    const cases = allCases().filter(
      ({ label, flinkVersion }) => flinkVersion === '2.3.0' && CASES.includes(label.split('/').at(-1) ?? ''),
    );
    const byName = new Map(cases.map((tree) => [tree.label.split('/').at(-1) ?? '', tree]));
    expect(byName.size).toBeGreaterThan(0);
    await withTempDirectory(async (temporary) => {
      const requests: RestoreRequest[] = [];
      let discarded = 0;
      for (const [name, { directory, mapping, pointers }] of byName) {
        const copy = join(temporary, name);
        await cp(directory, copy, { recursive: true });
        const args = [mapping.uri, '--map', `${mapping.uri}=${copy}`, '--json'];
        for (const more of [[], ['--savepoints']]) {
          const pruned = await runCkpt(['prune', ...args, '--keep', '1', '--yes', '--job-stopped', ...more]);
          expect({ name, exitCode: pruned.exitCode, stderr: pruned.stderr }).toEqual({ name, exitCode: 0, stderr: '' });
          discarded += JSON.parse(pruned.stdout).pointers.length;
        }
        const { entries } = JSON.parse((await runCkpt(['list', ...args, '--complete'])).stdout);
        expect(entries.length).toBeGreaterThan(0);
        expect(entries.length).toBeLessThanOrEqual(pointers.length);
        for (const { pointer } of entries) {
          const place = { [copy]: mapping.uri.replace(/^file:/, '') };
          requests.push({ ...jobOf(directory), id: pointer, from: pointer, place });
        }
      }
      expect(discarded).toBeGreaterThan(3);
      const verdicts = await restoreAll('2.3.0', requests);
      expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
      expect(verdicts).toHaveLength(requests.length);
    });
  },
  20 * MINUTES,
);
