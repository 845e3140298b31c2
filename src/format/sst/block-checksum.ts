/** The checksums of RocksDB's blocks. Origin: RocksDB `ComputeBuiltinChecksum`, `ChecksumModifierForContext`. */
import { crc32c, maskCrc32c } from '../hash/crc32c.js';
import { xxh3 } from '../hash/xxh3.js';
import { xxh32 } from '../hash/xxh32.js';
import { xxh64 } from '../hash/xxh64.js';

/** How the last byte is laid over an XXH3 of those before it, so that the compression type need not follow the data. */
const LAST_BYTE_FACTOR = 0x6b9083d9;
const TWO_32 = 0x100000000;

/** The number of a checksum in the footer. Origin: RocksDB `ChecksumType`. */
export const BlockChecksum = { None: 0, Crc32c: 1, XxHash32: 2, XxHash64: 3, Xxh3: 4 } as const;
/** One of the numbers of {@link BlockChecksum}. */
export type BlockChecksum = (typeof BlockChecksum)[keyof typeof BlockChecksum];

/** How the checksums of a table are made. */
export interface ChecksumRule {
  readonly checksum: BlockChecksum;
  /** From version 6 on each checksum depends on the place of what it is of, and on this number; 0 otherwise. */
  readonly contextChecksum: number;
}

/** True for a number of {@link BlockChecksum}. */
export function isBlockChecksum(type: number): type is BlockChecksum {
  return Object.values<number>(BlockChecksum).includes(type);
}

/**
 * The checksum that the bytes [start, end) should have, their compression type, if they have one, included.
 * @param place where they are in the file
 * @returns undefined if the table has none
 */
export function bytesChecksum(
  bytes: Uint8Array,
  start: number,
  end: number,
  place: number,
  { checksum, contextChecksum }: ChecksumRule,
): number | undefined {
  const plain = plainChecksum(bytes, start, end, checksum);
  if (plain === undefined || contextChecksum === 0) return plain;
  const modifier = contextChecksum ^ ((place % TWO_32) + Math.floor(place / TWO_32));
  return (plain + modifier) >>> 0;
}

function plainChecksum(bytes: Uint8Array, start: number, end: number, type: BlockChecksum): number | undefined {
  switch (type) {
    case BlockChecksum.None:
      return undefined;
    case BlockChecksum.XxHash32:
      return xxh32(bytes, start, end);
    case BlockChecksum.Crc32c:
      return maskCrc32c(crc32c(bytes, start, end));
    case BlockChecksum.XxHash64:
      return low32(xxh64(bytes, start, end));
    case BlockChecksum.Xxh3:
      return (low32(xxh3(bytes, start, end - 1)) ^ Math.imul(bytes[end - 1] as number, LAST_BYTE_FACTOR)) >>> 0;
  }
}

function low32(hash: bigint): number {
  return Number(hash & 0xffffffffn);
}

/** A number of 32 bits as it is shown in errors. */
export function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}
