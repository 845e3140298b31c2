import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { type WritableField, type WritableObject, writeJavaObject } from '../../../../src/format/java/object-writer.js';
import { readCheckpointProperties, writeCheckpointProperties } from '../../../../src/format/java/properties.js';
import {
  type CheckpointProperties,
  FULL_CHECKPOINT,
  forCheckpoint,
  forSavepoint,
  forSyncSavepoint,
  forUnclaimedSnapshot,
} from '../../../../src/model/checkpoint-properties.js';
import { corpusDirectory } from '../../../support/paths.js';
import { CHECKPOINT_PROPERTIES_BLOCKS } from './checkpoint-properties-blocks.js';

const full: CheckpointProperties = {
  ...forCheckpoint('NEVER_RETAIN_AFTER_TERMINATION'),
  checkpointType: FULL_CHECKPOINT,
};

/** What Flink's blocks say, and their sizes. */
const MEANINGS: Readonly<
  Record<keyof typeof CHECKPOINT_PROPERTIES_BLOCKS, readonly [CheckpointProperties | null, number]>
> = {
  'checkpoint RETAIN_ON_CANCELLATION': [forCheckpoint('RETAIN_ON_CANCELLATION'), 604],
  'checkpoint RETAIN_ON_FAILURE': [forCheckpoint('RETAIN_ON_FAILURE'), 604],
  'checkpoint NEVER_RETAIN_AFTER_TERMINATION': [forCheckpoint('NEVER_RETAIN_AFTER_TERMINATION'), 604],
  'savepoint CANONICAL': [forSavepoint({ forced: false, formatType: 'CANONICAL' }), 745],
  'savepoint CANONICAL forced': [forSavepoint({ forced: true, formatType: 'CANONICAL' }), 745],
  'savepoint NATIVE': [forSavepoint({ forced: false, formatType: 'NATIVE' }), 742],
  'savepoint NATIVE forced': [forSavepoint({ forced: true, formatType: 'NATIVE' }), 742],
  'suspend CANONICAL': [forSyncSavepoint({ forced: false, terminate: false, formatType: 'CANONICAL' }), 756],
  'suspend CANONICAL forced': [forSyncSavepoint({ forced: true, terminate: false, formatType: 'CANONICAL' }), 756],
  'suspend NATIVE': [forSyncSavepoint({ forced: false, terminate: false, formatType: 'NATIVE' }), 753],
  'suspend NATIVE forced': [forSyncSavepoint({ forced: true, terminate: false, formatType: 'NATIVE' }), 753],
  'terminate CANONICAL': [forSyncSavepoint({ forced: false, terminate: true, formatType: 'CANONICAL' }), 760],
  'terminate CANONICAL forced': [forSyncSavepoint({ forced: true, terminate: true, formatType: 'CANONICAL' }), 760],
  'terminate NATIVE': [forSyncSavepoint({ forced: false, terminate: true, formatType: 'NATIVE' }), 757],
  'terminate NATIVE forced': [forSyncSavepoint({ forced: true, terminate: true, formatType: 'NATIVE' }), 757],
  unclaimed: [forUnclaimedSnapshot(), 745],
  full: [full, 600],
  'full odd': [
    {
      ...full,
      forced: true,
      discardSubsumed: false,
      discardCancelled: false,
      discardSuspended: false,
      unclaimed: true,
    },
    600,
  ],
  null: [null, 5],
};

const blocks = Object.entries(MEANINGS).map(
  ([name, [properties, size]]) =>
    [
      name,
      Buffer.from(CHECKPOINT_PROPERTIES_BLOCKS[name as keyof typeof MEANINGS], 'base64'),
      properties,
      size,
    ] as const,
);

describe.each(blocks)('the block of Flink: %s', (_, bytes, properties, size) => {
  it('is read', () => {
    expect(bytes.length).toBe(size);
    expect(readCheckpointProperties(bytes, 0)).toEqual({ properties, end: size, unknown: undefined });
  });

  it('is written', () => {
    expect(Buffer.from(writeCheckpointProperties(properties)).toString('latin1')).toBe(bytes.toString('latin1'));
  });

  it('is read between other bytes', () => {
    const within = Buffer.concat([Buffer.alloc(3, 0xac), bytes, Buffer.alloc(2)]);
    expect(readCheckpointProperties(within, 3)).toEqual({ properties, end: size + 3, unknown: undefined });
  });

  it('is refused wherever it is cut', () => {
    for (let cut = 0; cut < size; cut++) {
      expect(() => readCheckpointProperties(bytes.subarray(0, cut), 0)).toThrow(ByteFormatError);
    }
  });
});

const NAME = 'org.apache.flink.runtime.checkpoint';
const flag = (name: string, value = true) => ({ name, kind: 'boolean', value }) as const;
const FLAGS = [
  flag('discardCancelled', false),
  flag('discardFailed'),
  flag('discardFinished'),
  flag('discardSubsumed'),
  flag('discardSuspended'),
  flag('forced'),
  flag('unclaimed'),
];
const strategy = (value: string): WritableField => ({
  name: 'sharingFilesStrategy',
  kind: 'enum',
  enumName: `${NAME}.SnapshotType$SharingFilesStrategy`,
  value,
});
const checkpointType = (className: string, fields: readonly WritableField[]): WritableField => ({
  name: 'checkpointType',
  kind: 'object',
  type: `${NAME}.SnapshotType`,
  value: { className, serialVersionUID: 1n, fields },
});
const text = (name: string, value: string) => ({ name, kind: 'string', value }) as const;
const CHECKPOINT_TYPE = checkpointType(`${NAME}.CheckpointType`, [text('name', 'Checkpoint'), strategy('FORWARD')]);
const savepoint = (formatType: string, action: string) =>
  checkpointType(`${NAME}.SavepointType`, [
    { name: 'formatType', kind: 'enum', enumName: 'a.Format', value: formatType },
    text('name', 'Savepoint'),
    { name: 'postCheckpointAction', kind: 'enum', enumName: 'a.Action', value: action },
  ]);

function readObject(fields: readonly WritableField[], className = `${NAME}.CheckpointProperties`) {
  const object: WritableObject = { className, serialVersionUID: 3n, fields };
  const bytes = writeJavaObject(object);
  const block = readCheckpointProperties(bytes, 0);
  expect(block.end).toBe(bytes.length);
  return block;
}

describe('a block of another Flink', () => {
  const known = {
    discardCancelled: false,
    discardFailed: true,
    discardFinished: true,
    discardSubsumed: true,
    discardSuspended: true,
    forced: true,
    unclaimed: true,
  };
  const type = { kind: 'CheckpointType', name: 'Checkpoint', sharingFilesStrategy: 'FORWARD' };

  it('with more fields, in another order, is understood', () => {
    const block = readObject([flag('aNewFlag'), ...[...FLAGS].reverse(), text('aNewText', 'x'), CHECKPOINT_TYPE]);
    expect(block.properties).toEqual({ ...known, checkpointType: type });
  });

  it('without a flag tells the rest', () => {
    const { properties, unknown } = readObject([...FLAGS.slice(0, -1), CHECKPOINT_TYPE]);
    const { unclaimed: _, ...rest } = known;
    expect(properties).toBeUndefined();
    expect(unknown).toEqual({ reason: 'unclaimed is missing', known: { ...rest, checkpointType: type } });
  });

  it.each<[string, readonly WritableField[], string]>([
    ['without type', FLAGS, 'checkpointType is missing'],
    ['with a type that is a string', [...FLAGS, text('checkpointType', 'x')], 'checkpointType is a string'],
    [
      'with a type of an unknown class',
      [...FLAGS, checkpointType('com.example.BackupType', [text('name', 'Backup')])],
      'checkpointType is of the unknown class "com.example.BackupType"',
    ],
    [
      'with a type without name and strategy',
      [...FLAGS, checkpointType(`${NAME}.CheckpointType`, [])],
      'checkpointType.name is missing; checkpointType.sharingFilesStrategy is missing',
    ],
    [
      'with an unknown strategy',
      [...FLAGS, checkpointType(`${NAME}.CheckpointType`, [text('name', 'x'), strategy('SIDEWAYS')])],
      `checkpointType.sharingFilesStrategy is "${NAME}.SnapshotType$SharingFilesStrategy.SIDEWAYS"`,
    ],
    [
      'with an unknown format',
      [...FLAGS, savepoint('COMPACT', 'NONE')],
      'checkpointType.formatType is "a.Format.COMPACT"',
    ],
    [
      'with an unknown action',
      [...FLAGS, savepoint('NATIVE', 'PAUSE')],
      'checkpointType.postCheckpointAction is "a.Action.PAUSE"',
    ],
  ])('%s tells the flags and why', (_, fields, reason) => {
    const { properties, unknown } = readObject(fields);
    expect(properties).toBeUndefined();
    expect(unknown).toEqual({ reason, known });
  });

  it('with a flag of another type names it', () => {
    const { unknown } = readObject([...FLAGS.slice(1), text('discardCancelled', 'yes'), CHECKPOINT_TYPE]);
    expect(unknown?.reason).toBe('discardCancelled is a string');
  });

  it('of an unknown class is no error', () => {
    const { properties, unknown } = readObject([...FLAGS, CHECKPOINT_TYPE], 'com.example.Properties');
    expect(properties).toBeUndefined();
    expect(unknown).toEqual({ reason: 'unknown class "com.example.Properties"', known: {} });
  });

  it('of an unknown class with a very long name gives a short reason', () => {
    expect(readObject([], 'x'.repeat(60_000)).unknown?.reason.length).toBeLessThan(200);
  });

  it('that is only a string is no error', () => {
    const block = readCheckpointProperties(Buffer.from('aced000574000161', 'hex'), 0);
    expect(block).toEqual({
      properties: undefined,
      end: 8,
      unknown: { reason: `a string in place of ${NAME}.CheckpointProperties`, known: {} },
    });
  });
});

describe('writeCheckpointProperties', () => {
  it('writes any name of a type so that it reads back', () => {
    for (const name of ['', '\0', 'Ünï 😀 \ud83d', 'x'.repeat(70_000)]) {
      const properties: CheckpointProperties = { ...full, checkpointType: { ...FULL_CHECKPOINT, name } };
      expect(readCheckpointProperties(writeCheckpointProperties(properties), 0).properties).toEqual(properties);
    }
  });
});

const corpus = corpusDirectory();

describe.skipIf(corpus === undefined)('the corpus', () => {
  it('ends in blocks that are written back byte for byte', () => {
    const sizes = new Map<number, number>();
    for (const path of filesBelow(corpus ?? '')) {
      const bytes = readFileSync(path);
      if (bytes.length < 8 || bytes.readUInt32BE() !== 0x4960672d || bytes.readInt32BE(4) < 4) continue;
      const start = bytes.lastIndexOf(Buffer.from('aced0005', 'hex'));
      const { properties, end } = readCheckpointProperties(bytes, start);
      expect(end, path).toBe(bytes.length);
      expect(properties, path).toBeDefined();
      const written = writeCheckpointProperties(properties ?? null);
      expect(Buffer.compare(written, bytes.subarray(start)), path).toBe(0);
      sizes.set(end - start, (sizes.get(end - start) ?? 0) + 1);
    }
    // Checkpoints, savepoints of both formats, and one with which a job was stopped.
    expect([...sizes.keys()]).toEqual(expect.arrayContaining([604, 742, 745, 756]));
  });
});

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}
