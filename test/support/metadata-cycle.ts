import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { RangedBytes } from '../../src/bytes/byte-reader.js';
import { Path } from '../../src/filesystem/path.js';
import { writeMetadata } from '../../src/format/metadata/metadata-encoder.js';
import { loadMetadata, parseMetadata } from '../../src/format/metadata/model-reader.js';
import type { CheckpointMetadata } from '../../src/model/checkpoint-metadata.js';
import { assembleMetadata } from '../../src/operations/assemble.js';
import { dumpMetadata } from '../../src/operations/dump.js';

/** Any JSON value, to look into without types. */
// biome-ignore lint/suspicious/noExplicitAny: documents are looked into field by field, and each look is an assertion
export type Json = any;

/** The directory of metadata that was made by hand. */
export const DIRECTORY = 'file:/checkpoints/job/chk-7';

/** Bytes in memory as a file. */
export function sourceOf(bytes: Uint8Array): RangedBytes {
  return {
    size: bytes.length,
    async readInto(target, offset, start, end) {
      target.set(bytes.subarray(start, end), offset);
    },
  };
}

/** The same from a slow store: every read takes its time, comes in pieces, and spoils the target before it is complete. */
export function slowSourceOf(bytes: Uint8Array): RangedBytes {
  return {
    size: bytes.length,
    async readInto(target, offset, start, end) {
      target.fill(0xee, offset, offset + end - start);
      const step = Math.max(1, Math.ceil((end - start) / 3));
      for (let at = start; at < end; at += step) {
        await new Promise((resolve) => setImmediate(resolve));
        target.set(bytes.subarray(at, Math.min(end, at + step)), offset + at - start);
      }
    },
  };
}

/** What `dump` prints of the bytes. */
export async function dumpText(
  bytes: Uint8Array,
  options: { readonly pretty?: boolean; readonly externalPointer?: string } = {},
): Promise<string> {
  const directory = Path.parse(options.externalPointer ?? DIRECTORY);
  const input = { source: sourceOf(bytes), location: 'metadata', externalPointer: directory.toString(), directory };
  let text = '';
  await dumpMetadata(
    input,
    async (piece) => {
      text += piece;
    },
    { pretty: options.pretty },
  );
  return text;
}

/** What `assemble` writes of a document, which reaches it in chunks of `chunkBytes`. */
export async function assembleText(text: string | Uint8Array, chunkBytes = 64 * 1024): Promise<Uint8Array> {
  const utf8 = typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
  const parts: Uint8Array[] = [];
  const patches: { position: number; bytes: Uint8Array }[] = [];
  function* chunks(): Generator<Uint8Array> {
    for (let at = 0; at < utf8.length; at += chunkBytes) yield utf8.subarray(at, at + chunkBytes);
  }
  const result = await assembleMetadata(chunks(), {
    async write(chunk) {
      parts.push(Uint8Array.from(chunk));
    },
    async patch(position, bytes) {
      patches.push({ position, bytes });
    },
  });
  const file = new Uint8Array(Buffer.concat(parts));
  for (const { position, bytes } of patches) file.set(bytes, position);
  expect(result.bytes).toBe(file.length);
  return file;
}

/** The document of an object, assembled. */
export function assembleDocument(document: Json): Promise<Uint8Array> {
  return assembleText(JSON.stringify(document));
}

/** The same value with the keys of every object in another order. */
export function withKeys(value: Json, order: (keys: string[]) => string[]): Json {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const result: Json = Object.create(null);
  for (const key of order(Object.keys(value))) result[key] = withKeys(value[key], order);
  return result;
}

/** Fails where two byte strings differ, and says where they do. */
export function expectSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(actual, expected) === 0) return;
  let at = 0;
  while (at < expected.length && actual[at] === expected[at]) at++;
  const around = (bytes: Uint8Array): string =>
    `${bytes.length} bytes, at ${at}: ${Buffer.from(bytes.subarray(at, at + 24)).toString('hex')}`;
  expect(around(actual)).toBe(around(expected));
}

/** Fails where two values differ. Vitest alone is slow with megabytes and takes the key `__proto__` for a prototype. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  expect(actual).toStrictEqual(expected);
  expect.unreachable('the values differ');
}

/** A model and a document of the same bytes. */
export interface Cycle {
  readonly model: CheckpointMetadata;
  readonly document: Json;
}

/**
 * Takes the bytes through everything that must give them back: the model, read at once and slowly; the document, compact
 * and indented, its keys sorted and reversed, and in small pieces.
 */
export async function expectFullCycle(bytes: Uint8Array): Promise<Cycle> {
  const model = parseMetadata(bytes);
  expectSameBytes(writeMetadata(model), bytes);
  expectSame(await loadMetadata(slowSourceOf(bytes), 'metadata'), model);

  const text = await dumpText(bytes);
  const document: Json = JSON.parse(text);
  expectSameBytes(await assembleText(text), bytes);
  const pretty = await dumpText(bytes, { pretty: true });
  expectSame(JSON.parse(pretty), document);
  expectSameBytes(await assembleText(pretty), bytes);
  expectSameBytes(await assembleDocument(withKeys(document, (keys) => keys.sort())), bytes);
  expectSameBytes(await assembleDocument(withKeys(document, (keys) => keys.sort().reverse())), bytes);
  if (text.length < 100_000) expectSameBytes(await assembleText(text, 3), bytes);
  return { model, document };
}
