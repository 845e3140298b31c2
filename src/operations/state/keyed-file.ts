/** A file of managed keyed state: its header, and which of the two bodies follows. Shared by what checks and what reads. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';
import { firstOffset, keyGroupRegions } from '../../format/keyed/key-group-regions.js';
import { type KeyedHeader, readKeyedHeader } from '../../format/keyed/keyed-header.js';
import type { StateBytes } from './state-bytes.js';

/** A larger header is not read into memory; real ones have some kilobytes. */
const MAX_HEADER_BYTES = 32 * 1024 * 1024;
/** Key groups that are looked at to tell the heap backend's form from the unified one. */
const PROBES = 4;

/** What the metadata tells of such a file. Offsets count from the start of the piece. */
export interface KeyGroupsForm {
  /** Unknown where the type of the handle does not tell. */
  readonly form: 'unified' | 'unknown';
  readonly firstKeyGroup: number;
  readonly offsets: Float64Array;
  readonly maxParallelism: number;
}

/** The form of a body. */
export type KeyedBody = 'heap' | 'unified';

/** What {@link openKeyedFile} finds out. */
export interface KeyedFile {
  readonly header: KeyedHeader;
  /** Where the first key group starts. */
  readonly headerEnd: number;
  /** Unsure if only key group 0 has data: there the forms can look alike. */
  readonly body: KeyedBody | 'unsure';
}

/**
 * Reads the header and tells the body.
 * @returns undefined if the header is too large to be read
 * @throws ByteFormatError; UnknownFormatError; the errors of reading
 */
export async function openKeyedFile(bytes: StateBytes, form: KeyGroupsForm): Promise<KeyedFile | undefined> {
  const unified = form.form === 'unified' || form.offsets.some((offset) => offset === 0);
  const input = { ...form, size: bytes.size, ...(unified && { absent: 0 }) };
  const headerEnd = firstOffset(input) ?? bytes.size;
  if (headerEnd < 0 || headerEnd > bytes.size) {
    throw new ByteFormatError(bytes.size, `a key-group offset within the ${bytes.size} bytes`, `${headerEnd}`);
  }
  const header = await loadKeyedHeader(bytes, headerEnd);
  if (!header) return undefined;
  if (header.end !== undefined && header.end !== headerEnd) {
    throw new ByteFormatError(header.end, 'the first key group right behind the header', `it at byte ${headerEnd}`);
  }
  return { header, headerEnd, body: unified ? 'unified' : await bodyForm(bytes, input) };
}

/**
 * Reads a header that takes the bytes up to `end`, or less.
 * @returns undefined if that is too much to be read
 */
export async function loadKeyedHeader(bytes: StateBytes, end: number): Promise<KeyedHeader | undefined> {
  if (end > MAX_HEADER_BYTES) return undefined;
  return readKeyedHeader(ByteReader.over(await bytes.read(0, end)));
}

/**
 * The heap backend starts each key group with its number, the unified form with a 16-bit state id and a 32-bit length: they
 * can look alike in key group 0 only.
 */
async function bodyForm(
  bytes: StateBytes,
  input: Parameters<typeof keyGroupRegions>[0],
): Promise<KeyedBody | 'unsure'> {
  let probed = 0;
  let matches = 0;
  for (const { keyGroup, start, end } of keyGroupRegions(input)) {
    if (keyGroup === 0 || end - start < 4) continue;
    const head = await bytes.read(start, start + 4);
    if (new DataView(head.buffer, head.byteOffset, 4).getInt32(0) === keyGroup) matches++;
    if (++probed === PROBES) break;
  }
  if (probed === 0) return 'unsure';
  // One damaged number must not hide what the file is.
  return matches * 2 >= probed ? 'heap' : 'unified';
}
