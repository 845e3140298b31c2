import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOfCase } from '../support/case-copy.js';
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

describe('ckpt diff --contents', () => {
  const heap = fixtureCase('flink-2.3.0/hashmap-inline');
  const [old = '', now = ''] = heap.pointers.map(({ externalPointer }) => externalPointer);
  const map = ['--map', `${heap.mapping.uri}=${heap.mapping.directory}`];

  it('shows which entries of which states are not as before, with their values', async () => {
    const { exitCode, stdout } = await runCkpt([
      'diff',
      '--contents',
      ...map,
      old,
      now,
      '--state',
      'count',
      '--limit',
      '1',
    ]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/Result {3}they differ/);
    expect(stdout).toMatch(/orders-keyed {2}count {2}value/);
    expect(stdout).toMatch(/~ orders-s\d-k\d\n {6}\d+ → \d+\n/);
    expect(stdout).toMatch(/more differences \(--limit shows them\)/);
  });

  it('ends with 0 where all is the same', async () => {
    const { exitCode, stdout } = await runCkpt(['diff', '--contents', '--json', ...map, old, old]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ same: true, differences: [], more: 0, undecoded: [], unread: [] });
  });

  it('compares what two backends wrote', async () => {
    const canonical = fixtureCase('flink-2.3.0/savepoint-canonical-rocksdb');
    const [checkpoint, savepoint] = canonical.pointers;
    const canonicalMap = ['--map', `${canonical.mapping.uri}=${canonical.mapping.directory}`];
    const { stdout } = await runCkpt([
      'diff',
      '--contents',
      '--json',
      ...canonicalMap,
      checkpoint?.externalPointer ?? '',
      savepoint?.externalPointer ?? '',
    ]);
    const { operators, undecoded } = JSON.parse(stdout);
    expect(undecoded).toEqual([]);
    const states = operators.flatMap(
      (operator: { states: { kind: string; unchanged: number; changed: number }[] }) => operator.states,
    );
    expect(states.length).toBeGreaterThan(3);
    expect(
      states.some(({ changed, unchanged }: { changed: number; unchanged: number }) => changed + unchanged > 0),
    ).toBe(true);
  });

  it('says that a file is damaged, and is not the same then (1)', async () => {
    const { root, original, map: copyMap } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const pointer = fixtureCase('flink-2.3.0/rocksdb-incremental').pointers.at(-1)?.externalPointer ?? '';
    const shared = join(root, pointer.slice(original.length), '..', 'shared');
    const names = (await readdir(shared)).sort();
    for (const name of names) {
      const bytes = await readFile(join(shared, name));
      if (bytes.length > 500 && bytes.length < 20_000) await writeFile(join(shared, name), bytes.fill(0x55, 10, 60));
    }
    const { exitCode, stdout } = await runCkpt(['diff', '--contents', '--json', ...copyMap, pointer, pointer]);
    expect(exitCode).toBe(1);
    const { same, unread } = JSON.parse(stdout);
    expect(same).toBe(false);
    expect(unread.length).toBeGreaterThan(0);
    expect(unread[0]).toMatchObject({ side: 'old', path: expect.stringContaining('/rocksdb-incremental/') });
  });

  it('refuses a state that no operator has', async () => {
    const { exitCode, stderr } = await runCkpt(['diff', '--contents', ...map, old, now, '--state', 'cuont']);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('"cuont"');
  });

  it('takes --limit and --state only with --contents (2)', async () => {
    expect((await runCkpt(['diff', old, now, '--limit', '3'])).exitCode).toBe(2);
    expect((await runCkpt(['diff', old, now, '--state', 'count'])).exitCode).toBe(2);
  });
});
