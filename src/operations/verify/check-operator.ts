/** Checks files of operator state: header, offsets, and the frames if it is compressed. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';
import { SNAPPY_STREAM_HEADER, SnappyFrames } from '../../format/compress/snappy-framing.js';
import { type OperatorHeader, readOperatorHeader } from '../../format/operator/operator-header.js';
import type { StateBytes } from '../state/state-bytes.js';
import { type CheckResult, SOUND } from './state-task.js';

const MAX_HEADER_BYTES = 32 * 1024 * 1024;

/**
 * Checks a file of managed operator state.
 * @param offsets of all elements, in any order
 * @throws ByteFormatError; UnknownFormatError; the errors of reading
 */
export async function checkOperator(bytes: StateBytes, offsets: Float64Array): Promise<CheckResult> {
  checkOffsets(offsets, bytes.size);
  const sorted = offsets.slice().sort();
  const first = sorted[0] ?? bytes.size;
  if (first > MAX_HEADER_BYTES) return { kind: 'unjudged', what: 'headers of operator state of more than 32 MiB' };
  const header = readOperatorHeader(ByteReader.over(await bytes.read(0, first)));
  const { end, compressed } = header;
  const dataStart = end === undefined ? undefined : end + (compressed ? SNAPPY_STREAM_HEADER.length : 0);
  if (dataStart !== undefined && dataStart !== first) {
    throw new ByteFormatError(dataStart, 'the first element right behind the header', `it at byte ${first}`);
  }
  if (compressed) await checkFrames(bytes, sorted, header);
  return header.unknown ? { kind: 'unjudged', what: `headers of operator state with ${header.unknown.what}` } : SOUND;
}

/**
 * State of which nothing is known but where its parts start.
 * @throws ByteFormatError if they start outside
 */
export function checkRaw(bytes: StateBytes, offsets: Float64Array): CheckResult {
  checkOffsets(
    offsets.filter((offset) => offset !== -1),
    bytes.size,
  );
  return { kind: 'unjudged', what: 'raw states, whose form only their operators know: but for their offsets' };
}

function checkOffsets(offsets: Float64Array, size: number): void {
  for (const offset of offsets) {
    if (offset < 0 || offset > size) throw new ByteFormatError(size, `an offset within the ${size} bytes`, `${offset}`);
  }
}

/** One stream; every element begins a chunk of it. */
async function checkFrames(bytes: StateBytes, sorted: Float64Array, { end }: OperatorHeader): Promise<void> {
  const begun = end === undefined;
  let at = begun ? (sorted[0] ?? bytes.size) : end;
  const frames = new SnappyFrames({ offset: at, header: begun ? 'begun' : 'at-start' });
  let next = 0;
  const expectChunk = (): void => {
    while (next < sorted.length && sorted[next] === at) next++;
    if (next === 0 || frames.isBetweenChunks) return;
    throw new ByteFormatError(at, 'a snappy chunk at the offset of an element', 'the middle of one');
  };
  for await (const chunk of bytes.chunks(at, bytes.size)) {
    for (let from = 0; from < chunk.length; ) {
      const offset = sorted[next] ?? bytes.size;
      const used = Math.min(chunk.length - from, Math.max(0, offset - at));
      frames.push(chunk, from, from + used);
      from += used;
      at += used;
      if (at === offset) expectChunk();
    }
  }
  frames.finish();
}
