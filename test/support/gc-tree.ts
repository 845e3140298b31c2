/**
 * Trees of jobs with garbage in them, and what of it is garbage: the model that `gc` is compared with. Nothing here uses the
 * code under test; what is in use is known because it is written down when the metadata is made.
 */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import type { FileSystem } from '../../src/filesystem/file-system.js';
import type { Path } from '../../src/filesystem/path.js';
import {
  changelogFilesV2,
  changelogV2,
  file,
  incrementalV2,
  localFile,
  mergedOperatorHandle,
  metadataFile,
  operator,
  operatorHandle,
  present,
  relative,
  segment,
  state,
  subtask,
} from './metadata-builder.js';
import { writeFile } from './stores.js';

/** A checkpoint of a tree, by numbers that lead to files: any number will do, it is taken modulo what there is. */
export interface CheckpointPlan {
  readonly kind: 'checkpoint' | 'savepoint' | 'other-name';
  /** Files in `shared/` of its own job. */
  readonly shared: readonly number[];
  /** Files in `shared/` of the job before it: a claimed checkpoint. */
  readonly foreign: readonly number[];
  readonly exclusive: number;
  readonly merged: boolean;
  readonly changelog: readonly number[];
}

/** A job of a tree. */
export interface JobPlan {
  readonly shared: number;
  readonly checkpoints: readonly CheckpointPlan[];
  /** Files in each checkpoint that never completed. */
  readonly aborted: readonly number[];
  /** How much garbage there is of each kind. */
  readonly orphans: {
    readonly shared: number;
    readonly nested: number;
    readonly managed: number;
    readonly changelog: number;
    readonly exclusive: number;
    readonly unfinished: number;
    readonly taskOwned: number;
  };
}

/** A tree. */
export interface TreePlan {
  readonly jobs: readonly JobPlan[];
  /** The first job has no directory of its own. */
  readonly isBare: boolean;
  readonly metadataVersion: 4 | 6;
}

const few = (max: number): fc.Arbitrary<number> => fc.nat({ max });
const numbers = fc.array(few(20), { maxLength: 5 });

const checkpointPlan: fc.Arbitrary<CheckpointPlan> = fc.record({
  kind: fc.constantFrom<CheckpointPlan['kind'][]>('checkpoint', 'checkpoint', 'checkpoint', 'savepoint', 'other-name'),
  shared: numbers,
  foreign: numbers,
  exclusive: few(3),
  merged: fc.boolean(),
  changelog: numbers,
});

const jobPlan: fc.Arbitrary<JobPlan> = fc.record({
  shared: fc.integer({ min: 1, max: 8 }),
  checkpoints: fc.array(checkpointPlan, { maxLength: 3 }),
  aborted: fc.array(few(3), { maxLength: 2 }),
  orphans: fc.record({
    shared: few(3),
    nested: few(2),
    managed: few(2),
    changelog: few(2),
    exclusive: few(2),
    unfinished: few(1),
    taskOwned: few(2),
  }),
});

/** Any tree with at least one checkpoint that names a file in `shared/` of its own job. */
export const treePlans: fc.Arbitrary<TreePlan> = fc
  .record({
    jobs: fc.array(jobPlan, { minLength: 1, maxLength: 3 }),
    isBare: fc.boolean(),
    metadataVersion: fc.constantFrom<(4 | 6)[]>(4, 6),
  })
  .map((plan) => {
    const [first, ...rest] = plan.jobs;
    const certain: CheckpointPlan = {
      kind: 'checkpoint',
      shared: [0],
      foreign: [],
      exclusive: 1,
      merged: false,
      changelog: [],
    };
    return {
      ...plan,
      jobs: [{ ...(first as JobPlan), checkpoints: [certain, ...(first?.checkpoints ?? [])] }, ...rest],
    };
  });

/** A checkpoint that was written. */
export interface BuiltCheckpoint {
  readonly directory: Path;
  readonly metadata: Path;
  /** Every file that it names. */
  readonly names: ReadonlySet<string>;
}

/** What {@link buildTree} has made. */
export interface BuiltTree {
  /** Complete ones. */
  readonly checkpoints: readonly BuiltCheckpoint[];
  /** Path of each file that nobody names, with what `gc` calls it. */
  readonly garbage: ReadonlyMap<string, string>;
  /** Plain files in `taskowned/` that nobody names. */
  readonly taskOwned: ReadonlySet<string>;
  /** Every file. */
  readonly files: ReadonlySet<string>;
  /** Directories of jobs. */
  readonly bases: readonly Path[];
}

/** A name of the form that Flink gives its files, always the same for the same text. */
export function uuidOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A job id, always the same for the same number. */
export function jobIdOf(number: number): string {
  return createHash('md5').update(`job ${number}`).digest('hex');
}

/** The metadata of a checkpoint that names these files. */
export interface Mentions {
  readonly shared: readonly string[];
  readonly relative: readonly string[];
  readonly segments?: readonly string[];
  readonly managed?: { readonly taskOwned: string; readonly shared: string } | undefined;
  readonly changelog?: readonly string[];
}

/** A metadata file with all kinds of handles that there must be for these mentions. */
export function metadataOf(version: 4 | 6, checkpointId: number, mentions: Mentions): Uint8Array {
  const { shared, segments = [], changelog = [], managed } = mentions;
  const [meta = 'meta', ...exclusive] = mentions.relative;
  const files = [
    ...shared.map((path, index) => localFile(`${index}.sst`, file(path, 1))),
    ...segments.map((path, index) => localFile(`m${index}.sst`, segment(path, index, 1, 1, `logical-${index}`))),
  ];
  const keyed = incrementalV2({
    checkpointId,
    meta: mentions.relative.length === 0 ? file(shared[0] ?? 'file:/nowhere/at-all', 1) : relative(meta, 1),
    shared: files,
    private: exclusive.map((name, index) => localFile(`p${index}`, relative(name, 1))),
  });
  const wrapped =
    changelog.length === 0
      ? keyed
      : changelogV2({
          materialized: [keyed],
          nonMaterialized: [changelogFilesV2({ files: changelog.map((path) => [0, file(path, 1)] as const) })],
        });
  const states = [state('list', 0, [0])];
  const managedOperator = managed
    ? mergedOperatorHandle(states, managed, 0, segment(`${managed.taskOwned}/${uuidOf('state')}`, 0, 1, 0, 'logical-s'))
    : operatorHandle(states, relative(meta, 1));
  const hasOperatorState = managed !== undefined || mentions.relative.length > 0;
  return metadataFile(version, {
    checkpointId,
    operators: [
      operator(version, {
        subtasks: [
          subtask(version, {
            managedKeyed: wrapped,
            ...(hasOperatorState && { managedOperator: present(managedOperator) }),
          }),
        ],
      }),
    ],
  });
}

/** Writes a tree below `root`, all of it one byte a file but the metadata. */
export async function buildTree(
  fileSystem: FileSystem,
  root: Path,
  plan: TreePlan,
  /** How metadata names what lies below `root`. */
  nameOf: (path: Path) => string = String,
): Promise<BuiltTree> {
  const builder = new TreeBuilder(fileSystem, root, plan, nameOf);
  return builder.build();
}

class TreeBuilder {
  private readonly checkpoints: BuiltCheckpoint[] = [];
  private readonly garbage = new Map<string, string>();
  private readonly taskOwned = new Set<string>();
  private readonly files = new Set<string>();
  private readonly bases: Path[] = [];
  private readonly sharedOf: Path[][] = [];

  constructor(
    private readonly fileSystem: FileSystem,
    private readonly root: Path,
    private readonly plan: TreePlan,
    private readonly nameOf: (path: Path) => string,
  ) {}

  async build(): Promise<BuiltTree> {
    for (const name of ['output/2026-11-30--12/part-0', 'output/shared/part-1', 'notes.txt']) {
      await this.write(name.split('/').reduce((directory, part) => directory.entry(part), this.root));
    }
    for (const [index, job] of this.plan.jobs.entries()) await this.buildJob(index, job);
    const { checkpoints, garbage, taskOwned, files, bases } = this;
    const named = new Set(checkpoints.flatMap(({ names }) => [...names]));
    for (const path of garbage.keys()) if (named.has(path)) throw new Error(`${path} is garbage and is named`);
    return { checkpoints, garbage, taskOwned, files, bases };
  }

  private async buildJob(index: number, job: JobPlan): Promise<void> {
    const jobId = jobIdOf(index);
    const base = this.plan.isBare && index === 0 ? this.root.entry('bare') : this.root.entry(jobId);
    this.bases.push(base);
    const shared = base.entry('shared');
    const taskOwned = base.entry('taskowned');
    const files = Array.from({ length: job.shared }, (_, number) => shared.entry(uuidOf(`${index} shared ${number}`)));
    this.sharedOf.push(files);
    const changelogDirectory = this.root.entry('changelog').entry(jobId).entry('dstl');
    const changelog = [0, 1, 2].map((number) => changelogDirectory.entry(uuidOf(`${index} changelog ${number}`)));
    const managed = {
      shared: shared.entry(`job_${jobId}_op_0a1b_0_1`),
      taskOwned: taskOwned.entry(`job_${jobId}_tm_worker-1`),
    };
    const used = new Set<string>();
    for (const [number, checkpoint] of job.checkpoints.entries()) {
      const built = await this.buildCheckpoint(index, number, checkpoint, { base, files, changelog, managed });
      for (const name of built.names) used.add(name);
    }
    const isMerged = job.checkpoints.some(({ merged }) => merged);
    for (const path of files) await this.put(path, used, 'shared');
    // What the checkpoints of later jobs name must be there, used by this one or not.
    for (const path of changelog) await this.put(path, used, 'changelog');
    if (isMerged) {
      // Nobody names these, but their directory is one that a handle names.
      await this.write(managed.shared.entry(uuidOf(`${index} merged later`)));
      await this.write(managed.taskOwned.entry(uuidOf(`${index} merged last`)));
    }
    await this.addGarbage(index, job, { base, shared, taskOwned, changelogDirectory });
  }

  private async buildCheckpoint(
    job: number,
    number: number,
    plan: CheckpointPlan,
    at: {
      readonly base: Path;
      readonly files: readonly Path[];
      readonly changelog: readonly Path[];
      readonly managed: { readonly shared: Path; readonly taskOwned: Path };
    },
  ): Promise<BuiltCheckpoint> {
    const directory = this.directoryOf(job, number, plan, at.base);
    const exclusive = Array.from({ length: plan.exclusive }, (_, i) => directory.entry(uuidOf(`${directory} ${i}`)));
    const foreign = this.sharedOf[job - 1] ?? [];
    const shared = [...pick(at.files, plan.shared), ...pick(foreign, plan.foreign)];
    const changelog = pick(at.changelog, plan.changelog);
    const segments = plan.merged ? [at.managed.shared.entry(uuidOf(`${job} segments`))] : [];
    const names = new Set([...exclusive, ...shared, ...changelog, ...segments].map(String));
    if (plan.merged) names.add(at.managed.taskOwned.entry(uuidOf('state')).toString());
    const metadata = directory.entry(plan.kind === 'other-name' ? 'old_metadata' : '_metadata');
    for (const path of exclusive) await this.write(path);
    for (const path of [...segments, ...(plan.merged ? [at.managed.taskOwned.entry(uuidOf('state'))] : [])]) {
      await this.write(path);
    }
    // Files of the job before have been written, and may have been taken for garbage until now.
    for (const path of foreign) if (names.has(path.toString())) this.garbage.delete(path.toString());
    const bytes = metadataOf(this.plan.metadataVersion, number + 1, {
      shared: shared.map(this.nameOf),
      relative: exclusive.map((path) => path.name),
      segments: segments.map(this.nameOf),
      managed: plan.merged
        ? { taskOwned: this.nameOf(at.managed.taskOwned), shared: this.nameOf(at.managed.shared) }
        : undefined,
      changelog: changelog.map(this.nameOf),
    });
    await this.write(metadata, bytes);
    const built = { directory, metadata, names };
    this.checkpoints.push(built);
    return built;
  }

  private directoryOf(job: number, number: number, { kind }: CheckpointPlan, base: Path): Path {
    if (kind === 'savepoint') {
      return this.root.entry(`savepoint-${jobIdOf(job).slice(0, 6)}-${uuidOf(`${job} ${number}`).slice(-12)}`);
    }
    return base.entry(`chk-${number + 1}`);
  }

  private async addGarbage(
    job: number,
    { aborted, orphans, checkpoints }: JobPlan,
    at: { readonly base: Path; readonly shared: Path; readonly taskOwned: Path; readonly changelogDirectory: Path },
  ): Promise<void> {
    const jobId = jobIdOf(job);
    const add = async (directory: Path, count: number, kind: string): Promise<void> => {
      for (let i = 0; i < count; i++) await this.write(directory.entry(uuidOf(`${directory} ${kind} ${i}`)), 'x', kind);
    };
    for (const [number, files] of aborted.entries()) {
      await add(at.base.entry(`chk-${100 + number}`), files, 'incomplete-checkpoint');
    }
    await add(at.shared, orphans.shared, 'shared');
    await add(at.shared.entry('inner').entry('most'), orphans.nested, 'shared');
    await add(at.shared.entry(`job_${jobId}_op_gone_0_1`), orphans.managed, 'managed-directory');
    await add(at.taskOwned.entry(`job_${jobId}_tm_gone`), orphans.managed, 'managed-directory');
    await add(at.changelogDirectory, orphans.changelog, 'changelog');
    for (let i = 0; i < orphans.taskOwned; i++) {
      const path = at.taskOwned.entry(uuidOf(`${job} write-ahead ${i}`));
      await this.write(path);
      this.taskOwned.add(path.toString());
    }
    // A base without a job id is one because there are checkpoints, or both of these.
    await this.write(at.shared.entry(uuidOf(`${job} first`)), 'x', 'shared');
    const first = checkpoints[0];
    if (first === undefined) return;
    const directory = this.directoryOf(job, 0, first, at.base);
    await add(directory, orphans.exclusive, 'exclusive');
    await this.write(directory.entry('README'));
    for (let i = 0; i < orphans.unfinished; i++) {
      await this.write(directory.entry(`._metadata.inprogress.${uuidOf(`${job} ${i}`)}`), 'x', 'in-progress');
    }
  }

  /** A file that may be in use. */
  private async put(path: Path, used: ReadonlySet<string>, kind: string): Promise<void> {
    await this.write(path, 'x', used.has(path.toString()) ? undefined : kind);
  }

  private async write(path: Path, contents: string | Uint8Array = 'x', kind?: string): Promise<void> {
    const text = path.toString();
    if (this.files.has(text)) return;
    this.files.add(text);
    if (kind !== undefined) this.garbage.set(text, kind);
    await writeFile(this.fileSystem, path, contents);
  }
}

function pick(paths: readonly Path[], indexes: readonly number[]): Path[] {
  const chosen = indexes.flatMap((index) => paths[index % paths.length] ?? []);
  return [...new Set(chosen)];
}
