/**
 * How keys are written, where only changes are there: no record tells. Timers name the serializer of their keys; else one
 * is right if every key that it reads belongs to the key group that it is in, and the rest of the change fits behind it.
 */
import { ByteFormatError } from '../../../bytes/byte-format-error.js';
import { ByteReader } from '../../../bytes/byte-reader.js';
import { readKeyedChange } from '../../../format/changelog/change-record.js';
import { keyedState } from '../../../format/entries/named-state.js';
import type { SerializerSnapshot } from '../../../format/keyed/serializer-snapshot.js';
import { keyGroupOf } from '../../../format/value/key-group.js';
import { serializerOf } from '../../../format/value/serializer-of.js';
import { UndecodableValueError } from '../../../format/value/value-serializer.js';
import type { LoadedChange, LoadedChanges } from './load-changes.js';

const BASE = 'org.apache.flink.api.common.typeutils.base';
/** Types that keys usually have, the most likely first. */
const CANDIDATES = ['String', 'Long', 'Int', 'Short', 'Byte', 'Char', 'Boolean', 'Double', 'Float', 'BigInt', 'BigDec'];
/** The key of a changelog of which nothing is known. */
export const UNKNOWN_KEY: SerializerSnapshot = {
  className: 'an unknown type: a changelog without a materialized part does not say',
  version: 0,
  content: { kind: 'unknown', bytes: new Uint8Array(0) },
};

/** Changes that are tried. */
const TRIED = 1000;

/**
 * The serializer of the keys; undefined if none fits.
 * @param maxParallelism of the operator
 */
export function inferKeySnapshot(loaded: LoadedChanges, maxParallelism: number): SerializerSnapshot | undefined {
  for (const { info } of loaded.states.values()) {
    const { content } = info.serializers.get('VALUE_SERIALIZER') ?? {};
    if (info.kind === 'priority-queue' && content?.kind === 'composite' && content.nested[0]) return content.nested[0];
  }
  const tried = loaded.changes.filter(({ state }) => state.info.kind !== 'priority-queue').slice(0, TRIED);
  if (tried.length === 0) return undefined;
  return CANDIDATES.map(simpleSnapshot).find((snapshot) =>
    tried.every((change) => fits(snapshot, change, maxParallelism)),
  );
}

function simpleSnapshot(name: string): SerializerSnapshot {
  return { className: `${BASE}.${name}Serializer$${name}SerializerSnapshot`, version: 3, content: { kind: 'simple' } };
}

function fits(snapshot: SerializerSnapshot, { state, bytes, keyGroup }: LoadedChange, maxParallelism: number): boolean {
  try {
    const reader = ByteReader.over(bytes);
    const keyed = keyedState(state.info, snapshot);
    const { key, keyEnd } = readKeyedChange(reader, keyed);
    const hash = serializerOf(snapshot).hash(ByteReader.over(bytes.subarray(key, keyEnd)));
    return keyGroupOf(hash, maxParallelism) === keyGroup;
  } catch (error) {
    if (error instanceof ByteFormatError || error instanceof UndecodableValueError) return false;
    throw error;
  }
}
