import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../src/bytes/byte-reader.js';
import { type KeyedHeader, readKeyedHeader } from '../../src/format/keyed/keyed-header.js';
import { readOperatorHeader } from '../../src/format/operator/operator-header.js';
import type { StateMetaInfo } from '../../src/format/state-meta-info.js';
import { allCases, type CorpusCase } from '../support/corpus.js';
import { piecesOf } from '../support/state-tasks.js';

/** What real Flink found in each operator of a pointer: the names of its states with their kinds. */
function contentsOf({ pointers }: CorpusCase): Map<string, Map<string, string>> {
  const operators = new Map<string, Map<string, string>>();
  for (const { oracleFile } of pointers) {
    const file = oracleFile?.replace(/\.oracle\.json$/, '.contents.json');
    if (file === undefined || !existsSync(file)) continue;
    for (const { operatorId, keyedState, operatorState } of JSON.parse(readFileSync(file, 'utf8')).operators) {
      const states = operators.get(operatorId) ?? new Map<string, string>();
      operators.set(operatorId, states);
      for (const all of [keyedState ?? {}, operatorState ?? {}]) {
        for (const [name, { kind }] of Object.entries<{ kind: string }>(all)) states.set(name, kind);
      }
    }
  }
  return operators;
}

/** The kind of a state in the words of the contents documents. */
function kindOf({ kind, options }: StateMetaInfo): string {
  switch (kind) {
    case 'priority-queue':
      return 'timers';
    case 'broadcast':
      return 'broadcast';
    case 'operator-list':
      return options.get('OPERATOR_STATE_DISTRIBUTION_MODE') === 'UNION' ? 'union-list' : 'split-list';
    default:
      return options.get('KEYED_STATE_TYPE')?.toLowerCase() ?? '';
  }
}

const withContents = allCases().filter((corpusCase) => contentsOf(corpusCase).size > 0);

describe.each(withContents)('$label', (corpusCase) => {
  it('has headers with the states that Flink finds, and nothing in them that is not known', async () => {
    const contents = contentsOf(corpusCase);
    const headers: { readonly operatorId: string; readonly states: readonly StateMetaInfo[] }[] = [];
    for (const { kind, bytes, task } of await piecesOf(corpusCase)) {
      const { operatorId } = task;
      if (kind === 'keyed' || kind === 'keyed-meta') {
        const { states, unknown }: KeyedHeader = readKeyedHeader(ByteReader.over(bytes));
        expect(unknown).toBeUndefined();
        headers.push({ operatorId, states });
      } else if (kind === 'operator') {
        const { listStates, broadcastStates, unknown } = readOperatorHeader(ByteReader.over(bytes));
        expect(unknown).toBeUndefined();
        headers.push({ operatorId, states: [...listStates, ...broadcastStates] });
      }
    }
    expect(headers.length).toBeGreaterThan(0);
    for (const { operatorId, states } of headers) {
      const found = contents.get(operatorId);
      for (const state of states) expect(found?.get(state.name), `${operatorId} ${state.name}`).toBe(kindOf(state));
    }
  });
});

it.skipIf(withContents.length === 0)('are compared in many cases', () => {
  expect(withContents.length).toBeGreaterThan(50);
});
