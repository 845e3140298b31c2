import { appendFile, cp, rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolvePointer } from '../../../src/operations/pointer.js';
import { type VerifyFault, verifyCheckpoint } from '../../../src/operations/verify.js';
import { allCases, type CorpusCase, type CorpusPointer, fixtureCases } from '../../support/corpus.js';
import { fileSystemsOf, type NamedFile, namedFiles } from '../../support/mapped-case.js';
import { tempDirectory } from '../../support/temp.js';

/** Cases of the full corpus with kinds of handles, or ways to share files, that no fixture has. */
const SELECTED = new Set([
  'corpus/1.15.4/claim',
  'corpus/1.18.1/changelog-hashmap',
  'corpus/1.20.5/file-merging-across',
  'corpus/1.20.5/unaligned-file-per-task',
  'corpus/2.0.0/forst',
  'corpus/2.3.0/claim-rescaled',
  'corpus/2.3.0/kafka',
  'corpus/2.3.0/rocksdb-full',
  'corpus/2.3.0/timers-heap',
  'corpus/rewritten-v2/rocksdb-incremental',
  'corpus/s3/entropy',
]);

const cases = [...fixtureCases(), ...allCases().filter(({ label }) => SELECTED.has(label))];

interface Setting {
  readonly verify: (pointer: CorpusPointer) => Promise<readonly VerifyFault[]>;
  /** Where a file of the metadata is. */
  readonly place: (path: string) => string;
}

async function copyOf(corpusCase: CorpusCase): Promise<Setting> {
  const { mapping } = corpusCase;
  const copy = join(await tempDirectory(), 'case');
  await cp(mapping.directory, copy, { recursive: true });
  const fileSystems = fileSystemsOf(corpusCase, copy);
  return {
    async verify({ externalPointer }) {
      const resolved = await resolvePointer(fileSystems, externalPointer);
      return (await verifyCheckpoint(fileSystems, resolved)).faults;
    },
    place: (path) => join(copy, path.slice(mapping.uri.length)),
  };
}

/** Expects this one fault, for exactly these users of the file. */
function expectFault(
  faults: readonly VerifyFault[],
  file: NamedFile,
  users: ReadonlySet<string>,
  expected: Partial<VerifyFault>,
): void {
  const told = faults.map(({ operatorId, subtask }) => `${operatorId}/${subtask}`);
  expect(told.sort(), file.path).toEqual([...users].sort());
  for (const fault of faults) expect(fault).toMatchObject({ path: file.path, ...expected });
}

describe.each(cases)('$label: of every file that a checkpoint names it is found', (corpusCase) => {
  const { pointers } = corpusCase;

  it('that it is gone', async () => {
    const { verify, place } = await copyOf(corpusCase);
    for (const pointer of pointers) {
      for (const file of namedFiles(pointer)) {
        const path = place(file.path);
        await rename(path, `${path}.away`);
        expectFault(await verify(pointer), file, file.users, { fault: 'missing', found: null, foundAt: null });
        await rename(`${path}.away`, path);
      }
      expect(await verify(pointer)).toEqual([]);
    }
  });

  it('that a byte of it is cut off, but behind the last segment of a merged file', async () => {
    const { verify, place } = await copyOf(corpusCase);
    for (const pointer of pointers) {
      for (const file of namedFiles(pointer)) {
        const path = place(file.path);
        const { size } = await stat(path);
        await cp(path, `${path}.away`);
        await truncate(path, size - 1);
        const faults = await verify(pointer);
        await rename(`${path}.away`, path);
        if (file.kind === 'segment') {
          // Another checkpoint's segments may follow: then this one does not need the byte.
          const needed = size === file.bytes;
          const fault = { fault: 'segment-outside-file', expected: size, found: size - 1 } as const;
          expectFault(faults, file, needed ? file.lastUsers : new Set(), fault);
        } else {
          expectFault(faults, file, file.users, { fault: 'too-short', expected: size, found: size - 1 });
        }
      }
    }
  });

  it('that a byte was added, but to a merged file, whose own length is recorded nowhere', async () => {
    const { verify, place } = await copyOf(corpusCase);
    for (const pointer of pointers) {
      for (const file of namedFiles(pointer)) {
        const path = place(file.path);
        const { size } = await stat(path);
        await appendFile(path, 'x');
        const faults = await verify(pointer);
        await truncate(path, size);
        const users = file.kind === 'segment' ? new Set<string>() : file.users;
        expectFault(faults, file, users, { fault: 'too-long', expected: size, found: size + 1 });
      }
    }
  });
});

it('every kind of handle that names a file is among them', () => {
  const kinds = new Set(cases.flatMap(({ pointers }) => pointers.flatMap(namedFiles).map(({ kind }) => kind)));
  expect([...kinds].sort()).toEqual(['changelog', 'segment', 'whole']);
});
