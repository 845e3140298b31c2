/** The start of a file of managed operator state. Origin: Flink `OperatorBackendSerializationProxy`. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { SnapshotReader } from '../keyed/snapshot-reader.js';
import { readFlag, readStateFileVersion } from '../state-file-start.js';
import { readStateMetaInfos, type StateMetaInfo } from '../state-meta-info.js';
import { UnknownFormatError } from '../unknown-format-error.js';

/** Until Flink 1.17; it lacks the flag for compression. */
const VERSION_WITHOUT_COMPRESSION = 5;
const VERSION = 6;

/** See the file comment. Fields behind `unknown` are as far as they could be read. */
export interface OperatorHeader {
  readonly version: number;
  /** Elements are compressed with snappy: one stream, each element begins a chunk. */
  readonly compressed: boolean;
  /** List and union states. */
  readonly listStates: readonly StateMetaInfo[];
  readonly broadcastStates: readonly StateMetaInfo[];
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
export function readOperatorHeader(reader: ByteReader): OperatorHeader {
  const version = readStateFileVersion(reader, [VERSION_WITHOUT_COMPRESSION, VERSION]);
  const compressed = version === VERSION && readFlag(reader, 'whether operator state is compressed');
  const snapshots = new SnapshotReader(reader);
  const listStates: StateMetaInfo[] = [];
  const broadcastStates: StateMetaInfo[] = [];
  try {
    readStateMetaInfos(reader, snapshots, listStates);
    readStateMetaInfos(reader, snapshots, broadcastStates);
  } catch (unknown) {
    if (!(unknown instanceof UnknownFormatError)) throw unknown;
    return { version, compressed, listStates, broadcastStates, end: undefined, unknown };
  }
  return { version, compressed, listStates, broadcastStates, end: reader.offset, unknown: undefined };
}
