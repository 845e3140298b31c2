import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { runPass } from '../../../../src/format/byte-request.js';
import { crc32c, maskCrc32c } from '../../../../src/format/hash/crc32c.js';
import { BlockCursor } from '../../../../src/format/sst/block.js';
import { checkTable } from '../../../../src/format/sst/check-table.js';
import { FOOTER_BYTES, parseFooter } from '../../../../src/format/sst/footer.js';
import { IndexCursor } from '../../../../src/format/sst/index-cursor.js';
import { LogRecords } from '../../../../src/format/sst/log-records.js';
import { readVarint } from '../../../../src/format/sst/varint.js';
import { UnknownFormatError } from '../../../../src/format/unknown-format-error.js';
import { hex, join } from '../../../support/byte-builder.js';
import { fixtureCase } from '../../../support/corpus.js';
import { pushInPieces } from '../../../support/state-bytes.js';
import { piecesOf } from '../../../support/state-tasks.js';

const utf8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

describe('numbers of seven bits a byte', () => {
  it.each([
    ['00', 0],
    ['7f', 127],
    ['8001', 128],
    ['ffffffffffffff0f', 2 ** 53 - 1],
  ])('%s is %d', (digits, value) => {
    const bytes = hex(digits);
    expect(readVarint(bytes, 0, bytes.length, 0, 'a number')).toEqual({ value, next: bytes.length });
  });

  it.each(['', '80', 'ffffffffffffff1f', '8000'])('%s is none', (digits) => {
    const bytes = hex(digits);
    expect(() => readVarint(bytes, 0, bytes.length, 7, 'a number')).toThrow(ByteFormatError);
  });
});

describe('blocks of entries', () => {
  const restarts = hex('00000000 01000000');

  it('share the beginnings of their keys', () => {
    const block = join(
      hex('00 05 02'),
      Buffer.from('key-1'),
      Buffer.from('v1'),
      hex('04 01 00'),
      Buffer.from('2'),
      hex('05 02 01'),
      Buffer.from('33'),
      Buffer.from('x'),
      restarts,
    );
    const cursor = new BlockCursor(block, 0);
    const entries: string[] = [];
    while (cursor.next()) entries.push(`${utf8(cursor.key)}=${utf8(cursor.value)}`);
    expect(entries).toEqual(['key-1=v1', 'key-2=', 'key-233=x']);
  });

  it('are refused where a length leads outside', () => {
    const all = (...parts: readonly Uint8Array[]): void => {
      const cursor = new BlockCursor(join(...parts, restarts), 100);
      while (cursor.next()) cursor.key.toString();
    };
    expect(() => all(hex('01 01 00 61'))).toThrow('expected a key that shares at most 0 bytes at byte 100, found 1');
    expect(() => all(hex('00 7f 00 61'))).toThrow(ByteFormatError);
    expect(() => all(hex('00 01 05 61'))).toThrow(ByteFormatError);
    expect(() => new BlockCursor(hex('ffffff7f'), 0)).toThrow(ByteFormatError);
    expect(() => new BlockCursor(hex('0000'), 0)).toThrow(ByteFormatError);
  });

  it('of an index tell handles whole, or by the difference in size to the one before', () => {
    const deltas = join(
      hex('00 01'),
      Buffer.from('a'),
      hex('8001 64'),
      hex('01 01'),
      Buffer.from('b'),
      hex('03'),
      hex('01 01'),
      Buffer.from('c'),
      hex('04'),
      restarts,
    );
    const cursor = new IndexCursor(deltas, 0, { valuesAreDeltas: true, hasFirstKey: false });
    const handles: unknown[] = [];
    while (cursor.next()) handles.push(cursor.handle);
    expect(handles).toEqual([
      { offset: 128, size: 100 },
      { offset: 233, size: 98 },
      { offset: 336, size: 100 },
    ]);
    const plain = join(hex('00 01 03'), Buffer.from('a'), hex('8001 64'), restarts);
    const other = new IndexCursor(plain, 0, { valuesAreDeltas: false, hasFirstKey: false });
    expect(other.next()).toBe(true);
    expect(other.handle).toEqual({ offset: 128, size: 100 });
    expect(other.next()).toBe(false);
  });

  it('of an index may have the first key of each block', () => {
    const block = join(hex('00 01'), Buffer.from('a'), hex('00 05 03'), Buffer.from('abc'), restarts);
    const cursor = new IndexCursor(block, 0, { valuesAreDeltas: true, hasFirstKey: true });
    expect(cursor.next()).toBe(true);
    expect(cursor.handle).toEqual({ offset: 0, size: 5 });
    expect(cursor.next()).toBe(false);
  });

  it('end in entries or a ByteFormatError for any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.boolean(),
        fc.boolean(),
        (bytes, valuesAreDeltas, hasFirstKey) => {
          const contents = join(bytes, restarts);
          for (const make of [
            () => new BlockCursor(contents, 0),
            () => new IndexCursor(contents, 0, { valuesAreDeltas, hasFirstKey }),
          ]) {
            try {
              const cursor = make();
              let entries = 0;
              while (cursor.next()) entries++;
              expect(entries).toBeLessThanOrEqual(bytes.length);
            } catch (error) {
              expect(error).toBeInstanceOf(ByteFormatError);
            }
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('the footer', () => {
  const footer = (magic: string, version = 5, checksum = 1): Uint8Array =>
    join(Buffer.of(checksum), hex('0a05 1405'), new Uint8Array(36), Buffer.of(version, 0, 0, 0), hex(magic));
  const BLOCK_BASED = 'f7cff485b741e288';

  it('tells checksum and handles', () => {
    expect(parseFooter(footer(BLOCK_BASED), 100)).toEqual({
      kind: 'block-based',
      formatVersion: 5,
      checksum: 1,
      contextChecksum: 0,
      metaindex: { offset: 10, size: 5 },
      index: { offset: 20, size: 5 },
      size: FOOTER_BYTES,
    });
  });

  it('of another form is not judged', () => {
    const plain = Buffer.alloc(8);
    plain.writeBigUInt64LE(0x8242229663bf9564n);
    expect(parseFooter(footer(plain.toString('hex')), 100)).toEqual({ kind: 'unsupported', form: 'a plain table' });
    const later = { kind: 'unsupported', form: 'a table of format version 7' };
    expect(parseFooter(footer(BLOCK_BASED, 7), 100)).toEqual(later);
  });

  it('is refused if it is none, or leads outside', () => {
    expect(() => parseFooter(new Uint8Array(3), 3)).toThrow(ByteFormatError);
    expect(() => parseFooter(footer('0000000000000000'), 100)).toThrow('the magic number of a table file');
    expect(() => parseFooter(footer(BLOCK_BASED, 5, 9), 100)).toThrow('a checksum type (0 to 4)');
    expect(() => parseFooter(footer(BLOCK_BASED), 53)).toThrow('the handle of a block before byte 0');
    const padded = footer(BLOCK_BASED);
    padded[30] = 1;
    expect(() => parseFooter(padded, 100)).toThrow('padding of a footer');
  });
});

describe('a table', () => {
  it('is read once and not beyond its end, and every byte of it belongs to something', async () => {
    const tables = (await piecesOf(fixtureCase('flink-2.3.0/rocksdb-incremental'))).filter(({ name }) =>
      name.endsWith('.sst)'),
    );
    expect(tables.length).toBeGreaterThan(5);
    for (const { bytes } of tables) {
      const pass = checkTable(bytes.length);
      let read = 0;
      let step = pass.next();
      while (!step.done) {
        const { start, end } = step.value;
        expect(start).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(bytes.length);
        read += end - start;
        step = pass.next(bytes.subarray(start, end));
      }
      expect(read).toBe(bytes.length);
      expect(step.value).toMatchObject({ uncheckedBlocks: 0, unusedBytes: 0, checksum: 4 });
      expect(step.value.columnFamily).toMatch(/^[\w-]+$/);
    }
  });

  it('ends in one of them whichever byte is another one', async () => {
    const [table] = (await piecesOf(fixtureCase('flink-2.3.0/rocksdb-incremental'))).filter(({ name }) =>
      name.endsWith('.sst)'),
    );
    const bytes = table?.bytes ?? new Uint8Array();
    expect(bytes.length).toBeGreaterThan(1000);
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 5, 24, 118, 255, (bytes[at] ?? 0) ^ 1]) {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = value;
        damaged[bytes.length - FOOTER_BYTES] = 0;
        try {
          runPass(checkTable(damaged.length), damaged);
        } catch (error) {
          const isExpected = error instanceof ByteFormatError || error instanceof UnknownFormatError;
          expect(isExpected, `byte ${at} = ${value}: ${error}`).toBe(true);
        }
      }
    }
  });

  it('ends in a result or a ByteFormatError for any bytes, and reads no more than there is', async () => {
    const [table] = (await piecesOf(fixtureCase('flink-2.3.0/rocksdb-incremental'))).filter(({ name }) =>
      name.endsWith('.sst)'),
    );
    const bytes = table?.bytes ?? new Uint8Array();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 20 }), (changes) => {
        const damaged = Uint8Array.from(bytes);
        for (const [at, value] of changes) damaged[at] = value;
        // Without checksums, so that damage reaches further.
        damaged[bytes.length - FOOTER_BYTES] = 0;
        try {
          runPass(checkTable(damaged.length), damaged);
        } catch (error) {
          expect(error instanceof ByteFormatError || error instanceof UnknownFormatError).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a log', () => {
  function record(type: number, data: Uint8Array, log: Uint8Array = new Uint8Array(0)): Uint8Array {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(maskCrc32c(crc32c(join(Buffer.of(type), log, data))));
    return join(checksum, Buffer.of(data.length & 0xff, data.length >> 8, type), log, data);
  }
  const read = (bytes: Uint8Array, pieceBytes?: number): LogRecords => {
    const records = new LogRecords();
    pushInPieces(records, bytes, pieceBytes);
    return records;
  };
  const large = new Uint8Array(32 * 1024 - 7 - 7 - 3).fill(7);

  it('has records in blocks of 32 KiB, the rest of which is blank', () => {
    const log = join(
      record(1, Buffer.from('abc')),
      record(1, large.subarray(0, -5)),
      new Uint8Array(5),
      record(1, Buffer.from('def')),
    );
    expect(log.length).toBe(32 * 1024 + 10);
    for (const pieceBytes of [1, 1000, log.length]) expect(read(log, pieceBytes).records).toBe(3);
  });

  it('may have the number of the log in each record', () => {
    expect(read(record(5, Buffer.from('abc'), hex('01000000'))).records).toBe(1);
  });

  it('is refused where it is cut, damaged or something else', () => {
    const log = join(record(1, Buffer.from('abc')), record(1, Buffer.from('defg')));
    for (let length = 1; length < log.length; length++) {
      if (length === record(1, Buffer.from('abc')).length) continue;
      expect(() => read(log.subarray(0, length)), `${length} bytes`).toThrow(ByteFormatError);
    }
    for (let at = 0; at < log.length; at++) {
      const damaged = Uint8Array.from(log);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      expect(() => read(damaged), `byte ${at}`).toThrow(ByteFormatError);
    }
  });
});
