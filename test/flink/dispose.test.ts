import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { disposeSavepoint } from '../../src/checkpoint/load-checkpoint.js';
import { suppressedOf } from '../../src/errors.js';
import { allCases, type CorpusCase, type CorpusPointer, fixtureCases, pointersOf } from '../support/corpus.js';
import { copyMapped, type MappedCase } from '../support/corpus-case.js';
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

/** The corpus has all that the fixtures have. */
const corpus = readable(allCases()).filter(({ case: { label } }) => label.startsWith('corpus/'));
const all = corpus.length > 0 ? corpus : readable(fixtureCases());

/** What is there before, beside what Flink wrote. */
type Change = (directory: string) => Promise<unknown>;

const SITUATIONS: readonly (readonly [string, readonly CorpusPointer[], Change])[] = [
  ['all as they are', all, async () => undefined],
  ['with a stray file', readable(fixtureCases()), (directory) => writeFile(join(directory, 'stray'), 'x')],
  ['without their metadata', readable(fixtureCases()), (directory) => rm(join(directory, '_metadata'))],
  ['without one of their files', readable(fixtureCases()), removeOneFile],
];

it.skipIf(!canHide).each(SITUATIONS)(
  'disposing of a checkpoint leaves what real Flink leaves, and fails where it fails: %s',
  async (_, pointers, change) => {
    await withTempDirectory(async (temporary) => {
      const copies: MappedCase[] = [];
      const input: string[] = [];
      for (const [index, pointer] of pointers.entries()) {
        const copy = join(temporary, String(index));
        copies.push(await copyMapped(pointer.case, copy));
        await change(join(copy, inCase(pointer)));
        input.push([copy, pointer.case.mapping.uri, pointer.externalPointer].join('\t'));
      }
      // Flink takes a copy of each copy, and leaves it to us.
      const theirs = await runWithFlink(PROGRAM, [], { input: `${input.join('\n')}\n`, writesBelowTmpFlink: true });
      expect(theirs).toHaveLength(pointers.length);
      for (const [index, { label, externalPointer }] of pointers.entries()) {
        const { fileSystems, original } = copies[index] as MappedCase;
        const outcome = await disposeSavepoint(externalPointer, { fileSystems }).then(
          () => 'ok\t0',
          (error: Error) => `error\t${suppressedOf(error).length}`,
        );
        const left = await treeOf(await fileSystems.get(original), original);
        expect([outcome, ...left].join('\t'), label).toBe(theirs[index]);
      }
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
