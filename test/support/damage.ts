/** Random damage to files, the same for the same seed. */

/** Random integers of a seed: `next(n)` is in [0, n). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(below: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.next(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}

/** Numbers at which readers stumble. */
const NUMBERS = [0, 1, 2, -1, -2, 127, 128, 255, 256, 0xffff, 0x10000, 0x00ffffff, 0x10000000, 0x7fffffff, -0x80000000];

type Damage = (bytes: Buffer, random: Random, other: Uint8Array) => Buffer;

const DAMAGES: readonly Damage[] = [
  function flipBit(bytes, random) {
    const at = random.next(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.next(8));
    return bytes;
  },
  function setByte(bytes, random) {
    bytes[random.next(bytes.length)] = random.next(256);
    return bytes;
  },
  function setSmallByte(bytes, random) {
    bytes[random.next(bytes.length)] = random.next(20);
    return bytes;
  },
  function setLength(bytes, random) {
    if (bytes.length >= 4) bytes.writeInt32BE(random.pick(NUMBERS), random.next(bytes.length - 3));
    return bytes;
  },
  function changeLength(bytes, random) {
    if (bytes.length < 4) return bytes;
    const at = random.next(bytes.length - 3);
    bytes.writeInt32BE((bytes.readInt32BE(at) + random.next(5) - 2) | 0, at);
    return bytes;
  },
  function setShortLength(bytes, random) {
    if (bytes.length >= 2) bytes.writeUInt16BE(random.pick(NUMBERS) & 0xffff, random.next(bytes.length - 1));
    return bytes;
  },
  function cut(bytes, random) {
    return bytes.subarray(0, random.next(bytes.length));
  },
  function drop(bytes, random) {
    const start = random.next(bytes.length);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 1 + random.next(40))]);
  },
  function insert(bytes, random) {
    const start = random.next(bytes.length);
    const noise = Buffer.from(Array.from({ length: 1 + random.next(20) }, () => random.next(256)));
    return Buffer.concat([bytes.subarray(0, start), noise, bytes.subarray(start)]);
  },
  function repeat(bytes, random) {
    const start = random.next(bytes.length);
    const end = Math.min(bytes.length, start + 1 + random.next(200));
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]);
  },
  function splice(bytes, random, other) {
    const start = random.next(other.length);
    const piece = other.subarray(start, start + 1 + random.next(200));
    const at = random.next(bytes.length);
    return Buffer.concat([
      bytes.subarray(0, at),
      piece,
      bytes.subarray(at + (random.next(2) === 0 ? 0 : piece.length)),
    ]);
  },
  function goOnWithAnother(bytes, random, other) {
    const at = random.next(Math.min(bytes.length, other.length));
    return Buffer.concat([bytes.subarray(0, at), other.subarray(at)]);
  },
];

/** One of the files with one to three kinds of damage. */
export function damaged(files: readonly Uint8Array[], random: Random): Uint8Array {
  let bytes = Buffer.from(random.pick(files));
  for (let times = 1 + random.next(3); times > 0 && bytes.length > 0; times--) {
    bytes = Buffer.from(random.pick(DAMAGES)(bytes, random, random.pick(files)));
  }
  return new Uint8Array(bytes);
}
