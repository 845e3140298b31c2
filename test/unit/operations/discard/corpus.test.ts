import { readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mapFileSystems } from '../../../../src/filesystem/map.js';
import { Path } from '../../../../src/filesystem/path.js';
import { PathMapping } from '../../../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../../../src/filesystem/registry.js';
import { executePlan } from '../../../../src/operations/discard/execute.js';
import { planDiscard } from '../../../../src/operations/discard/plan.js';
import { resolveTargets } from '../../../../src/operations/discard/targets.js';
import { allCases, type CorpusCase, type CorpusPointer } from '../../../support/corpus.js';
import type { Json } from '../../../support/metadata-cycle.js';
import { tempDirectory } from '../../../support/temp.js';

/** Every file that real Flink reads in a pointer, by the name that the metadata has for it. */
function namedIn({ oracleFile }: CorpusPointer): Set<string> {
  const paths = new Set<string>();
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    if (typeof value.type === 'string' && /^(?:Segment|Relative)?FileStateHandle$/.test(value.type)) {
      paths.add(value.filePath);
    }
    for (const item of Object.values(value)) visit(item as Json);
  };
  if (oracleFile !== undefined) visit(JSON.parse(readFileSync(oracleFile, 'utf8')));
  return paths;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** A case that can be changed. */
async function copyOf({ mapping }: CorpusCase): Promise<{ fileSystems: FileSystems; named: () => Set<string> }> {
  const copy = join(await tempDirectory(), 'copy');
  await cp(mapping.directory, copy, { recursive: true, filter: (path) => !path.endsWith('.json') });
  const real = createFileSystems({ configuration: new Map() });
  const pairs = PathMapping.parse([`${mapping.uri}=${copy}`], (path) => real.qualify(path));
  return {
    fileSystems: mapFileSystems(real, pairs),
    named: () => new Set(filesBelow(copy).map((path) => `${mapping.uri}/${relative(copy, path)}`)),
  };
}

const cases = allCases().filter(({ pointers }) => pointers.some(({ oracleFile }) => oracleFile !== undefined));

describe.each(cases.map((corpusCase) => [corpusCase.label, corpusCase] as const))('%s', (_label, corpusCase) => {
  const pointers = corpusCase.pointers.filter(({ oracleFile }) => oracleFile !== undefined);
  const roots = [Path.parse(corpusCase.mapping.uri)];

  it.each([
    ['the oldest first', pointers],
    ['the newest first', [...pointers].reverse()],
  ])('loses with each checkpoint what nobody else uses, %s', async (_order, order) => {
    const { fileSystems, named } = await copyOf(corpusCase);
    const all = named();
    const remaining = [...order];
    for (const pointer of order) {
      remaining.shift();
      const targets = await resolveTargets(fileSystems, [pointer.externalPointer], { roots });
      const plan = await planDiscard(fileSystems, targets, { job: 'stopped' });
      const result = await executePlan(fileSystems, plan);
      expect(result).toMatchObject({ done: true, failures: [], strayEntries: [] });

      const needed = new Set(remaining.flatMap((other) => [...namedIn(other)]));
      const gone = [...namedIn(pointer)].filter((path) => !needed.has(path));
      const left = named();
      for (const path of needed) expect(left.has(path) || !all.has(path), path).toBe(true);
      for (const path of gone) expect(left.has(path), path).toBe(false);
      expect(left.has(`${pointer.externalPointer}/_metadata`)).toBe(false);
      expect([...left].filter((path) => path.endsWith('.discarding'))).toEqual([]);
    }
    const ofNobody = [...all].filter(
      (path) =>
        !pointers.some((pointer) => namedIn(pointer).has(path) || path === `${pointer.externalPointer}/_metadata`),
    );
    expect([...named()].sort()).toEqual(ofNobody.sort());
  });
});
