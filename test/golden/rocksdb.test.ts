import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { parseMetadata } from '../../src/format/metadata/model-reader.js';
import type {
  HandleAndLocalPath,
  IncrementalRemoteKeyedStateHandle,
  KeyedStateHandle,
} from '../../src/model/state-handles.js';
import { RocksDatabase } from '../../src/operations/rocksdb/database.js';
import { keysOfKeyGroups } from '../../src/operations/rocksdb/key-groups.js';
import type { LocalFile } from '../../src/operations/rocksdb/state-files.js';
import { sourceOf } from '../../src/operations/state/state-source.js';
import { allCases, type CorpusPointer, pointersOf } from '../support/corpus.js';
import { fileSystemsOf } from '../support/mapped-case.js';
import type { Json } from '../support/metadata-cycle.js';

const contentsFileOf = ({ oracleFile = '' }: CorpusPointer): string =>
  oracleFile.replace('.oracle.json', '.contents.json');

/** Pointers whose contents real Flink has told, with state in files of RocksDB. */
const told = pointersOf(allCases()).filter(
  (pointer) =>
    pointer.oracleFile !== undefined &&
    existsSync(contentsFileOf(pointer)) &&
    parseMetadata(readFileSync(pointer.metadataFile)).operatorStates.some(({ subtasks }) =>
      subtasks.some((subtask) => !subtask.finished && incrementalOf(subtask.managedKeyedState).length > 0),
    ),
);

function incrementalOf(handle: KeyedStateHandle | null): readonly IncrementalRemoteKeyedStateHandle[] {
  return handle?.type === 'IncrementalRemoteKeyedStateHandle' ? [handle] : [];
}

function filesOf(handles: readonly HandleAndLocalPath[], own: Path): LocalFile[] {
  return handles.flatMap(({ localPath, handle }) => {
    const source = sourceOf(handle, own);
    return source ? [{ name: localPath, source }] : [];
  });
}

/** How many entries each state of an operator has in RocksDB. Its `default` family holds nothing of Flink's. */
async function countEntries(pointer: CorpusPointer): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const own = Path.parse(pointer.externalPointer);
  const { operatorStates } = parseMetadata(readFileSync(pointer.metadataFile));
  for (const { operatorId, maxParallelism, subtasks } of operatorStates) {
    for (const subtask of subtasks) {
      if (subtask.finished) continue;
      for (const handle of incrementalOf(subtask.managedKeyedState)) {
        const files = filesOf([...handle.sharedState, ...handle.privateState], own);
        const database = await RocksDatabase.open(files, { fileSystems: fileSystemsOf(pointer.case) });
        const { startKeyGroup, numberOfKeyGroups } = handle.keyGroupRange;
        const range = keysOfKeyGroups(startKeyGroup, startKeyGroup + numberOfKeyGroups - 1, maxParallelism);
        for (const { name } of database.families) {
          if (name === 'default') continue;
          const key = `${operatorId} ${name}`;
          counts.set(key, counts.get(key) ?? 0);
          for await (const batch of database.entries(name, range)) {
            counts.set(key, (counts.get(key) ?? 0) + batch.length);
          }
        }
        await database.close();
      }
    }
  }
  return counts;
}

/** The same by what real Flink tells of the contents. */
function expectedCounts(pointer: CorpusPointer, stored: ReadonlySet<string>): Map<string, number> {
  const document: Json = JSON.parse(readFileSync(contentsFileOf(pointer), 'utf8'));
  const counts = new Map<string, number>();
  for (const { operatorId, keyedState = {} } of document.operators) {
    for (const [name, { kind, entries }] of Object.entries<Json>(keyedState)) {
      const key = `${operatorId} ${name}`;
      if (!stored.has(key)) continue;
      const sizes = kind === 'map' ? entries.map((entry: Json) => entry.entries.length) : entries.map(() => 1);
      counts.set(
        key,
        sizes.reduce((sum: number, size: number) => sum + size, 0),
      );
    }
  }
  return counts;
}

describe('entries of RocksDB are as many as real Flink finds', () => {
  it.each(told)('$label', async (pointer) => {
    const found = await countEntries(pointer);
    expect([...found.values()].some((count) => count > 0)).toBe(true);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expectedCounts(pointer, new Set(found.keys()))));
  });
});
