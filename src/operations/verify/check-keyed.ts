/** Checks files of managed keyed state: header, key-group offsets, and what the body tells of itself. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../../format/byte-sink.js';
import { SnappyFrames } from '../../format/compress/snappy-framing.js';
import { HeapKeyGroup } from '../../format/keyed/heap-key-group.js';
import { type KeyGroupRegion, keyGroupRegions } from '../../format/keyed/key-group-regions.js';
import type { KeyedHeader } from '../../format/keyed/keyed-header.js';
import { keyGroupPrefixBytes, UnifiedKeyGroup } from '../../format/keyed/unified-key-group.js';
import { type KeyedBody, loadKeyedHeader, openKeyedFile } from '../state/keyed-file.js';
import type { StateBytes } from '../state/state-bytes.js';
import { checkEntries } from './check-entries.js';
import { type CheckResult, SOUND, type StateForm } from './state-task.js';
import { UncompressedPart } from './uncompressed-part.js';

type KeyedForm = Extract<StateForm, { kind: 'keyed' }>;

/**
 * Checks a piece that is a header alone.
 * @throws ByteFormatError; UnknownFormatError; the errors of reading
 */
export async function checkKeyedMeta(bytes: StateBytes): Promise<CheckResult> {
  const header = await loadKeyedHeader(bytes, bytes.size);
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
  const file = await openKeyedFile(bytes, form);
  if (!file) return { kind: 'unjudged', what: 'headers of keyed state of more than 32 MiB' };
  const { header, headerEnd, body } = file;
  if (body !== 'unsure') await checkBody(bytes, form, header, body, headerEnd);
  else await checkEitherBody(bytes, form, header, headerEnd);
  if (header.unknown) {
    return { kind: 'unjudged', what: `headers of keyed state with ${header.unknown.what}` };
  }
  return checkEntries(bytes, form);
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
  body: KeyedBody,
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
  body: KeyedBody,
): ByteSink {
  if (body === 'heap') {
    return new HeapKeyGroup({ keyGroup, compressed, stateCount, offset: start, length: end - start });
  }
  const prefixBytes = keyGroupPrefixBytes(maxParallelism);
  if (!compressed) return new UnifiedKeyGroup({ keyGroup, prefixBytes, stateCount, offset: start });
  const target = new UnifiedKeyGroup({ keyGroup, prefixBytes, stateCount, offset: 0 });
  return new SnappyFrames({ offset: start, target: new UncompressedPart(target, start) });
}
