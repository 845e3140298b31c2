/**
 * All metadata that may name files, as it was read, and whether it still is as it was. What was once named stays in use,
 * so a checkpoint that hands its files to the next one and goes meanwhile costs none of them.
 */
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type CheckpointDirectory, outermost, scanArea, type Unreadable } from '../area/scan.js';
import { isLockName } from '../discard/lock.js';
import { metadataSignature, NameSum } from './signature.js';
import type { DirectoryReport, UserReader } from './users.js';

/** More rounds than this mean that checkpoints come faster than they can be read. */
const MAX_ROUNDS = 20;

/** How a look at the stores is taken. */
export interface LookOptions {
  readonly signal?: AbortSignal | undefined;
  /** `quick`: the places of the many files, in which no metadata was found, are not entered. */
  readonly depth: 'quick' | 'full';
}

/** What a look cost and found. */
export interface Look {
  /** Directories that were listed. */
  readonly directories: number;
  /** Entries that were listed. */
  readonly entries: number;
  /** Directories that are new, or not as they were read. */
  readonly changed: readonly Path[];
  /** Directories that were read and are no more. */
  readonly vanished: readonly Path[];
  readonly unlistable: readonly Unreadable[];
}

/** What {@link Snapshot.settle} came to. */
export interface Settlement {
  /** False if checkpoints come faster than they can be read. */
  readonly isSettled: boolean;
  readonly last: Look;
  /** Paths of the directories that were new, had changed, or are no more. */
  readonly touched: ReadonlySet<string>;
}

/** What a snapshot is of. */
export interface SnapshotGround {
  /** Everywhere where there may be metadata. */
  readonly roots: readonly Path[];
  /** Directories that a quick look does not enter. */
  readonly quiet: ReadonlySet<string>;
  /** Directories that were taken out. */
  readonly dead: ReadonlySet<string>;
  /** What could not be listed at first. */
  readonly unlistable: readonly Unreadable[];
}

/** See the file comment. */
export class Snapshot {
  /** By path. */
  readonly reports = new Map<string, DirectoryReport>();
  private unlistable: readonly Unreadable[];

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly reader: UserReader,
    private readonly ground: SnapshotGround,
  ) {
    this.unlistable = this.living(ground.unlistable);
  }

  /** What could not be looked at, at last. */
  get unlistableDirectories(): readonly Unreadable[] {
    return this.unlistable;
  }

  /** Reads directories and keeps the reports. */
  async read(
    directories: readonly Path[],
    options: { readonly signal?: AbortSignal | undefined; onProgress?: (done: number, total: number) => void } = {},
  ): Promise<void> {
    for (const directory of directories) this.reports.delete(directory.toString());
    for (const report of await this.reader.readAll(directories, 'mark', options)) {
      this.reports.set(report.directory.toString(), report);
    }
  }

  /**
   * Looks for metadata that has come or changed, reads it, and looks again, until nothing has.
   * @throws the signal's reason
   */
  async settle(options: LookOptions): Promise<Settlement> {
    let last = await this.look(options);
    const touched = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      for (const path of [...last.changed, ...last.vanished]) touched.add(path.toString());
      if (last.changed.length === 0 && last.vanished.length === 0) return { isSettled: true, last, touched };
      for (const path of last.vanished) this.reports.delete(path.toString());
      await this.read(last.changed, { signal: options.signal });
      last = await this.look(options);
    }
    return { isSettled: false, last, touched };
  }

  /** Tells that a file was removed by this very run: no change of anybody else's. */
  forget(directory: Path, name: string): void {
    this.reports.get(directory.toString())?.names.remove(name);
  }

  /** Compares what is there with what was read. */
  async look({ signal, depth }: LookOptions): Promise<Look> {
    const { quiet, roots, dead } = this.ground;
    const sums = new Map<string, NameSum>();
    let entriesSeen = 0;
    let directories = 0;
    const skips = depth === 'quick' ? quiet : new Set<string>();
    const { checkpoints, unlistable } = await scanArea(this.fileSystems, outermost(roots), {
      signal,
      skip: (directory) => skips.has(directory.toString()),
      onEntries: (directory, entries) => {
        entriesSeen += entries.length;
        // Nothing is read in these, so no sum is needed: a million names would cost more than the listing.
        const text = directory.toString();
        if (quiet.has(text) && !this.reports.has(text)) return;
        const sum = sums.get(text) ?? new NameSum();
        sums.set(text, sum);
        for (const { name } of entries) if (!isLockName(name)) sum.add(name);
      },
      onDirectory: (directory) => {
        directories++;
        if (!this.reports.has(directory.toString())) sums.delete(directory.toString());
      },
    });
    const unseen = depth === 'quick' ? this.unlistable.filter(({ path }) => this.isInQuiet(path)) : [];
    this.unlistable = this.living([...unlistable, ...unseen]);
    const changed: Path[] = [];
    for (const { directory } of checkpoints) {
      if (dead.has(directory.toString())) continue;
      if (await this.hasChanged(directory, sums.get(directory.toString()))) changed.push(directory);
    }
    const present = new Set(checkpoints.map(({ directory }) => directory.toString()));
    const vanished = [...this.reports.values()]
      .map(({ directory }) => directory)
      .filter((directory) => !present.has(directory.toString()));
    return { directories, entries: entriesSeen, changed, vanished, unlistable: this.unlistable };
  }

  /** True for what a quick look does not come to. */
  private isInQuiet(path: Path): boolean {
    for (let above = path.parent; above; above = above.parent) {
      if (this.ground.quiet.has(above.toString())) return true;
    }
    return this.ground.quiet.has(path.toString());
  }

  private living(unlistable: readonly Unreadable[]): readonly Unreadable[] {
    return unlistable.filter(({ path }) => !this.ground.dead.has(path.toString()));
  }

  private async hasChanged(directory: Path, sum: NameSum | undefined): Promise<boolean> {
    const report = this.reports.get(directory.toString());
    // Of an empty directory no entries are told.
    if (!report?.names.equals(sum ?? new NameSum())) return true;
    return report.metadata !== (await metadataSignature(this.fileSystems, directory));
  }
}

/** The directories of some checkpoints. */
export function directoriesOf(checkpoints: readonly CheckpointDirectory[]): Path[] {
  return checkpoints.map(({ directory }) => directory);
}
