import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ByteSink } from '../../../src/format/byte-sink.js';
import { SnappyFrames } from '../../../src/format/compress/snappy-framing.js';
import { keyGroupRegions } from '../../../src/format/keyed/key-group-regions.js';
import type { CheckResult } from '../../../src/operations/verify/state-task.js';
import { allCases, type CorpusCase, fixtureCases } from '../../support/corpus.js';
import { checkBytes, checksInMemory, type Piece, piecesOf } from '../../support/state-tasks.js';

const corpus = allCases();
const withLabel = (...labels: readonly string[]): CorpusCase[] => corpus.filter(({ label }) => labels.includes(label));

/** All compressions, both kinds of index, filters, both checksums: what the fixtures have, and more where the corpus is. */
const TABLES = [
  ...fixtureCases().filter(({ label }) => /rocksdb-incremental|changelog-rocksdb|file-merging$/.test(label)),
  ...withLabel(
    'corpus/1.17.2/rocksdb-incremental',
    'corpus/1.20.5/blocks-bloom-per-block',
    'corpus/1.20.5/blocks-partitioned',
    'corpus/2.0.0/forst',
    'corpus/2.3.0/big-rocksdb',
    'corpus/2.3.0/blocks-bloom',
    'corpus/2.3.0/blocks-lz4',
    'corpus/2.3.0/blocks-no',
    'corpus/2.3.0/blocks-partitioned',
    'corpus/2.3.0/blocks-zstd',
    'corpus/2.3.0/file-merging',
  ),
];

const FRAMES = withLabel(
  'corpus/2.3.0/compressed-hashmap',
  'corpus/2.3.0/compressed-canonical-rocksdb',
  'corpus/2.3.0/compressed-operator-state',
);

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const damaged = Uint8Array.from(bytes);
  damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
  return damaged;
}

/** Expects that one flipped bit is found, wherever in [from, to) of the piece it is. */
async function expectEveryFlipFound(
  corpusCase: CorpusCase,
  piece: Piece,
  [from, to]: readonly [number, number],
  isFound: (result: CheckResult, damaged: Uint8Array, at: number) => boolean = ({ kind }) => kind === 'corrupt',
): Promise<void> {
  const checks = checksInMemory(corpusCase);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: from, max: to - 1 }), fc.nat(7), async (at, bit) => {
      const damaged = flipped(piece.bytes, at, bit);
      const result = await checkBytes(piece, damaged, checks);
      expect(isFound(result, damaged, at), `byte ${at} of ${piece.name}: ${JSON.stringify(result)}`).toBe(true);
    }),
    { numRuns: 40 },
  );
}

/** What is inside the frames of a piece. */
function uncompressed({ task: { form } }: Piece, bytes: Uint8Array): Buffer {
  const parts: Buffer[] = [];
  const target: ByteSink = {
    push: (chunk, start, end) => parts.push(Buffer.from(chunk.subarray(start, end))),
    finish() {},
  };
  const read = (start: number, end: number, header: 'at-start' | 'begun'): void => {
    const frames = new SnappyFrames({ header, target });
    frames.push(bytes, start, end);
    frames.finish();
  };
  if (form.kind === 'operator') {
    read(Math.min(...form.offsets), bytes.length, 'begun');
  } else if (form.kind === 'keyed') {
    const unified = form.form === 'unified';
    for (const { start, end } of keyGroupRegions({ ...form, size: bytes.length, ...(unified && { absent: 0 }) })) {
      read(unified ? start : start + 4, end, 'at-start');
    }
  }
  return Buffer.concat(parts);
}

describe.each(TABLES)('$label: one flipped bit is found', (corpusCase) => {
  it('anywhere in a table', async () => {
    const tables = (await piecesOf(corpusCase)).filter(({ name }) => name.endsWith('.sst)'));
    expect(tables.length).toBeGreaterThan(0);
    for (const table of tables.slice(0, 12)) {
      const { length } = table.bytes;
      await expectEveryFlipFound(corpusCase, table, [0, length], ({ kind }, _damaged, at) => {
        // Two numbers of the footer, which has no checksum, can become others that exist: the kind of checksum none, which
        // is told as not judged, and the version another one that differs in nothing here.
        if (at >= length - 12 && at < length - 8) return kind !== 'sound' || at === length - 12;
        return at === length - 53 ? kind !== 'sound' : kind === 'corrupt';
      });
    }
  });

  it('anywhere in a manifest', async () => {
    const manifests = (await piecesOf(corpusCase)).filter(({ name }) => name.includes('(MANIFEST-'));
    expect(manifests.length).toBeGreaterThan(0);
    for (const manifest of manifests.slice(0, 4)) {
      await expectEveryFlipFound(corpusCase, manifest, [0, manifest.bytes.length]);
    }
  });

  it('in the name of the manifest', async () => {
    const currents = (await piecesOf(corpusCase)).filter(({ name }) => name.endsWith('(CURRENT)'));
    for (const current of currents.slice(0, 2)) await expectEveryFlipFound(corpusCase, current, [0, 9]);
  });
});

describe.each(FRAMES)('$label: one flipped bit is found', (corpusCase) => {
  it('in everything that is compressed', async () => {
    const compressed = (await piecesOf(corpusCase)).filter(
      ({ kind, bytes }) => (kind === 'keyed' || kind === 'operator') && bytes[4] === 1,
    );
    expect(compressed.length).toBeGreaterThan(0);
    for (const piece of compressed) {
      const { form } = piece.task;
      const offsets = form.kind === 'keyed' || form.kind === 'operator' ? form.offsets : new Float64Array();
      const start = Math.min(piece.bytes.length, ...offsets.filter((offset) => offset > 0));
      if (start === piece.bytes.length) continue;
      const original = uncompressed(piece, piece.bytes);
      await expectEveryFlipFound(corpusCase, piece, [start, piece.bytes.length], ({ kind }, damaged) =>
        // A checksum is of what was compressed: a copy from another place that holds the same is no damage.
        kind === 'sound' ? uncompressed(piece, damaged).equals(original) : kind === 'corrupt',
      );
    }
  });
});

describe('what has no checksum: its framing is checked', () => {
  const piecesLike = async (kind: Piece['kind'], cases: readonly CorpusCase[]) => {
    const found: { corpusCase: CorpusCase; piece: Piece }[] = [];
    for (const corpusCase of cases) {
      for (const piece of await piecesOf(corpusCase)) if (piece.kind === kind) found.push({ corpusCase, piece });
    }
    expect(found.length).toBeGreaterThan(0);
    return found;
  };
  const damaged = async (corpusCase: CorpusCase, piece: Piece, change: (view: DataView) => void) => {
    const bytes = Uint8Array.from(piece.bytes);
    change(new DataView(bytes.buffer));
    return checkBytes(piece, bytes, checksInMemory(corpusCase));
  };
  const keyedOffsets = ({ task: { form } }: Piece): number[] => (form.kind === 'keyed' ? [...form.offsets] : []);

  it('the number of every key group of the heap backend', async () => {
    for (const { corpusCase, piece } of await piecesLike('keyed', fixtureCases())) {
      const { form } = piece.task;
      if (form.kind !== 'keyed' || form.form === 'unified' || form.offsets.some((offset) => offset === 0)) continue;
      for (const offset of [...form.offsets].slice(5, 60)) {
        const result = await damaged(corpusCase, piece, (view) => view.setInt32(offset, 12345));
        expect(result).toMatchObject({ kind: 'corrupt', found: '12345' });
      }
    }
  });

  it('how many entries a key group of the heap backend has: they fill it exactly', async () => {
    for (const { corpusCase, piece } of await piecesLike('keyed', fixtureCases())) {
      const { form } = piece.task;
      if (form.kind !== 'keyed' || form.form === 'unified' || form.offsets.some((offset) => offset === 0)) continue;
      for (const offset of [...form.offsets].slice(18, 40)) {
        // Behind the number of the key group and the id of its first state.
        const result = await damaged(corpusCase, piece, (view) =>
          view.setInt32(offset + 6, view.getInt32(offset + 6) + 1),
        );
        expect(result.kind, `${piece.name} at ${offset}`).toBe('corrupt');
      }
    }
  });

  it('the lengths, marks and state ids of the unified form', async () => {
    for (const { corpusCase, piece } of await piecesLike('keyed', fixtureCases())) {
      const { form } = piece.task;
      if (form.kind !== 'keyed' || form.form !== 'unified') continue;
      for (const offset of keyedOffsets(piece).filter((start) => start > 0)) {
        for (const [at, value] of [
          [offset, 0x7f],
          [offset + 2, 0x40],
          [offset + 6, 0x55],
        ] as const) {
          const result = await damaged(corpusCase, piece, (view) => view.setUint8(at, value));
          expect(result.kind, `${piece.name} at ${at}`).toBe('corrupt');
        }
      }
    }
  });

  it('the blocks of channel state', async () => {
    for (const { corpusCase, piece } of await piecesLike('channel', fixtureCases())) {
      expect(await damaged(corpusCase, piece, (view) => view.setInt32(0, 1))).toMatchObject({
        kind: 'corrupt',
        expected: 'version 0 of channel state at byte 0',
      });
      for (const length of [-1, 0x7fffffff]) {
        expect(await damaged(corpusCase, piece, (view) => view.setInt32(4, length))).toMatchObject({ kind: 'corrupt' });
      }
    }
  });

  it('the sets of changes of a changelog', async () => {
    for (const { corpusCase, piece } of await piecesLike('changelog', fixtureCases())) {
      for (const [at, value] of [
        [0, 2],
        [1, 0x7f],
        [5, 0xff],
      ] as const) {
        expect(await damaged(corpusCase, piece, (view) => view.setUint8(at, value))).toMatchObject({ kind: 'corrupt' });
      }
    }
  });

  it('the header of operator state ends where its first element starts', async () => {
    for (const { corpusCase, piece } of await piecesLike('operator', fixtureCases())) {
      const { form } = piece.task;
      if (form.kind !== 'operator' || form.offsets.length === 0) continue;
      const offsets = form.offsets.map((offset) => offset + 1);
      const moved: Piece = { ...piece, task: { ...piece.task, form: { ...form, offsets } } };
      expect(await checkBytes(moved, piece.bytes, checksInMemory(corpusCase))).toMatchObject({
        kind: 'corrupt',
        expected: expect.stringContaining('the first element right behind the header'),
      });
    }
  });
});

describe('any damage ends in a result, never in anything else', () => {
  it.each(fixtureCases())('$label', async (corpusCase) => {
    const pieces = await piecesOf(corpusCase);
    const checks = checksInMemory(corpusCase);
    if (pieces.length === 0) return;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...pieces),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), fc.nat(255)), {
          maxLength: 6,
        }),
        fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
        async (piece, changes, cut) => {
          const length = cut === null ? piece.bytes.length : Math.floor(piece.bytes.length * cut);
          const bytes = piece.bytes.slice(0, length);
          for (const [place, value] of changes) bytes[Math.floor(place * length)] = value;
          const { kind } = await checkBytes(piece, bytes, checks);
          expect(['sound', 'corrupt', 'unjudged']).toContain(kind);
        },
      ),
      { numRuns: 150 },
    );
  });
});
