import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mapFileSystems } from '../../../src/filesystem/map.js';
import { PathMapping } from '../../../src/filesystem/path-mapping.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { diffCheckpoints } from '../../../src/operations/diff/diff.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import { allCases, type CorpusPointer } from '../../support/corpus.js';
import type { Json } from '../../support/metadata-cycle.js';

/** Files by path, and operators by id, from what real Flink reads. */
function readOracle({ oracleFile = '' }: CorpusPointer): { files: Set<string>; operators: Map<string, Json> } {
  const files = new Set<string>();
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    if (/^(?:Relative|Segment)?FileStateHandle$/.test(value.type)) files.add(value.filePath);
    for (const item of Object.values(value)) visit(item as Json);
  };
  const document: Json = JSON.parse(readFileSync(oracleFile, 'utf8'));
  visit(document);
  return { files, operators: new Map(document.operatorStates.map((state: Json) => [state.operatorId, state])) };
}

const judged = allCases().filter(({ pointers }) => pointers.every(({ oracleFile }) => oracleFile !== undefined));

describe('diff over real checkpoints', () => {
  it.each(judged)('$label', async ({ mapping, pointers }) => {
    const real = createFileSystems({ configuration: new Map() });
    const map = PathMapping.parse([`${mapping.uri}=${mapping.directory}`], (path) => real.qualify(path));
    const fileSystems = mapFileSystems(real, map);
    const resolved = await Promise.all(
      pointers.map(({ externalPointer }) => resolvePointer(fileSystems, externalPointer)),
    );
    for (const [i, pointer] of resolved.entries()) {
      const [own, before] = [pointers[i], resolved[i - 1]];
      const self = await diffCheckpoints(fileSystems, pointer, pointer);
      expect(self).toMatchObject({ same: true, changed: [], files: { added: 0, removed: 0, relocated: 0 } });
      const previous = pointers[i - 1];
      if (!before || !own || !previous) continue;
      const [old, now] = [readOracle(previous), readOracle(own)];
      const result = await diffCheckpoints(fileSystems, before, pointer);
      const common = [...now.files].filter((path) => old.files.has(path)).length;
      expect(result.files).toMatchObject({
        common,
        added: now.files.size - common,
        removed: old.files.size - common,
      });
      const missing = (from: Map<string, Json>, of: Map<string, Json>): string[] =>
        [...of.keys()].filter((id) => !from.has(id)).sort();
      const renumbered = result.renumbered;
      expect([...result.added, ...renumbered.map((entry) => entry.new)].sort()).toEqual(
        missing(old.operators, now.operators),
      );
      expect([...result.removed, ...renumbered.map((entry) => entry.old)].sort()).toEqual(
        missing(now.operators, old.operators),
      );
      for (const field of ['parallelism', 'maxParallelism', 'stateSize'] as const) {
        const changed = result.changed.filter(
          (change) => change.field === field && old.operators.has(`${change.operatorId}`),
        );
        const expected = [...now.operators].flatMap(([operatorId, state]) => {
          const was = old.operators.get(operatorId)?.[field];
          return was === undefined || was === state[field] ? [] : [{ operatorId, field, old: was, new: state[field] }];
        });
        const byId = (a: Json, b: Json): number => (a.operatorId < b.operatorId ? -1 : 1);
        expect([...changed].sort(byId)).toEqual(expected.sort(byId));
      }
    }
  });
});
