import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../src/bytes/byte-reader.js';
import { keyGroupRegions } from '../../src/format/keyed/key-group-regions.js';
import { readKeyedHeader } from '../../src/format/keyed/keyed-header.js';
import { keyGroupOf } from '../../src/format/value/key-group.js';
import { serializerOf } from '../../src/format/value/serializer-of.js';
import type { ValueSerializer } from '../../src/format/value/value-serializer.js';
import { allCases, type CorpusCase } from '../support/corpus.js';
import { piecesOf } from '../support/state-tasks.js';

// Entries of the heap backend's own form have no lengths: reading them proves that every value ends where it should.

type Json = { readonly [name: string]: unknown };

/** The text of an entry as the documents of the corpus have it, so that entries can be looked up. */
function textOf(value: unknown): string {
  return JSON.stringify(value);
}

/** Everything that real Flink found in the keyed state of any pointer: operator, state, entry. */
function contentsOf({ pointers }: CorpusCase): Set<string> {
  const entries = new Set<string>();
  for (const { oracleFile } of pointers) {
    const file = oracleFile?.replace(/\.oracle\.json$/, '.contents.json');
    if (file === undefined || !existsSync(file)) continue;
    for (const { operatorId, keyedState } of JSON.parse(readFileSync(file, 'utf8')).operators) {
      for (const [name, { entries: found }] of Object.entries<{ entries: Json[] }>(keyedState ?? {})) {
        for (const { keyGroup, key, namespace, value, entries: map, timestamp } of found) {
          entries.add(textOf([operatorId, name, keyGroup, key, namespace, value ?? map ?? timestamp]));
        }
      }
    }
  }
  return entries;
}

const withContents = allCases().filter((corpusCase) => contentsOf(corpusCase).size > 0);

describe.each(withContents)('$label', (corpusCase) => {
  it('decodes what the heap backend wrote as Flink does, and hashes its keys as Java does', async () => {
    const contents = contentsOf(corpusCase);
    let compared = 0;
    for (const { bytes, task, name } of await piecesOf(corpusCase)) {
      const { form, operatorId } = task;
      if (form.kind !== 'keyed' || form.offsets.includes(0)) continue;
      const reader = ByteReader.over(bytes);
      const { compressed, keySerializer, states, unknown } = readKeyedHeader(reader);
      if (compressed) continue;
      expect(unknown).toBeUndefined();
      const keys = serializerOf(keySerializer as never);
      if (keys.undecodable !== undefined) continue;
      const regions = keyGroupRegions({ firstKeyGroup: form.firstKeyGroup, offsets: form.offsets, size: bytes.length });
      for (const { keyGroup, start, end } of regions) {
        reader.position = start;
        // The first four bytes tell the unified form apart.
        if (reader.readI32('key group') !== keyGroup) break;
        let whole = true;
        for (let i = 0; i < states.length && whole; i++) {
          const state = states[reader.readI16('state id')];
          if (state === undefined) throw new Error(`no such state at ${reader.offset - 2} of ${name}`);
          const namespaces = state.serializers.get('NAMESPACE_SERIALIZER');
          const values = serializerOf(state.serializers.get('VALUE_SERIALIZER') as never);
          const count = reader.readI32('entries');
          for (let entry = 0; entry < count; entry++) {
            if (values.undecodable !== undefined) {
              whole = false;
              break;
            }
            const found = readEntry(reader, keys, namespaces && serializerOf(namespaces), values);
            expect(contents).toContain(textOf([operatorId, state.name, keyGroup, ...found.entry]));
            if (found.hash !== undefined) expect(keyGroupOf(found.hash, form.maxParallelism)).toBe(keyGroup);
            compared++;
          }
        }
        if (whole) expect(reader.position).toBe(end);
      }
    }
    if (/hashmap/.test(corpusCase.label) && !/compressed|changelog/.test(corpusCase.label))
      expect(compared).toBeGreaterThan(0);
  });
});

interface Entry {
  readonly entry: readonly unknown[];
  readonly hash: number | undefined;
}

function readEntry(
  reader: ByteReader,
  keys: ValueSerializer,
  namespaces: ValueSerializer | undefined,
  values: ValueSerializer,
): Entry {
  const start = reader.position;
  if (namespaces === undefined) {
    const { key, namespace, timestamp } = values.read(reader) as Json;
    const end = reader.position;
    reader.position = start;
    values.skip(reader);
    expect(reader.position).toBe(end);
    reader.position = start + 8;
    const hash = keys.unhashable === undefined ? keys.hash(reader) : undefined;
    reader.position = end;
    return { entry: [key, namespace, timestamp], hash };
  }
  const namespace = namespaces.read(reader);
  const at = reader.position;
  const hash = keys.unhashable === undefined ? keys.hash(reader) : undefined;
  reader.position = at;
  const entry = [keys.read(reader), namespace, values.read(reader)];
  const end = reader.position;
  reader.position = start;
  for (const serializer of [namespaces, keys, values]) serializer.skip(reader);
  expect(reader.position).toBe(end);
  return { entry, hash };
}
