import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import type { SegmentFileStateHandle } from '../../../src/model/state-handles.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import { verifyCheckpoint } from '../../../src/operations/verify.js';
import {
  checkpointAt,
  file,
  incremental,
  keyGroups,
  metadata,
  operator,
  operatorId,
  relativeFile,
  subtask,
} from '../../support/made-metadata.js';
import { repoRoot } from '../../support/paths.js';
import { snapshotOf } from '../../support/snapshot.js';
import { tempDirectory } from '../../support/temp.js';

const JOB = 'aaaaaaaa000000000000000000000001';
const script = join(repoRoot(), 'test', 'support', 'dying-run.ts');
const plain = createFileSystems({ configuration: new Map() });

/** Runs the script; undefined if it was killed, else the number of changes. */
async function run(...args: readonly string[]): Promise<number | undefined> {
  const result = await execa(process.execPath, ['--import', 'tsx', script, ...args], { reject: false });
  if (result.signal === 'SIGKILL') return undefined;
  expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({ exitCode: 0, stderr: '' });
  return Number(result.stdout);
}

function segment(path: string): SegmentFileStateHandle {
  return {
    type: 'SegmentFileStateHandle',
    filePath: path,
    startPos: 10n,
    stateSize: 20n,
    scope: 'SHARED',
    logicalFileId: '0cd52b1f-0000-0000-0000-000000000001',
  };
}

/** A checkpoint with a file of its own, a shared one, and a piece of a merged one. */
async function sourceIn(root: string): Promise<string> {
  const shared = join(root, JOB, 'shared');
  const directory = join(root, JOB, 'chk-7');
  const operatorStates = [
    operator({
      subtasks: [subtask({ managedKeyedState: incremental([file(`file:${shared}/b`, 40), relativeFile('own', 50)]) })],
    }),
    operator({
      operatorId: operatorId(2),
      subtasks: [subtask({ managedKeyedState: keyGroups(segment(`file:${shared}/merged`)) })],
    }),
  ];
  await checkpointAt(directory, metadata({ checkpointId: 7n, operatorStates }));
  await mkdir(shared);
  await writeFile(join(shared, 'b'), 'b'.repeat(40));
  await writeFile(join(shared, 'merged'), 'm'.repeat(100));
  await writeFile(join(directory, 'own'), 'o'.repeat(50));
  return directory;
}

async function isWhole(directory: string): Promise<boolean> {
  return (await verifyCheckpoint(plain, await resolvePointer(plain, directory))).ok;
}

/** What an interrupted run must never leave: metadata of which something is missing. */
async function expectNothingBroken(directory: string): Promise<void> {
  if (existsSync(join(directory, '_metadata'))) expect(await isWhole(directory)).toBe(true);
}

describe('a copy that is killed at any of its changes', () => {
  it('leaves no metadata over missing data, and the next run completes it', { timeout: 300_000 }, async () => {
    const root = await tempDirectory();
    const source = await sourceIn(root);
    const before = await snapshotOf(join(root, JOB));
    const changes = (await run('copy', source, join(root, 'reference'), 'all')) ?? 0;
    expect(changes).toBeGreaterThan(10);
    const names = (await readdir(join(root, 'reference'))).sort();
    for (let n = 1; n <= changes; n++) {
      const target = join(root, `copy-${n}`);
      expect(await run('copy', source, target, String(n)), `killed at ${n}`).toBeUndefined();
      await expectNothingBroken(target);
      const isComplete = existsSync(join(target, '_metadata')) && !existsSync(join(target, '.ckpt-copying'));
      expect(isComplete).toBe(false);
      expect(await run('copy', source, target, 'all')).toBeGreaterThan(0);
      expect((await readdir(target)).sort(), `after ${n}`).toEqual(names);
      for (const name of names) {
        expect(await readFile(join(target, name)), name).toEqual(await readFile(join(root, 'reference', name)));
      }
    }
    expect(await snapshotOf(join(root, JOB))).toEqual(before);
  });
});

describe('a savepoint made of a checkpoint, killed at any change', () => {
  it('is continued, not made once more', { timeout: 300_000 }, async () => {
    const root = await tempDirectory();
    const source = await sourceIn(root);
    const changes = (await run('savepoint', source, join(root, 'reference'), 'all')) ?? 0;
    // The first two make the directory; nothing says yet what it is for.
    for (let n = 4; n <= changes; n += 3) {
      const target = join(root, `savepoints-${n}`);
      expect(await run('savepoint', source, target, String(n))).toBeUndefined();
      const [begun = ''] = await readdir(target);
      await expectNothingBroken(join(target, begun));
      expect(await run('savepoint', source, target, 'all')).toBeGreaterThan(0);
      expect(await readdir(target)).toEqual([begun]);
      expect(await isWhole(join(target, begun))).toBe(true);
    }
  });
});

describe('a rebase in place that is killed at any of its changes', () => {
  it('leaves the old metadata or the new one, and a second run ends it', { timeout: 300_000 }, async () => {
    const root = await tempDirectory();
    const make = async (n: number | string): Promise<string> => {
      const directory = join(root, `chk-${n}`);
      const managedKeyedState = incremental([file('hdfs://old/a', 40), relativeFile('own', 50)]);
      const operatorStates = [operator({ subtasks: [subtask({ managedKeyedState })] })];
      return checkpointAt(directory, metadata({ operatorStates }));
    };
    const reference = await make('reference');
    const old = await readFile(join(reference, '_metadata'));
    const changes = (await run('rebase', reference, 'hdfs://old', 's3://new/longer', 'all')) ?? 0;
    const rebased = await readFile(join(reference, '_metadata'));
    expect(rebased.includes('s3://new/longer/a')).toBe(true);
    expect(await readdir(reference)).toEqual(['_metadata']);
    for (let n = 1; n <= changes; n++) {
      const directory = await make(n);
      expect(await run('rebase', directory, 'hdfs://old', 's3://new/longer', String(n))).toBeUndefined();
      const left = await readFile(join(directory, '_metadata'));
      expect(left.equals(old) || left.equals(rebased), `killed at ${n}`).toBe(true);
      if (left.equals(rebased)) {
        // The backup was to go last.
        expect(await readFile(join(directory, '_metadata.before-rebase'))).toEqual(old);
        continue;
      }
      await run('rebase', directory, 'hdfs://old', 's3://new/longer', 'all');
      expect(await readFile(join(directory, '_metadata'))).toEqual(rebased);
      expect((await readdir(directory)).filter((name) => !name.endsWith('.tmp'))).toEqual(['_metadata']);
    }
  });
});
