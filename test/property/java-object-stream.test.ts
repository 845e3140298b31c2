import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../src/bytes/byte-format-error.js';
import { readJavaObject } from '../../src/format/java/object-stream.js';
import { readCheckpointProperties, writeCheckpointProperties } from '../../src/format/java/properties.js';
import {
  type CheckpointProperties,
  POST_CHECKPOINT_ACTIONS,
  SAVEPOINT_FORMAT_TYPES,
  SHARING_FILES_STRATEGIES,
  type SnapshotType,
} from '../../src/model/checkpoint-properties.js';
import { fixturesDirectory } from '../support/paths.js';

const text = fc.string({ unit: 'binary', maxLength: 40 });

const snapshotType: fc.Arbitrary<SnapshotType> = fc.oneof(
  fc.record({
    kind: fc.constant('CheckpointType' as const),
    name: text,
    sharingFilesStrategy: fc.constantFrom(...SHARING_FILES_STRATEGIES),
  }),
  fc.record({
    kind: fc.constant('SavepointType' as const),
    name: text,
    sharingFilesStrategy: fc.constant('NO_SHARING' as const),
    formatType: fc.constantFrom(...SAVEPOINT_FORMAT_TYPES),
    postCheckpointAction: fc.constantFrom(...POST_CHECKPOINT_ACTIONS),
  }),
);

const properties: fc.Arbitrary<CheckpointProperties> = fc.record({
  checkpointType: snapshotType,
  forced: fc.boolean(),
  discardSubsumed: fc.boolean(),
  discardFinished: fc.boolean(),
  discardCancelled: fc.boolean(),
  discardFailed: fc.boolean(),
  discardSuspended: fc.boolean(),
  unclaimed: fc.boolean(),
});

const fixture: readonly { readonly stream: string }[] = JSON.parse(
  readFileSync(join(fixturesDirectory(), 'java-object-streams', 'streams.json'), 'utf8'),
);
const streams = fixture.map(({ stream }) => Buffer.from(stream, 'base64'));

/** One of Java's streams with some bytes changed, taken out or put in, or cut. */
const damaged = fc
  .tuple(
    fc.nat(streams.length - 1),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('set', 'drop', 'insert', 'tag', 'cut'), fc.nat(255)), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([index, changes]) => {
    let bytes = [...(streams[index] ?? [])];
    for (const [place, kind, value] of changes) {
      const at = place % (bytes.length + 1);
      if (kind === 'set') bytes[at] = value;
      else if (kind === 'tag') bytes[at] = 0x70 + (value % 15);
      else if (kind === 'drop') bytes.splice(at, 1 + (value % 4));
      else if (kind === 'insert') bytes.splice(at, 0, value);
      else if (value < 50) bytes = bytes.slice(0, at);
    }
    return Uint8Array.from(bytes);
  });

/** Bytes that are mostly tags and small numbers, so that they often mean something. */
const plausible = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 0x70, max: 0x7e }).map((tag) => [tag]) },
      { weight: 3, arbitrary: fc.nat(4).map((byte) => [byte]) },
      { weight: 3, arbitrary: fc.nat(6).map((handle) => [0x71, 0x00, 0x7e, 0x00, handle]) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom('A', '[I', '[LA;', '[B', '[[J'), fc.nat(31))
          .map(([name, flags]) => [
            ...[0x72, 0, name.length, ...Buffer.from(name)],
            ...[0, 0, 0, 0, 0, 0, 0, 1, flags],
            ...[0, 0, 0x78, 0x70],
          ]),
      },
    ),
    { maxLength: 60 },
  )
  .map((parts) => Uint8Array.from([0xac, 0xed, 0, 5, ...parts.flat()]));

function expectValueOrFormatError(bytes: Uint8Array): void {
  try {
    const { value, end } = readJavaObject(bytes);
    expect(value).not.toBeUndefined();
    expect(end).toBeGreaterThan(4);
    expect(end).toBeLessThanOrEqual(bytes.length);
  } catch (error) {
    expect(error).toBeInstanceOf(ByteFormatError);
    const offset = error instanceof ByteFormatError ? error.offset : -1;
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(offset).toBeLessThanOrEqual(bytes.length);
  }
}

describe('readJavaObject', () => {
  it('gives a value or a ByteFormatError for damaged streams', () => {
    fc.assert(fc.property(damaged, expectValueOrFormatError), { numRuns: 5000 });
  });

  it('gives a value or a ByteFormatError for bytes that look like a stream', () => {
    fc.assert(fc.property(plausible, expectValueOrFormatError), { numRuns: 5000 });
  });

  it('gives a value or a ByteFormatError for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), expectValueOrFormatError));
  });
});

describe('checkpoint properties', () => {
  it('read back as they were written', () => {
    fc.assert(
      fc.property(properties, fc.nat(9), (value, start) => {
        const block = writeCheckpointProperties(value);
        const bytes = Buffer.concat([Buffer.alloc(start, 0x78), block, Buffer.alloc(9 - start)]);
        expect(readCheckpointProperties(bytes, start)).toEqual({
          properties: value,
          end: start + block.length,
          unknown: undefined,
        });
      }),
    );
  });

  it('are known in full, or come with a reason, or are refused, when damaged', () => {
    fc.assert(
      fc.property(properties, fc.nat(), fc.nat(255), (value, place, byte) => {
        const bytes = writeCheckpointProperties(value);
        bytes[place % bytes.length] = byte;
        try {
          const block = readCheckpointProperties(bytes, 0);
          expect(block.properties === undefined).toBe(block.unknown !== undefined);
          if (block.unknown !== undefined) expect(block.unknown.reason).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
