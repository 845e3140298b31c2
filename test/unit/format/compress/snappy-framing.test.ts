import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { SNAPPY_STREAM_HEADER, SnappyFrames } from '../../../../src/format/compress/snappy-framing.js';
import { hex, join } from '../../../support/byte-builder.js';
import { chunk, collector, pushInPieces, STREAM_HEADER } from '../../../support/state-bytes.js';

function read(bytes: Uint8Array, pieceBytes?: number): { readonly data: Uint8Array; readonly frames: SnappyFrames } {
  const target = collector();
  const frames = new SnappyFrames({ target });
  pushInPieces(frames, bytes, pieceBytes);
  return { data: target.bytes(), frames };
}

function failure(bytes: Uint8Array, offset = 0): ByteFormatError {
  try {
    pushInPieces(new SnappyFrames({ offset }), bytes);
  } catch (error) {
    if (error instanceof ByteFormatError) return error;
    throw error;
  }
  throw new Error('it was read');
}

const text = Buffer.from('to be or not to be, or not to be, or not to be at all');

describe('snappy frames', () => {
  it('have the header that the format says', () => {
    expect(Buffer.from(SNAPPY_STREAM_HEADER)).toEqual(Buffer.from(STREAM_HEADER));
  });

  it('give back what was compressed, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('compressed', 'plain'))),
        fc.integer({ min: 1, max: 50 }),
        (chunks, pieceBytes) => {
          const frames = chunks.map(([data, form]) => chunk(data, form));
          const { data } = read(join(STREAM_HEADER, ...frames), pieceBytes);
          expect(Buffer.from(data)).toEqual(Buffer.concat(chunks.map(([bytes]) => bytes)));
        },
      ),
    );
  });

  it('hold chunks of 64 KiB, and streams one behind the other', () => {
    const large = new Uint8Array(65536).map((_, i) => (i * i) >> 5);
    const stream = join(STREAM_HEADER, chunk(large), chunk(text, 'plain'));
    const { data, frames } = read(join(stream, stream), 7);
    expect(Buffer.from(data)).toEqual(Buffer.concat([large, text, large, text]));
    expect(frames).toMatchObject({ streams: 2, chunks: 4, uncompressedBytes: 2 * (65536 + text.length) });
  });

  it('are refused with the offset of what is wrong', () => {
    expect(failure(chunk(text))).toMatchObject({ offset: 0, reading: 'the header of a snappy stream' });
    expect(failure(hex('ff060000734e61507058'), 100)).toMatchObject({ offset: 104, found: 'other bytes' });
    expect(failure(join(STREAM_HEADER, hex('fe000000')))).toMatchObject({ offset: 10, found: 'one of type 0xfe' });
    expect(failure(join(STREAM_HEADER, hex('02000000')))).toMatchObject({ offset: 10, found: 'one of type 0x02' });
    expect(failure(join(STREAM_HEADER, hex('00030000')))).toMatchObject({ found: 'a length of 3 for type 0x00' });
    expect(failure(join(STREAM_HEADER, hex('00ffffff')))).toMatchObject({
      found: 'a length of 16777215 for type 0x00',
    });
    expect(failure(join(STREAM_HEADER, chunk(text).subarray(0, 20)))).toMatchObject({
      offset: 30,
      found: 'the end of the data inside it',
    });
    expect(failure(join(STREAM_HEADER, chunk(new Uint8Array(65537), 'plain')))).toMatchObject({
      found: '65537 bytes',
    });
  });

  it('find every flipped bit, or what comes out is the same', () => {
    const stream = join(STREAM_HEADER, chunk(text), chunk(text, 'plain'));
    const original = Buffer.from(read(stream).data);
    for (let at = 0; at < stream.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const damaged = Uint8Array.from(stream);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        try {
          expect(Buffer.from(read(damaged).data), `bit ${bit} of byte ${at}`).toEqual(original);
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }
    }
  });

  it('end in a result or a ByteFormatError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ maxLength: 60 }), (body, rest) => {
        const length = body.length + 4;
        const frame = join(STREAM_HEADER, Buffer.of(0, length & 0xff, length >> 8, 0, 1, 2, 3, 4), body, rest);
        try {
          read(frame);
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
