/** State files by hand, with nothing of the code under test but checksums. */
import { snappyCompress } from 'hysnappy';
import type { ByteSink } from '../../src/format/byte-sink.js';
import { crc32c, maskCrc32c } from '../../src/format/hash/crc32c.js';
import { hex, i16, i32, join, utf } from './byte-builder.js';

/** Pushes bytes into a sink in pieces of this many, and ends. */
export function pushInPieces(sink: ByteSink, bytes: Uint8Array, pieceBytes = bytes.length || 1): void {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    sink.push(bytes, at, Math.min(bytes.length, at + pieceBytes));
  }
  sink.finish();
}

/** A sink that keeps everything. */
export function collector(): ByteSink & { readonly bytes: () => Uint8Array } {
  const parts: Uint8Array[] = [];
  return {
    push: (bytes, start, end) => void parts.push(Uint8Array.from(bytes.subarray(start, end))),
    finish() {},
    bytes: () => join(...parts),
  };
}

/** The header of a stream of snappy frames. */
export const STREAM_HEADER = hex('ff060000734e61507059');

/** A chunk of a stream of snappy frames. */
export function chunk(data: Uint8Array, form: 'compressed' | 'plain' = 'compressed'): Uint8Array {
  const body = form === 'compressed' ? snappyCompress(data) : data;
  const head = Buffer.alloc(8);
  head.writeUInt8(form === 'compressed' ? 0 : 1);
  head.writeUIntLE(body.length + 4, 1, 3);
  head.writeUInt32LE(maskCrc32c(crc32c(data)), 4);
  return join(head, body);
}

const BASE = 'org.apache.flink.api.common.typeutils.base.';
const NESTED_MAGIC = hex('001457fd 00000001');

/** A snapshot as it stands inside others. */
export function nestedSnapshot(className: string, version: number, ...content: readonly Uint8Array[]): Uint8Array {
  return join(utf(className), i32(version), ...content);
}

/** A snapshot with the version in front. */
export const versioned = (snapshot: Uint8Array): Uint8Array => join(i32(2), snapshot);

/** The snapshot of a serializer of strings. */
export const STRING = nestedSnapshot(`${BASE}StringSerializer$StringSerializerSnapshot`, 3);
/** That of one of longs. */
export const LONG = nestedSnapshot(`${BASE}LongSerializer$LongSerializerSnapshot`, 3);

/** The snapshot of one that is made of others. */
export function composite(
  className: string,
  outerVersion: number,
  outer: Uint8Array,
  ...nested: readonly Uint8Array[]
): Uint8Array {
  return nestedSnapshot(
    className,
    3,
    hex('000de704'),
    i32(outerVersion),
    outer,
    NESTED_MAGIC,
    i32(nested.length),
    ...nested,
  );
}

/** The snapshot of a list. */
export const listOf = (element: Uint8Array): Uint8Array =>
  composite(`${BASE}ListSerializerSnapshot`, 1, new Uint8Array(0), element);

/** What a header says of one state. `kind` is the ordinal. */
export function metaInfo(
  name: string,
  kind: number,
  options: Readonly<Record<string, string>>,
  serializers: Readonly<Record<string, Uint8Array>>,
): Uint8Array {
  const option = Object.entries(options).map(([key, value]) => join(utf(key), utf(value)));
  const serializer = Object.entries(serializers).map(([key, value]) => join(utf(key), versioned(value)));
  return join(utf(name), i32(kind), i32(option.length), ...option, i32(serializer.length), ...serializer);
}

/** A header of keyed state. */
export function keyedHeader(compressed: 0 | 1, key: Uint8Array, ...states: readonly Uint8Array[]): Uint8Array {
  return join(i32(6), Buffer.of(compressed), versioned(key), i16(states.length), ...states);
}

/** A value state of strings. */
export const valueState = (name: string): Uint8Array =>
  metaInfo(name, 0, { KEYED_STATE_TYPE: 'VALUE' }, { NAMESPACE_SERIALIZER: LONG, VALUE_SERIALIZER: STRING });
