/** `ckpt offsets`: what the sources of a checkpoint have read, and the transactions that its sinks have opened. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { FileSystems } from '../../filesystem/registry.js';
import {
  ifKafka,
  type KafkaPosition,
  type KafkaSplit,
  parseKafkaCommittable,
  parseKafkaEnumerator,
  parseKafkaSplit,
  parseKafkaWriterState,
  parseLegacyPartition,
  splitPosition,
  type TopicPartition,
} from '../../format/connector/kafka.js';
import {
  parseCommittables,
  parseCoordinatorState,
  parseVersionedBytes,
  type VersionedBytes,
} from '../../format/connector/versioned.js';
import type { StateValue } from '../../format/value/value-serializer.js';
import { listElements } from '../state/operator-lists.js';
import { forEachOperator, type MetadataInput, type OperatorPieces } from '../state/operators.js';
import type { FramedState, OffsetSentinel, OffsetsResult, SourceOffset } from './result.js';

const SPLITS = 'SourceReaderState';
const LEGACY = 'topic-partition-offset-states';
const WRITERS = 'writer_raw_states';
const COMMITTERS = 'streaming_committer_raw_states';
const STATES: ReadonlySet<string> = new Set([SPLITS, LEGACY, WRITERS, COMMITTERS]);

type Collected = { -readonly [K in keyof OffsetsResult]: OffsetsResult[K][number][] };

/**
 * Reads the state of sources and sinks.
 * @param operator id, unique beginning of an id, uid or name of the only one
 * @throws OperatorNotFoundError; the errors of reading metadata. State that cannot be read is told of in `unread`
 */
export async function readOffsets(
  fileSystems: FileSystems,
  input: MetadataInput,
  operator: string | undefined,
  signal?: AbortSignal,
): Promise<OffsetsResult> {
  const result: Collected = { sources: [], transactions: [], writers: [], others: [], unread: [] };
  await forEachOperator(
    input,
    operator,
    (pieces) => new OperatorOffsets(pieces, result).read(fileSystems, signal),
    signal,
  );
  result.sources.sort(byPartition);
  return result;
}

function byPartition(a: SourceOffset, b: SourceOffset): number {
  return compare(a.operatorId, b.operatorId) || compare(a.topic, b.topic) || a.partition - b.partition;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A 64-bit number as JSON has it. */
function jsonNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function positionOf(position: KafkaPosition | undefined): {
  readonly offset: number | string | null;
  readonly sentinel: OffsetSentinel | null;
} {
  if (position === undefined) return { offset: null, sentinel: null };
  return typeof position === 'bigint'
    ? { offset: jsonNumber(position), sentinel: null }
    : { offset: null, sentinel: position };
}

interface Split extends VersionedBytes {
  readonly subtask: number;
}

/** What one operator has. */
class OperatorOffsets {
  private readonly of: { readonly operatorId: string; readonly uid: string | null; readonly name: string | null };
  private readonly splits: Split[] = [];

  constructor(
    private readonly operator: OperatorPieces,
    private readonly result: Collected,
  ) {
    const { operatorId, uid, name } = operator;
    this.of = { operatorId, uid, name };
  }

  async read(fileSystems: FileSystems, signal: AbortSignal | undefined): Promise<void> {
    const { operator, result } = this;
    const onUnread = (unread: OffsetsResult['unread'][number]): void => void result.unread.push(unread);
    for await (const { state, subtask, value } of listElements(fileSystems, operator, STATES, onUnread, signal)) {
      try {
        this.element(state, subtask, value);
      } catch (error) {
        if (!(error instanceof ByteFormatError)) throw error;
        onUnread({ operatorId: operator.operatorId, subtask, path: state, reason: error.message });
      }
    }
    this.source();
  }

  private element(state: string, subtask: number, value: StateValue): void {
    const bytes = bytesOf(value);
    if (bytes === undefined) throw new ByteFormatError(0, `an element of ${state} that is bytes`, 'something else');
    switch (state) {
      case SPLITS:
        this.splits.push({ ...parseVersionedBytes(bytes, 'a split'), subtask });
        return;
      case LEGACY: {
        const { topic, partition, position } = parseLegacyPartition(bytes);
        const stop = { stopOffset: null, stopSentinel: null };
        const where = { ...positionOf(position), ...stop, assigned: true, subtask };
        this.result.sources.push({ ...this.of, source: 'kafka-consumer', topic, partition, ...where });
        return;
      }
      case WRITERS:
        this.writer(parseVersionedBytes(bytes, 'the state of a writer'), subtask);
        return;
      default:
        for (const committable of parseCommittables(bytes)) this.committable(committable, subtask);
    }
  }

  private writer(bytes: VersionedBytes, subtask: number): void {
    const state = ifKafka(() => parseKafkaWriterState(bytes));
    if (state === undefined) {
      this.other('writer', subtask, bytes);
      return;
    }
    const { precommitted, ...writer } = state;
    this.result.writers.push({ ...this.of, subtask, ...writer });
    for (const { transactionalId, checkpointId } of precommitted) {
      this.result.transactions.push({
        ...this.of,
        subtask,
        transactionalId,
        producerId: null,
        epoch: null,
        checkpointId: jsonNumber(checkpointId),
        kind: 'precommitted',
      });
    }
  }

  private committable(bytes: VersionedBytes & { readonly checkpointId: bigint }, subtask: number): void {
    const transaction = ifKafka(() => parseKafkaCommittable(bytes));
    if (transaction === undefined) {
      this.other('committable', subtask, bytes);
      return;
    }
    const { transactionalId, producerId, epoch } = transaction;
    this.result.transactions.push({
      ...this.of,
      subtask,
      transactionalId,
      producerId: jsonNumber(producerId),
      epoch,
      checkpointId: jsonNumber(bytes.checkpointId),
      kind: 'committable',
    });
  }

  private other(part: FramedState['part'], subtask: number | null, { version, bytes }: VersionedBytes): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
    this.result.others.push({ ...this.of, part, subtask, version, bytes: text });
  }

  /** It is Kafka's if all that it has is: bytes of others can look like one of Kafka's by chance. */
  private source(): void {
    const { coordinatorState } = this.operator;
    const framed = coordinatorState && ifKafka(() => parseCoordinatorState(coordinatorState));
    const known = framed && ifKafka(() => parseKafkaEnumerator(framed));
    const splits = this.splits.map((split) => ({
      subtask: split.subtask,
      split: ifKafka(() => parseKafkaSplit(split)),
    }));
    const isKafka = (framed === undefined || known !== undefined) && splits.every(({ split }) => split !== undefined);
    if (!isKafka) {
      if (framed) this.other('enumerator', null, framed);
      for (const split of this.splits) this.other('split', split.subtask, split);
      return;
    }
    const read = new Set<string>();
    for (const { subtask, split } of splits) {
      if (split === undefined) continue;
      read.add(nameOf(split));
      this.result.sources.push(this.kafkaSplit(split, subtask));
    }
    for (const { assigned, ...partition } of known ?? []) {
      if (read.has(nameOf(partition))) continue;
      const where = { ...positionOf(undefined), stopOffset: null, stopSentinel: null };
      this.result.sources.push({ ...this.of, source: 'kafka-source', ...partition, ...where, assigned, subtask: null });
    }
  }

  private kafkaSplit({ topic, partition, startOffset, stopOffset }: KafkaSplit, subtask: number): SourceOffset {
    const stop = positionOf(splitPosition(stopOffset));
    return {
      ...this.of,
      source: 'kafka-source',
      topic,
      partition,
      ...positionOf(splitPosition(startOffset)),
      stopOffset: stop.offset,
      stopSentinel: stop.sentinel,
      assigned: true,
      subtask,
    };
  }
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${partition} ${topic}`;
}

/** Bytes as they stand in an element: of `byte[]`, or of a value with a part that cannot be decoded. */
function bytesOf(value: StateValue): Uint8Array | undefined {
  if (typeof value === 'string') return Buffer.from(value, 'base64');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { bytes } = value as { readonly [name: string]: StateValue };
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : undefined;
}
