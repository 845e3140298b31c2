import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mapFileSystems } from '../../../src/filesystem/map.js';
import { Path } from '../../../src/filesystem/path.js';
import { PathMapping } from '../../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../../src/filesystem/registry.js';
import { listCheckpoints } from '../../../src/operations/list/list.js';
import { allCases, type CorpusCase } from '../../support/corpus.js';
import type { Json } from '../../support/metadata-cycle.js';

function fileSystemsOf({ mapping }: CorpusCase): FileSystems {
  const real = createFileSystems({ configuration: new Map() });
  const pairs = [`${mapping.uri}=${mapping.directory}`];
  return mapFileSystems(
    real,
    PathMapping.parse(pairs, (path) => real.qualify(path)),
  );
}

/** Bytes by file and segment, from what real Flink reads; the bytes of inline state are in the metadata. */
function holdingsOf(oracleFile: string): Map<string, Map<number, number>> {
  const files = new Map<string, Map<number, number>>();
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    const isSegment = value.type === 'SegmentFileStateHandle';
    if (isSegment || value.type === 'FileStateHandle' || value.type === 'RelativeFileStateHandle') {
      const segments = files.get(value.filePath) ?? new Map<number, number>();
      segments.set(isSegment ? value.startPos : 0, value.stateSize);
      files.set(value.filePath, segments);
    }
    for (const item of Object.values(value)) visit(item as Json);
  };
  visit(JSON.parse(readFileSync(oracleFile, 'utf8')));
  return files;
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/** Directories named like checkpoints that have no metadata. */
function unfinished(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const path = join(directory, entry.name);
    const own = /^(?:chk-\d+|savepoint-\w+-\w+)$/.test(entry.name) && !readdirSync(path).includes('_metadata');
    return [...(own ? [path] : []), ...unfinished(path)];
  });
}

describe('list over real trees', () => {
  it.each(allCases())('$label', async (tree) => {
    const { mapping, pointers } = tree;
    const root = Path.parse(mapping.uri);
    const options = { now: Date.now() + 1e9, minAge: 1000 };
    const { entries, failed, unread } = await listCheckpoints(fileSystemsOf(tree), [root], { ...options, sizes: true });
    expect({ failed, unread }).toEqual({ failed: [], unread: [] });

    const complete = entries.filter(({ status }) => status === 'complete');
    const expected = pointers.map(({ externalPointer, checkpointId, metadataVersion, kind, metadataFile }) => ({
      pointer: externalPointer,
      checkpointId,
      version: metadataVersion,
      kind,
      metadataBytes: statSync(metadataFile).size,
    }));
    const byPointer = (a: { pointer: string }, b: { pointer: string }): number => (a.pointer < b.pointer ? -1 : 1);
    expect(
      complete
        .map(({ pointer, checkpointId, version, kind, metadataBytes }) => ({
          pointer,
          checkpointId,
          version,
          kind,
          metadataBytes,
        }))
        .sort(byPointer),
    ).toEqual(expected.sort(byPointer));
    const others = entries.filter(({ status }) => status !== 'complete');
    // Where paths carry entropy, the files of a complete checkpoint lie in many directories of its name.
    const isPartOf = (path: string): boolean =>
      pointers.some(({ directory }) => directory.endsWith(path.split('/').slice(-2).join('/')));
    expect(others.map(({ pointer, status }) => `${pointer} ${status}`).sort()).toEqual(
      unfinished(mapping.directory)
        .filter((path) => !isPartOf(path))
        .map((path) => `${mapping.uri}/${relative(mapping.directory, path)} incomplete`)
        .sort(),
    );

    if (pointers.some(({ oracleFile }) => oracleFile === undefined)) return;
    const held = pointers.map((pointer) => ({ pointer, files: holdingsOf(pointer.oracleFile ?? '') }));
    for (const { pointer, files } of held) {
      const entry = complete.find((candidate) => candidate.pointer === pointer.externalPointer);
      const metadataBytes = entry?.metadataBytes ?? 0;
      const bytes = [...files].map(([path, segments]) => ({ path, bytes: sum(segments.values()) }));
      const alone = bytes.filter(({ path }) => held.filter((other) => other.files.has(path)).length === 1);
      expect(entry).toMatchObject({
        totalBytes: metadataBytes + sum(bytes.map((file) => file.bytes)),
        exclusiveBytes: metadataBytes + sum(alone.map((file) => file.bytes)),
      });
    }
  });
});
