import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtureCase } from '../support/corpus.js';
import { checkpointAt, inline, keyGroups, metadata, operator, operatorId, subtask } from '../support/made-metadata.js';
import { binPath } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { tempDirectory } from '../support/temp.js';

const { directory, mapping, pointers } = fixtureCase('flink-2.3.0/rocksdb-incremental');
const [first, second] = pointers.map(({ externalPointer }) => externalPointer);
const map = ['--map', `${mapping.uri}=${directory}`];

async function pair(): Promise<readonly [string, string]> {
  const root = await tempDirectory();
  const state = (size: number) => [subtask({ managedKeyedState: keyGroups(inline(size)) })];
  const old = metadata({
    operatorStates: [
      operator({ operatorId: operatorId(1), name: 'Window', uid: 'w', subtasks: state(1000) }),
      operator({ operatorId: operatorId(2), name: 'Gone', subtasks: state(10) }),
      operator({ operatorId: operatorId(3), name: 'Renamed id', subtasks: state(20) }),
    ],
  });
  const now = metadata({
    operatorStates: [
      operator({ operatorId: operatorId(1), name: 'Window', uid: 'w', parallelism: 4, subtasks: state(5000) }),
      operator({ operatorId: operatorId(33), name: 'Renamed id', subtasks: state(20) }),
      operator({ operatorId: operatorId(4), name: 'Fresh', subtasks: state(30) }),
    ],
  });
  return [await checkpointAt(join(root, 'old'), old), await checkpointAt(join(root, 'new'), now)];
}

describe('ckpt diff', () => {
  it('says the same with exit 0', async () => {
    const { stdout, exitCode, stderr } = await runCkpt(['diff', '--json', ...map, `${first}`, `${first}/`]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ same: true, added: [], removed: [], renumbered: [], changed: [] });
    expect(document.files).toMatchObject({ added: 0, removed: 0, addedBytes: 0, removedBytes: 0 });
    expect(document.files.common).toBeGreaterThan(0);
    expect((await runCkpt(['diff', ...map, `${first}`, `${first}`])).stdout).toMatch(/^Result +the same$/m);
  });

  it('says what differs with exit 1', async () => {
    const { stdout, exitCode } = await runCkpt(['diff', '--json', ...map, `${first}`, `${second}`]);
    expect(exitCode).toBe(1);
    const { same, files, changed } = JSON.parse(stdout);
    expect(same).toBe(false);
    expect(files.common).toBeGreaterThan(0);
    expect(files.added).toBeGreaterThan(0);
    expect(changed.map(({ field }: { field: string }) => field)).toContain('stateSize');
  });

  it('shows operators by their growth', async () => {
    const [old, now] = await pair();
    const { stdout, exitCode } = await runCkpt(['diff', old, now]);
    expect(exitCode).toBe(1);
    const rows = stdout.split('\n').filter((line) => /Window|Gone|Renamed|Fresh/.test(line));
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual([
      ['Window', 'changed'],
      ['Fresh', 'added'],
      ['Renamed id', 'id changed (same name)'],
      ['Gone', 'removed'],
    ]);
    expect(rows[0]).toContain('parallelism 1 → 4; keyed +3.91 KiB');
    expect(rows[2]).toContain(`was ${operatorId(3)}`);
    const document = JSON.parse((await runCkpt(['diff', '--json', old, now])).stdout);
    expect(document).toMatchObject({
      added: [operatorId(4)],
      removed: [operatorId(2)],
      renumbered: [{ old: operatorId(3), new: operatorId(33), by: 'name' }],
    });
  });

  it.skipIf(!hasTerminal)('fits into 80 columns', async () => {
    const [old, now] = await pair();
    const { screen } = await runInTerminal([process.execPath, binPath(), 'diff', '-q', '--no-color', old, now]);
    expect(screen.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(screen).toContain('Renamed id');
  });

  it('exits with 3 and 4 as all commands with pointers', async () => {
    const [old] = await pair();
    const broken = await checkpointAt(join(old, '..', 'broken'), Buffer.from('x'));
    expect(await runCkpt(['diff', old, broken])).toMatchObject({ stdout: '', exitCode: 4 });
    const missing = await runCkpt(['diff', '--json', old, '/nowhere']);
    expect(missing.exitCode).toBe(3);
    expect(JSON.parse(missing.stdout).error).toMatchObject({ code: 'NOT_FOUND' });
    const both = await runCkpt(['diff', '/nowhere', '/nor/here']);
    expect(both).toMatchObject({ exitCode: 3, stdout: '' });
    for (const name of ['/nowhere', '/nor/here']) expect(both.stderr).toContain(name);
    expect((await runCkpt(['diff', old])).exitCode).toBe(2);
  });
});
