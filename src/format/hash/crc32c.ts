/** CRC-32C (Castagnoli), the checksum of the snappy framing format and of RocksDB's files. */

/** Reversed form of the polynomial 0x1EDC6F41. */
const POLYNOMIAL = 0x82f63b78;
const MASK_DELTA = 0xa282ead8;

/** Eight tables, so that eight bytes are taken at once: table k holds the checksum of a byte with k zeros behind it. */
const tables = makeTables();

function makeTables(): readonly Int32Array[] {
  const first = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    first[byte] = crc;
  }
  const all = [first];
  for (let k = 1; k < 8; k++) {
    const before = all[k - 1] as Int32Array;
    all.push(before.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] as number)));
  }
  return all;
}

const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as unknown as readonly [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/**
 * The checksum of the bytes [start, end), as an unsigned number.
 * @param previous checksum of the bytes before them, to go on from
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, previous = 0): number {
  let crc = ~previous;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}

/** The form in which checksums are stored next to the data that they are of: rotated by 15 bits, plus a constant. */
export function maskCrc32c(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
