/**
 * A key group of the unified ("canonical") form, which every backend reads: entries with their lengths, the last one of each
 * state marked. Origin: Flink `FullSnapshotAsyncWriter`, `FullSnapshotUtil`.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { NumberInPieces } from '../number-in-pieces.js';

const END_OF_KEY_GROUP = 0xffff;
/** Set in the first byte of a key: no further entry of this state follows. */
const LAST_ENTRY_FLAG = 0x80;
/** Up to this max parallelism one byte holds the number of a key group. */
const MAX_PARALLELISM_OF_ONE_BYTE = 128;

/** Bytes in front of every key that hold the number of its key group. */
export function keyGroupPrefixBytes(maxParallelism: number): 1 | 2 {
  return maxParallelism > MAX_PARALLELISM_OF_ONE_BYTE ? 2 : 1;
}

/** What is known of the key group beforehand. */
export interface UnifiedKeyGroupOptions {
  readonly keyGroup: number;
  readonly prefixBytes: 1 | 2;
  /** Undefined if the header could not be read to its end. */
  readonly stateCount: number | undefined;
  /** Offset of its first byte, for errors. */
  readonly offset: number;
}

type Part = 'state id' | 'key length' | 'key' | 'value length' | 'value' | 'end';

/** Follows the entries of a key group by their lengths. Holds nothing of them. */
export class UnifiedKeyGroup implements ByteSink {
  /** Entries so far. */
  entries = 0;
  private part: Part = 'state id';
  private offset: number;
  private readonly number = new NumberInPieces();
  /** Bytes of a key or value that are still to come. */
  private left = 0;
  private prefixTaken = 0;
  private prefix = 0;
  private isLast = false;

  constructor(private readonly options: UnifiedKeyGroupOptions) {
    this.offset = options.offset;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const used = this.take(bytes, at, end);
      at += used;
      this.offset += used;
    }
  }

  finish(): void {
    if (this.part === 'end') return;
    throw new ByteFormatError(this.offset, `${this.part} in key group ${this.options.keyGroup}`, 'the end of it');
  }

  private take(bytes: Uint8Array, at: number, end: number): number {
    switch (this.part) {
      case 'state id':
      case 'key length':
      case 'value length':
        return this.takeNumber(bytes, at, end);
      case 'key':
        if (this.prefixTaken < this.options.prefixBytes) {
          this.takePrefix(bytes[at] as number);
          return 1;
        }
        return this.skip(end - at, 'value length');
      case 'value':
        return this.skip(end - at, this.isLast ? 'state id' : 'key length');
      case 'end':
        throw new ByteFormatError(this.offset, `the end of key group ${this.options.keyGroup}`, 'more bytes');
    }
  }

  private takeNumber(bytes: Uint8Array, at: number, end: number): number {
    const { number, part } = this;
    const used = number.take(bytes, at, end, part === 'state id' ? 2 : 4);
    if (number.isBegun) return used;
    // Errors are told of where the number starts.
    const start = this.offset + used - (part === 'state id' ? 2 : 4);
    if (part === 'state id') this.beginState(number.value, start);
    else if (part === 'key length') this.beginKey(number.value, start);
    else this.beginValue(number.value, start);
    return used;
  }

  private beginState(id: number, at: number): void {
    const { stateCount, keyGroup } = this.options;
    if (id === END_OF_KEY_GROUP && this.entries > 0) {
      this.part = 'end';
      return;
    }
    if (stateCount !== undefined && id >= stateCount) {
      this.fail(at, `the id of a state (below ${stateCount}) in key group ${keyGroup}`, `${id}`);
    }
    this.part = 'key length';
  }

  private beginKey(length: number, at: number): void {
    if (length < this.options.prefixBytes) this.fail(at, 'the length of a key', `${length}`);
    this.part = 'key';
    this.left = length - this.options.prefixBytes;
    this.prefixTaken = 0;
    this.prefix = 0;
  }

  private takePrefix(byte: number): void {
    const { keyGroup, prefixBytes } = this.options;
    if (this.prefixTaken === 0) this.isLast = (byte & LAST_ENTRY_FLAG) !== 0;
    this.prefix = (this.prefix << 8) | (this.prefixTaken === 0 ? byte & ~LAST_ENTRY_FLAG : byte);
    this.prefixTaken++;
    if (this.prefixTaken < prefixBytes) return;
    if (this.prefix !== keyGroup)
      this.fail(this.offset - prefixBytes + 1, `a key of key group ${keyGroup}`, `one of ${this.prefix}`);
    if (this.left === 0) this.part = 'value length';
  }

  private beginValue(length: number, at: number): void {
    if (length < 0) this.fail(at, 'the length of a value', `${length}`);
    this.entries++;
    this.left = length;
    this.part = 'value';
    if (length === 0) this.part = this.isLast ? 'state id' : 'key length';
  }

  private skip(available: number, next: Part): number {
    const used = Math.min(this.left, available);
    this.left -= used;
    if (this.left === 0) this.part = next;
    return used;
  }

  private fail(at: number, reading: string, found: string): never {
    throw new ByteFormatError(at, reading, found);
  }
}
