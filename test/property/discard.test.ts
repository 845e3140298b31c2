import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IoError } from '../../src/errors.js';
import type { FileSystemKind } from '../../src/filesystem/file-system.js';
import { DiscardTree, JOB, OTHER_JOB, segment } from '../support/discard-tree.js';

/** A checkpoint of the tree: where it is and which of the common files it names, each in one of two ways. */
interface Drawn {
  readonly directory: string;
  readonly own: number;
  readonly common: readonly { readonly file: number; readonly merged: boolean }[];
}

const DIRECTORIES = [
  ...Array.from({ length: 4 }, (_, index) => `${JOB}/chk-${index + 1}`),
  ...Array.from({ length: 2 }, (_, index) => `${OTHER_JOB}/chk-${index + 9}`),
  'savepoint-4f1a2b-0123456789ab',
];

const drawn = fc
  .uniqueArray(fc.constantFrom(...DIRECTORIES), { minLength: 1 })
  .chain((directories) =>
    fc.tuple(
      ...directories.map((directory) =>
        fc.record({
          directory: fc.constant(directory),
          own: fc.nat({ max: 3 }),
          common: fc.uniqueArray(fc.record({ file: fc.nat({ max: 7 }), merged: fc.boolean() }), {
            selector: ({ file }) => file,
          }),
        }),
      ),
    ),
  )
  .chain((checkpoints) =>
    fc.record({
      checkpoints: fc.constant<readonly Drawn[]>(checkpoints),
      /** Which one goes next, several at once now and then. */
      order: fc.shuffledSubarray([...checkpoints.keys()], { minLength: checkpoints.length }),
      together: fc.array(fc.integer({ min: 1, max: 3 }), {
        minLength: checkpoints.length,
        maxLength: checkpoints.length,
      }),
      /** Of each change in turn, whether it fails; none fails when they are used up. */
      failures: fc.array(fc.boolean(), { maxLength: 60 }),
      kind: fc.constantFrom<FileSystemKind>('file-system', 'object-store'),
    }),
  );

/** Common files: state of a job, a file that is another checkpoint's own, a directory of file merging. */
const COMMON = [
  ...Array.from({ length: 3 }, (_, index) => `${JOB}/shared/x${index}`),
  ...Array.from({ length: 2 }, (_, index) => `${OTHER_JOB}/shared/y${index}`),
  `${JOB}/taskowned/z`,
  `${JOB}/shared/job_${JOB}_op_0a_0_2/merged`,
  'dstl/changes',
];

it('never takes a file that a remaining checkpoint names, and leaves nothing when all are discarded', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async ({ checkpoints, order, together, failures, kind }) => {
      const plans = [...failures];
      let mayFail = false;
      const tree: DiscardTree = new DiscardTree({
        kind,
        ...(kind === 'object-store' && { scheme: 's3' }),
        failures: (operation, path) => {
          const changes = ['rename', 'createAtomic', 'commit', 'deleteFile', 'deleteDirectory'];
          if (!mayFail || !changes.includes(operation) || plans.shift() !== true) return undefined;
          return new IoError(path.toString(), operation);
        },
      });
      const named = new Map<string, string[]>();
      for (const { directory, own, common } of checkpoints) {
        const names = Array.from({ length: own }, (_, index) => `own-${index}`);
        const paths = common.map(({ file }) => tree.at(COMMON[file] ?? ''));
        const handles = common.map(({ merged }, index) => {
          const path = paths[index] ?? '';
          return merged ? segment(path, index) : path;
        });
        await tree.checkpoint(directory, [...names, ...handles]);
        named.set(directory, [...names.map((name) => tree.at(`${directory}/${name}`)), ...paths]);
      }

      const waiting = order.map((index) => checkpoints[index]?.directory ?? '');
      for (const count of [...together, ...together]) {
        const some = waiting.splice(0, count);
        if (some.length === 0) break;
        for (let attempt = 0; ; attempt++) {
          const pointers = [];
          for (const directory of some) if (await tree.exists(directory)) pointers.push(directory);
          if (pointers.length === 0) break;
          mayFail = true;
          const roots = [tree.path('')];
          const result = await tree.discard(pointers, { roots });
          mayFail = false;
          const left = new Set(tree.files());
          for (const [directory, files] of named) {
            const isWhole = left.has(tree.at(`${directory}/_metadata`));
            if (isWhole) for (const path of files) expect(left.has(path), `${path} of ${directory}`).toBe(true);
          }
          // Whatever is left is still named: by metadata, or by a tombstone that a second run will find.
          const stillNamed = [...named].flatMap(([directory, files]) => {
            const metadata = ['_metadata', '_metadata.discarding'].map((name) => tree.at(`${directory}/${name}`));
            return metadata.some((path) => left.has(path)) ? [...files, ...metadata] : [];
          });
          expect([...left].filter((path) => !stillNamed.includes(path))).toEqual([]);
          if (result.done) break;
          expect(result.failures.length).toBeGreaterThan(0);
          expect(attempt).toBeLessThan(100);
        }
      }
      expect(tree.files()).toEqual([]);
      for (const { directory } of checkpoints) expect(await tree.exists(directory)).toBe(false);
    }),
    { numRuns: 200 },
  );
});
