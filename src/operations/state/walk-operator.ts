/** Walks through files of operator state: lists, union lists, broadcast states. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';
import { BroadcastParser } from '../../format/entries/broadcast-parser.js';
import { readWhole } from '../../format/entries/decode-entry.js';
import { type OperatorState, operatorState } from '../../format/entries/named-state.js';
import { type OperatorHeader, readOperatorHeader } from '../../format/operator/operator-header.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import type { StateValue } from '../../format/value/value-serializer.js';
import { MAX_ENTRY_BYTES, parseRegion } from './parse-region.js';
import type { OperatorPiece } from './pieces.js';
import { type Region, regionChunks } from './region.js';
import type { StateBytes } from './state-bytes.js';

const MAX_HEADER_BYTES = 32 * 1024 * 1024;
/** Of a broadcast state: how many entries it has. */
const COUNT_BYTES = 4;
/** Neighbouring elements are read together up to this many bytes. */
const RUN_BYTES = 1024 * 1024;

/** A file of operator state that was opened. */
export interface OperatorFile {
  readonly header: OperatorHeader;
  readonly states: readonly OperatorState[];
}

/** Elements of a list, or entries of a broadcast state, in the order of the offsets. */
export interface OperatorEntry {
  readonly key?: StateValue;
  readonly value: StateValue;
}

/** Told of elements that cannot be decoded. */
export type OnLostElements = (entries: number | undefined, reason: string) => void;

/** Where the first element starts; the end of the piece if there is none. */
function firstElement(piece: OperatorPiece, size: number): number {
  let first = size;
  for (const { offsets } of piece.states) for (const offset of offsets) first = Math.min(first, offset);
  return first;
}

/**
 * Reads the header.
 * @throws ByteFormatError; UnknownFormatError if it cannot be read to its end; the errors of reading
 */
export async function openOperatorFile(bytes: StateBytes, piece: OperatorPiece): Promise<OperatorFile> {
  const first = firstElement(piece, bytes.size);
  if (first < 0) throw new ByteFormatError(0, 'an offset of an element', `${first}`);
  if (first > MAX_HEADER_BYTES) throw new UnknownFormatError(0, 'a header of more than 32 MiB');
  const header = readOperatorHeader(ByteReader.over(await bytes.read(0, first)));
  if (header.unknown) throw header.unknown;
  return { header, states: [...header.listStates, ...header.broadcastStates].map(operatorState) };
}

/** Goes through one state after the other. */
export class OperatorWalk {
  /** Where something starts, sorted, and the end of the piece. */
  private readonly starts: Float64Array;

  constructor(
    private readonly bytes: StateBytes,
    private readonly piece: OperatorPiece,
    private readonly compressed: boolean,
  ) {
    const { size } = bytes;
    const all = piece.states.flatMap(({ offsets }) => [...offsets]);
    for (const offset of all) {
      if (offset < 0 || offset > size)
        throw new ByteFormatError(size, `an offset within the ${size} bytes`, `${offset}`);
    }
    this.starts = Float64Array.from([...all, size]).sort();
  }

  /** @throws ByteFormatError with offsets in the piece; the errors of reading */
  async *entries(state: OperatorState, onLost: OnLostElements): AsyncGenerator<readonly OperatorEntry[], void> {
    const offsets = this.piece.states.find(({ name }) => name === state.name)?.offsets ?? [];
    if (state.kind === 'broadcast') {
      for (const offset of offsets) yield* this.broadcast(state, offset, onLost);
    } else {
      yield* this.elements(state, offsets);
    }
  }

  /** Bytes that a state takes here, and how many elements or entries it has; undefined if only reading all would tell. */
  async size({ name, kind }: OperatorState): Promise<{ readonly bytes: number; readonly entries: number | undefined }> {
    const offsets = this.piece.states.find((state) => state.name === name)?.offsets ?? new Float64Array(0);
    let bytes = 0;
    for (const offset of offsets) bytes += this.endOf(offset) - offset;
    if (kind !== 'broadcast') return { bytes, entries: offsets.length };
    const [at] = offsets;
    if (at === undefined) return { bytes, entries: 0 };
    if (this.compressed || bytes < COUNT_BYTES) return { bytes, entries: undefined };
    const count = await this.bytes.read(at, at + COUNT_BYTES);
    return { bytes, entries: new DataView(count.buffer, count.byteOffset, COUNT_BYTES).getInt32(0) };
  }

  private async *broadcast(
    state: OperatorState,
    start: number,
    onLost: OnLostElements,
  ): AsyncGenerator<readonly OperatorEntry[], void> {
    const region = this.region(start);
    const parser = new BroadcastParser(state);
    const batches = parseRegion(region, parser, {
      onUndecodable: ({ message }) => {
        onLost(parser.left, message);
        return false;
      },
    });
    for await (const { entries } of batches) yield entries;
  }

  private async *elements(
    state: OperatorState,
    offsets: ArrayLike<number>,
  ): AsyncGenerator<readonly OperatorEntry[], void> {
    for (let i = 0; i < offsets.length; ) {
      const from = offsets[i] as number;
      let last = i;
      while (last + 1 < offsets.length && this.endOf(offsets[last] as number) === offsets[last + 1]) {
        if (this.compressed || (offsets[last + 1] as number) - from > RUN_BYTES) break;
        last++;
      }
      const buffer = await this.load(from, this.endOf(offsets[last] as number));
      const run: OperatorEntry[] = [];
      const reader = ByteReader.over(buffer);
      for (; i <= last; i++) {
        const start = offsets[i] as number;
        const end = this.compressed ? buffer.length : this.endOf(start) - from;
        reader.position = this.compressed ? 0 : start - from;
        this.readElement(state, reader, end, start, run);
      }
      yield run;
    }
  }

  private readElement(
    state: OperatorState,
    reader: ByteReader,
    end: number,
    offset: number,
    into: OperatorEntry[],
  ): void {
    const begin = reader.position;
    try {
      into.push({ value: readWhole(state.value, reader, begin, end) });
    } catch (error) {
      if (!(error instanceof ByteFormatError)) throw error;
      if (this.compressed) throw new ByteFormatError(offset, `${error.reading} (compressed here)`, error.found);
      throw new ByteFormatError(offset + error.offset - begin, error.reading, error.found);
    }
  }

  /** The element that starts there ends where the next thing of any state starts. */
  private endOf(start: number): number {
    const { starts } = this;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] as number) > start) high = middle;
      else low = middle + 1;
    }
    return starts[low] as number;
  }

  private region(start: number): Region {
    return { bytes: this.bytes, start, end: this.endOf(start), compression: this.compressed ? 'chunks' : 'no' };
  }

  private async load(start: number, end: number): Promise<Uint8Array> {
    if (end - start > MAX_ENTRY_BYTES) {
      throw new ByteFormatError(start, `an element of at most ${MAX_ENTRY_BYTES} bytes`, `one of ${end - start}`);
    }
    if (!this.compressed) return this.bytes.read(start, end);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const { bytes } of regionChunks({ bytes: this.bytes, start, end, compression: 'chunks' })) {
      size += bytes.length;
      if (size > MAX_ENTRY_BYTES) {
        throw new ByteFormatError(start, `an element of at most ${MAX_ENTRY_BYTES} bytes`, 'a larger one');
      }
      parts.push(bytes);
    }
    return Buffer.concat(parts);
  }
}
