import { describe, expect, it } from 'vitest';
import { resolvePointer } from '../../src/operations/pointer.js';
import { DeepChecks } from '../../src/operations/verify/deep-checks.js';
import { readArgument } from '../../src/operations/verify/targets.js';
import { verifyAll } from '../../src/operations/verify/verify-all.js';
import { verifyCheckpoint } from '../../src/operations/verify.js';
import { allCases } from '../support/corpus.js';
import { fileSystemsOf, namedFiles } from '../support/mapped-case.js';

/** What of the corpus cannot be checked: raw state has no form that is known, and heap state with Kryo values no lengths. */
const RAW = /^not judged: \d+ × raw states/;
const KRYO = /^not judged: 2 × keyed states with values that only their own classes can take apart$/;

describe.each(allCases())('$label', (corpusCase) => {
  const { pointers } = corpusCase;

  it('is whole, also inside, without a false alarm', async () => {
    const fileSystems = fileSystemsOf(corpusCase);
    const deep = new DeepChecks(fileSystems);
    for (const pointer of pointers) {
      const resolved = await resolvePointer(fileSystems, pointer.externalPointer);
      const result = await verifyCheckpoint(fileSystems, resolved, { deep });
      expect(result, pointer.label).toMatchObject({ ok: true, error: null, faults: [] });
      const hasKryo = pointer.label.includes('/types-hashmap') && pointer.kind === 'checkpoint';
      expect(result.warnings.filter((warning) => !RAW.test(warning) && !(hasKryo && KRYO.test(warning)))).toEqual([]);
      if (pointer.oracleFile === undefined) continue;
      // It looked at what Flink names, not at less.
      const named = namedFiles(pointer);
      expect(result.files).toBe(named.length);
      expect(result.opened, 'pieces opened').toBeGreaterThanOrEqual(named.length);
    }
  });

  it('is whole below its root', async () => {
    const fileSystems = fileSystemsOf(corpusCase);
    const root = await readArgument(fileSystems, corpusCase.mapping.uri);
    const result = await verifyAll(fileSystems, [root]);
    expect(result).toMatchObject({ ok: true, brokenFiles: [], moved: null });
    const found = result.pointers.map(({ pointer }) => pointer).sort();
    expect(found).toEqual(pointers.map(({ externalPointer }) => externalPointer).sort());
    expect(result.roots).toMatchObject([{ checkpoints: pointers.length, whole: pointers.length }]);
  });
});
