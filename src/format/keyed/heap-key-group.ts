/**
 * A key group of the heap backend's own form: its number, then for each state its id, a count and entries without lengths.
 * Compressed, the part of each state is a stream of snappy frames of its own. Origin: Flink `HeapSnapshotStrategy`.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { SnappyFrames } from '../compress/snappy-framing.js';

const NUMBER_BYTES = 4;
/** State id and number of entries. */
const STATE_HEAD_BYTES = 6;

/** What is known of the key group beforehand. */
export interface HeapKeyGroupOptions {
  readonly keyGroup: number;
  readonly compressed: boolean;
  /** Undefined if the header could not be read to its end. */
  readonly stateCount: number | undefined;
  /** Offset of its first byte, for errors. */
  readonly offset: number;
  /** Its bytes. */
  readonly length: number;
}

/**
 * Checks the framing of a key group: number, first state, and the checksums of all frames if it is compressed. Entries need
 * their serializers to be told apart.
 */
export class HeapKeyGroup implements ByteSink {
  private readonly head = new Uint8Array(NUMBER_BYTES + STATE_HEAD_BYTES);
  private taken = 0;
  private readonly frames: SnappyFrames | undefined;

  constructor(private readonly options: HeapKeyGroupOptions) {
    const { compressed, offset, length, stateCount } = options;
    const least = NUMBER_BYTES + (compressed ? 0 : (stateCount ?? 0) * STATE_HEAD_BYTES);
    if (length < least) {
      throw new ByteFormatError(
        offset,
        `key group ${options.keyGroup} with at least ${least} bytes`,
        `${length} bytes`,
      );
    }
    if (!compressed) return;
    const target = new StateHeads(options);
    this.frames = new SnappyFrames({ offset: offset + NUMBER_BYTES, target, onStream: () => target.begin() });
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    const wanted = this.frames ? NUMBER_BYTES : this.head.length;
    for (; at < end && this.taken < wanted; at++) {
      this.head[this.taken++] = bytes[at] as number;
      if (this.taken === NUMBER_BYTES) this.checkNumber();
      if (this.taken === this.head.length) checkStateHead(this.head, NUMBER_BYTES, this.options);
    }
    if (at < end) this.frames?.push(bytes, at, end);
  }

  finish(): void {
    const { stateCount, keyGroup, offset } = this.options;
    if (this.taken < NUMBER_BYTES) throw new ByteFormatError(offset, `key group ${keyGroup}`, 'the end of it');
    if (!this.frames) return;
    this.frames.finish();
    const { streams } = this.frames;
    if (stateCount !== undefined && streams !== stateCount) {
      throw new ByteFormatError(
        offset,
        `${stateCount} snappy streams in key group ${keyGroup}, one for each state`,
        `${streams}`,
      );
    }
  }

  private checkNumber(): void {
    const { keyGroup, offset } = this.options;
    const found = new DataView(this.head.buffer).getInt32(0);
    if (found !== keyGroup) throw new ByteFormatError(offset, `key group ${keyGroup}`, `${found}`);
  }
}

/** Checks the state at the start of each stream that comes out of the frames. */
class StateHeads implements ByteSink {
  private readonly head = new Uint8Array(STATE_HEAD_BYTES);
  private taken = 0;

  constructor(private readonly options: HeapKeyGroupOptions) {}

  begin(): void {
    this.taken = 0;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end && this.taken < STATE_HEAD_BYTES; at++) {
      this.head[this.taken++] = bytes[at] as number;
      if (this.taken === STATE_HEAD_BYTES) checkStateHead(this.head, 0, this.options);
    }
  }

  finish(): void {}
}

function checkStateHead(head: Uint8Array, at: number, { stateCount, keyGroup, offset }: HeapKeyGroupOptions): void {
  if (stateCount === undefined || stateCount === 0) return;
  const view = new DataView(head.buffer);
  const id = view.getInt16(at);
  if (id < 0 || id >= stateCount) {
    throw new ByteFormatError(offset, `the id of a state (below ${stateCount}) in key group ${keyGroup}`, `${id}`);
  }
  const entries = view.getInt32(at + 2);
  if (entries < 0) throw new ByteFormatError(offset, `the number of entries in key group ${keyGroup}`, `${entries}`);
}
