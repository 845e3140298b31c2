import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { disposeSavepoint } from '../../src/checkpoint/load-checkpoint.js';
import { suppressedOf } from '../../src/errors.js';
import { allCases, type CorpusCase, type CorpusPointer, fixtureCases, pointersOf } from '../support/corpus.js';
import { copyMapped } from '../support/corpus-case.js';
import { runWithFlink } from '../support/flink-lab.js';
import { repoRoot } from '../support/paths.js';
import { treeOf } from '../support/stores.js';
import { withTempDirectory } from '../support/temp.js';

const PROGRAM = join(repoRoot(), 'test/flink/java/DisposeCheckpoints.java');

/** Flink works where the paths of the metadata lead, so it needs a `/tmp/flink` of its own. */
const canHide = process.platform === 'linux' && process.getuid?.() === 0;

/** Those that Flink 2.3.0 can read, and that lie where it looks for them. */
const readable = (cases: readonly CorpusCase[]) =>
  pointersOf(cases).filter(
    ({ case: { mapping }, oracleFile }) => mapping.uri.startsWith('file:') && oracleFile !== undefined,
  );

/** What is there before, beside what Flink wrote. */
type Change = (directory: string) => Promise<unknown>;

const SITUATIONS: readonly (readonly [string, readonly CorpusPointer[], Change])[] = [
  ['all as they are', readable(allCases()), async () => undefined],
  ['with a stray file', readable(fixtureCases()), (directory) => writeFile(join(directory, 'stray'), 'x')],
  ['without their metadata', readable(fixtureCases()), (directory) => rm(join(directory, '_metadata'))],
  ['without one of their files', readable(fixtureCases()), removeOneFile],
];

it.skipIf(!canHide).each(SITUATIONS)(
  'disposing of a checkpoint leaves what real Flink leaves, and fails where it fails: %s',
  async (_, pointers, change) => {
    await withTempDirectory(async (temporary) => {
      const input: string[] = [];
      const ours: string[] = [];
      for (const [index, pointer] of pointers.entries()) {
        const own = join(temporary, `${index}`);
        const { fileSystems, original } = await copyMapped(pointer.case, own);
        await change(join(own, inCase(pointer)));
        const untouched = `${own}-for-flink`;
        await cp(own, untouched, { recursive: true });
        input.push([untouched, pointer.case.mapping.uri, pointer.externalPointer].join('\t'));
        const outcome = await disposeSavepoint(pointer.externalPointer, { fileSystems }).then(
          () => 'ok\t0',
          (error: Error) => `error\t${suppressedOf(error).length}`,
        );
        const left = await treeOf(await fileSystems.get(original), original);
        ours.push([outcome, ...left].join('\t'));
      }
      const theirs = await runWithFlink(PROGRAM, [], { input: `${input.join('\n')}\n`, writesBelowTmpFlink: true });
      expect(theirs).toHaveLength(pointers.length);
      const labelled = (lines: readonly string[]) => lines.map((line, index) => `${pointers[index]?.label}: ${line}`);
      expect(labelled(ours)).toEqual(labelled(theirs));
    });
  },
  600_000,
);

function inCase({ externalPointer, case: { mapping } }: CorpusPointer): string {
  return externalPointer.slice(mapping.uri.length + 1);
}

async function removeOneFile(directory: string): Promise<void> {
  const names = (await readdir(directory)).sort();
  const name = names.find((each) => each !== '_metadata');
  if (name !== undefined) await rm(join(directory, name), { recursive: true });
}
