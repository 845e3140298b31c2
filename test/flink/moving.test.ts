import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { expect, it } from 'vitest';
import { allCases, type CorpusPointer, pointersOf } from '../support/corpus.js';
import { canRestore, jobOf, type RestoreRequest, type RestoreVerdict, restoreAll } from '../support/flink-restore.js';
import {
  droppedOperator,
  type Move,
  type MovingCase,
  movingCases,
  renamedUid,
  STATE_NAMES_FILES,
} from '../support/moving-matrix.js';
import { runCkpt } from '../support/run-ckpt.js';
import { withTempDirectory } from '../support/temp.js';

const MINUTES = 60_000;

const everything = process.env.CKPT_FLINK_ALL === '1';
const only = process.env.CKPT_FLINK_ONLY;
const matrix = movingCases(everything ? 'everything' : 'selection', only === undefined ? undefined : new RegExp(only));

/** A restore, and the error that it must end in; most must succeed. */
interface Trial extends RestoreRequest {
  readonly fails?: string;
}

// No trial finds anything where Flink wrote it: the JVM sees an empty /tmp/flink, unless a trial asks for files there.
for (const [release, cases] of matrix) {
  it.skipIf(!canRestore || cases.length === 0)(
    `real Flink ${release} restores what was copied, moved and rebased, made a savepoint, renamed, dropped`,
    async () => {
      await withTempDirectory(async (directory) => {
        const trials = (
          await pMap(cases, (one) => prepare(one, join(directory, one.id.replaceAll(' ', '-'))), two)
        ).flat();
        const verdicts = await restoreAll(
          release,
          trials.map(({ fails: _, ...request }) => request),
        );
        process.stderr.write(`Flink ${release}: ${verdicts.length} restores of ${cases.length} checkpoints\n`);
        expect(trials.flatMap((trial, index) => wrong(trial, verdicts[index]))).toEqual([]);
        expect(verdicts.length).toBeGreaterThanOrEqual(cases.length);
      });
    },
    everything ? 180 * MINUTES : 20 * MINUTES,
  );
}

it.skipIf(everything || only !== undefined)(
  'the selection has every kind of handle that these releases write',
  async () => {
    for (const [release, cases] of matrix) {
      const there = allCases().filter(
        ({ flinkVersion, label }) => flinkVersion === release && !label.includes('rewritten'),
      );
      const selected = await handleKinds(cases.map(({ pointer }) => pointer));
      expect({ release, kinds: selected }).toEqual({ release, kinds: await handleKinds(pointersOf(there)) });
      expect(selected.length).toBeGreaterThan(5);
    }
  },
);

const two = { concurrency: 2 };

/** Moves a checkpoint in all its ways. */
async function prepare(one: MovingCase, directory: string): Promise<Trial[]> {
  await mkdir(directory);
  if (STATE_NAMES_FILES[one.name] !== undefined) return stillNamed(one, directory);
  const trials: Trial[] = [];
  if (one.moves.some((move) => COPIED.includes(move))) trials.push(...(await copied(one, directory)));
  if (one.moves.includes('rebase')) trials.push(...(await rebased(one, directory)));
  if (one.moves.some((move) => move.endsWith('savepoint'))) trials.push(...(await madeSavepoint(one, directory)));
  if (one.moves.includes('set-uid')) trials.push(...(await renamed(one, directory)));
  if (one.moves.includes('drop')) trials.push(...(await dropped(one, directory)));
  return trials;
}

const COPIED: readonly Move[] = ['copy', 'rescale', 'chain'];

async function copied(one: MovingCase, directory: string): Promise<Trial[]> {
  const copy = join(directory, 'copy');
  await ckpt('copy', one.pointer.externalPointer, copy, '--verify', ...mapOf(one.pointer));
  const trial = (id: Move): Trial => ({ ...jobOf(one.pointer.case.directory), id: `${one.id}: ${id}`, from: copy });
  const chain = `${one.id}: chain`;
  const next = (suffix: string): Trial => ({ ...trial('chain'), id: `${chain}${suffix}`, from: `@${chain}${suffix}` });
  return [
    ...(one.moves.includes('copy') ? [trial('copy')] : []),
    ...(one.moves.includes('rescale') ? [{ ...trial('rescale'), parallelism: 3 }] : []),
    ...(one.moves.includes('chain')
      ? [
          { ...trial('chain'), claimMode: 'CLAIM' as const, thenCheckpoint: join(directory, 'then') },
          next('#1'),
          {
            ...next(''),
            id: `${chain}, last`,
          },
        ]
      : []),
  ];
}

/** The whole tree goes elsewhere, and its metadata with it; then the paths are changed. */
async function rebased({ id, pointer }: MovingCase, directory: string): Promise<Trial[]> {
  const tree = join(directory, 'moved');
  await cp(pointer.case.directory, tree, { recursive: true });
  const moved = join(tree, pointer.externalPointer.slice(pointer.case.mapping.uri.length));
  await ckpt('rebase', moved, `${pointer.case.mapping.uri}=file:${tree}`, '--in-place', '--verify');
  return [{ ...jobOf(pointer.case.directory), id: `${id}: rebase`, from: moved }];
}

async function madeSavepoint({ id, pointer, moves }: MovingCase, directory: string): Promise<Trial[]> {
  const target = ['--target-directory', join(directory, 'savepoints')];
  const made = await ckpt('savepoint', '--from', pointer.externalPointer, ...target, ...mapOf(pointer));
  const trial: RestoreRequest = { ...jobOf(pointer.case.directory), id: `${id}: savepoint`, from: made.trim() };
  return [
    ...(moves.includes('savepoint') ? [trial] : []),
    ...(moves.includes('claimed-savepoint')
      ? [{ ...trial, id: `${id}: claimed-savepoint`, claimMode: 'CLAIM' as const }]
      : []),
  ];
}

async function renamed({ id, name, pointer }: MovingCase, directory: string): Promise<Trial[]> {
  const uid = renamedUid(name) ?? '';
  const copy = join(directory, 'renamed');
  await ckpt('edit', pointer.externalPointer, '--set-uid', `${uid}=other`, '--copy', copy, ...mapOf(pointer));
  return [{ ...jobOf(pointer.case.directory), id: `${id}: set-uid`, from: copy, renameUids: { [uid]: 'other' } }];
}

/** Flink would refuse state without an operator: it must be gone. The operator, under another uid, begins with none. */
async function dropped({ id, name, pointer }: MovingCase, directory: string): Promise<Trial[]> {
  const operator = droppedOperator(name) ?? { uid: '', lost: [], renamed: false };
  const copy = join(directory, 'dropped');
  await ckpt('edit', pointer.externalPointer, '--drop', operator.uid, '--copy', copy, ...mapOf(pointer));
  return [
    {
      ...jobOf(pointer.case.directory),
      id: `${id}: drop`,
      from: copy,
      lost: operator.lost,
      ...(operator.renamed ? { renameUids: { [operator.uid]: 'other' } } : {}),
    },
  ];
}

/** What no tool can move: said by `copy`, true of Flink, and right again once the files stand at their old paths. */
async function stillNamed({ id, name, pointer }: MovingCase, directory: string): Promise<Trial[]> {
  const copy = join(directory, 'copy');
  const document = await ckpt('copy', pointer.externalPointer, copy, '--json', ...mapOf(pointer));
  const { stateReferences } = JSON.parse(document);
  expect({ id, why: STATE_NAMES_FILES[name], stateReferences }).toMatchObject({
    stateReferences: expect.toSatisfy((found: unknown[]) => found.length > 0),
  });
  const original = pointer.case.mapping.uri.replace(/^file:/, '');
  const trial = { ...jobOf(pointer.case.directory), from: copy, remove: [original] };
  return [
    { ...trial, id: `${id}: copy alone`, fails: original },
    { ...trial, id: `${id}: copy, old files in place`, place: { [pointer.case.directory]: original } },
  ];
}

/** Runs the binary, which must succeed, and gives its output. */
async function ckpt(...args: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await runCkpt(args);
  expect({ args, exitCode, ...(exitCode === 0 ? {} : { stderr }) }).toEqual({ args, exitCode: 0 });
  return stdout;
}

function mapOf({ case: { mapping } }: CorpusPointer): string[] {
  return ['--map', `${mapping.uri}=${mapping.directory}`];
}

/** What is not as it must be, with all that Flink said. */
function wrong({ id, fails }: Trial, verdict: RestoreVerdict | undefined): unknown[] {
  if (verdict?.id !== id) return [{ id, verdict }];
  if (fails === undefined) return verdict.ok ? [] : [verdict];
  return verdict.error?.includes(fails) === true ? [] : [{ fails, verdict }];
}

/** The class names of all handles, sorted, as Flink's own reader has them. */
async function handleKinds(pointers: readonly CorpusPointer[]): Promise<string[]> {
  const kinds = new Set<string>();
  for (const { oracleFile } of pointers) {
    if (oracleFile === undefined) continue;
    for (const [, kind] of (await readFile(oracleFile, 'utf8')).matchAll(/"(\w+(?:StateHandle|HandleImpl)\w*)"/g)) {
      if (kind !== undefined) kinds.add(kind);
    }
  }
  return [...kinds].sort();
}
