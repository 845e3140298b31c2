/** The bytes of a piece of state, wherever they are: a file, a part of one, or memory. */
import type { ByteSource } from '../../filesystem/file-system.js';
import { readChunks } from '../../filesystem/limit.js';
import type { ByteSink } from '../../format/byte-sink.js';

const CHUNK_BYTES = 1024 * 1024;

/** Ranges count from the start of the piece. */
export interface StateBytes {
  readonly size: number;
  read(start: number, end: number): Promise<Uint8Array>;
  /** Chunk by chunk; each is valid until the next one is asked for. */
  chunks(start: number, end: number): AsyncIterable<Uint8Array>;
}

/**
 * A part of an open file.
 * @param length bytes of the part; -1 for all from `start` on
 */
export function stateInFile(source: ByteSource, start: number, length: number, signal?: AbortSignal): StateBytes {
  const size = length < 0 ? source.size - start : length;
  return {
    size,
    read: (from, to) => source.read(start + from, start + to, signal),
    chunks: (from, to) => readChunks(source, { start: start + from, end: start + to, chunkBytes: CHUNK_BYTES, signal }),
  };
}

/** Bytes in memory. */
export function stateInMemory(bytes: Uint8Array): StateBytes {
  return {
    size: bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
    async *chunks(start, end) {
      yield bytes.subarray(start, end);
    },
  };
}

/** Pushes [start, end) into a sink and finishes it. */
export async function pushAll(bytes: StateBytes, start: number, end: number, sink: ByteSink): Promise<void> {
  for await (const chunk of bytes.chunks(start, end)) sink.push(chunk, 0, chunk.length);
  sink.finish();
}
