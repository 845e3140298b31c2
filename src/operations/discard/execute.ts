/**
 * Carries out a plan: tombstones first, then the files, then what is left of the directories. Failures stop nothing but what
 * depends on them: a checkpoint of which a file is left keeps its tombstone, so that a second run can go on.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { asError, CkptError, DirectoryNotEmptyError } from '../../errors.js';
import type { BulkDeletion } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { DeletionLog, DeletionRecord } from './deletion-log.js';
import { deletion, type Removal } from './removal.js';
import { makeTombstone, restoreTombstone } from './tombstone.js';
import type { DirectoryWork, DiscardFailure, DiscardPlan, DiscardResult, FileWork, TargetWork } from './types.js';

/** Names in one call: what is logged together. */
const NAMES_AT_ONCE = 1000;
/** The same where a call lists the directory first, which must not come too often. */
const NAMES_AT_ONCE_IN_OBJECT_STORES = 10_000;
const CONCURRENT_CALLS = 8;

/** Options of {@link executePlan}. */
export interface ExecuteOptions {
  /** Default: files are deleted. */
  readonly removal?: Removal | undefined;
  readonly log?: DeletionLog | undefined;
  /** Stops at a safe point; the same plan made anew finishes the work. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Carries out a plan. Failures are part of the result, bugs are thrown. */
export async function executePlan(
  fileSystems: FileSystems,
  plan: DiscardPlan,
  options: ExecuteOptions = {},
): Promise<DiscardResult> {
  return new Execution(fileSystems, plan, options).run();
}

interface Chunk {
  readonly work: DirectoryWork;
  readonly files: readonly FileWork[];
}

class Execution {
  private readonly removal: Removal;
  private readonly failures: { readonly index: number; readonly failure: DiscardFailure }[] = [];
  private readonly strays: Set<string>;
  /** Checkpoints that are still complete: nothing of them may go. */
  private readonly complete = new Set<number>();
  /** Checkpoints of which something is left: they keep their tombstones. */
  private readonly unfinished = new Set<number>();
  private deletedFiles = 0;
  private deletedBytes = 0;
  private alreadyGone: number;
  private progress = 0;
  private logIsBroken = false;
  private interrupted = false;

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly plan: DiscardPlan,
    private readonly options: ExecuteOptions,
  ) {
    this.removal = options.removal ?? deletion(fileSystems);
    this.alreadyGone = plan.alreadyGone;
    this.strays = new Set(plan.strayEntries);
  }

  async run(): Promise<DiscardResult> {
    await this.makeTombstones();
    await this.removeState();
    await this.removeManagedDirectories();
    await this.removeLocations();
    this.failures.sort((a, b) => a.index - b.index);
    return {
      done: this.failures.length === 0 && !this.interrupted,
      deletedFiles: this.deletedFiles,
      deletedBytes: this.deletedBytes,
      alreadyGone: this.alreadyGone,
      strayEntries: [...this.strays].sort(),
      failures: this.failures.map(({ failure }) => failure),
      interrupted: this.interrupted,
    };
  }

  private async makeTombstones(): Promise<void> {
    for (const [number, { target }] of this.plan.targets.entries()) {
      if (target.state === 'complete') this.complete.add(number);
    }
    await this.forEach([...this.complete], async (number) => {
      const work = this.plan.targets[number] as TargetWork;
      const { metadataPath } = work.target;
      try {
        await makeTombstone(this.fileSystems, work);
        this.complete.delete(number);
        this.record([{ action: 'tombstone', path: metadataPath.toString(), bytes: 0 }]);
      } catch (error) {
        this.fail(work.metadata?.index ?? 0, metadataPath.toString(), error);
      }
    });
    this.leave(this.complete);
  }

  private async removeState(): Promise<void> {
    const isFree = this.plan.targetSets.map((members) => !members.some((number) => this.complete.has(number)));
    await this.forEach(this.chunks(isFree), async ({ work, files }) => {
      const { directory, identity } = work;
      let results: readonly BulkDeletion[];
      try {
        const names = files.map(({ name }) => name);
        results = await this.removal.removeFiles(directory, names, { identity, signal: this.options.signal });
      } catch (error) {
        if (!(error instanceof CkptError)) throw error;
        results = files.map(() => error);
      }
      this.take(files, results);
      // Calls that never wait would keep signals and timers out.
      await breathe();
    });
  }

  private async *chunks(isFree: readonly boolean[]): AsyncGenerator<Chunk, void, undefined> {
    for (const work of this.plan.directories) {
      const { kind } = await this.fileSystems.get(work.directory);
      const atOnce = kind === 'object-store' ? NAMES_AT_ONCE_IN_OBJECT_STORES : NAMES_AT_ONCE;
      const files = work.files.filter(({ targets }) => {
        if (isFree[targets] !== true) this.leave(this.plan.targetSets[targets] ?? []);
        return isFree[targets] === true;
      });
      for (let start = 0; start < files.length; start += atOnce) {
        yield { work, files: files.slice(start, start + atOnce) };
      }
    }
  }

  private take(files: readonly FileWork[], results: readonly BulkDeletion[]): void {
    const records: DeletionRecord[] = [];
    for (const [position, { index, bytes, targets }] of files.entries()) {
      const result = results[position];
      if (result === true) {
        this.deletedFiles++;
        this.deletedBytes += bytes;
        if (this.options.log) records.push({ action: this.removal.action, path: this.pathOf(index), bytes });
        continue;
      }
      if (result === false) {
        this.alreadyGone++;
        continue;
      }
      if (result === undefined) this.interrupted = true;
      else this.fail(index, this.pathOf(index), result);
      this.leave(this.plan.targetSets[targets] ?? []);
    }
    this.step(files.length);
    this.record(records);
  }

  private pathOf(index: number): string {
    return this.plan.delete[index]?.path ?? '';
  }

  private async removeManagedDirectories(): Promise<void> {
    await this.forEach(this.plan.managedDirectories, async ({ directory, index, targets }) => {
      const members = this.plan.targetSets[targets] ?? [];
      if (members.some((number) => this.unfinished.has(number))) return;
      try {
        if (await (await this.fileSystems.get(directory)).deleteDirectory(directory))
          this.recordDirectory(directory.toString());
      } catch (error) {
        // Somebody has put something there: then it is in use.
        if (error instanceof DirectoryNotEmptyError) return;
        this.fail(index, directory.toString(), error);
        this.leave(members);
      }
      this.step(1);
    });
  }

  private async removeLocations(): Promise<void> {
    const byDirectory = new Map<string, number[]>();
    for (const [number, { target }] of this.plan.targets.entries()) {
      const name = target.directory.toString();
      byDirectory.set(name, [...(byDirectory.get(name) ?? []), number]);
    }
    // Of what was not even tried something is left.
    if (this.interrupted) return;
    await this.forEach(byDirectory.values(), async (numbers) => {
      const finished = numbers.filter((number) => !this.unfinished.has(number));
      const isLast = finished.length === numbers.length;
      const works = finished.map((number) => this.plan.targets[number] as TargetWork);
      const [first] = works;
      if (!first) return;
      const { locationIndex } = first;
      if (!isLast || locationIndex === undefined) {
        for (const work of works) await this.removeTombstone(work);
        if (isLast) this.nameStrays(first);
      } else if (await this.mayRemoveDirectory(first, locationIndex)) {
        let isEmptied = true;
        for (const work of works) isEmptied = (await this.removeTombstone(work)) && isEmptied;
        if (isEmptied) await this.removeDirectory(first, locationIndex);
      } else {
        this.leave(finished);
      }
    });
  }

  /**
   * The directory can go only after the tombstone. If it cannot go for a reason that has nothing to do with what is in it,
   * the tombstone must not go either, or nobody could finish this. Systems look at such reasons first.
   */
  private async mayRemoveDirectory({ target, metadata }: TargetWork, index: number): Promise<boolean> {
    const { directory } = target;
    const fileSystem = await this.fileSystems.get(directory);
    if (fileSystem.kind === 'object-store' || metadata === undefined) return true;
    try {
      await fileSystem.deleteDirectory(directory);
      return true;
    } catch (error) {
      if (error instanceof DirectoryNotEmptyError) return true;
      this.fail(index, directory.toString(), error);
      return false;
    }
  }

  private async removeTombstone({ target, metadata, identity }: TargetWork): Promise<boolean> {
    if (metadata === undefined) return true;
    const { tombstonePath, metadataPath } = target;
    const path = tombstonePath.toString();
    try {
      if (await this.removal.removeTombstone(tombstonePath, metadataPath, identity)) {
        this.deletedFiles++;
        this.deletedBytes += metadata.bytes;
        this.record([{ action: this.removal.action, path, bytes: metadata.bytes }]);
      }
      this.step(1);
      return true;
    } catch (error) {
      this.fail(metadata.index, path, error);
      this.leave([this.plan.targets.findIndex((work) => work.target === target)]);
      return false;
    }
  }

  private async removeDirectory(work: TargetWork, index: number): Promise<void> {
    const { directory } = work.target;
    const path = directory.toString();
    try {
      const fileSystem = await this.fileSystems.get(directory);
      if (await fileSystem.deleteDirectory(directory)) this.recordDirectory(path);
      this.step(1);
    } catch (error) {
      this.fail(index, path, error);
      if (error instanceof DirectoryNotEmptyError) await this.findStrays(work);
      else await restoreTombstone(this.fileSystems, work.target);
    }
  }

  /** What has come into the directory since the plan was made. */
  private async findStrays({ target: { directory } }: TargetWork): Promise<void> {
    try {
      for await (const entries of (await this.fileSystems.get(directory)).list(directory)) {
        for (const { name } of entries) this.strays.add(directory.entry(name).toString());
      }
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
    }
  }

  private nameStrays({ target, strayEntries }: TargetWork): void {
    if (strayEntries.length === 0) return;
    const path = target.directory.toString();
    this.fail(this.plan.delete.length, path, new DirectoryNotEmptyError(path));
  }

  private async forEach<T>(items: Iterable<T> | AsyncIterable<T>, work: (item: T) => Promise<void>): Promise<void> {
    const options = { concurrency: CONCURRENT_CALLS, signal: this.options.signal };
    if (!(await forEachConcurrently(items, work, options))) this.interrupted = true;
  }

  private fail(index: number, path: string, thrown: unknown): void {
    const error = asError(thrown);
    if (!(error instanceof CkptError)) throw error;
    this.failures.push({ index, failure: { path, message: error.message, error } });
  }

  private leave(targets: Iterable<number>): void {
    for (const number of targets) this.unfinished.add(number);
  }

  private step(count: number): void {
    this.progress += count;
    this.options.onProgress?.(this.progress, this.plan.delete.length);
  }

  private recordDirectory(path: string): void {
    this.record([{ action: 'directory', path, bytes: 0 }]);
  }

  private record(records: readonly DeletionRecord[]): void {
    if (this.logIsBroken) return;
    try {
      this.options.log?.append(records);
    } catch (error) {
      // What has begun is finished all the same; that it is not logged is a failure of its own.
      this.logIsBroken = true;
      this.fail(this.plan.delete.length + 1, error instanceof CkptError ? String(error.data.path) : '', error);
    }
  }
}
