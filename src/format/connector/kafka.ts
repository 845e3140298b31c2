/**
 * What the Kafka connector keeps in state. Origin: `KafkaSourceEnumStateSerializer`, `KafkaPartitionSplitSerializer`,
 * `KafkaCommittableSerializer`, `KafkaWriterStateSerializer` of flink-connector-kafka 3.3 to 4.0, and the old consumer's
 * `KafkaTopicPartition` as Kryo 2 writes it.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader, Utf8Slice } from '../../bytes/byte-reader.js';
import { expectEnd, type VersionedBytes } from './versioned.js';

/** A partition of a topic. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** A partition that an enumerator knows. */
export interface EnumeratedPartition extends TopicPartition {
  /** False if it was found and not given to a reader. */
  readonly assigned: boolean;
}

/** A partition that a reader reads. Offsets as stored: see {@link splitPosition}. */
export interface KafkaSplit extends TopicPartition {
  readonly startOffset: bigint;
  readonly stopOffset: bigint;
}

/** Topic, partition. */
const LEAST_PARTITION_BYTES = 6;
const LEAST_TRANSACTION_BYTES = 10;
const ASSIGNED = 0;
const LONG_MIN = -(1n << 63n);

/** Reads a topic, which is never empty. */
function readTopicPartition(reader: ByteReader): TopicPartition {
  const at = reader.offset;
  const topic = readText(reader, 'topic');
  if (topic === '') reader.fail('a topic', 'an empty one', at);
  return { topic, partition: readPartition(reader) };
}

function readPartition(reader: ByteReader): number {
  const at = reader.offset;
  const partition = reader.readI32('partition');
  return partition >= 0 ? partition : reader.fail('partition', `${partition}`, at);
}

function readText(reader: ByteReader, reading: string): string {
  const slice = new Utf8Slice();
  reader.readUtf(reading, slice);
  return slice.text();
}

/**
 * The partitions that an enumerator knows. Version 0 names only those that were assigned, with their splits.
 * @throws ByteFormatError if it is the state of another enumerator
 */
export function parseKafkaEnumerator({ version, bytes }: VersionedBytes): EnumeratedPartition[] {
  const reader = ByteReader.over(bytes);
  const partitions: EnumeratedPartition[] = [];
  if (version !== 1 && version !== 2) {
    reader.fail('the state of a Kafka enumerator in version 1 or 2', `version ${version}`);
  }
  const count = reader.readCount('number of partitions', LEAST_PARTITION_BYTES);
  for (let i = 0; i < count; i++) {
    const partition = readTopicPartition(reader);
    partitions.push({ ...partition, assigned: version === 1 || reader.readI32('status of a partition') === ASSIGNED });
  }
  if (version === 2) reader.take(1, 'whether the first discovery is done');
  expectEnd(reader, 'the state of a Kafka enumerator');
  return partitions;
}

/** A split of a reader. @throws ByteFormatError if it is that of another source */
export function parseKafkaSplit({ version, bytes }: VersionedBytes): KafkaSplit {
  const reader = ByteReader.over(bytes);
  if (version !== 0) reader.fail('a Kafka split in version 0', `version ${version}`);
  const partition = readTopicPartition(reader);
  const startOffset = reader.readBigInt64('start offset');
  const stopOffset = reader.readBigInt64('stop offset');
  expectEnd(reader, 'a Kafka split');
  return { ...partition, startOffset, stopOffset };
}

/** Where reading goes on, or ends: at an offset, or at what a name says. */
export type KafkaPosition = bigint | 'latest' | 'earliest' | 'committed' | 'not-set';

/** What an offset of a split means; a negative one is no offset. Undefined for none at all. */
export function splitPosition(offset: bigint): KafkaPosition | undefined {
  if (offset >= 0n) return offset;
  switch (offset) {
    case -1n:
      return 'latest';
    case -2n:
      return 'earliest';
    case -3n:
      return 'committed';
    case LONG_MIN:
      return undefined;
    default:
      return 'not-set';
  }
}

/** A transaction that is to be committed. */
export interface KafkaTransaction {
  readonly transactionalId: string;
  readonly producerId: bigint;
  readonly epoch: number;
}

/** A committable of the sink. @throws ByteFormatError if it is that of another sink */
export function parseKafkaCommittable({ version, bytes }: VersionedBytes): KafkaTransaction {
  const reader = ByteReader.over(bytes);
  if (version !== 1) reader.fail('a Kafka committable in version 1', `version ${version}`);
  const epoch = reader.readI16('epoch');
  const producerId = reader.readBigInt64('producer id');
  const transactionalId = readText(reader, 'transactional id');
  if (transactionalId === '') reader.fail('a transactional id', 'an empty one', 10);
  expectEnd(reader, 'a Kafka committable');
  return { transactionalId, producerId, epoch };
}

/** State of a writer of the sink. Version 1 has nothing but the prefix. */
export interface KafkaWriterState {
  readonly transactionalIdPrefix: string;
  /** The subtask whose transactions these are; null if the version does not say, or nobody knows. */
  readonly ownedSubtask: number | null;
  readonly totalOwnedSubtasks: number | null;
  readonly ownership: 'IMPLICIT_BY_SUBTASK_ID' | 'EXPLICIT_BY_WRITER_STATE' | null;
  /** Transactions that are pre-committed, each with its checkpoint. */
  readonly precommitted: readonly { readonly transactionalId: string; readonly checkpointId: bigint }[];
}

const OWNERSHIPS = ['IMPLICIT_BY_SUBTASK_ID', 'EXPLICIT_BY_WRITER_STATE'] as const;

/** State of a writer. @throws ByteFormatError if it is that of another sink */
export function parseKafkaWriterState({ version, bytes }: VersionedBytes): KafkaWriterState {
  const reader = ByteReader.over(bytes);
  if (version !== 1 && version !== 2) {
    reader.fail('the state of a Kafka writer in version 1 or 2', `version ${version}`);
  }
  const transactionalIdPrefix = readText(reader, 'prefix of transactional ids');
  const precommitted: { transactionalId: string; checkpointId: bigint }[] = [];
  let owned = -1;
  let total = -1;
  let ownership: KafkaWriterState['ownership'] = null;
  if (version === 2) {
    owned = reader.readI32('owned subtask');
    total = reader.readI32('number of owned subtasks');
    const at = reader.offset;
    const ordinal = reader.readI32('ownership of transactions');
    ownership = OWNERSHIPS[ordinal] ?? reader.fail('ownership of transactions (0 or 1)', `${ordinal}`, at);
    const count = reader.readCount('number of transactions', LEAST_TRANSACTION_BYTES);
    for (let i = 0; i < count; i++) {
      const transactionalId = readText(reader, 'transactional id');
      precommitted.push({ transactionalId, checkpointId: reader.readBigInt64('id of a checkpoint') });
    }
  }
  expectEnd(reader, 'the state of a Kafka writer');
  return {
    transactionalIdPrefix,
    ownedSubtask: owned < 0 ? null : owned,
    totalOwnedSubtasks: total < 0 ? null : total,
    ownership,
    precommitted,
  };
}

/** What the old consumer stores in place of an offset. Origin: `KafkaTopicPartitionStateSentinel`. */
const LEGACY_SENTINELS: ReadonlyMap<bigint, KafkaPosition> = new Map<bigint, KafkaPosition>([
  [-915_623_761_776n, 'not-set'],
  [-915_623_761_775n, 'earliest'],
  [-915_623_761_774n, 'latest'],
  [-915_623_761_773n, 'committed'],
]);

/** A partition of the old consumer. */
export interface LegacyPosition extends TopicPartition {
  /** The NEXT offset to read: the state holds that of the last record read. */
  readonly position: KafkaPosition;
}

const OFFSET_BYTES = 8;

/**
 * An element of `topic-partition-offset-states`: a partition as Kryo 2 writes it, and an offset. Kryo writes the class, that
 * the object is a new one, then the fields by name: cached hash code, partition, topic.
 * @throws ByteFormatError
 */
export function parseLegacyPartition(bytes: Uint8Array): LegacyPosition {
  const reader = ByteReader.over(bytes);
  readKryoVarint(reader, 'class of a partition');
  const at = reader.offset;
  if (reader.readU8('a new object') !== 1) reader.fail('a new object', 'a reference', at);
  readKryoVarint(reader, 'hash code of a partition');
  const partition = unZigZag(readKryoVarint(reader, 'partition'));
  if (partition < 0) reader.fail('partition', `${partition}`);
  const topic = readKryoString(reader);
  if (reader.remaining !== OFFSET_BYTES)
    reader.fail('an offset at the end of a partition', `${reader.remaining} bytes`);
  const offset = reader.readBigInt64('offset');
  const position = LEGACY_SENTINELS.get(offset) ?? (offset >= -1n ? offset + 1n : 'not-set');
  return { topic, partition, position };
}

/** A number of 32 bits, seven a byte, low ones first. */
function readKryoVarint(reader: ByteReader, reading: string): number {
  const at = reader.offset;
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = reader.readU8(reading);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return reader.fail(reading, 'a number without an end', at);
}

function unZigZag(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

/** A new string: ASCII with the top bit set in its last letter, or a length (six bits in its first byte) and UTF-8. */
function readKryoString(reader: ByteReader): string {
  const at = reader.offset;
  if (reader.readU8('a new string') !== 1) reader.fail('a new string', 'a reference', at);
  const first = reader.readU8('topic');
  if ((first & 0x80) === 0) {
    let text = String.fromCharCode(first);
    for (;;) {
      const byte = reader.readU8('topic');
      text += String.fromCharCode(byte & 0x7f);
      if (byte >= 0x80) return text;
    }
  }
  let length = first & 0x3f;
  if ((first & 0x40) !== 0) length += readKryoVarint(reader, 'length of a topic') * 0x40;
  return readKryoUnits(reader, length - 1);
}

/** UTF-16 units in one to three bytes each. */
function readKryoUnits(reader: ByteReader, count: number): string {
  if (count < 1 || count > reader.remaining) reader.fail('length of a topic', `${count}`);
  let text = '';
  for (let i = 0; i < count; i++) {
    const byte = reader.readU8('topic');
    if (byte < 0x80) text += String.fromCharCode(byte);
    else if (byte < 0xe0) text += String.fromCharCode(((byte & 0x1f) << 6) | (reader.readU8('topic') & 0x3f));
    else {
      const second = reader.readU8('topic') & 0x3f;
      text += String.fromCharCode(((byte & 0xf) << 12) | (second << 6) | (reader.readU8('topic') & 0x3f));
    }
  }
  return text;
}

/** What `parse` returns; undefined if the bytes are of another form. */
export function ifKafka<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ByteFormatError) return undefined;
    throw error;
  }
}
