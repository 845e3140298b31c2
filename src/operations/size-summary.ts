/**
 * A streaming pass that sums up: what is in a metadata file and how big it is, by Flink's own sums, without keeping any
 * handle. What `inspect` and others need beyond it they add in subclasses.
 */
import { copyBytes } from '../bytes/byte-reader.js';
import { Tag } from '../format/metadata/tags.js';
import {
  type ChannelHandleView,
  HandleList,
  Int64Words,
  type KeyedHandleView,
  MetadataVisitor,
  type OperatorHandleView,
  type OperatorView,
  Role,
  type StreamHandleView,
  type SubtaskView,
} from '../format/metadata/visitor.js';
import type { MetadataHeader } from '../model/checkpoint-metadata.js';

const WORD = 0x100000000;
/** Far enough below 2^53 that no single addition gets past it. */
const NORMALIZE_ABOVE = 2 ** 52;

/** A sum of 64-bit numbers in two doubles: exact, and without a bigint for each summand. */
export class Int64Sum {
  private high = 0;
  private low = 0;

  add(summand: { readonly high: number; readonly low: number }): void {
    this.high += summand.high;
    this.low += summand.low;
    if (this.low > NORMALIZE_ABOVE) this.normalize();
  }

  addNumber(summand: number): void {
    this.low += summand;
  }

  private normalize(): void {
    const carry = Math.floor(this.low / WORD);
    this.high += carry;
    this.low -= carry * WORD;
  }

  reset(): void {
    this.high = 0;
    this.low = 0;
  }

  /** The sum so far, wrapped to 64 bits as in Java. */
  words(): Int64Words {
    const words = new Int64Words();
    const carry = Math.floor(this.low / WORD);
    words.high = (this.high + carry) | 0;
    words.low = this.low - carry * WORD;
    return words;
  }

  /** {@link words} as one number. */
  toBigInt(): bigint {
    return this.words().toBigInt();
  }
}

/** Whether one number is less than another. */
export function isLess(a: Int64Words, b: Int64Words): boolean {
  return a.high < b.high || (a.high === b.high && a.low < b.low);
}

/** Bytes of a subtask's state by kind: two words each, since there are many subtasks and most sums are never looked at. */
export interface SubtaskSummary {
  readonly index: number;
  readonly finished: boolean;
  readonly stateSize: Int64Words;
  readonly checkpointedSize: Int64Words;
  readonly keyedStateSize: Int64Words;
  readonly operatorStateSize: Int64Words;
  readonly channelStateSize: Int64Words;
}

/** An operator of a metadata file, summed up. */
export interface OperatorSummary {
  readonly operatorId: string;
  /** Null where absent. */
  readonly uid: string | null;
  readonly name: string | null;
  readonly parallelism: number;
  readonly maxParallelism: number;
  finished: boolean;
  coordinatorStateSize: bigint;
  /** By index; of an index that occurs twice the last, as Flink keeps it. */
  readonly subtasks: Map<number, SubtaskSummary>;
  /** Positions in the file of subtask entries that a later one with the same index replaces. */
  overwritten: number[];
}

/** Bytes of an operator by kind. */
export interface OperatorSizes {
  readonly stateSize: bigint;
  readonly checkpointedSize: bigint;
  readonly keyedStateSize: bigint;
  readonly operatorStateSize: bigint;
  readonly channelStateSize: bigint;
}

/** Sums of an operator's subtasks and its coordinator. */
export function operatorSizes(operator: OperatorSummary): OperatorSizes {
  const subtasks = [...operator.subtasks.values()];
  const sum = (pick: (subtask: SubtaskSummary) => Int64Words): bigint => {
    const total = new Int64Sum();
    for (const subtask of subtasks) total.add(pick(subtask));
    return total.toBigInt();
  };
  const coordinator = operator.coordinatorStateSize;
  return {
    stateSize: BigInt.asIntN(64, coordinator + sum(({ stateSize }) => stateSize)),
    checkpointedSize: BigInt.asIntN(64, coordinator + sum(({ checkpointedSize }) => checkpointedSize)),
    keyedStateSize: sum(({ keyedStateSize }) => keyedStateSize),
    operatorStateSize: sum(({ operatorStateSize }) => operatorStateSize),
    channelStateSize: sum(({ channelStateSize }) => channelStateSize),
  };
}

/** See the file comment. */
export class SizeSummaryVisitor extends MetadataVisitor {
  /** Set before anything else is reported. */
  metadata: MetadataHeader = { version: 0, layout: 'current', checkpointId: 0n };
  readonly operators: OperatorSummary[] = [];
  /** The stored block; null before version 4. */
  propertiesBlock: Uint8Array | null = null;
  trailingBytes = 0;

  private positions = new Map<number, number>();
  private position = -1;
  private subtask = { index: 0, finished: false };
  private readonly keyed = new Int64Sum();
  private readonly operatorState = new Int64Sum();
  private readonly channels = new Int64Sum();
  /** The part of the keyed state whose checkpointed size is its full size, and the recorded sizes of the rest. */
  private readonly keyedCheckpointed = new Int64Sum();
  private readonly handleSize = new Int64Sum();
  private readonly total = new Int64Sum();
  private inOperatorHandle = false;
  private inChangelogFiles = false;

  override header(header: MetadataHeader): void {
    this.metadata = header;
  }

  /** The operator that is being read. */
  protected get operator(): OperatorSummary {
    const operator = this.operators.at(-1);
    if (!operator) throw new Error('decoder reported a part of no operator');
    return operator;
  }

  override beginOperator(view: OperatorView): void {
    this.operators.push({
      operatorId: view.operatorId,
      uid: view.uid.text() || null,
      name: view.name.text() || null,
      parallelism: view.parallelism,
      maxParallelism: view.maxParallelism,
      finished: false,
      coordinatorStateSize: 0n,
      subtasks: new Map(),
      overwritten: [],
    });
    this.positions = new Map();
    this.position = -1;
  }

  override subtaskCount(count: number): void {
    this.operator.finished = count < 0;
  }

  override beginSubtask(view: SubtaskView): void {
    this.position++;
    this.subtask = { index: view.index, finished: view.finished };
    this.keyed.reset();
    this.keyedCheckpointed.reset();
    this.operatorState.reset();
    this.channels.reset();
  }

  override endSubtask(): void {
    const { operator, subtask } = this;
    const earlier = this.positions.get(subtask.index);
    if (earlier !== undefined) operator.overwritten.push(earlier);
    this.positions.set(subtask.index, this.position);
    const keyedStateSize = this.keyed.words();
    const operatorStateSize = this.operatorState.words();
    const channelStateSize = this.channels.words();
    const sum = (keyed: Int64Words): Int64Words => {
      const { total } = this;
      total.reset();
      total.add(keyed);
      total.add(operatorStateSize);
      total.add(channelStateSize);
      return total.words();
    };
    operator.subtasks.set(subtask.index, {
      index: subtask.index,
      finished: subtask.finished,
      stateSize: sum(keyedStateSize),
      checkpointedSize: sum(this.keyedCheckpointed.words()),
      keyedStateSize,
      operatorStateSize,
      channelStateSize,
    });
  }

  override beginOperatorHandle(_view: OperatorHandleView): void {
    this.inOperatorHandle = true;
  }

  override endOperatorHandle(): void {
    this.inOperatorHandle = false;
  }

  override beginKeyedHandle(view: KeyedHandleView): void {
    if (view.depth === 0) this.handleSize.reset();
  }

  override beginList(list: HandleList, _count: number): void {
    this.inChangelogFiles = list === HandleList.ChangelogFiles;
  }

  override stateChange(_keyGroup: number, length: number): void {
    this.handleSize.addNumber(length);
  }

  override endKeyedHandle(view: KeyedHandleView): void {
    if (view.tag === Tag.ChangelogFile || view.tag === Tag.ChangelogFileV2) {
      this.inChangelogFiles = false;
      this.handleSize.add(view.size);
    }
    if (view.depth > 0) return;
    const size = this.handleSize.words();
    this.keyed.add(size);
    this.keyedCheckpointed.add(hasOwnCheckpointedSize(view) ? view.checkpointedSize : size);
  }

  override endChannelHandle(view: ChannelHandleView): void {
    this.channels.add(view.size);
  }

  override streamHandle(view: StreamHandleView): void {
    if (view.tag === Tag.Null) return;
    if (view.role === Role.Coordinator) this.operator.coordinatorStateSize = view.size.toBigInt();
    else if (this.inOperatorHandle) this.operatorState.add(view.size);
    // Channel handles and changelogs of files record their own size; the file may hold more.
    else if (!this.inChangelogFiles) this.handleSize.add(view.size);
  }

  override properties(bytes: Uint8Array, start: number, end: number): void {
    this.propertiesBlock = copyBytes(bytes, start, end);
  }

  override trailing(length: number): void {
    this.trailingBytes = length;
  }
}

/** True if the checkpointed size is recorded. In incremental handles -1 means that it is not. */
function hasOwnCheckpointedSize(view: KeyedHandleView): boolean {
  if (!view.hasCheckpointedSize) return false;
  const unknown = view.checkpointedSize.high === -1 && view.checkpointedSize.low === 0xffffffff;
  return !(unknown && view.tag === Tag.IncrementalV2);
}
