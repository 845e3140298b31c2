import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Path } from '../../../../src/filesystem/path.js';
import { searchGarbage } from '../../../../src/operations/gc/search.js';
import { allCases } from '../../../support/corpus.js';
import { fileSystemsOf } from '../../../support/mapped-case.js';

interface Leftovers {
  readonly originalDirectory: string;
  readonly leftovers?: readonly string[];
  readonly unnamedTaskowned?: readonly string[];
}

/** What the search finds below the place where Flink wrote a case, by paths from there. */
async function search(testCase: ReturnType<typeof allCases>[number], options: { readonly taskOwned?: boolean } = {}) {
  const json = JSON.parse(readFileSync(join(testCase.directory, 'case.json'), 'utf8')) as Leftovers;
  const fileSystems = fileSystemsOf(testCase);
  const root = fileSystems.nameOf(Path.parse(json.originalDirectory));
  const { findings } = await searchGarbage(fileSystems, { roots: [root], minAge: 0, now: Date.now, ...options });
  const inside = (path: string): string => path.slice(root.toString().length + 1);
  return { json, findings, inside };
}

describe('searchGarbage on what real Flink has left', () => {
  it.each(allCases().map((testCase) => [testCase.label, testCase] as const))(
    'finds exactly the leftovers of %s',
    async (_label, testCase) => {
      const { json, findings, inside } = await search(testCase);
      expect(findings.blocked).toEqual([]);
      expect(findings.warnings).toEqual([]);
      expect(findings.unreferenced.map(({ path }) => inside(path)).sort()).toEqual([...(json.leftovers ?? [])].sort());
      const taskOwned = findings.taskOwned.map(({ path }) => inside(path)).sort();
      expect(taskOwned).toEqual([...(json.unnamedTaskowned ?? [])].sort());
    },
  );

  const crashed = allCases().filter(({ label }) => label.endsWith('/crashed'));
  it.each(crashed.map((testCase) => [testCase.label, testCase] as const))(
    'finds six of the files in taskowned/ of %s in the state of operators, and offers the others when asked',
    async (_label, testCase) => {
      const { json, findings } = await search(testCase, { taskOwned: true });
      const named = findings.taskOwned.filter(({ inState }) => inState === true);
      const unnamed = findings.taskOwned.filter(({ inState }) => inState === false);
      expect([named.length, unnamed.length, findings.taskOwned.length]).toEqual([6, 2, 8]);
      const offered = findings.unreferenced.map(({ path }) => path);
      expect(offered).toHaveLength((json.leftovers ?? []).length + 2);
      expect(offered).toEqual(expect.arrayContaining(unnamed.map(({ path }) => path)));
    },
  );

  const writeAhead = allCases().filter(({ label }) => label.endsWith('/task-owned'));
  it.each(writeAhead.map((testCase) => [testCase.label, testCase] as const))(
    'never offers what the write-ahead sink of %s keeps in its state',
    async (_label, testCase) => {
      const { findings } = await search(testCase, { taskOwned: true });
      expect(findings.taskOwned.map(({ inState }) => inState)).toEqual([true, true, true, true]);
      expect(findings.unreferenced).toEqual([]);
    },
  );
});
