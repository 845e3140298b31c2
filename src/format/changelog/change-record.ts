/**
 * What is in a change: what happened to which state, for which key and namespace.
 * Origin: Flink `AbstractStateChangeLogger`, `ChangelogBackendLogApplier`, the appliers of each kind of state.
 */
import { ByteReader } from '../../bytes/byte-reader.js';
import type { KeyedState } from '../entries/named-state.js';
import { SnapshotReader } from '../keyed/snapshot-reader.js';
import { readStateMetaInfo, type StateMetaInfo } from '../state-meta-info.js';

/** Flink's `StateChangeOperation`, by its codes. */
export const Operation = {
  Clear: 0,
  Set: 1,
  SetInternal: 2,
  Add: 3,
  MergeNamespaces: 4,
  AddElement: 5,
  AddOrUpdateElement: 6,
  RemoveElement: 7,
  Metadata: 8,
} as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

/** Id and type at the end of a record about a state. */
const TAIL_BYTES = 3;
/** Versions of state meta infos: 6 up to Flink 1.17. */
const META_INFO_VERSIONS = [6, 7];

/** A record that gives a state its number. */
export interface StateRecord {
  readonly id: number;
  readonly info: StateMetaInfo;
}

/** The operation of a change. @throws ByteFormatError if it is none */
export function readOperation(reader: ByteReader): Operation {
  const at = reader.offset;
  const code = reader.readU8('operation of a change');
  if (code > Operation.Metadata) reader.fail('operation of a change (0 to 8)', `${code}`, at);
  return code as Operation;
}

/**
 * Reads a record about a state, its operation already taken. Time to live and default value are not looked at: the number
 * of the state stands at the end.
 * @throws ByteFormatError; UnknownFormatError
 */
export function readStateRecord(bytes: Uint8Array): StateRecord {
  const reader = ByteReader.over(bytes);
  reader.readU8('operation of a change');
  const at = reader.offset;
  const version = reader.readI32('version of a state in a changelog');
  if (!META_INFO_VERSIONS.includes(version))
    reader.fail('version of a state in a changelog (6 or 7)', `${version}`, at);
  const info = readStateMetaInfo(reader, new SnapshotReader(reader));
  if (reader.remaining < TAIL_BYTES) reader.fail('the number of a state', 'the end of the change');
  reader.position = bytes.length - TAIL_BYTES;
  return { id: reader.readI16('number of a state'), info };
}

/** A change of a key: where its parts are in its bytes. */
export interface KeyedChange {
  readonly operation: Operation;
  readonly key: number;
  readonly keyEnd: number;
  readonly namespace: number;
  readonly namespaceEnd: number;
  /** Where what the operation needs starts. */
  readonly data: number;
}

/** Operation and number of the state: what a change of data begins with. */
export const CHANGE_HEAD_BYTES = 3;

/**
 * Takes a change of anything but timers apart.
 * @param reader over the change
 * @throws ByteFormatError; UndecodableValueError if nobody knows where the key ends
 */
export function readKeyedChange(reader: ByteReader, { key, namespace }: KeyedState): KeyedChange {
  reader.position = 0;
  const operation = readOperation(reader);
  reader.position = CHANGE_HEAD_BYTES;
  const start = reader.position;
  key.skip(reader);
  const keyEnd = reader.position;
  namespace.skip(reader);
  const end = reader.position;
  return { operation, key: start, keyEnd, namespace: keyEnd, namespaceEnd: end, data: end };
}
