import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { CorruptMetadataError, MetadataError, NotMetadataError, UnsupportedVersionError } from '../../src/errors.js';
import { writeMetadata } from '../../src/format/metadata/metadata-encoder.js';
import { loadMetadata, parseMetadata } from '../../src/format/metadata/model-reader.js';
import type { CheckpointMetadata } from '../../src/model/checkpoint-metadata.js';
import { countAllocations } from '../support/allocations.js';
import { fixtureCase, fixtureCases, pointersOf } from '../support/corpus.js';
import { damaged, Random } from '../support/damage.js';
import { assembleText, dumpText, expectSameBytes, sourceOf } from '../support/metadata-cycle.js';
import { repoRoot } from '../support/paths.js';

const MEBIBYTE = 1024 * 1024;

const bytesOf = (path: string): Uint8Array => new Uint8Array(readFileSync(path));

/** One file of a case: the first pointer's. */
function metadataOf(name: string): string {
  const path = pointersOf([fixtureCase(name)])[0]?.metadataFile;
  if (path === undefined) throw new Error(`${name} has no pointer`);
  return path;
}

/** Five files with all kinds of handles, of versions 2 to 6, not large. */
const FIVE = [
  'flink-1.15.4/rewritten-v2-raw-state',
  'flink-1.11.6/unaligned',
  'flink-1.20.5/file-merging-hashmap',
  'flink-2.0.0/raw-state',
  'flink-2.3.0/changelog-hashmap',
];

/** The model, or the error that is the only one allowed. Anything else fails the test. */
function read(bytes: Uint8Array): CheckpointMetadata | MetadataError {
  try {
    return parseMetadata(bytes, 'here');
  } catch (error) {
    if (error instanceof MetadataError) return error;
    throw error;
  }
}

describe('a file that is cut off anywhere', () => {
  it.each(FIVE)('is refused: %s', async (name) => {
    const bytes = bytesOf(metadataOf(name));
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      const error = read(cut);
      if (!(error instanceof CorruptMetadataError)) {
        expect(length).toBe(0);
        expect(error).toBeInstanceOf(NotMetadataError);
        continue;
      }
      if (error.data.offset > length || error.data.offset < 0) expect.unreachable(`${length}: ${error.message}`);
      if (length % 97 === 0) {
        const slow = await loadMetadata(sourceOf(cut), 'here').catch((thrown: unknown) => thrown);
        expect((slow as CorruptMetadataError).data).toEqual(error.data);
      }
    }
  });
});

describe('a file with random damage', () => {
  const files = pointersOf(fixtureCases())
    .map(({ metadataFile }) => bytesOf(metadataFile))
    .filter(({ length }) => length < 12_000);

  it.each([1, 2, 3, 4])('is refused, or read and written as it is: 5,000 of seed %i', async (seed) => {
    const random = new Random(seed);
    const seen = { corrupt: 0, valid: 0, other: 0 };
    for (let i = 0; i < 5_000; i++) {
      const bytes = damaged(files, random);
      const { result, allocations } = countAllocations(() => read(bytes));
      if (allocations.largest > 8 * bytes.length + MEBIBYTE || allocations.total > bytes.length + 64 * MEBIBYTE) {
        expect.unreachable(`damage ${i} of seed ${seed}: ${JSON.stringify(allocations)} for ${bytes.length} bytes`);
      }
      if (result instanceof MetadataError) {
        seen[result instanceof CorruptMetadataError ? 'corrupt' : 'other']++;
        expect(
          result instanceof CorruptMetadataError ||
            result instanceof NotMetadataError ||
            result instanceof UnsupportedVersionError,
        ).toBe(true);
        if (result instanceof CorruptMetadataError && result.data.offset > bytes.length)
          expect.unreachable(result.message);
        continue;
      }
      seen.valid++;
      expectSameBytes(writeMetadata(result), bytes);
      // The document is some times slower.
      if (seen.valid % 20 === 0) expectSameBytes(await assembleText(await dumpText(bytes)), bytes);
    }
    expect(Math.min(seen.corrupt, seen.valid)).toBeGreaterThan(500);
    expect(seen.other).toBeGreaterThan(5);
  });

  it('has many files to start from', () => {
    expect(files.length).toBeGreaterThan(30);
  });
});

describe('impossible counts and lengths', () => {
  it('are refused in a process that has room for nothing of them', { timeout: 180_000 }, async () => {
    const program = join(repoRoot(), 'test', 'support', 'hostile-metadata.ts');
    const paths = ['flink-2.0.0/raw-state', 'flink-2.1.3/unaligned', 'flink-1.11.6/unaligned'].map(metadataOf);
    const { stdout } = await execa(
      process.execPath,
      ['--max-old-space-size=64', '--import', 'tsx', program, ...paths],
      { cwd: repoRoot(), timeout: 170_000 },
    );
    const { read: wasRead, refused } = JSON.parse(stdout);
    expect(wasRead).toBeGreaterThan(1000);
    expect(refused).toBeGreaterThan(1000);
  });
});

describe('the counting of allocations', () => {
  it.each<[string, number, () => unknown]>([
    ['Uint8Array', 2 ** 30, () => new Uint8Array(2 ** 30)],
    ['BigInt64Array', 2 ** 29, () => new BigInt64Array(2 ** 26)],
    ['ArrayBuffer', 2 ** 28, () => new ArrayBuffer(2 ** 28)],
    ['Buffer.alloc', 2 ** 27, () => Buffer.alloc(2 ** 27)],
    ['Buffer.allocUnsafe', 2 ** 27, () => Buffer.allocUnsafe(2 ** 27)],
    ['Uint8Array of an array', 3, () => new Uint8Array([1, 2, 3])],
  ])('sees a %s', (_what, bytes, allocate) => {
    const { allocations, result } = countAllocations(allocate);
    expect(allocations).toEqual({ total: bytes, largest: bytes });
    expect((result as Uint8Array).byteLength).toBe(bytes);
  });

  it('sees what a reader allocates that believes a length', () => {
    const bytes = bytesOf(metadataOf('flink-2.0.0/raw-state'));
    const believing = (): unknown => new Uint8Array(new DataView(bytes.buffer).getInt32(0));
    expect(countAllocations(believing).allocations.largest).toBeGreaterThan(64 * MEBIBYTE + bytes.length);
  });

  it('leaves everything as it was, also after an error', () => {
    const before = [Uint8Array, BigInt64Array, Buffer.alloc, ArrayBuffer];
    expect(() =>
      countAllocations(() => {
        throw new Error('on the way');
      }),
    ).toThrow('on the way');
    expect([Uint8Array, BigInt64Array, Buffer.alloc, ArrayBuffer]).toEqual(before);
    expect(countAllocations(() => new Uint8Array(1) instanceof Uint8Array).result).toBe(true);
  });
});
