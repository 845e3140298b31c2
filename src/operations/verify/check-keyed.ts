/** Checks files of managed keyed state: header, key-group offsets, and what the body tells of itself. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteSink } from '../../format/byte-sink.js';
import { SnappyFrames } from '../../format/compress/snappy-framing.js';
import { HeapKeyGroup } from '../../format/keyed/heap-key-group.js';
import { firstOffset, type KeyGroupRegion, keyGroupRegions } from '../../format/keyed/key-group-regions.js';
import { type KeyedHeader, readKeyedHeader } from '../../format/keyed/keyed-header.js';
import { keyGroupPrefixBytes, UnifiedKeyGroup } from '../../format/keyed/unified-key-group.js';
import type { StateBytes } from './state-bytes.js';
import { type CheckResult, SOUND, type StateForm } from './state-task.js';
import { UncompressedPart } from './uncompressed-part.js';

/** A larger header is not read into memory; real ones have some kilobytes. */
const MAX_HEADER_BYTES = 32 * 1024 * 1024;
/** Key groups that are looked at to tell the heap backend's form from the unified one. */
const PROBES = 4;

type KeyedForm = Extract<StateForm, { kind: 'keyed' }>;
type BodyForm = 'heap' | 'unified';

/**
 * Checks a piece that is a header alone.
 * @throws ByteFormatError; UnknownFormatError; the errors of reading
 */
export async function checkKeyedMeta(bytes: StateBytes): Promise<CheckResult> {
  const header = await loadHeader(bytes, bytes.size);
  if (!header) return { kind: 'unjudged', what: 'headers of keyed state of more than 32 MiB' };
  if (header.unknown) return { kind: 'unjudged', what: `headers of keyed state with ${header.unknown.what}` };
  if (header.end !== bytes.size) {
    throw new ByteFormatError(header.end ?? 0, 'the end of the file', `${bytes.size - (header.end ?? 0)} more bytes`);
  }
  return SOUND;
}

/**
 * Checks a file with key groups.
 * @throws ByteFormatError; UnknownFormatError; the errors of reading
 */
export async function checkKeyed(bytes: StateBytes, form: KeyedForm): Promise<CheckResult> {
  const { offsets } = form;
  const unified = form.form === 'unified' || offsets.some((offset) => offset === 0);
  const input = { ...form, size: bytes.size, ...(unified && { absent: 0 }) };
  const headerEnd = firstOffset(input) ?? bytes.size;
  if (headerEnd < 0 || headerEnd > bytes.size) {
    throw new ByteFormatError(bytes.size, `a key-group offset within the ${bytes.size} bytes`, `${headerEnd}`);
  }
  const header = await loadHeader(bytes, headerEnd);
  if (!header) return { kind: 'unjudged', what: 'headers of keyed state of more than 32 MiB' };
  if (header.end !== undefined && header.end !== headerEnd) {
    throw new ByteFormatError(header.end, 'the first key group right behind the header', `it at byte ${headerEnd}`);
  }
  const body = unified ? 'unified' : await bodyForm(bytes, input);
  if (body !== 'unsure') await checkBody(bytes, form, header, body, headerEnd);
  else await checkEitherBody(bytes, form, header, headerEnd);
  if (header.unknown) {
    return { kind: 'unjudged', what: `headers of keyed state with ${header.unknown.what}` };
  }
  return SOUND;
}

async function loadHeader(bytes: StateBytes, end: number): Promise<KeyedHeader | undefined> {
  if (end > MAX_HEADER_BYTES) return undefined;
  return readKeyedHeader(ByteReader.over(await bytes.read(0, end)));
}

/**
 * The heap backend starts each key group with its number, the unified form with a 16-bit state id and a 32-bit length: they
 * can look alike in key group 0 only.
 */
async function bodyForm(bytes: StateBytes, input: Parameters<typeof keyGroupRegions>[0]): Promise<BodyForm | 'unsure'> {
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

async function checkEitherBody(bytes: StateBytes, form: KeyedForm, header: KeyedHeader, start: number): Promise<void> {
  try {
    await checkBody(bytes, form, header, 'unified', start);
  } catch (error) {
    if (!(error instanceof ByteFormatError)) throw error;
    await checkBody(bytes, form, header, 'heap', start);
  }
}

/** Goes once through the body and hands each key group its bytes. */
async function checkBody(
  bytes: StateBytes,
  form: KeyedForm,
  header: KeyedHeader,
  body: BodyForm,
  start: number,
): Promise<void> {
  const input = { ...form, size: bytes.size, ...(body === 'unified' && { absent: 0 }) };
  const regions = keyGroupRegions(input);
  let next = regions.next();
  let sink = next.done ? undefined : keyGroupSink(next.value, form, header, body);
  let at = start;
  for await (const chunk of bytes.chunks(start, bytes.size)) {
    for (let from = 0; from < chunk.length && !next.done && sink; ) {
      const used = Math.min(chunk.length - from, next.value.end - at);
      sink.push(chunk, from, from + used);
      from += used;
      at += used;
      while (!next.done && at === next.value.end) {
        sink.finish();
        next = regions.next();
        if (!next.done) sink = keyGroupSink(next.value, form, header, body);
      }
    }
  }
  // A key group without a byte at the very end.
  while (!next.done) {
    sink?.finish();
    next = regions.next();
    if (!next.done) sink = keyGroupSink(next.value, form, header, body);
  }
}

function keyGroupSink(
  { keyGroup, start, end }: KeyGroupRegion,
  { maxParallelism }: KeyedForm,
  { compressed, stateCount }: KeyedHeader,
  body: BodyForm,
): ByteSink {
  if (body === 'heap') {
    return new HeapKeyGroup({ keyGroup, compressed, stateCount, offset: start, length: end - start });
  }
  const prefixBytes = keyGroupPrefixBytes(maxParallelism);
  if (!compressed) return new UnifiedKeyGroup({ keyGroup, prefixBytes, stateCount, offset: start });
  const target = new UnifiedKeyGroup({ keyGroup, prefixBytes, stateCount, offset: 0 });
  return new SnappyFrames({ offset: start, target: new UncompressedPart(target, start) });
}
