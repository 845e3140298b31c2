import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ByteReader } from '../../src/bytes/byte-reader.js';
import type { SerializerSnapshot } from '../../src/format/keyed/serializer-snapshot.js';
import { SnapshotReader } from '../../src/format/keyed/snapshot-reader.js';
import type { StateValue } from '../../src/format/value/value-serializer.js';
import { fixturesDirectory } from './paths.js';

/** What a serializer of real Flink wrote. */
export interface FlinkSerializer {
  readonly name: string;
  /** `TypeSerializer.getLength`. */
  readonly length: number;
  /** Versioned, base64. */
  readonly snapshot: string;
  readonly values: readonly FlinkValue[];
}

/** A value, as bytes in base64 and as plain JSON, with its hash code in Java. */
export interface FlinkValue {
  readonly bytes: string;
  readonly hash: number | null;
  readonly value: StateValue;
}

/** The lines of `fixtures/state-values/values.jsonl.gz`. */
export function flinkValueLines(): string[] {
  const file = join(fixturesDirectory(), 'state-values', 'values.jsonl.gz');
  return gunzipSync(readFileSync(file))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

/** {@link flinkValueLines}, parsed. */
export function flinkValues(): FlinkSerializer[] {
  return flinkValueLines().map((line) => JSON.parse(line));
}

/** The snapshot of a serializer. */
export function snapshotOf({ snapshot }: FlinkSerializer): SerializerSnapshot {
  return new SnapshotReader(ByteReader.over(Buffer.from(snapshot, 'base64'))).readVersioned();
}
