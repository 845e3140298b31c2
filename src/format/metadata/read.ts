/**
 * Ways to read a metadata file: a streaming pass in bounded memory ({@link visitMetadata}), its header alone
 * ({@link loadMetadataHeader}), and the drivers behind the whole model. All of them run the one decoder.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader, type RangedBytes } from '../../bytes/byte-reader.js';
import { CorruptMetadataError, NotMetadataError, UnsupportedVersionError } from '../../errors.js';
import { type MetadataLayout, SUPPORTED_VERSIONS } from '../../model/checkpoint-metadata.js';
import { type Decoding, LOW_WATER } from './handle-decoder.js';
import { MetadataDecoder } from './metadata-decoder.js';
import { METADATA_MAGIC } from './tags.js';
import { MetadataVisitor } from './visitor.js';

const CHUNK_BYTES = 1024 * 1024;
/** The least {@link VisitOptions.chunkBytes}: the decoder counts on that much after every read. */
export const MIN_CHUNK_BYTES = LOW_WATER;
const HEADER_BYTES = 16;
/** The only version number under which several layouts exist. */
export const AMBIGUOUS_VERSION = 3;

/** Options of {@link visitMetadata}. */
export interface VisitOptions {
  /** Stops the pass between two windows; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the visitor has seen another window of the file, and at the end: the place to wait for a slow consumer. */
  readonly onPause?: (() => Promise<void> | void) | undefined;
  /** Bytes that are read at once, 1 MiB by default; at least {@link MIN_CHUNK_BYTES}. */
  readonly chunkBytes?: number | undefined;
}

function describeStart(bytes: Uint8Array): string {
  const hex = [...bytes.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  return bytes.length === 0 ? '0 bytes' : `begins with ${hex}`;
}

function versionHint(version: number): string {
  const readable = 'versions 2 to 6 (Flink 1.3 to 2.3) can be read';
  if (version === 0) return `Flink 1.1 wrote it, and no later Flink reads it; ${readable}`;
  if (version === 1)
    return `Flink 1.2 wrote it, and Flink 1.2 to 1.10 read it: restore there and take a new savepoint; ${readable}`;
  if (version === 7) return `no Flink release up to 2.3 writes it; ${readable}`;
  return `no Flink is known to write it; ${readable}`;
}

/**
 * Reads magic number and version; the window must hold them or the whole file.
 * @returns the version
 */
function readVersion(reader: ByteReader, location: string): number {
  const start = reader.peek(4);
  const magic = [0x49, 0x60, 0x67, 0x2d];
  if (reader.total === 0 || start.some((byte, i) => byte !== magic[i])) {
    throw new NotMetadataError(location, reader.total, describeStart(start));
  }
  if (reader.readI32('magic number') !== METADATA_MAGIC)
    throw new NotMetadataError(location, reader.total, describeStart(start));
  const version = reader.readI32('format version');
  if (!SUPPORTED_VERSIONS.some((known) => known === version)) {
    throw new UnsupportedVersionError(location, version, SUPPORTED_VERSIONS, versionHint(version));
  }
  return version;
}

function located(error: unknown, location: string, record: string): unknown {
  if (!(error instanceof ByteFormatError)) return error;
  const { offset, reading, found } = error;
  // The error itself as a cause would say the same once more.
  return new CorruptMetadataError({ location, offset, record, expected: reading, found });
}

/** What one pass with one layout came to. */
interface PassResult {
  readonly decoder: MetadataDecoder;
  /** Undefined if the pass reached the end. */
  readonly error: unknown;
  /** Bytes behind the last field. */
  readonly trailing: number;
}

/** Notes how many bytes were left when the last field had been read. */
class TrailingVisitor extends MetadataVisitor {
  bytes = 0;
  override trailing(length: number): void {
    this.bytes = length;
  }
}

/** The older layouts worth a try after the newest failed: those of forms that were really met. */
function* layoutCandidates(newest: MetadataDecoder): Generator<MetadataLayout> {
  if (!newest.sawAmbiguousForm) return;
  yield '1.14';
  yield '1.11';
}

/**
 * Goes through a file and reports everything in it to the visitor. Memory is bounded by one window plus what the visitor
 * keeps. A visitor sees nothing of a version 3 file before its layout is decided for the whole file.
 *
 * @param location names the file in errors
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError; the errors of `source`
 */
export async function visitMetadata(
  source: RangedBytes,
  location: string,
  visitor: MetadataVisitor,
  options: VisitOptions = {},
): Promise<void> {
  const open = async (): Promise<{ reader: ByteReader; version: number }> => {
    const reader = ByteReader.windowed(source.size, Math.max(options.chunkBytes ?? CHUNK_BYTES, MIN_CHUNK_BYTES));
    await reader.refill(source, options.signal);
    try {
      return { reader, version: readVersion(reader, location) };
    } catch (error) {
      throw located(error, location, 'header');
    }
  };
  const drive = async (decoding: Decoding, reader: ByteReader, onPause?: () => Promise<void> | void): Promise<void> => {
    while (!decoding.next().done) {
      await onPause?.();
      options.signal?.throwIfAborted();
      await reader.refill(source, options.signal);
    }
    await onPause?.();
  };
  const tryLayout = async (layout: MetadataLayout): Promise<PassResult> => {
    const { reader, version } = await open();
    const trailing = new TrailingVisitor();
    const decoder = new MetadataDecoder(reader, trailing, version, layout);
    try {
      await drive(decoder.decode(), reader);
      return { decoder, error: undefined, trailing: trailing.bytes };
    } catch (error) {
      if (!(error instanceof ByteFormatError)) throw error;
      return { decoder, error, trailing: 0 };
    }
  };
  const chooseLayout = async (): Promise<MetadataLayout> => {
    const newest = await tryLayout('current');
    if (newest.error === undefined) return 'current';
    for (const layout of layoutCandidates(newest.decoder)) {
      const older = await tryLayout(layout);
      if (older.error === undefined && older.trailing === 0) return layout;
    }
    throw located(newest.error, location, newest.decoder.path.toString());
  };

  const { reader, version } = await open();
  const layout = version === AMBIGUOUS_VERSION ? await chooseLayout() : 'current';
  const decoder = new MetadataDecoder(reader, visitor, version, layout);
  try {
    await drive(decoder.decode(), reader, options.onPause);
  } catch (error) {
    throw located(error, location, decoder.path.toString());
  }
}

/**
 * {@link visitMetadata} over bytes that are all in memory, synchronously.
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError
 */
export function visitMetadataBytes(bytes: Uint8Array, location: string, visitor: MetadataVisitor): void {
  const pass = (layout: MetadataLayout, target: MetadataVisitor): PassResult => {
    const reader = ByteReader.over(bytes);
    const version = readVersion(reader, location);
    const trailing = target instanceof TrailingVisitor ? target : new TrailingVisitor();
    const decoder = new MetadataDecoder(reader, target, version, layout);
    try {
      decoder.decode().next();
      return { decoder, error: undefined, trailing: trailing.bytes };
    } catch (error) {
      return { decoder, error, trailing: 0 };
    }
  };
  const chooseLayout = (): MetadataLayout => {
    const newest = pass('current', new TrailingVisitor());
    if (newest.error === undefined) return 'current';
    for (const layout of layoutCandidates(newest.decoder)) {
      const older = pass(layout, new TrailingVisitor());
      if (older.error === undefined && older.trailing === 0) return layout;
    }
    throw located(newest.error, location, newest.decoder.path.toString());
  };
  try {
    const ambiguous = readVersion(ByteReader.over(bytes), location) === AMBIGUOUS_VERSION;
    const result = pass(ambiguous ? chooseLayout() : 'current', visitor);
    if (result.error !== undefined) throw located(result.error, location, result.decoder.path.toString());
  } catch (error) {
    throw located(error, location, 'header');
  }
}

/** The first bytes of a metadata file. */
export interface MetadataStart {
  readonly version: number;
  readonly checkpointId: bigint;
}

/**
 * Reads no more than the first 16 bytes.
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError (cut off inside them, negative id)
 */
export async function loadMetadataHeader(
  source: RangedBytes,
  location: string,
  signal?: AbortSignal,
): Promise<MetadataStart> {
  const size = Math.min(source.size, HEADER_BYTES);
  const bytes = new Uint8Array(size);
  await source.readInto(bytes, 0, 0, size, signal);
  try {
    const reader = ByteReader.over(bytes);
    const version = readVersion(reader, location);
    const checkpointId = reader.readBigInt64('checkpoint id');
    if (checkpointId < 0n) reader.fail('checkpoint id', `the negative number ${checkpointId}`, reader.offset - 8);
    return { version, checkpointId };
  } catch (error) {
    throw located(error, location, 'header');
  }
}
