/**
 * The snappy framing format: chunks, each with a type, a length of 24 bits and, if it holds data, a masked CRC-32C of the
 * uncompressed bytes. Flink compresses with it what `execution.checkpointing.snapshot-compression` names.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { crc32c, maskCrc32c } from '../hash/crc32c.js';
import { uncompressSnappy } from './snappy-block.js';

/** The ten bytes at the start of a stream. */
export const SNAPPY_STREAM_HEADER = Uint8Array.of(0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59);

const Chunk = { Compressed: 0x00, Plain: 0x01, StreamHeader: 0xff } as const;
const HEAD_BYTES = 4;
const CHECKSUM_BYTES = 4;
/** The format allows no chunk to hold more. */
const MAX_UNCOMPRESSED = 65536;
/** What snappy makes of that at worst. */
const MAX_COMPRESSED = 32 + MAX_UNCOMPRESSED + Math.floor(MAX_UNCOMPRESSED / 6);
const MAX_BODY = CHECKSUM_BYTES + MAX_COMPRESSED;

/** Options of {@link SnappyFrames}. */
export interface SnappyFramesOptions {
  /** Offset of the first byte in the input, for errors; default 0. */
  readonly offset?: number;
  /** `begun`: the stream header was read before; default `at-start`: it must come first. */
  readonly header?: 'at-start' | 'begun';
  /** Gets the uncompressed bytes. */
  readonly target?: ByteSink;
  /** Told of each stream header: Flink writes several streams one behind the other. */
  readonly onStream?: () => void;
}

/**
 * Reads a stream of frames, checks every checksum, and hands on what is inside. Holds one chunk at a time. The format knows
 * chunks to be skipped as well; Flink's writer makes none, and one flipped bit makes one of a chunk with data, so they are
 * refused.
 */
export class SnappyFrames implements ByteSink {
  /** Stream headers read so far. */
  streams = 0;
  /** Chunks with data read so far. */
  chunks = 0;
  /** Bytes handed on so far. */
  uncompressedBytes = 0;
  private begun: boolean;
  private offset: number;
  private readonly target: ByteSink | undefined;
  private readonly onStream: (() => void) | undefined;
  private readonly head = new Uint8Array(HEAD_BYTES);
  private headBytes = 0;
  private body = new Uint8Array(0);
  private bodyBytes = 0;
  private filled = 0;

  constructor(options: SnappyFramesOptions = {}) {
    this.offset = options.offset ?? 0;
    this.begun = options.header === 'begun';
    this.target = options.target;
    this.onStream = options.onStream;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      const used = this.take(bytes, at, end);
      at += used;
      this.offset += used;
    }
  }

  finish(): void {
    if (this.headBytes > 0) throw this.failure('a snappy chunk', 'the end of the data inside it');
    this.target?.finish();
  }

  /** True between two chunks. */
  get isBetweenChunks(): boolean {
    return this.headBytes === 0;
  }

  private take(bytes: Uint8Array, at: number, end: number): number {
    if (this.headBytes < HEAD_BYTES) {
      this.head[this.headBytes++] = bytes[at] as number;
      if (this.headBytes === HEAD_BYTES) this.beginChunk();
      return 1;
    }
    const used = Math.min(this.bodyBytes - this.filled, end - at);
    this.body.set(bytes.subarray(at, at + used), this.filled);
    this.filled += used;
    if (this.filled === this.bodyBytes) this.endChunk(this.offset + used - this.bodyBytes);
    return used;
  }

  private get type(): number {
    return this.head[0] as number;
  }

  private beginChunk(): void {
    const [, low = 0, middle = 0, high = 0] = this.head;
    const length = low | (middle << 8) | (high << 16);
    const at = this.offset - (HEAD_BYTES - 1);
    if (!this.begun && this.type !== Chunk.StreamHeader) {
      throw new ByteFormatError(at, 'the header of a snappy stream', `a chunk of type ${hex(this.type)}`);
    }
    if (this.type !== Chunk.StreamHeader && this.type !== Chunk.Compressed && this.type !== Chunk.Plain) {
      throw new ByteFormatError(at, 'a snappy chunk with data', `one of type ${hex(this.type)}`);
    }
    const least = this.type === Chunk.StreamHeader ? SNAPPY_STREAM_HEADER.length - HEAD_BYTES : CHECKSUM_BYTES;
    const most = this.type === Chunk.StreamHeader ? least : MAX_BODY;
    if (length < least || length > most) {
      throw new ByteFormatError(at, 'a snappy chunk', `a length of ${length} for type ${hex(this.type)}`);
    }
    if (this.body.length < length) this.body = new Uint8Array(Math.max(length, MAX_BODY));
    this.bodyBytes = length;
    this.filled = 0;
  }

  /** @param at offset of the body */
  private endChunk(at: number): void {
    const { body, bodyBytes } = this;
    this.headBytes = 0;
    if (this.type === Chunk.StreamHeader) {
      for (let i = 0; i < bodyBytes; i++) {
        if (body[i] !== SNAPPY_STREAM_HEADER[HEAD_BYTES + i]) {
          throw new ByteFormatError(at, 'the header of a snappy stream', 'other bytes');
        }
      }
      this.begun = true;
      this.streams++;
      this.onStream?.();
      return;
    }
    const data =
      this.type === Chunk.Compressed
        ? uncompressSnappy(body, CHECKSUM_BYTES, bodyBytes, at + CHECKSUM_BYTES)
        : body.subarray(CHECKSUM_BYTES, bodyBytes);
    if (data.length > MAX_UNCOMPRESSED) {
      throw new ByteFormatError(at, `a snappy chunk of at most ${MAX_UNCOMPRESSED} bytes`, `${data.length} bytes`);
    }
    const [a = 0, b = 0, c = 0, d = 0] = body;
    const stored = (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
    const actual = maskCrc32c(crc32c(data));
    if (stored !== actual) {
      throw new ByteFormatError(
        at,
        `a snappy chunk with checksum ${hex32(stored)}`,
        `bytes of checksum ${hex32(actual)}`,
      );
    }
    this.chunks++;
    this.uncompressedBytes += data.length;
    this.target?.push(data, 0, data.length);
  }

  private failure(reading: string, found: string): ByteFormatError {
    return new ByteFormatError(this.offset, reading, found);
  }
}

function hex(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`;
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}
