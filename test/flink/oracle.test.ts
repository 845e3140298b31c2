import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { writeMetadata } from '../../src/format/metadata/metadata-encoder.js';
import { parseMetadata } from '../../src/format/metadata/model-reader.js';
import { allCases, type CorpusPointer, fixtureCases, pointersOf } from '../support/corpus.js';
import { oracleOf, runWithFlink } from '../support/flink-lab.js';
import { anyMetadata } from '../support/metadata-arbitraries.js';
import {
  assembleDocument,
  assembleText,
  dumpText,
  expectFullCycle,
  expectSame,
  type Json,
} from '../support/metadata-cycle.js';
import { repoRoot } from '../support/paths.js';
import { withTempDirectory } from '../support/temp.js';

const PROGRAM = join(repoRoot(), 'test/flink/java/RewriteMetadata.java');
const MINUTES = 60_000;

/** What only Flink 1.11 and 1.14 read is left out. */
const readable = (pointers: readonly CorpusPointer[]): readonly CorpusPointer[] =>
  pointers.filter(({ oracleFile }) => oracleFile !== undefined);

/** The document as Flink has it: without `wire`, subtasks in the order of their indexes. */
function asFlink(document: Json): Json {
  for (const operator of document.operatorStates) {
    operator.subtasks.sort((a: Json, b: Json) => a.index - b.index);
  }
  return withoutWire(document);
}

function withoutWire(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutWire);
  if (typeof value !== 'object' || value === null) return value;
  const result: Json = Object.create(null);
  for (const [key, item] of Object.entries<Json>(value)) {
    // A state may be called wire.
    if (key !== 'wire' || item?.distributionMode !== undefined) result[key] = withoutWire(item);
  }
  return result;
}

/** Puts each file into a directory of its own and compares what real Flink reads there with what dump prints. */
async function expectFlinkToAgree(files: readonly Uint8Array[]): Promise<void> {
  await withTempDirectory(async (root) => {
    const directories: string[] = [];
    for (const [i, bytes] of files.entries()) {
      const directory = join(root, `${i}`);
      await mkdir(directory);
      await writeFile(join(directory, '_metadata'), bytes);
      directories.push(directory);
    }
    const answers = (await oracleOf(directories)) as Json[];
    expect(answers.length).toBe(files.length);
    for (const [i, bytes] of files.entries()) {
      const { path, readByFlink, ...flink } = answers[i];
      expect(flink.error).toBeUndefined();
      expect([path, readByFlink]).toEqual([directories[i], '2.3.0']);
      const ours = asFlink(JSON.parse(await dumpText(bytes, { externalPointer: `file:${directories[i]}` })));
      // Without prototypes on both sides, which parsed and made objects have in another way.
      expectSame(withoutWire(flink), withoutWire(ours));
    }
  });
}

describe('real Flink reads what was assembled', () => {
  it(
    'from every document, unchanged',
    async () => {
      const files: Uint8Array[] = [];
      for (const { metadataFile } of readable(pointersOf(allCases()))) {
        files.push(await assembleText(await dumpText(await readFile(metadataFile))));
      }
      await expectFlinkToAgree(files);
    },
    3 * MINUTES,
  );

  it(
    'from edited documents, with the edits',
    async () => {
      const files: Uint8Array[] = [];
      for (const { metadataFile } of readable(pointersOf(fixtureCases()))) {
        const document: Json = JSON.parse(await dumpText(await readFile(metadataFile)));
        document.checkpointId = '9223372036854775807';
        for (const operator of document.operatorStates) {
          if (document.version >= 5) Object.assign(operator, { uid: `renamed-\u{1f600}-\u0000`, name: null });
          operator.operatorId = [...operator.operatorId].reverse().join('');
          operator.maxParallelism = 32768;
        }
        document.operatorStates.reverse();
        movePaths(document.operatorStates);
        const bytes = await assembleDocument(document);
        const { operatorStates, checkpointId } = parseMetadata(bytes);
        expect(checkpointId).toBe(2n ** 63n - 1n);
        expect(operatorStates.map(({ operatorId }) => operatorId)).toEqual(
          document.operatorStates.map(({ operatorId }: Json) => operatorId),
        );
        files.push(bytes);
      }
      await expectFlinkToAgree(files);
    },
    3 * MINUTES,
  );

  /** Gives every file and directory another path, of another file system. */
  function movePaths(value: Json): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries<Json>(value)) {
      const isPath = key === 'directory' || (key === 'filePath' && value.type !== 'RelativeFileStateHandle');
      if (isPath) value[key] = item.replace('file:/tmp/flink', 's3://other-bucket/a b%20c/\u00fc');
      else if (key === 'relativePath') value[key] = `moved/${item}`;
      else movePaths(item);
    }
  }
});

describe('real Flink reads what was written', () => {
  it(
    'from arbitrary models, as dump shows it',
    async () => {
      const sample = fc.sample(
        anyMetadata.filter(({ layout }) => layout === 'current'),
        { numRuns: 600, seed: 20_261_130 },
      );
      await expectFlinkToAgree(sample.map((model) => writeMetadata(withSoundPaths(model))));
    },
    3 * MINUTES,
  );

  const PATHS = new Set(['filePath', 'relativePath', 'taskOwnedDirectory', 'sharedDirectory']);

  /** Flink loads no file with a path that is none, and the program that prints needs channel offsets that are some. */
  function withSoundPaths<T>(value: T): T {
    if (Array.isArray(value)) return value.map(withSoundPaths) as T;
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    const result: Json = {};
    for (const [key, item] of Object.entries<Json>(value)) {
      if (key === 'serializedChannelOffsets') result[key] = new Uint8Array(4);
      else if (PATHS.has(key) && !isPath(item, key === 'relativePath')) result[key] = 'sound';
      else result[key] = withSoundPaths(item);
    }
    // Raw bytes of a path that was replaced.
    if (Object.keys(result).some((key) => PATHS.has(key) && result[key] === 'sound')) delete result.wire;
    return result;
  }

  function isPath(text: string, relative: boolean): boolean {
    try {
      if (relative) Path.parse('file:/c/chk-7').child(text);
      else Path.parse(text);
      return true;
    } catch {
      return false;
    }
  }
});

describe('what real Flink writes', () => {
  it(
    'in every version is read as Flink reads it, and written back byte for byte',
    async () => {
      await withTempDirectory(async (root) => {
        const jobs = readable(pointersOf(fixtureCases())).flatMap(({ directory }) =>
          [2, 3, 4, 5, 6].map((version) => ({ version, directory })),
        );
        const targets = jobs.map((_, i) => join(root, `${i}`));
        const input = jobs.map(({ version, directory }, i) => `${version}\t${directory}\t${targets[i]}\n`).join('');
        const answers = await runWithFlink(PROGRAM, [], { input });
        expect(answers.length).toBe(jobs.length);
        const files: Uint8Array[] = [];
        const refusals = new Set<string>();
        for (const [i, answer] of answers.entries()) {
          if (answer !== 'written') {
            refusals.add(`${jobs[i]?.version}: ${answer}`);
            continue;
          }
          const bytes = new Uint8Array(await readFile(targets[i] ?? ''));
          const { model } = await expectFullCycle(bytes);
          expect(model.version).toBe(jobs[i]?.version);
          files.push(bytes);
        }
        // What a version has no room for: merged channels before 6, finished subtasks in 2.
        expect([...refusals].sort()).toMatchInlineSnapshot(`
          [
            "2: java.lang.IllegalStateException: Could not support finished Operator state in state serializers.",
            "3: java.lang.IllegalStateException: InputStateHandle must be InputChannelStateHandle.",
            "4: java.lang.IllegalStateException: InputStateHandle must be InputChannelStateHandle.",
            "5: java.lang.IllegalStateException: InputStateHandle must be InputChannelStateHandle.",
          ]
        `);
        expect(files.length).toBeGreaterThan(150);
        await expectFlinkToAgree(files);
      });
    },
    3 * MINUTES,
  );
});
