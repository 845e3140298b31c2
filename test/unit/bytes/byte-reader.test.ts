import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../src/bytes/byte-format-error.js';
import { ByteReader, copyBytes, MAX_LEFT_OVER, Utf8Slice } from '../../../src/bytes/byte-reader.js';
import { slowSourceOf } from '../../support/metadata-cycle.js';

const hex = (digits: string): Uint8Array => Buffer.from(digits, 'hex');
const over = (digits: string): ByteReader => ByteReader.over(hex(digits));

function faultOf(read: () => unknown): [offset: number, reading: string, found: string] {
  try {
    read();
  } catch (error) {
    if (error instanceof ByteFormatError) return [error.offset, error.reading, error.found];
    throw error;
  }
  throw new Error('nothing was wrong');
}

describe('a reader of bytes in memory', () => {
  it('reads what Java writes', () => {
    const reader = over('ff80fffffffe8000000000000001ffffffffffffffff');
    expect(reader.readU8('a')).toBe(255);
    expect(reader.readI8('a')).toBe(-128);
    expect(reader.readI32('a')).toBe(-2);
    reader.readI64('a');
    expect([reader.high, reader.low]).toEqual([-0x80000000, 1]);
    expect(reader.bigInt64At(6)).toBe(-(2n ** 63n) + 1n);
    expect(reader.readBigInt64('a')).toBe(-1n);
    expect([reader.offset, reader.remaining, reader.available]).toEqual([22, 0, 0]);
  });

  it('does not copy, and starts where a view starts', () => {
    const bytes = hex('0000000107');
    const reader = ByteReader.over(bytes.subarray(1));
    bytes[4] = 9;
    expect(reader.readI32('a')).toBe(0x109);
  });

  it('says what is cut off', () => {
    expect(faultOf(() => over('').readU8('a byte'))).toEqual([0, 'a byte', 'the end of the file']);
    const reader = over('00112233');
    reader.readU8('a');
    expect(faultOf(() => reader.readI32('a number'))).toEqual([
      1,
      'a number',
      'the end of the file after 3 of 4 bytes',
    ]);
    expect(reader.offset).toBe(1);
    expect(faultOf(() => reader.take(4, 'bytes'))[2]).toBe('the end of the file after 3 of 4 bytes');
  });

  it('bounds counts by the bytes that are left', () => {
    expect(over('00000002ffff').readCount('n', 1)).toBe(2);
    expect(over('00000000').readCount('n', 1000)).toBe(0);
    expect(faultOf(() => over('00000003ffff').readCount('n', 1))).toEqual([
      0,
      'n',
      '3, which needs 3 bytes where 2 remain',
    ]);
    expect(faultOf(() => over('7fffffffffff').readCount('n', 8))).toEqual([
      0,
      'n',
      '2147483647, which needs 17179869176 bytes where 2 remain',
    ]);
    expect(faultOf(() => over('ffffffff').readCount('n', 0))).toEqual([0, 'n', 'the negative number -1']);
  });

  it('reads text as a slice', () => {
    const reader = over('000261620002c080000000');
    const slice = new Utf8Slice();
    reader.readUtf('name', slice);
    expect([slice.text(), slice.plain, slice.byteLength, slice.offset]).toEqual(['ab', true, 2, 2]);
    reader.readUtf('name', slice);
    expect([slice.text(), slice.plain, slice.byteLength, slice.offset]).toEqual(['\0', false, 2, 6]);
    expect(slice.bytes()).toEqual(new Uint8Array([0xc0, 0x80]));
    reader.readUtf('name', slice);
    expect(slice.text()).toBe('');
    slice.clear();
    expect([slice.text(), slice.byteLength, slice.plain]).toEqual(['', 0, true]);
    expect(faultOf(() => reader.readUtf('name', slice))).toEqual([
      10,
      'name',
      'the end of the file after 1 of 2 bytes',
    ]);
    expect(faultOf(() => over('00ff0061').readUtf('name', new Utf8Slice()))).toEqual([
      0,
      'name',
      'the end of the file after 4 of 257 bytes',
    ]);
    expect(faultOf(() => over('000361ff61').readUtf('name', new Utf8Slice()))).toEqual([
      3,
      'name',
      'byte 0xff, which is not modified UTF-8',
    ]);
  });

  it('copies bytes into memory of their own', () => {
    const bytes = hex('0102030405');
    const copy = copyBytes(bytes, 1, 3);
    bytes.fill(0);
    expect(copy).toEqual(new Uint8Array([2, 3]));
    expect(copy.buffer.byteLength).toBe(2);
  });
});

describe('a reader of a window', () => {
  const chunk = MAX_LEFT_OVER;
  const bytes = Uint8Array.from({ length: 5 * chunk + 4321 }, (_, i) => (i * 7 + (i >> 8)) & 0xff);

  it.each([1, 1000, MAX_LEFT_OVER, MAX_LEFT_OVER - 1])('goes on with %i bytes left over', async (left) => {
    const source = slowSourceOf(bytes);
    const reader = ByteReader.windowed(bytes.length, chunk);
    expect([reader.available, reader.offset, reader.wantsRefill(1)]).toEqual([0, 0, true]);
    await reader.refill(source);
    let at = 0;
    while (at < bytes.length) {
      expect(reader.offset).toBe(at);
      expect(reader.remaining).toBe(bytes.length - at);
      const isLast = !reader.wantsRefill(reader.remaining);
      const size = isLast ? reader.remaining : Math.max(reader.available - left, 0);
      const start = reader.take(size, 'bytes');
      if (Buffer.compare(reader.buffer.subarray(start, start + size), bytes.subarray(at, at + size)) !== 0) {
        expect.unreachable(`other bytes at ${at}`);
      }
      at += size;
      if (!isLast) await reader.refill(source);
    }
    expect(faultOf(() => reader.readU8('more'))).toEqual([bytes.length, 'more', 'the end of the file']);
  });

  it('reads a small input at once', async () => {
    const reader = ByteReader.windowed(5, chunk);
    await reader.refill(slowSourceOf(hex('0000000107')));
    expect(reader.readI32('a')).toBe(1);
    expect([reader.offset, reader.remaining, reader.buffer.length]).toEqual([4, 1, 5]);
    expect(Buffer.from(reader.peek(9)).toString('hex')).toBe('07');
    expect(reader.wantsRefill(2)).toBe(false);
  });

  it('takes no more memory than its windows, whatever the size of the input', () => {
    expect(ByteReader.windowed(2 ** 40, chunk).buffer.length).toBe(2 * (MAX_LEFT_OVER + chunk));
  });

  it('fails where the source fails, each time at the read that failed', async () => {
    const good = slowSourceOf(bytes);
    const failure = new Error('lost');
    const reader = ByteReader.windowed(bytes.length, chunk);
    const source = {
      size: bytes.length,
      async readInto(target: Uint8Array, offset: number, start: number, end: number) {
        if (start >= 2 * chunk) throw failure;
        await good.readInto(target, offset, start, end);
      },
    };
    await reader.refill(source);
    reader.take(reader.available, 'a');
    await reader.refill(source);
    expect(reader.offset).toBe(chunk);
    reader.take(reader.available, 'a');
    await expect(reader.refill(source)).rejects.toBe(failure);
  });
});
