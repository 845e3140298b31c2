/** The first fields of files of keyed and operator state. Origin: Flink `VersionedIOReadableWritable`. */
import type { ByteReader } from '../bytes/byte-reader.js';
import { UnknownFormatError } from './unknown-format-error.js';

/** No Flink is near this. */
const HIGHEST_PLAUSIBLE_VERSION = 100;

/**
 * Reads the version of a state file.
 * @throws ByteFormatError if it is no version at all; UnknownFormatError if it is none of `known`
 */
export function readStateFileVersion(reader: ByteReader, known: readonly number[]): number {
  const at = reader.offset;
  const version = reader.readI32('version of a state file');
  if (known.includes(version)) return version;
  if (version < 1 || version > HIGHEST_PLAUSIBLE_VERSION) {
    reader.fail(`version of a state file (${known.join(' or ')})`, `${version}`, at);
  }
  throw new UnknownFormatError(at, `version ${version} of state files`);
}

/** A byte that Java wrote as a boolean. @throws ByteFormatError if it is neither 0 nor 1 */
export function readFlag(reader: ByteReader, reading: string): boolean {
  const value = reader.readU8(reading);
  if (value > 1) reader.fail(`${reading} (0 or 1)`, `${value}`, reader.offset - 1);
  return value === 1;
}
