import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { keyQuery } from '../../src/operations/state/key-query.js';
import { listStates } from '../../src/operations/state/list-states.js';
import { type ReadResult, readState } from '../../src/operations/state/read-state.js';
import { copyOfCase } from '../support/case-copy.js';
import { fixtureCase } from '../support/corpus.js';
import { damaged, Random } from '../support/damage.js';
import { fileSystemsOf } from '../support/mapped-case.js';
import { sourceOf } from '../support/metadata-cycle.js';

const CASES = [
  'flink-2.3.0/savepoint-native-hashmap',
  'flink-2.3.0/savepoint-canonical-rocksdb',
  'flink-2.3.0/rocksdb-incremental',
  'flink-2.3.0/changelog-hashmap',
  'flink-2.3.0/raw-state',
  'flink-1.20.5/file-merging-hashmap',
];
const ROUNDS = 40;

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return name === '_metadata' || statSync(path).size === 0 ? [] : [path];
  });
}

describe('damaged state files', () => {
  it.each(CASES)(
    '%s: what is wrong is told by file and offset, or shows in the values, and nothing else fails',
    async (name) => {
      const random = new Random(CASES.indexOf(name) + 1);
      const corpusCase = fixtureCase(name);
      const { root } = await copyOfCase(name);
      const fileSystems = fileSystemsOf(corpusCase, root);
      const files = filesBelow(root);
      expect(files.length).toBeGreaterThan(0);
      const readAll = async (): Promise<ReadResult[]> => {
        const results: ReadResult[] = [];
        for (const { externalPointer, metadataFile } of corpusCase.pointers) {
          const directory = Path.parse(externalPointer);
          const source = sourceOf(readFileSync(metadataFile));
          const input = { source, metadataPath: directory.child('_metadata'), directory };
          await listStates(fileSystems, input, undefined);
          results.push(await readState(fileSystems, input, { query: keyQuery({}), mode: 'values' }, {}));
        }
        return results;
      };
      for (const { unread } of await readAll()) expect(unread).toEqual([]);
      let faults = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const file = random.pick(files);
        const whole = readFileSync(file);
        await writeFile(file, damaged([whole, readFileSync(random.pick(files))], random));
        for (const { unread } of await readAll()) {
          faults += unread.length;
          for (const { path, reason } of unread) {
            expect(path).not.toBe('');
            expect(reason).toMatch(/ byte \d+|became shorter|ended early|not known|not read here|Cannot|bytes/);
          }
        }
        await writeFile(file, whole);
      }
      expect(faults).toBeGreaterThan(0);
    },
  );
});
