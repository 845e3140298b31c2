/** What `ckpt offsets` finds. */
import type { UnreadList } from '../state/operator-lists.js';

/** Who it belongs to. Names are null where they are not stored. */
interface OfOperator {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
}

/** Where reading goes on if there is no offset; also where it ends. */
export type OffsetSentinel = 'earliest' | 'latest' | 'committed' | 'not-set';

/** A partition that a source reads. */
export interface SourceOffset extends OfOperator {
  /** `kafka-source`, or `kafka-consumer` of before Flink 1.14. */
  readonly source: 'kafka-source' | 'kafka-consumer';
  readonly topic: string;
  readonly partition: number;
  /** Of the NEXT record to read, whatever the source stores; null if there is a sentinel, or none is known. */
  readonly offset: number | string | null;
  /** What stands in place of an offset. */
  readonly sentinel: OffsetSentinel | null;
  /** Where reading ends, without it; null if it goes on for ever. */
  readonly stopOffset: number | string | null;
  readonly stopSentinel: OffsetSentinel | null;
  /** False if the enumerator has found the partition and given it to no reader. */
  readonly assigned: boolean;
  /** The reader that has it; null if none does: it was read to its end, or waits. */
  readonly subtask: number | null;
}

/** A transaction that a sink has opened. */
export interface SinkTransaction extends OfOperator {
  readonly subtask: number;
  readonly transactionalId: string;
  /** Null where only the id is kept: by writers. */
  readonly producerId: number | string | null;
  readonly epoch: number | null;
  readonly checkpointId: number | string;
  /** `committable`: the committer is to commit it. `precommitted`: a writer knows that it is open. */
  readonly kind: 'committable' | 'precommitted';
}

/** What the writers of a sink call their transactions. */
export interface SinkWriter extends OfOperator {
  readonly subtask: number;
  readonly transactionalIdPrefix: string;
  readonly ownedSubtask: number | null;
  readonly totalOwnedSubtasks: number | null;
  readonly ownership: string | null;
}

/** Bytes of a source or sink that is not known here, with the version of the serializer that wrote them. */
export interface FramedState extends OfOperator {
  /** `enumerator`, `split`, `committable` or `writer`. */
  readonly part: 'enumerator' | 'split' | 'committable' | 'writer';
  /** Null for an enumerator. */
  readonly subtask: number | null;
  readonly version: number;
  /** Base64. */
  readonly bytes: string;
}

/** All of it. */
export interface OffsetsResult {
  readonly sources: readonly SourceOffset[];
  readonly transactions: readonly SinkTransaction[];
  readonly writers: readonly SinkWriter[];
  readonly others: readonly FramedState[];
  readonly unread: readonly UnreadList[];
}
