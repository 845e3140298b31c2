/**
 * XXH3 with 64 bits, seed 0 and the default secret: the checksum of RocksDB's blocks since Flink 2.0. The loop over the data
 * keeps 64-bit numbers as pairs of 32-bit ones; what happens once for an input is done with bigints.
 */

const SECRET = Uint8Array.from(
  Buffer.from(
    'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c' +
      '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364' +
      'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e',
    'hex',
  ),
);
const secretView = new DataView(SECRET.buffer);

const MASK = 0xffffffffffffffffn;
const PRIME32_1 = 0x9e3779b1;
const PRIME32_2 = 0x85ebca77n;
const PRIME32_3 = 0xc2b2ae3dn;
const PRIME64_1 = 0x9e3779b185ebca87n;
const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME64_3 = 0x165667b19e3779f9n;
const PRIME64_4 = 0x85ebca77c2b2ae63n;
const PRIME64_5 = 0x27d4eb2f165667c5n;
const FIRST_ACCUMULATORS = [
  PRIME32_3,
  PRIME64_1,
  PRIME64_2,
  PRIME64_3,
  PRIME64_4,
  PRIME32_2,
  PRIME64_5,
  BigInt(PRIME32_1),
];

const STRIPE = 64;
const STRIPES_IN_BLOCK = (SECRET.length - STRIPE) / 8;
const BLOCK = STRIPE * STRIPES_IN_BLOCK;
const LANES = 8;
const TWO_32 = 0x100000000;
const TWO_16 = 0x10000;

const secret64 = (at: number): bigint => secretView.getBigUint64(at, true);

/** Low and high words of the secret at every byte offset that is a multiple of one, as the loop needs them. */
const secretWords = Int32Array.from({ length: SECRET.length - 3 }, (_, at) => secretView.getInt32(at, true));

/** The hash of the bytes [start, end), as an unsigned number of 64 bits. */
export function xxh3(bytes: Uint8Array, start = 0, end = bytes.length): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  const length = end - start;
  if (length > 240) return long(view, length);
  if (length > 128) return upTo240(view, length);
  if (length > 16) return upTo128(view, length);
  if (length > 8) return upTo16(view, length);
  if (length >= 4) return upTo8(view, length);
  if (length > 0) return upTo3(view, length);
  return avalanche64(secret64(56) ^ secret64(64));
}

function rotateLeft(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}

/** The two halves of the product of 128 bits, one laid over the other. */
function foldedProduct(a: bigint, b: bigint): bigint {
  const product = a * b;
  return (product & MASK) ^ (product >> 64n);
}

function avalanche(hash: bigint): bigint {
  const mixed = ((hash ^ (hash >> 37n)) * 0x165667919e3779f9n) & MASK;
  return mixed ^ (mixed >> 32n);
}

/** The final mix of XXH64, for the shortest inputs. */
function avalanche64(hash: bigint): bigint {
  let mixed = ((hash ^ (hash >> 33n)) * PRIME64_2) & MASK;
  mixed = ((mixed ^ (mixed >> 29n)) * PRIME64_3) & MASK;
  return mixed ^ (mixed >> 32n);
}

function upTo3(view: DataView, length: number): bigint {
  const combined =
    (view.getUint8(0) << 16) | (view.getUint8(length >> 1) << 24) | view.getUint8(length - 1) | (length << 8);
  const flip = secretView.getUint32(0, true) ^ secretView.getUint32(4, true);
  return avalanche64(BigInt((combined ^ flip) >>> 0));
}

function upTo8(view: DataView, length: number): bigint {
  const input = BigInt(view.getUint32(length - 4, true)) + (BigInt(view.getUint32(0, true)) << 32n);
  let hash = input ^ secret64(8) ^ secret64(16);
  hash ^= rotateLeft(hash, 49n) ^ rotateLeft(hash, 24n);
  hash = (hash * 0x9fb21c651e98df25n) & MASK;
  hash ^= (hash >> 35n) + BigInt(length);
  hash = (hash * 0x9fb21c651e98df25n) & MASK;
  return hash ^ (hash >> 28n);
}

function upTo16(view: DataView, length: number): bigint {
  const low = view.getBigUint64(0, true) ^ secret64(24) ^ secret64(32);
  const high = view.getBigUint64(length - 8, true) ^ secret64(40) ^ secret64(48);
  return avalanche((BigInt(length) + swapBytes(low) + high + foldedProduct(low, high)) & MASK);
}

const swapping = new DataView(new ArrayBuffer(8));

function swapBytes(value: bigint): bigint {
  swapping.setBigUint64(0, value, true);
  return swapping.getBigUint64(0, false);
}

function mix16(view: DataView, at: number, secretAt: number): bigint {
  return foldedProduct(
    view.getBigUint64(at, true) ^ secret64(secretAt),
    view.getBigUint64(at + 8, true) ^ secret64(secretAt + 8),
  );
}

function upTo128(view: DataView, length: number): bigint {
  let sum = BigInt(length) * PRIME64_1;
  for (let pair = (length - 1) >> 5; pair >= 0; pair--) {
    sum += mix16(view, 16 * pair, 32 * pair);
    sum += mix16(view, length - 16 * (pair + 1), 32 * pair + 16);
  }
  return avalanche(sum & MASK);
}

function upTo240(view: DataView, length: number): bigint {
  let sum = BigInt(length) * PRIME64_1;
  for (let i = 0; i < 8; i++) sum += mix16(view, 16 * i, 16 * i);
  sum = avalanche(sum & MASK);
  for (let i = 8; i < length >> 4; i++) sum += mix16(view, 16 * i, 16 * (i - 8) + 3);
  sum += mix16(view, length - 16, 136 - 17);
  return avalanche(sum & MASK);
}

/** The accumulators: low words at even, high words at odd indexes. */
const accumulators = new Int32Array(2 * LANES);

function long(view: DataView, length: number): bigint {
  for (const [lane, value] of FIRST_ACCUMULATORS.entries()) {
    accumulators[2 * lane] = Number(value & 0xffffffffn) | 0;
    accumulators[2 * lane + 1] = Number(value >> 32n) | 0;
  }
  const blocks = Math.floor((length - 1) / BLOCK);
  for (let block = 0; block < blocks; block++) {
    accumulate(view, block * BLOCK, 0, STRIPES_IN_BLOCK);
    scramble();
  }
  accumulate(view, blocks * BLOCK, 0, Math.floor((length - 1 - blocks * BLOCK) / STRIPE));
  accumulate(view, length - STRIPE, SECRET.length - STRIPE - 7, 1);
  let hash = BigInt(length) * PRIME64_1;
  for (let pair = 0; pair < LANES / 2; pair++) {
    hash += foldedProduct(
      lane64(2 * pair) ^ secret64(11 + 16 * pair),
      lane64(2 * pair + 1) ^ secret64(11 + 16 * pair + 8),
    );
  }
  return avalanche(hash & MASK);
}

function lane64(lane: number): bigint {
  const low = (accumulators[2 * lane] as number) >>> 0;
  const high = (accumulators[2 * lane + 1] as number) >>> 0;
  return (BigInt(high) << 32n) | BigInt(low);
}

/**
 * Adds some stripes of 64 bytes, at most as many as are in a block: to each lane the product of the halves of its keyed data,
 * to its neighbour the data itself. These are sums, so each lane takes all stripes before it is written back. The products are
 * made of 32 and 16 bits: so few of these add up in a double to the last bit.
 */
function accumulate(view: DataView, at: number, secretAt: number, stripes: number): void {
  for (let lane = 0; lane < LANES; lane++) {
    let own = at + 8 * lane;
    let neighbour = at + 8 * (lane ^ 1);
    let key = secretAt + 8 * lane;
    let low = 0;
    let high = 0;
    let lowProducts = 0;
    let highProducts = 0;
    for (let stripe = 0; stripe < stripes; stripe++) {
      const a = (view.getInt32(own, true) ^ (secretWords[key] as number)) >>> 0;
      const b = view.getInt32(own + 4, true) ^ (secretWords[key + 4] as number);
      lowProducts += a * (b & 0xffff);
      highProducts += a * (b >>> 16);
      low += view.getUint32(neighbour, true);
      high = (high + view.getInt32(neighbour + 4, true)) | 0;
      own += STRIPE;
      neighbour += STRIPE;
      key += 8;
    }
    const sum =
      ((accumulators[2 * lane] as number) >>> 0) + low + (lowProducts % TWO_32) + (highProducts % TWO_16) * TWO_16;
    accumulators[2 * lane] = sum;
    accumulators[2 * lane + 1] =
      (accumulators[2 * lane + 1] as number) +
      high +
      Math.floor(lowProducts / TWO_32) +
      Math.floor(highProducts / TWO_16) +
      Math.floor(sum / TWO_32);
  }
}

function scramble(): void {
  const secretAt = SECRET.length - STRIPE;
  for (let lane = 0; lane < LANES; lane++) {
    const low = accumulators[2 * lane] as number;
    const high = accumulators[2 * lane + 1] as number;
    const a = (low ^ (high >>> 15) ^ (secretWords[secretAt + 8 * lane] as number)) >>> 0;
    const b = (high ^ (secretWords[secretAt + 8 * lane + 4] as number)) >>> 0;
    const product = Math.imul(a, PRIME32_1) >>> 0;
    const carry = Math.round((a * PRIME32_1 - product) / TWO_32);
    accumulators[2 * lane] = product;
    accumulators[2 * lane + 1] = Math.imul(b, PRIME32_1) + carry;
  }
}
