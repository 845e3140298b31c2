import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOfCase } from '../support/case-copy.js';
import type { Json } from '../support/metadata-cycle.js';
import { runCkpt } from '../support/run-ckpt.js';
import { snapshotOf } from '../support/snapshot.js';

const CASE = 'flink-2.3.0/savepoint-native-hashmap';
const KEYED = 'orders-keyed';

async function ckpt(args: readonly string[], exitCode = 0): Promise<{ stdout: string; stderr: string }> {
  const result = await runCkpt(args);
  expect({ ...result, stdout: '' }).toMatchObject({ exitCode });
  return result;
}

/** The newest pointer of a case, as arguments. */
async function newest(name = CASE): Promise<string[]> {
  const { root, map } = await copyOfCase(name);
  return [...map, '--latest', root];
}

const linesOf = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('ckpt states', () => {
  it('lists every state with its types', async () => {
    const { stdout } = await ckpt(['states', '--json', ...(await newest())]);
    const { operators, unread } = JSON.parse(stdout);
    expect(unread).toEqual([]);
    const keyed = operators.find(({ uid }: Json) => uid === KEYED);
    expect(keyed).toMatchObject({ keyType: 'String', backend: 'hashmap', disagreements: [] });
    const states = Object.fromEntries(keyed.states.map((state: Json) => [state.name, state]));
    expect(states.count).toMatchObject({
      kind: 'value',
      valueType: 'Long',
      ttl: false,
      serializer: 'LongSerializer',
      subtasks: 2,
    });
    expect(states.buckets).toMatchObject({ kind: 'map', mapKeyType: 'String', valueType: 'Long' });
    expect(states.recent).toMatchObject({ kind: 'list', valueType: 'Long', namespaceType: 'VoidNamespace' });
    expect(states.expiring).toMatchObject({ kind: 'value', ttl: true });
    expect(states.profile.valueDetail).toMatch(/^Pojo .*\{name .*String.*, visits .*\}$/);
    const source = operators.find(({ uid }: Json) => uid === 'orders-source');
    expect(source.states).toMatchObject([
      { name: 'SourceReaderState', kind: 'split-list', valueType: 'byte[]', entries: 4 },
    ]);
    expect(source.otherState).toEqual(['coordinator']);
  });

  it('tells how large the states of RocksDB are: together as large as the tables that the metadata names', async () => {
    const pointer = await newest('flink-2.3.0/rocksdb-incremental');
    const { operators } = JSON.parse((await ckpt(['states', '--json', ...pointer])).stdout);
    const keyed = operators.find(({ backend }: Json) => backend === 'rocksdb');
    const listed = keyed.states.reduce((sum: number, { bytes }: Json) => sum + bytes, 0);
    const dump = JSON.parse((await ckpt(['dump', ...pointer])).stdout);
    const operator = dump.operatorStates.find(({ operatorId }: Json) => operatorId === keyed.operatorId);
    const tables = operator.subtasks.flatMap(({ managedKeyedState }: Json) =>
      managedKeyedState.flatMap(({ sharedState }: Json) => sharedState),
    );
    expect(listed).toBe(tables.reduce((sum: number, { handle }: Json) => sum + handle.stateSize, 0));
    expect(listed).toBeGreaterThan(1000);
  });

  it('shows one operator as text', async () => {
    const { stdout } = await ckpt(['states', ...(await newest()), KEYED]);
    expect(stdout).toMatch(/keys of String/);
    expect(stdout).toMatch(/^buckets +map +String → Long/m);
    expect(stdout).toMatch(/^expiring +value, TTL +String/m);
  });

  it('changes nothing', async () => {
    const { root, map } = await copyOfCase(CASE);
    const before = await snapshotOf(root);
    await ckpt(['states', ...map, '--latest', root]);
    await ckpt(['read', ...map, '--latest', root]);
    expect(await snapshotOf(root)).toEqual(before);
  });
});

describe('ckpt read', () => {
  it('gives the part of one operator as a document', async () => {
    const { stdout } = await ckpt(['read', '--json', ...(await newest()), KEYED, 'count']);
    const document = JSON.parse(stdout);
    expect(Object.keys(document)).toEqual(['operatorId', 'uid', 'keyedState', 'undecoded', 'unread']);
    expect(document.keyedState.count.kind).toBe('value');
    expect(document.keyedState.count.entries[0]).toEqual({
      keyGroup: 20,
      key: 'orders-s0-k0',
      namespace: null,
      value: 8,
    });
  });

  it('finds every key by itself, in its key group', async () => {
    const pointer = await newest();
    const all = linesOf((await ckpt(['read', '--jsonl', ...pointer, KEYED])).stdout);
    const keys = [...new Set(all.map(({ key }) => key))];
    expect(keys).toHaveLength(20);
    for (const key of keys.slice(0, 4)) {
      const found = linesOf((await ckpt(['read', '--jsonl', ...pointer, KEYED, '--key', key])).stdout);
      expect(found).toEqual(all.filter((row) => row.key === key));
      expect(found.length).toBeGreaterThan(5);
    }
  });

  it('says what it has not found', async () => {
    const { stdout } = await ckpt(['read', ...(await newest()), KEYED, '--key', 'nobody']);
    expect(stdout).toBe('No entries\n');
  });

  it('takes prefixes, patterns and namespaces', async () => {
    const pointer = await newest();
    const of = async (...more: string[]): Promise<string[]> => {
      const { stdout } = await ckpt(['read', '--jsonl', ...pointer, KEYED, 'count', ...more]);
      return stdout === '' ? [] : linesOf(stdout).map(({ key }) => key);
    };
    const all = await of();
    expect(await of('--key-prefix', 'orders-s1')).toEqual(all.filter((key) => key.startsWith('orders-s1')));
    expect(await of('--where-key', 'k[34]$')).toEqual(all.filter((key) => /k[34]$/.test(key)));
    expect(await of('--namespace', 'null')).toEqual(all);
    expect(await of('--namespace', 'other')).toEqual([]);
    const { stderr } = await ckpt(['read', ...pointer, KEYED, '--where-key', '['], 2);
    expect(stderr).toMatch(/no regular expression/);
  });

  it('stops at a limit and counts the rest', async () => {
    const { stdout } = await ckpt(['read', ...(await newest()), KEYED, 'count', '--limit', '3']);
    expect(stdout.match(/^count /gm)).toHaveLength(3);
    expect(stdout).toMatch(/^17 more entries, not shown$/m);
  });

  it('counts', async () => {
    const { stdout } = await ckpt(['read', '--json', ...(await newest()), '--count']);
    const { states, entries } = JSON.parse(stdout);
    expect(states.find(({ name }: Json) => name === 'buckets')).toMatchObject({ kind: 'map', entries: 20 });
    expect(entries).toBe(states.reduce((sum: number, state: Json) => sum + state.entries, 0));
  });

  it('leaves values out', async () => {
    const { stdout } = await ckpt(['read', '--jsonl', ...(await newest()), KEYED, 'buckets', '--keys-only']);
    const [first] = linesOf(stdout);
    expect(first).toMatchObject({ state: 'buckets', key: 'orders-s0-k0', namespace: null });
    expect(first).not.toHaveProperty('value');
    const whole = linesOf((await ckpt(['read', '--jsonl', ...(await newest()), KEYED, 'buckets'])).stdout);
    expect(whole[0].value).toHaveLength(4);
    expect(whole[0].value[0]).toEqual({ key: 'bucket-0', value: 2 });
  });

  it('writes CSV, a line for each entry of a map', async () => {
    const { stdout } = await ckpt(['read', '--csv', ...(await newest()), KEYED, 'buckets']);
    const lines = stdout.trimEnd().split('\r\n');
    expect(lines[0]).toBe('operatorId,uid,state,kind,subtask,keyGroup,key,namespace,mapKey,value,timestamp,lastAccess');
    expect(lines).toHaveLength(1 + 20 * 4);
    expect(lines[1]).toMatch(/^[0-9a-f]{32},orders-keyed,buckets,map,0,20,orders-s0-k0,,bucket-\d,2,,$/);
  });

  it('puts the states of a key side by side', async () => {
    const pointer = await newest();
    const { stdout } = await ckpt(['read', '--json', ...pointer, KEYED, '--by-key']);
    const { keys } = JSON.parse(stdout);
    expect(keys).toHaveLength(20);
    expect(keys[0].states.count).toEqual({ value: 8 });
    expect(keys[0].states.buckets.entries).toHaveLength(4);
    const { stderr } = await ckpt(['read', ...pointer, '--by-key'], 2);
    expect(stderr).toMatch(/--by-key is about one operator/);
  });

  it('shows the time of the last access, and what has expired by it', async () => {
    const pointer = await newest();
    const text = (await ckpt(['read', ...pointer, KEYED, 'expiring', '--ttl', '1s'])).stdout;
    expect(text).toMatch(/^expiring .* round-7 +\d{4}-\d\d-\d\dT[\d:.]+Z +expired$/m);
    const lines = linesOf((await ckpt(['read', '--jsonl', ...pointer, KEYED, 'expiring', '--ttl', '100000d'])).stdout);
    expect(lines.every(({ expired }) => expired === false)).toBe(true);
  });

  it('names the states that there are', async () => {
    const { stdout, stderr } = await ckpt(['read', '--json', ...(await newest()), KEYED, 'nonsense'], 2);
    expect(stderr).toMatch(/no state "nonsense"; there are .*buckets/);
    expect(JSON.parse(stdout).error.code).toBe('STATE_NOT_FOUND');
  });

  it('goes on where a file is damaged, and says so', async () => {
    const { root, map, path } = await copyOfCase(CASE);
    const [savepoint = ''] = readdirSync(root).filter((name) => name.startsWith('savepoint-'));
    const files = readdirSync(path(savepoint)).filter((name) => name !== '_metadata');
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) await writeFile(join(path(savepoint), name), Buffer.alloc(100, 0x7f));
    const { stdout, stderr } = await ckpt(['read', '--json', ...map, path(savepoint)], 1);
    const { unread } = JSON.parse(stdout);
    expect(unread.length).toBeGreaterThan(0);
    for (const { path: file, reason } of unread) expect(reason).toContain(file);
    expect(stderr).toMatch(/could not be read/);
  });
});
