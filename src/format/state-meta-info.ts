/**
 * What a state file says of each state in it: name, kind, options, serializers. Keyed and operator state share the form.
 * Origin: Flink `StateMetaInfoSnapshot`, `StateMetaInfoSnapshotReadersWriters`.
 */
import type { ByteReader } from '../bytes/byte-reader.js';
import type { SerializerSnapshot } from './keyed/serializer-snapshot.js';
import type { SnapshotReader } from './keyed/snapshot-reader.js';

/** Flink's `BackendStateType`, in the order of its ordinals. */
export const STATE_KINDS = ['keyed-value', 'operator-list', 'broadcast', 'priority-queue', 'keyed-value-v2'] as const;
/** One of {@link STATE_KINDS}. */
export type StateKind = (typeof STATE_KINDS)[number];

/** One state. */
export interface StateMetaInfo {
  readonly name: string;
  readonly kind: StateKind;
  /** E.g. `KEYED_STATE_TYPE` to `MAP`. */
  readonly options: ReadonlyMap<string, string>;
  /** E.g. `VALUE_SERIALIZER` to its snapshot. */
  readonly serializers: ReadonlyMap<string, SerializerSnapshot>;
}

/** The least that an entry of a map of texts takes. */
const LEAST_OPTION_BYTES = 4;
const LEAST_SERIALIZER_BYTES = 12;

/**
 * Reads one.
 * @throws ByteFormatError; UnknownFormatError at a serializer whose content is not known
 */
export function readStateMetaInfo(reader: ByteReader, snapshots: SnapshotReader): StateMetaInfo {
  const name = snapshots.readText('name of a state');
  const at = reader.offset;
  const ordinal = reader.readI32('kind of a state');
  const kind = STATE_KINDS[ordinal] ?? reader.fail('kind of a state (0 to 4)', `${ordinal}`, at);
  const options = new Map<string, string>();
  const optionCount = reader.readCount('number of options of a state', LEAST_OPTION_BYTES);
  for (let i = 0; i < optionCount; i++) {
    const option = snapshots.readText('name of an option');
    options.set(option, snapshots.readText('value of an option'));
  }
  const serializers = new Map<string, SerializerSnapshot>();
  const serializerCount = reader.readCount('number of serializers of a state', LEAST_SERIALIZER_BYTES);
  for (let i = 0; i < serializerCount; i++) {
    const role = snapshots.readText('role of a serializer');
    serializers.set(role, snapshots.readVersioned());
  }
  return { name, kind, options, serializers };
}

/** Reads a 16-bit count of states and so many of them. @throws as {@link readStateMetaInfo} */
export function readStateMetaInfos(reader: ByteReader, snapshots: SnapshotReader, into: StateMetaInfo[]): void {
  const count = readStateCount(reader);
  for (let i = 0; i < count; i++) into.push(readStateMetaInfo(reader, snapshots));
}

/** A 16-bit number of states. @throws ByteFormatError if it is negative */
export function readStateCount(reader: ByteReader): number {
  const at = reader.offset;
  const high = reader.readI8('number of states');
  const count = (high << 8) | reader.readU8('number of states');
  return count < 0 ? reader.fail('number of states', `the negative number ${count}`, at) : count;
}
