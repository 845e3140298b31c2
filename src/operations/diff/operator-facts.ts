/** What `diff` compares of the operators of a metadata file, gathered in one streaming pass; the order in the file has no part. */
import { Tag } from '../../format/metadata/tags.js';
import type {
  ChannelHandleView,
  KeyedHandleView,
  MasterStateView,
  OperatorHandleView,
  OperatorView,
  StateMetaInfoView,
  StreamHandleView,
  SubtaskView,
} from '../../format/metadata/visitor.js';
import { Slot } from '../../format/metadata/visitor.js';
import { Hash64 } from '../file-set.js';
import { SizeSummaryVisitor } from '../size-summary.js';
import type { DiffedState } from './result.js';

const FILE_SEED = 1;
const INLINE_SEED = 2;
const CHANGE_SEED = 3;
const CHANNEL_SEED = 4;
const MASTER_SEED = 5;
const SLASH = 0x2f;

/** A sum of hashes: the same for the same parts in any order. */
export class Digest {
  private high = 0;
  private low = 0;
  /** How many parts. */
  parts = 0;

  add(hash: Hash64): void {
    this.high = (this.high + hash.high) >>> 0;
    this.low = (this.low + hash.low) >>> 0;
    this.parts++;
  }

  /** 16 hex digits. */
  toString(): string {
    return this.high.toString(16).padStart(8, '0') + this.low.toString(16).padStart(8, '0');
  }
}

/** What of an operator is not in its summary. */
export interface OperatorFacts {
  /** Of all handles: subtask, kind of state, bytes or name and size of the file. Wherever the files lie. */
  readonly digest: Digest;
  /** By kind and name. */
  readonly states: Map<string, DiffedState>;
}

/** See the file comment. */
export class OperatorFactsVisitor extends SizeSummaryVisitor {
  readonly facts: OperatorFacts[] = [];
  readonly masterStates = new Digest();
  masterStateCount = 0;

  private readonly hash = new Hash64();
  /** What the bytes that come next belong to. */
  private target: Digest | undefined;
  private pendingBytes = 0;
  private subtaskIndex = -1;
  private slot: number = Slot.ManagedOperator;
  private rangeStart = 0;
  private rangeCount = 0;

  private get current(): OperatorFacts {
    const facts = this.facts.at(-1);
    if (!facts) throw new Error('decoder reported a part of no operator');
    return facts;
  }

  override masterState(view: MasterStateView): void {
    this.masterStateCount++;
    this.hash.start(MASTER_SEED).word(view.version);
    hashBytes(this.hash, view.name.buffer, view.name.start, view.name.end);
    this.expect(this.masterStates, view.dataLength);
  }

  override beginOperator(view: OperatorView): void {
    super.beginOperator(view);
    this.facts.push({ digest: new Digest(), states: new Map() });
    this.subtaskIndex = -1;
    this.enter(-1);
  }

  override beginSubtask(view: SubtaskView): void {
    super.beginSubtask(view);
    this.subtaskIndex = view.index;
  }

  override beginOperatorHandle(view: OperatorHandleView): void {
    super.beginOperatorHandle(view);
    this.enter(view.slot);
  }

  override stateMetaInfo(view: StateMetaInfoView): void {
    const kind = this.slot === Slot.RawOperator ? 'raw-operator' : 'managed-operator';
    const name = view.name.text();
    const key = `${kind} ${name}`;
    const { states } = this.current;
    if (!states.has(key)) states.set(key, { name, kind, distributionMode: view.mode });
  }

  override beginKeyedHandle(view: KeyedHandleView): void {
    super.beginKeyedHandle(view);
    this.enter(view.slot);
    this.rangeStart = view.range.start;
    this.rangeCount = view.range.count;
  }

  override beginChannelHandle(view: ChannelHandleView): void {
    this.enter(view.slot);
    this.rangeStart = view.outerIndex;
    this.rangeCount = view.innerIndex;
  }

  override channelOffsets(length: number): void {
    this.begin(CHANNEL_SEED);
    this.expect(this.current.digest, length);
  }

  override stateChange(keyGroup: number, length: number): void {
    super.stateChange(keyGroup, length);
    this.begin(CHANGE_SEED).word(keyGroup);
    this.expect(this.current.digest, length);
  }

  override streamHandle(view: StreamHandleView): void {
    super.streamHandle(view);
    switch (view.tag) {
      case Tag.ByteStream:
        this.begin(INLINE_SEED).word(view.role);
        this.expect(this.current.digest, view.dataLength);
        break;
      case Tag.File:
      case Tag.RelativeFile:
      case Tag.Segment: {
        const { buffer, start, end } = view.path;
        const slash = buffer.lastIndexOf(SLASH, end - 1);
        this.begin(FILE_SEED).word(view.role).word(view.size.high).word(view.size.low);
        if (view.tag === Tag.Segment) this.hash.word(view.startPos.high).word(view.startPos.low);
        hashBytes(this.hash, buffer, Math.max(start, slash + 1), end);
        this.current.digest.add(this.hash);
        break;
      }
      default:
    }
  }

  override data(bytes: Uint8Array, start: number, end: number): void {
    if (!this.target) return;
    // Byte by byte: where a call ends depends on where the handle stands in its file.
    hashBytes(this.hash, bytes, start, end);
    this.pendingBytes -= end - start;
    if (this.pendingBytes > 0) return;
    this.target.add(this.hash);
    this.target = undefined;
  }

  override trailing(length: number): void {
    super.trailing(length);
    this.target = undefined;
  }

  private enter(slot: number): void {
    this.slot = slot;
    this.rangeStart = 0;
    this.rangeCount = 0;
  }

  private begin(seed: number): Hash64 {
    return this.hash.start(seed).word(this.subtaskIndex).word(this.slot).word(this.rangeStart).word(this.rangeCount);
  }

  private expect(target: Digest, length: number): void {
    this.target = target;
    this.pendingBytes = length;
    this.hash.word(length);
  }
}

function hashBytes(hash: Hash64, bytes: Uint8Array, start: number, end: number): void {
  for (let i = start; i < end; i++) hash.word(bytes[i] as number);
}
