import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import {
  parseKafkaCommittable,
  parseKafkaEnumerator,
  parseKafkaSplit,
  parseKafkaWriterState,
  parseLegacyPartition,
  splitPosition,
} from '../../../../src/format/connector/kafka.js';
import {
  parseCommittables,
  parseCoordinatorState,
  parseVersionedBytes,
} from '../../../../src/format/connector/versioned.js';
import { i8, i32, i64, join, lengthed, utf } from '../../../support/byte-builder.js';

/** As real Flink wrote them: see the kafka cases among the fixtures. */
const base64 = (text: string): Uint8Array => Buffer.from(text, 'base64');
const COORDINATOR = base64(
  'AAAAAQAAAAIAAABNAAAABAAGb3JkZXJzAAAAAgAAAAAABm9yZGVycwAAAAAAAAAAAA5yw7xja3NlbmR1bmdlbgAAAAcAAAAAAAZvcmRlcnMAAAABAAAAAAE=',
);
const SPLIT = base64('AAAAAAAAACQADnLDvGNrc2VuZHVuZ2VuAAAABwAAAAAAABtYgAAAAAAAAAA=');
const LEGACY = join(base64('VwGDmZj/CAYBb3JkZXLz'), i64(19));
const COMMITTER = base64(
  'AAAAAgAAAGq5HyUsAAAAAQAAAAEAAABaAAAAAAAAAAEAAAACAAAAAgAAAAEAAABCAAAAAQAAAAAAAAABAAAAKgAAAAEAAAAaAAEAAAAA7msoAQAObGFiLXByZWZpeC0xLTEAAAAAAAAAAAAAAAEAAAAA',
);
const WRITER = base64('AAAAAgAAADQACmxhYi1wcmVmaXgAAAAAAAAAAgAAAAEAAAABAA5sYWItcHJlZml4LTAtMQAAAAAAAAAB');

describe('the state of Kafka sources', () => {
  it('has the partitions of the enumerator', () => {
    const state = parseCoordinatorState(COORDINATOR);
    expect(state.version).toBe(2);
    expect(parseKafkaEnumerator(state)).toEqual([
      { topic: 'orders', partition: 2, assigned: true },
      { topic: 'orders', partition: 0, assigned: true },
      { topic: 'rücksendungen', partition: 7, assigned: true },
      { topic: 'orders', partition: 1, assigned: true },
    ]);
  });

  it('tells which of them wait, and reads the form without that', () => {
    const bytes = join(i32(2), utf('a'), i32(0), i32(1), utf('a'), i32(1), i32(0), i8(0));
    expect(parseKafkaEnumerator({ version: 2, bytes }).map(({ assigned }) => assigned)).toEqual([false, true]);
    const old = join(i32(1), utf('a'), i32(3));
    expect(parseKafkaEnumerator({ version: 1, bytes: old })).toEqual([{ topic: 'a', partition: 3, assigned: true }]);
  });

  it('has the next offset of each split', () => {
    expect(parseKafkaSplit(parseVersionedBytes(SPLIT, 'a split'))).toEqual({
      topic: 'rücksendungen',
      partition: 7,
      startOffset: 7000n,
      stopOffset: -(2n ** 63n),
    });
    expect([0n, 7n, -1n, -2n, -3n, -(2n ** 63n), -9n].map(splitPosition)).toEqual([
      0n,
      7n,
      'latest',
      'earliest',
      'committed',
      undefined,
      'not-set',
    ]);
  });

  it('of the old consumer has the last offset read, which is told as the next one', () => {
    expect(parseLegacyPartition(LEGACY)).toEqual({ topic: 'orders', partition: 3, position: 20n });
    const head = base64('VwGDmZj/CAYBb3JkZXLz');
    const at = (offset: bigint) => parseLegacyPartition(join(head, i64(offset))).position;
    // Constants of KafkaTopicPartitionStateSentinel.
    expect(at(-915623761776n)).toBe('not-set');
    expect(at(-915623761775n)).toBe('earliest');
    expect(at(-915623761774n)).toBe('latest');
    expect(at(-915623761773n)).toBe('committed');
    expect(at(-1n)).toBe(0n);
  });
});

describe('the state of Kafka sinks', () => {
  it('has the transactions that the committer is to commit', () => {
    const committables = parseCommittables(COMMITTER);
    expect(committables).toMatchObject([{ version: 1, checkpointId: 1n, subtask: 1, retries: 0, state: 0 }]);
    expect(committables.map(parseKafkaCommittable)).toEqual([
      { transactionalId: 'lab-prefix-1-1', producerId: 4000000001n, epoch: 1 },
    ]);
  });

  it('has what the writers call theirs', () => {
    expect(parseKafkaWriterState(parseVersionedBytes(WRITER, 'a writer'))).toEqual({
      transactionalIdPrefix: 'lab-prefix',
      ownedSubtask: 0,
      totalOwnedSubtasks: 2,
      ownership: 'EXPLICIT_BY_WRITER_STATE',
      precommitted: [{ transactionalId: 'lab-prefix-0-1', checkpointId: 1n }],
    });
    expect(parseKafkaWriterState({ version: 1, bytes: utf('p') })).toMatchObject({
      transactionalIdPrefix: 'p',
      ownedSubtask: null,
      precommitted: [],
    });
  });
});

describe.each<[string, Uint8Array, (bytes: Uint8Array) => unknown]>([
  ['a coordinator', COORDINATOR, (bytes) => parseKafkaEnumerator(parseCoordinatorState(bytes))],
  ['a split', SPLIT, (bytes) => parseKafkaSplit(parseVersionedBytes(bytes, 'a split'))],
  ['an old partition', LEGACY, parseLegacyPartition],
  ['a committer', COMMITTER, (bytes) => parseCommittables(bytes).map(parseKafkaCommittable)],
  ['a writer', WRITER, (bytes) => parseKafkaWriterState(parseVersionedBytes(bytes, 'a writer'))],
])('%s', (_name, original, parse) => {
  it('that is cut is an error', () => {
    for (let length = 0; length < original.length; length++) {
      expect(() => parse(original.subarray(0, length))).toThrow(ByteFormatError);
    }
  });

  it('that is damaged is an error, or something as small', () => {
    const change = fc.record({ at: fc.nat({ max: original.length - 1 }), byte: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const bytes = Uint8Array.from(original);
        for (const { at, byte } of changes) bytes[at] = byte;
        try {
          const json = JSON.stringify(parse(bytes), (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
          expect(json.length).toBeLessThan(100 * original.length);
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

it('splits of other sources are not taken for those of Kafka', () => {
  // What the number source of the corpus writes: version 1, then numbers.
  const other = parseVersionedBytes(base64('AAAAAQAAABQAAAAAAAAAAAAAABR//////////w=='), 'a split');
  expect(() => parseKafkaSplit(other)).toThrow(ByteFormatError);
  const enumerator = parseCoordinatorState(base64('AAAAAQAAAAEAAAAMAAZvcmRlcnMAAAAA'));
  expect(() => parseKafkaEnumerator(enumerator)).toThrow(ByteFormatError);
  expect(() => parseVersionedBytes(join(i32(0), lengthed(i32(1)), i8(0)), 'a split')).toThrow(ByteFormatError);
});
