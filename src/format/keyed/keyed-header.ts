/**
 * The start of every file of managed keyed state, RocksDB's own files apart: which serializer wrote the keys, which states
 * there are. Origin: Flink `KeyedBackendSerializationProxy`.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { readFlag, readStateFileVersion } from '../state-file-start.js';
import { readStateCount, readStateMetaInfo, type StateMetaInfo } from '../state-meta-info.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import type { SerializerSnapshot } from './serializer-snapshot.js';
import { SnapshotReader } from './snapshot-reader.js';

/** The only version since Flink 1.8. */
const VERSION = 6;

/** See the file comment. Fields behind `unknown` are as far as they could be read. */
export interface KeyedHeader {
  readonly version: number;
  /** Key groups are compressed with snappy. */
  readonly compressed: boolean;
  readonly keySerializer: SerializerSnapshot | undefined;
  /** How many states there are. */
  readonly stateCount: number | undefined;
  /** The index of a state is its id in the body. */
  readonly states: readonly StateMetaInfo[];
  /** Where the header ends; undefined if that could not be found out. */
  readonly end: number | undefined;
  /** The first thing that is not known; undefined if all was read. */
  readonly unknown: UnknownFormatError | undefined;
}

/**
 * Reads the header.
 * @param reader over bytes that are all in memory, from the start of the file to the end of the header at least
 * @throws ByteFormatError; UnknownFormatError if even the version is one that is not known
 */
export function readKeyedHeader(reader: ByteReader): KeyedHeader {
  readStateFileVersion(reader, [VERSION]);
  const compressed = readFlag(reader, 'whether key groups are compressed');
  const snapshots = new SnapshotReader(reader);
  const states: StateMetaInfo[] = [];
  let keySerializer: SerializerSnapshot | undefined;
  let stateCount: number | undefined;
  try {
    keySerializer = snapshots.readVersioned();
    stateCount = readStateCount(reader);
    for (let i = 0; i < stateCount; i++) states.push(readStateMetaInfo(reader, snapshots));
  } catch (unknown) {
    if (!(unknown instanceof UnknownFormatError)) throw unknown;
    return { version: VERSION, compressed, keySerializer, stateCount, states, end: undefined, unknown };
  }
  return { version: VERSION, compressed, keySerializer, stateCount, states, end: reader.offset, unknown: undefined };
}
