import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnwritableMetadataError } from '../../src/errors.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { resolvePointer } from '../../src/operations/pointer.js';
import { type RebaseResult, rebaseCheckpoint } from '../../src/operations/rebase.js';
import { allCases, pointersOf } from '../support/corpus.js';
import { checkpointAt, file, incremental, metadata, operator, subtask } from '../support/made-metadata.js';
import { namedFiles } from '../support/mapped-case.js';
import { tempDirectory, withTempDirectory } from '../support/temp.js';

const fileSystems = createFileSystems({ configuration: new Map() });
const path = (text: string): Path => fileSystems.qualify(Path.parse(text));

/** Rewrites one file into another; undefined if no prefix fits. */
async function rebase(from: string, to: string, ...pairs: readonly [string, string][]): Promise<RebaseResult> {
  return rebaseCheckpoint(fileSystems, await resolvePointer(fileSystems, from), {
    prefixes: pairs.map(([old, renamed]) => ({ old: path(old), new: path(renamed) })),
    target: { kind: 'file', path: path(to) },
    detached: true,
  });
}

/** The bytes with each path replaced and its length in front (modified UTF-8; these are ASCII) set right. */
function masked(bytes: Buffer, paths: readonly string[]): string {
  let text = bytes.toString('latin1');
  for (const one of [...paths].sort((a, b) => b.length - a.length)) {
    const length = String.fromCharCode(one.length >> 8, one.length & 0xff);
    text = text.replaceAll(length + one, '<path>');
  }
  return text;
}

const NEW_PREFIXES = ['s3://b', '/x', 'hdfs:///long/prefix/of/a/path/that/is/longer/than/the/old/one', 'hdfs://ns-A/x'];

describe.each(allCases())('$label', (corpusCase) => {
  it('is what it was after there and back, and differs in paths alone meanwhile', async () => {
    const { uri } = corpusCase.mapping;
    await withTempDirectory(async (root) => {
      for (const pointer of pointersOf([corpusCase])) {
        const original = await readFile(pointer.metadataFile);
        const there = NEW_PREFIXES[pointer.checkpointId % NEW_PREFIXES.length] ?? '';
        const moved = join(root, `moved-${pointer.kind}-${pointer.checkpointId}`);
        const result = await rebase(pointer.metadataFile, moved, [uri, there]);
        if (!result.written) continue;
        const oldPaths = namedFiles(pointer).map((named) => named.path);
        if (pointer.oracleFile !== undefined && result.rewrittenHandles === 0) {
          expect(await readFile(moved)).toEqual(original);
        }
        const qualified = path(uri).toString();
        const replaced = oldPaths.map((old) => old.replace(qualified, path(there).toString()));
        if (!original.includes('taskowned/job') && !original.includes('/taskowned')) {
          expect(masked(await readFile(moved), replaced) === masked(original, oldPaths), pointer.label).toBe(true);
        }
        await rebase(moved, `${moved}-back`, [there, uri]);
        expect((await readFile(`${moved}-back`)).equals(original), pointer.label).toBe(true);
      }
    });
  });
});

describe('rebase', () => {
  async function made(...paths: readonly string[]): Promise<string> {
    const managedKeyedState = incremental(paths.map((one) => file(one)));
    const operatorStates = [operator({ subtasks: [subtask({ managedKeyedState })] })];
    return join(await checkpointAt(await tempDirectory(), metadata({ operatorStates })), '_metadata');
  }

  it('changes back what it changed, for any names', { timeout: 120_000 }, async () => {
    const name = fc.stringMatching(/^[A-Za-z0-9 _.%+=~äß€😀-]{1,12}$/u).filter((text) => !/^\.{1,2}$/.test(text));
    const names = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(names, names, names, async (old, renamed, rest) => {
        fc.pre(old !== renamed);
        const from = await made(`hdfs://a/${old}/${rest}`, `hdfs://a/${old}x/${rest}`, `hdfs://b/${old}`);
        const original = await readFile(from);
        const there = await rebase(from, `${from}.1`, [`hdfs://a/${old}`, `s3://bucket/${renamed}`]);
        expect(there).toMatchObject({ rewrittenHandles: 1, unmatchedPaths: 2, written: true });
        await rebase(`${from}.1`, `${from}.2`, [`s3://bucket/${renamed}`, `hdfs://a/${old}`]);
        expect((await readFile(`${from}.2`)).equals(original)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('tells hosts of one scheme apart, and takes the longest prefix', async () => {
    const from = await made('hdfs://nsA/x/1', 'hdfs://nsB/x/1', 'hdfs:/x/1', 'hdfs://nsA/x/y/1', 'hdfs://nsA/xx/1');
    const result = await rebase(
      from,
      `${from}.1`,
      ['hdfs://nsA/x', 's3://a'],
      ['hdfs:///x', 's3://c'],
      ['hdfs://nsA/x/y', 's3://d'],
    );
    expect(result.prefixes.map(({ handles }) => handles)).toEqual([1, 1, 1]);
    expect(result.unmatchedPaths).toBe(2);
    const text = await readFile(`${from}.1`, 'latin1');
    for (const kept of ['s3://a/1', 's3://c/1', 's3://d/1', 'hdfs://nsB/x/1', 'hdfs://nsA/xx/1'])
      expect(text).toContain(kept);
  });

  it('refuses a path of more bytes than fit, and leaves nothing', async () => {
    const from = await made('hdfs://a/x/1');
    const long = (bytes: number): string => `s3://b/${'n'.repeat(bytes - 's3://b/'.length - '/1'.length)}`;
    await expect(rebase(from, `${from}.1`, ['hdfs://a/x', long(65_536)])).rejects.toBeInstanceOf(
      UnwritableMetadataError,
    );
    await expect(readFile(`${from}.1`)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await rebase(from, `${from}.1`, ['hdfs://a/x', long(65_535)])).toMatchObject({ written: true });
  });

  it('leaves what follows the prefix letter by letter', async () => {
    const from = await made('hdfs://a/x//y/1');
    await rebase(from, `${from}.1`, ['hdfs://a/x', 's3://b']);
    expect(await readFile(`${from}.1`, 'latin1')).toContain('s3://b//y/1');
    await rebase(`${from}.1`, `${from}.2`, ['s3://b', 'hdfs://a/x']);
    expect(await readFile(`${from}.2`)).toEqual(await readFile(from));
  });
});
