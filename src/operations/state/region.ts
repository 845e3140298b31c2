/** A part of a piece of state as it comes out of its compression, chunk by chunk. */
import { SnappyFrames } from '../../format/compress/snappy-framing.js';
import type { StateBytes } from './state-bytes.js';

/** The bytes [start, end) of a piece. */
export interface Region {
  readonly bytes: StateBytes;
  readonly start: number;
  readonly end: number;
  /**
   * `no`; `streams`: one or more streams of snappy frames; `chunks`: frames of a stream whose header came before; `heap`: four
   * plain bytes, then streams.
   */
  readonly compression: 'no' | 'streams' | 'chunks' | 'heap';
}

/** Bytes that are valid until the next ones are asked for. */
export interface RegionChunk {
  readonly bytes: Uint8Array;
  /** A stream of frames begins with them. */
  readonly beginsStream: boolean;
}

const PLAIN_HEAD_BYTES = 4;
/** Compressed bytes that are handled at once: they can become twenty times as many. */
const STEP_BYTES = 64 * 1024;

/** All of it in order. @throws ByteFormatError; the errors of reading */
export async function* regionChunks({ bytes, start, end, compression }: Region): AsyncGenerator<RegionChunk, void> {
  if (compression === 'no') {
    for await (const chunk of bytes.chunks(start, end)) yield { bytes: chunk, beginsStream: false };
    return;
  }
  let at = start;
  if (compression === 'heap') {
    at = Math.min(end, start + PLAIN_HEAD_BYTES);
    yield { bytes: await bytes.read(start, at), beginsStream: false };
  }
  yield* uncompress(bytes, at, end, compression === 'chunks');
}

async function* uncompress(
  bytes: StateBytes,
  start: number,
  end: number,
  begun: boolean,
): AsyncGenerator<RegionChunk, void> {
  let ready: { parts: Uint8Array[]; beginsStream: boolean }[] = [];
  let parts: Uint8Array[] = [];
  const begin = (beginsStream: boolean): void => {
    parts = [];
    ready.push({ parts, beginsStream });
  };
  const target = {
    push: (from: Uint8Array, first: number, last: number): void => {
      // The frames keep no buffer for themselves that is valid for long.
      parts.push(Uint8Array.prototype.slice.call(from, first, last));
    },
    finish: (): void => {},
  };
  const frames = new SnappyFrames({
    offset: start,
    header: begun ? 'begun' : 'at-start',
    target,
    onStream: () => begin(true),
  });
  begin(false);
  for await (const chunk of bytes.chunks(start, end)) {
    for (let from = 0; from < chunk.length; from += STEP_BYTES) {
      frames.push(chunk, from, Math.min(chunk.length, from + STEP_BYTES));
      const done = ready;
      ready = [];
      begin(false);
      for (const { parts: made, beginsStream } of done) {
        if (made.length > 0 || beginsStream) yield { bytes: Buffer.concat(made), beginsStream };
      }
    }
  }
  frames.finish();
}
