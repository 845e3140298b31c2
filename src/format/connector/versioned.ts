/**
 * Bytes with the version of the serializer that wrote them: what sources and sinks keep in operator state. Origin: Flink
 * `SimpleVersionedSerialization`, `SourceCoordinatorSerdeUtils`, `CommittableCollectorSerializer`.
 */
import { ByteReader } from '../../bytes/byte-reader.js';

/** Bytes of a serializer of which only the version is known. */
export interface VersionedBytes {
  readonly version: number;
  /** A view. */
  readonly bytes: Uint8Array;
}

/** Version, length, bytes. @throws ByteFormatError */
function readVersionedBytes(reader: ByteReader, reading: string): VersionedBytes {
  const version = reader.readI32(`version of ${reading}`);
  return { version, bytes: readLengthed(reader, reading) };
}

function readLengthed(reader: ByteReader, reading: string): Uint8Array {
  const length = reader.readCount(`length of ${reading}`, 1);
  const start = reader.take(length, reading);
  return reader.buffer.subarray(start, start + length);
}

/** @throws ByteFormatError if something follows */
export function expectEnd(reader: ByteReader, reading: string): void {
  if (reader.remaining > 0) reader.fail(`the end of ${reading}`, `${reader.remaining} more bytes`);
}

/** An element of `SourceReaderState` or `writer_raw_states`. @throws ByteFormatError */
export function parseVersionedBytes(bytes: Uint8Array, reading: string): VersionedBytes {
  const reader = ByteReader.over(bytes);
  const element = readVersionedBytes(reader, reading);
  expectEnd(reader, reading);
  return element;
}

/** Version of the state of a source coordinator; the first ones had none of their own. */
const COORDINATOR_VERSIONS = [0, 1];

/**
 * The state of the enumerator of a source, out of its coordinator's. Version 0 goes on with the assignments that readers had
 * not confirmed, which are left out.
 * @throws ByteFormatError if these are no bytes of a source coordinator
 */
export function parseCoordinatorState(bytes: Uint8Array): VersionedBytes {
  const reader = ByteReader.over(bytes);
  const version = reader.readI32('version of a source coordinator');
  if (!COORDINATOR_VERSIONS.includes(version)) reader.fail('version of a source coordinator (0 or 1)', `${version}`, 0);
  const state = readVersionedBytes(reader, 'the state of an enumerator');
  if (version > 0) expectEnd(reader, 'the state of a source coordinator');
  return state;
}

/** What a sink is about to commit. */
export interface Committable extends VersionedBytes {
  readonly checkpointId: bigint;
  /** The subtask that wrote it. */
  readonly subtask: number;
  readonly retries: number;
  /** Ordinal of Flink's `CommitRequestState`: 0 received, 1 retry, 2 failed, 3 committed. */
  readonly state: number;
}

const COLLECTOR_MAGIC = 0xb91f252c | 0;
/** Since Flink 1.15; the form before has no checkpoint. */
const COLLECTOR_VERSION = 2;
/** Least bytes of an element of a list: its length. */
const LENGTH_BYTES = 4;

/**
 * The committables in an element of `streaming_committer_raw_states`.
 * @throws ByteFormatError if it is of another form: state of Flink 1.14 and older
 */
export function parseCommittables(element: Uint8Array): Committable[] {
  const { version, bytes } = parseVersionedBytes(element, 'the state of a committer');
  const reader = ByteReader.over(bytes);
  if (version !== COLLECTOR_VERSION) {
    reader.fail(`the state of a committer in version ${COLLECTOR_VERSION}`, `version ${version}`);
  }
  const magic = reader.readI32('magic number of committables');
  if (magic !== COLLECTOR_MAGIC) reader.fail('the magic number of committables', `${magic}`, 0);
  const committables: Committable[] = [];
  for (const checkpoint of readVersionedList(reader, 'a checkpoint')) {
    readCheckpoint(checkpoint.bytes, checkpoint.version, committables);
  }
  return committables;
}

/** Version, count, each with its length. */
function readVersionedList(reader: ByteReader, reading: string): VersionedBytes[] {
  const version = reader.readI32(`version of ${reading}`);
  const count = reader.readCount(`number of ${reading}`, LENGTH_BYTES);
  const list: VersionedBytes[] = [];
  for (let i = 0; i < count; i++) list.push({ version, bytes: readLengthed(reader, reading) });
  return list;
}

function readCheckpoint(bytes: Uint8Array, version: number, into: Committable[]): void {
  const reader = ByteReader.over(bytes);
  const checkpointId = reader.readBigInt64('id of a checkpoint');
  if (version > 0) reader.take(4, 'number of subtasks');
  for (const subtask of readVersionedList(reader, 'committables of a subtask')) {
    readSubtask(subtask, checkpointId, into);
  }
}

function readSubtask({ version, bytes }: VersionedBytes, checkpointId: bigint, into: Committable[]): void {
  const reader = ByteReader.over(bytes);
  const subtask = version > 0 ? reader.readI32('number of a subtask') : -1;
  for (const request of readVersionedList(reader, 'a committable')) {
    const inner = ByteReader.over(request.bytes);
    const committable = readVersionedBytes(inner, 'a committable');
    const retries = inner.readI32('number of retries');
    into.push({ ...committable, checkpointId, subtask, retries, state: inner.readI32('state of a committable') });
  }
}
