import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allCases } from '../support/corpus.js';
import { canRestore, jobOf, type RestoreRequest, restoreAll } from '../support/flink-restore.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

/** Shared, merged and changelog files, and jobs that went on from what another one left. */
const CASES = ['rocksdb-incremental', 'file-merging', 'file-merging-across', 'changelog-hashmap', 'forst', 'claim'];

it.skipIf(!canRestore)(
  'real Flink restores the checkpoints around each one that was discarded',
  async () => {
    const cases = allCases().filter(
      ({ label, flinkVersion }) => flinkVersion === '2.3.0' && CASES.includes(label.split('/').at(-1) ?? ''),
    );
    const byName = new Map(cases.map((tree) => [tree.label.split('/').at(-1) ?? '', tree]));
    expect(byName.has('rocksdb-incremental')).toBe(true);
    await withTempDirectory(async (temporary) => {
      const requests: RestoreRequest[] = [];
      for (const [name, { directory, mapping, pointers }] of byName) {
        for (const { externalPointer } of pointers) {
          const copy = join(temporary, `${name}-${externalPointer.split('/').slice(-2).join('-')}`);
          await cp(directory, copy, { recursive: true });
          const args = ['--yes', '--job-stopped', '--map', `${mapping.uri}=${copy}`];
          const { stderr, exitCode } = await runCkpt(['discard', externalPointer, ...args]);
          expect({ externalPointer, stderr, exitCode }).toEqual({ externalPointer, stderr: '', exitCode: 0 });
          const place = { [copy]: mapping.uri.replace(/^file:/, '') };
          for (const other of pointers) {
            if (other.externalPointer === externalPointer) continue;
            const id = `${other.externalPointer} without ${externalPointer}`;
            requests.push({ ...jobOf(directory), id, from: other.externalPointer, place });
          }
        }
      }
      expect(requests.length).toBeGreaterThan(5);
      const verdicts = await restoreAll('2.3.0', requests);
      expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
      expect(verdicts).toHaveLength(requests.length);
    });
  },
  20 * MINUTES,
);
