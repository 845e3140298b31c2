import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { ContentsDocument } from '../../src/operations/state/contents-document.js';
import { keyQuery } from '../../src/operations/state/key-query.js';
import { type ReadResult, readState } from '../../src/operations/state/read-state.js';
import { allCases, type CorpusPointer, pointersOf } from '../support/corpus.js';
import { fileSystemsOf } from '../support/mapped-case.js';
import { type Json, sourceOf } from '../support/metadata-cycle.js';

function contentsFileOf({ oracleFile }: CorpusPointer): string | undefined {
  const file = oracleFile?.replace(/\.oracle\.json$/, '.contents.json');
  return file !== undefined && existsSync(file) ? file : undefined;
}

const told = pointersOf(allCases()).filter((pointer) => contentsFileOf(pointer) !== undefined);

/** Why a state is not what Flink, with its classes and Kryo, makes of it. */
function excuseFor({ label }: CorpusPointer, state: string): string | undefined {
  if (label.includes('/types-hashmap') && label.includes('chk-')) {
    return 'the heap form has no lengths, and Kryo values stand before the rest of the key group';
  }
  if (label.includes('/types-') && ['pojo', 'shapes'].includes(state)) {
    return 'a field of a POJO is by Kryo, of which only the end of all of it is known, or by a map that Flink cannot read';
  }
  if (label.includes('/kafka') && state === 'topic-partition-offset-states') {
    return 'a tuple has a field by Kryo in front: only the end of all of it is known';
  }
  return undefined;
}

async function read(pointer: CorpusPointer): Promise<{ readonly document: Json; readonly result: ReadResult }> {
  const pieces: Buffer[] = [];
  const document = new ContentsDocument(async (text) => void pieces.push(Buffer.from(text)), { isSingle: false });
  const directory = Path.parse(pointer.externalPointer);
  const input = {
    source: sourceOf(readFileSync(pointer.metadataFile)),
    metadataPath: directory.child('_metadata'),
    directory,
  };
  const request = { query: keyQuery({}), mode: 'values' } as const;
  const result = await readState(fileSystemsOf(pointer.case), input, request, document);
  await document.end(result);
  return { document: JSON.parse(Buffer.concat(pieces).toString()), result };
}

const byText = (a: Json, b: Json): number => {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};

/** The states of all operators by name, with entries of one key group in one order. */
function statesOf(document: Json, { metadataVersion }: CorpusPointer): Map<string, Json> {
  const states = new Map<string, Json>();
  for (const { operatorId, uid: stated, keyedState, operatorState } of document.operators) {
    // Flink has the uid from the job; older metadata does not store it.
    const uid = metadataVersion >= 5 ? stated : null;
    for (const [name, { kind, entries }] of Object.entries<Json>(keyedState ?? {})) {
      const sorted = entries.map((entry: Json) =>
        entry.entries ? { ...entry, entries: [...entry.entries].sort(byText) } : entry,
      );
      // The order of key groups themselves is part of the document.
      const inOrder = sorted.map((entry: Json, index: number) => ({ entry, index }));
      inOrder.sort((a: Json, b: Json) =>
        a.entry.keyGroup === b.entry.keyGroup ? byText(a.entry, b.entry) : a.index - b.index,
      );
      states.set(`${operatorId} ${uid} keyed ${name}`, { kind, entries: inOrder.map(({ entry }: Json) => entry) });
    }
    for (const [name, state] of Object.entries<Json>(operatorState ?? {}))
      states.set(`${operatorId} ${uid} operator ${name}`, state);
  }
  return states;
}

describe('the document is what real Flink finds in the state', () => {
  it.each(told)('$label', async (pointer) => {
    const { document, result } = await read(pointer);
    const found = statesOf(document, pointer);
    const expected = statesOf(JSON.parse(readFileSync(contentsFileOf(pointer) ?? '', 'utf8')), pointer);
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
    expect(document.operators.map(({ operatorId }: Json) => operatorId)).toHaveLength(
      new Set([...expected.keys()].map((key) => key.split(' ')[0])).size,
    );
    for (const [key, state] of expected) {
      const name = key.split(' ').slice(3).join(' ');
      if (excuseFor(pointer, name) === undefined) expect(found.get(key), key).toEqual(state);
      else expect(found.get(key)?.kind, key).toBe(state.kind);
    }
    expect(result.unread).toEqual([]);
    const isExcused = pointer.label.includes('/types-hashmap') && pointer.label.includes('chk-');
    if (!isExcused) expect(result.undecoded).toEqual([]);
    else expect(result.undecoded.length).toBeGreaterThan(0);
  });
});

it.skipIf(told.length === 0)('is compared for every pointer that Flink has told of', () => {
  expect(told.length).toBeGreaterThanOrEqual(201);
});
