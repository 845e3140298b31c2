import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allCases, type CorpusPointer, fixtureCase, pointersOf } from '../support/corpus.js';
import { runCkpt } from '../support/run-ckpt.js';

const SOURCE = '61252f73469d3ffba207c548d29a0267';
const CONSUMER = '85db4e113038136f70c4885098404cae';
const SINK = '6f007a2ee602da0824249dbe09fd0b1e';
const COMMITTER = '3f2e38354e9d77b1efae026f9f3d2de9';

const pointerOf = (name: string, checkpointId: number): CorpusPointer => {
  const found = pointersOf([fixtureCase(name)]).find((pointer) => pointer.checkpointId === checkpointId);
  if (found === undefined) throw new Error(`no ${checkpointId} in ${name}`);
  return found;
};
const NEW = pointerOf('flink-2.3.0/kafka', 2);
const OLD = pointerOf('flink-1.20.0/kafka', 1);

async function offsetsOf(...args: readonly string[]) {
  const { stdout, exitCode, stderr } = await runCkpt(['offsets', '--json', ...args]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('ckpt offsets', () => {
  it('tells the next offset of each partition', async () => {
    const { sources } = await offsetsOf(NEW.directory, 'kafka-source');
    const common = {
      operatorId: SOURCE,
      uid: 'kafka-source',
      name: 'Source: Kafka source',
      source: 'kafka-source',
      sentinel: null,
      stopOffset: null,
      stopSentinel: null,
      assigned: true,
    };
    expect(sources).toEqual([
      { ...common, topic: 'orders', partition: 0, offset: 123456789012, subtask: 1 },
      { ...common, topic: 'orders', partition: 1, offset: 1000, subtask: 0 },
      { ...common, topic: 'orders', partition: 2, offset: 2000, subtask: 1 },
      { ...common, topic: 'rücksendungen', partition: 7, offset: 7000, subtask: 0 },
    ]);
  });

  it('tells that of the old consumer, whose state has the last record read', async () => {
    const { sources } = await offsetsOf(OLD.directory, CONSUMER);
    const contents = JSON.parse(readFileSync(OLD.oracleFile?.replace('.oracle.', '.contents.') ?? '', 'utf8'));
    const states = contents.operators.find(({ operatorId }: { operatorId: string }) => operatorId === CONSUMER);
    const stored = states.operatorState['topic-partition-offset-states'].elements;
    expect(sources).toHaveLength(4);
    expect(stored.map(([, offset]: [unknown, number]) => offset)).toEqual([19, 19, 19, 19]);
    for (const [partition, source] of sources.entries()) {
      expect(source).toMatchObject({ source: 'kafka-consumer', topic: 'orders', partition, offset: 20 });
    }
  });

  it('tells the transactions of sinks, and what writers call theirs', async () => {
    const { transactions, writers } = await offsetsOf(NEW.directory);
    expect(transactions).toHaveLength(4);
    expect(transactions).toContainEqual({
      operatorId: COMMITTER,
      uid: 'Sink Committer: kafka-sink',
      name: 'Kafka sink: Committer',
      subtask: 1,
      transactionalId: 'lab-prefix-1-2',
      producerId: 4000000001,
      epoch: 2,
      checkpointId: 2,
      kind: 'committable',
    });
    expect(transactions).toContainEqual(
      expect.objectContaining({
        operatorId: SINK,
        transactionalId: 'lab-prefix-0-2',
        kind: 'precommitted',
        epoch: null,
      }),
    );
    expect(writers).toMatchObject([
      { subtask: 0, transactionalIdPrefix: 'lab-prefix', ownedSubtask: 0, totalOwnedSubtasks: 2 },
      { subtask: 1, transactionalIdPrefix: 'lab-prefix', ownedSubtask: 1, totalOwnedSubtasks: 2 },
    ]);
  });

  it('lists other sources with their bytes', async () => {
    const { others } = await offsetsOf(NEW.directory, 'orders-source');
    expect(others).toHaveLength(5);
    expect(others[0]).toMatchObject({ part: 'enumerator', subtask: null, version: 1, bytes: 'AAZvcmRlcnMAAAAA' });
    expect(others[1]).toMatchObject({ part: 'split', subtask: 0, version: 1 });
  });

  it('prints what kafka-consumer-groups takes', async () => {
    const result = await runCkpt(['offsets', NEW.directory, 'kafka-source', '--csv']);
    expect(result).toMatchObject({
      stdout: 'orders,0,123456789012\norders,1,1000\norders,2,2000\nrücksendungen,7,7000\n',
      stderr: '',
      exitCode: 0,
    });
  });

  it('refuses to choose between two sources of one partition', async () => {
    const { exitCode, stdout, stderr } = await runCkpt(['offsets', OLD.directory, '--csv']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('name the operator');
    expect((await runCkpt(['offsets', OLD.directory, CONSUMER, '--csv'])).stdout).toContain('orders,3,20\n');
  });

  it('prints tables', async () => {
    const { stdout, exitCode } = await runCkpt(['offsets', NEW.directory]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Source: Kafka source {2}KafkaSource, 6125\w+, uid kafka-source, 4 partitions/);
    expect(stdout).toMatch(/orders +0 +123456789012 +#1/);
    expect(stdout).toMatch(/lab-prefix-1-2 +4000000001 +2 +2 +to be committed/);
    expect(stdout).toContain('Not of Kafka');
  });

  it('says so when there is nothing', async () => {
    const [first] = fixtureCase('flink-2.3.0/hashmap-inline').pointers;
    const { stdout, exitCode } = await runCkpt(['offsets', first?.directory ?? '', 'orders-keyed']);
    expect({ stdout, exitCode }).toEqual({ stdout: 'No source and no sink with state of its own\n', exitCode: 0 });
  });

  it('knows no such operator, and not both forms', async () => {
    expect((await runCkpt(['offsets', NEW.directory, 'nobody'])).exitCode).toBe(2);
    expect((await runCkpt(['offsets', NEW.directory, '--csv', '--json'])).exitCode).toBe(2);
    expect((await runCkpt(['offsets', join(NEW.directory, 'nothing')])).exitCode).toBe(3);
  });
});

describe('everywhere', () => {
  it('each source of the corpus is read, as Kafka or not', async () => {
    const pointers = pointersOf(allCases()).filter(
      ({ oracleFile, metadataVersion }) => oracleFile && metadataVersion > 2,
    );
    const chosen = pointers.filter((_, index) => index % 7 === 0);
    for (const {
      directory,
      case: { mapping },
      label,
    } of chosen) {
      const { uri, directory: at } = mapping;
      const { stdout, exitCode } = await runCkpt(['offsets', '--json', directory, '--map', `${uri}=${at}`]);
      const document = JSON.parse(stdout);
      expect([label, exitCode, document.unread]).toEqual([label, 0, []]);
    }
  });
});
