import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { copyCheckpoint } from '../../src/operations/copy/copy.js';
import { resolvePointer } from '../../src/operations/pointer.js';
import { DeepChecks } from '../../src/operations/verify/deep-checks.js';
import { verifyCheckpoint } from '../../src/operations/verify.js';
import { allCases } from '../support/corpus.js';
import { fileSystemsOf } from '../support/mapped-case.js';
import { withTempDirectory } from '../support/temp.js';

const plain = createFileSystems({ configuration: new Map() });
const now = () => Date.now();

async function expectWhole(directory: string, label: string): Promise<void> {
  const pointer = await resolvePointer(plain, directory);
  const result = await verifyCheckpoint(plain, pointer, { deep: new DeepChecks(plain) });
  expect(result, label).toMatchObject({ ok: true, error: null, faults: [] });
}

describe.each(allCases())('$label', (corpusCase) => {
  it('is whole as a copy and as a copy of the copy, the same each time', async () => {
    const fileSystems = fileSystemsOf(corpusCase);
    for (const { label, externalPointer } of corpusCase.pointers) {
      await withTempDirectory(async (root) => {
        // Of one length, so that absolute paths of one kind of copy can be compared byte by byte.
        const [first, second, third] = [join(root, 'copy-1'), join(root, 'copy-2'), join(root, 'copy-3')];
        const pointer = await resolvePointer(fileSystems, externalPointer);
        const result = await copyCheckpoint(fileSystems, pointer, Path.parse(`file:${first}`), { now });
        await expectWhole(first, label);
        const names = (await readdir(first)).sort();
        expect(result.files).toBe(names.length);
        await copyCheckpoint(fileSystems, pointer, Path.parse(`file:${second}`), { now });
        await copyCheckpoint(plain, await resolvePointer(plain, first), Path.parse(`file:${third}`), { now });
        await expectWhole(third, label);
        for (const other of [second, third]) {
          expect((await readdir(other)).sort(), label).toEqual(names);
          // Handles of the changelog backend name the place where they are; nothing else differs.
          const bytes = (await readFile(join(other, '_metadata'), 'latin1')).replaceAll(other, first);
          expect(bytes === (await readFile(join(first, '_metadata'), 'latin1')), label).toBe(true);
        }
      });
    }
  });
});
