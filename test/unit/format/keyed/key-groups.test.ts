import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { HeapKeyGroup } from '../../../../src/format/keyed/heap-key-group.js';
import { firstOffset, keyGroupRegions } from '../../../../src/format/keyed/key-group-regions.js';
import { keyGroupPrefixBytes, UnifiedKeyGroup } from '../../../../src/format/keyed/unified-key-group.js';
import { hex, i16, i32, join, lengthed } from '../../../support/byte-builder.js';
import { chunk, pushInPieces, STREAM_HEADER } from '../../../support/state-bytes.js';

describe('regions of key groups', () => {
  it('end where the next one starts', () => {
    const input = { firstKeyGroup: 4, offsets: [20, 0, 30, 30], absent: 0, size: 50 };
    expect([...keyGroupRegions(input)]).toEqual([
      { keyGroup: 4, start: 20, end: 30 },
      { keyGroup: 6, start: 30, end: 30 },
      { keyGroup: 7, start: 30, end: 50 },
    ]);
    expect(firstOffset(input)).toBe(20);
    expect(firstOffset({ offsets: [0, 0], absent: 0 })).toBeUndefined();
    expect(firstOffset({ offsets: [0, 7] })).toBe(0);
  });

  it.each([[[20, 10]], [[20, 51]], [[-1]]])('%j are refused', (offsets) => {
    expect(() => [...keyGroupRegions({ firstKeyGroup: 0, offsets, size: 50 })]).toThrow(ByteFormatError);
  });
});

describe('a key group of the unified form', () => {
  const entry = (prefix: string, rest: string, value: string): Uint8Array =>
    join(lengthed(join(hex(prefix), Buffer.from(rest))), lengthed(Buffer.from(value)));
  const options = { keyGroup: 5, prefixBytes: 1, stateCount: 2, offset: 100 } as const;
  const read = (bytes: Uint8Array, pieceBytes?: number, more = {}): UnifiedKeyGroup => {
    const group = new UnifiedKeyGroup({ ...options, ...more });
    pushInPieces(group, bytes, pieceBytes);
    return group;
  };
  const END = hex('ffff');
  const sound = join(i16(1), entry('05', 'a', 'xyz'), entry('85', 'b', ''), i16(0), entry('85', '', 'q'), END);

  it('is followed to its end, in whatever pieces it comes', () => {
    for (let pieceBytes = 1; pieceBytes <= sound.length; pieceBytes++) expect(read(sound, pieceBytes).entries).toBe(3);
  });

  it('has two bytes of key group above 128', () => {
    expect([keyGroupPrefixBytes(128), keyGroupPrefixBytes(129)]).toEqual([1, 2]);
    const bytes = join(i16(0), entry('8123', 'a', 'x'), END);
    expect(read(bytes, 1, { keyGroup: 0x123, prefixBytes: 2 }).entries).toBe(1);
  });

  it.each([
    ['a state id that there is none of', join(i16(2), entry('85', 'a', 'x'), END), 100],
    ['no state at all', END, 100],
    ['a key of another key group', join(i16(0), entry('86', 'a', 'x'), END), 106],
    ['a key without its key group', join(i16(0), i32(0), i32(0), END), 102],
    ['a negative length of a value', join(i16(0), lengthed(hex('85')), i32(-1), END), 107],
    ['bytes behind the end', join(sound, Buffer.of(0)), 100 + sound.length],
    ['no end', sound.subarray(0, -2), 100 + sound.length - 2],
  ])('%s is refused', (_what, bytes, offset) => {
    let error: unknown;
    try {
      read(bytes);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ByteFormatError);
    expect(error).toMatchObject({ offset });
  });

  it('of gigabytes takes no memory', () => {
    const group = new UnifiedKeyGroup(options);
    const piece = new Uint8Array(1024 * 1024);
    const start = join(i16(0), lengthed(hex('85')), i32(2 ** 31 - 1));
    group.push(start, 0, start.length);
    const before = process.memoryUsage();
    for (let left = 2 ** 31 - 1; left > 0; left -= piece.length) group.push(piece, 0, Math.min(left, piece.length));
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 * 1024 * 1024);
    group.push(END, 0, 2);
    group.finish();
    expect(group.entries).toBe(1);
  });

  it('ends in a result or a ByteFormatError for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const bytes = Uint8Array.from(sound);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          read(bytes, 3);
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a key group of the heap backend', () => {
  const state = (id: number, entries: number): Uint8Array => join(i16(id), i32(entries), Buffer.from('entries'));
  const read = (
    bytes: Uint8Array,
    compressed: boolean,
    stateCount: number | undefined = 2,
    pieceBytes?: number,
  ): void =>
    pushInPieces(
      new HeapKeyGroup({ keyGroup: 7, compressed, stateCount, offset: 100, length: bytes.length }),
      bytes,
      pieceBytes,
    );
  const plain = join(i32(7), state(1, 3), state(0, 2));
  const compressed = join(i32(7), STREAM_HEADER, chunk(state(1, 3)), STREAM_HEADER, chunk(state(0, 2)));

  it('begins with its number and a state', () => {
    for (const pieceBytes of [1, 5, 100]) read(plain, false, 2, pieceBytes);
    read(plain, false, undefined);
    read(i32(7), false, 0);
    expect(() => read(join(i32(8), state(1, 3), state(0, 2)), false)).toThrow(
      'expected key group 7 at byte 100, found 8',
    );
    expect(() => read(join(i32(7), state(2, 3), state(0, 2)), false)).toThrow('the id of a state (below 2)');
    expect(() => read(join(i32(7), state(1, -3), state(0, 2)), false)).toThrow('the number of entries');
    expect(() => read(i32(7), false)).toThrow('at least 16 bytes');
  });

  it('has a stream of frames for each state', () => {
    for (const pieceBytes of [1, 5, 1000]) read(compressed, true, 2, pieceBytes);
    expect(() => read(compressed, true, 3)).toThrow('3 snappy streams in key group 7, one for each state');
    expect(() => read(join(compressed, STREAM_HEADER, chunk(state(9, 1))), true, 3)).toThrow(
      'the id of a state (below 3)',
    );
    const damaged = Uint8Array.from(compressed);
    damaged[damaged.length - 1] = 0;
    expect(() => read(damaged, true)).toThrow(ByteFormatError);
    expect(() => read(compressed.subarray(0, -1), true)).toThrow(ByteFormatError);
  });
});
