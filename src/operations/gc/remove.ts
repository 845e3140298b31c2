/**
 * Removes what a search has found. Before the first file goes, and again and again while files go, it is looked whether
 * metadata has come or changed: what it names stays.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { asError, CkptError, DirectoryNotEmptyError } from '../../errors.js';
import type { BulkDeletion } from '../../filesystem/file-system.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { DeletionLog, DeletionRecord } from '../discard/deletion-log.js';
import { executePlan } from '../discard/execute.js';
import { isLockName } from '../discard/lock.js';
import { deletion, type Removal } from '../discard/removal.js';
import { blockedPaths } from './blocked.js';
import { planPendingDiscards } from './half-discarded.js';
import type { Group } from './inventory.js';
import type { GcSearch } from './search.js';
import type { Settlement } from './snapshot.js';
import type { BlockedPath, GcEntry, GcFailure, SparedPath, SparedReason } from './types.js';

/** What one request of an object store takes. */
const OBJECTS_AT_ONCE = 1000;
/** Looks that are taken before it counts what they cost. */
const FREE_LOOKS = 16;
const MAX_BATCH = 5000;

/** Options of {@link removeGarbage}. */
export interface RemoveOptions {
  /** Default: files are deleted. */
  readonly removal?: Removal | undefined;
  readonly log?: DeletionLog | undefined;
  /** Stops at a safe point. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Told of each file that is gone, in batches. */
  readonly onRemoved?: ((entries: readonly GcEntry[]) => void | Promise<void>) | undefined;
}

/** What was removed. */
export interface RemoveResult {
  readonly deletedFiles: number;
  readonly deletedBytes: number;
  readonly deletedDirectories: number;
  /** Files that somebody else had removed before. */
  readonly alreadyGone: number;
  readonly failed: readonly GcFailure[];
  /** What was found and stays, for something has changed since. */
  readonly spared: readonly SparedPath[];
  /** What has turned up since and keeps the rest from being removed. */
  readonly blocked: readonly BlockedPath[];
  /** True if the signal stopped it. */
  readonly interrupted: boolean;
}

/** Removes files, finishes discards, then removes directories. Failures are part of the result, bugs are thrown. */
export async function removeGarbage(
  fileSystems: FileSystems,
  search: GcSearch,
  options: RemoveOptions = {},
): Promise<RemoveResult> {
  return new GarbageRemoval(fileSystems, search, options).run();
}

class GarbageRemoval {
  private readonly removal: Removal;
  private readonly failed: GcFailure[] = [];
  private readonly spared = new Map<string, SparedPath>();
  /** Units to which something happened. */
  private readonly changed = new Set<string>();
  private blocked: readonly BlockedPath[] = [];
  private deletedFiles = 0;
  private deletedBytes = 0;
  private deletedDirectories = 0;
  private alreadyGone = 0;
  private done = 0;
  private batch = 1;
  private looks = 0;
  /** Files that have gone since the last look, and how long that took. */
  private sinceLook = 0;
  private removing = 0;
  private logIsBroken = false;

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly search: GcSearch,
    private readonly options: RemoveOptions,
  ) {
    this.removal = options.removal ?? deletion(fileSystems);
  }

  async run(): Promise<RemoveResult> {
    let interrupted = false;
    try {
      await this.look('full');
      await this.removeFiles();
      await this.finishDiscards();
      await this.removeDirectories();
    } catch (error) {
      if (this.options.signal?.aborted !== true) throw error;
      interrupted = true;
    }
    const { deletedFiles, deletedBytes, deletedDirectories, alreadyGone, failed, blocked } = this;
    const spared = [...this.spared.values()];
    return { deletedFiles, deletedBytes, deletedDirectories, alreadyGone, failed, spared, blocked, interrupted };
  }

  private get isStopped(): boolean {
    this.options.signal?.throwIfAborted();
    return this.blocked.length > 0;
  }

  /** Looks whether metadata has come or changed, and reads it. */
  private async look(depth: 'quick' | 'full'): Promise<void> {
    const { snapshot, book } = this.search;
    const settlement = await snapshot.settle({ depth, signal: this.options.signal });
    for (const path of settlement.touched) this.changed.add(path);
    this.blocked = blockedPaths(this.fileSystems, snapshot, book, settlement);
    this.looks++;
    if (this.looks === 1) this.batch = firstBatch(settlement);
  }

  private async removeFiles(): Promise<void> {
    const byDirectory = new Map<string, GcEntry[]>();
    for (const entry of this.search.entries) {
      const path = entry.directory.toString();
      const siblings = byDirectory.get(path);
      if (siblings) siblings.push(entry);
      else byDirectory.set(path, [entry]);
    }
    for (const group of this.search.book.inventory.groups.values()) {
      const entries = byDirectory.get(group.directory.toString());
      if (entries) await this.removeGroup(group, entries);
      if (this.isStopped) return;
    }
  }

  private async removeGroup(group: Group, entries: readonly GcEntry[]): Promise<void> {
    if (isJudgedWhole(entries) && (await this.hasGrown(group))) this.changed.add(group.place.unit);
    const isObjectStore = (await this.fileSystems.get(group.directory)).kind === 'object-store';
    for (let start = 0; start < entries.length; ) {
      if (this.isStopped) return;
      const size = isObjectStore ? OBJECTS_AT_ONCE : Math.max(this.batch - this.sinceLook, 1);
      const batch = entries.slice(start, start + size).filter((entry) => this.mayGo(group, entry));
      start += size;
      if (batch.length === 0) continue;
      const started = performance.now();
      await this.removeBatch(group, batch);
      this.removing += performance.now() - started;
      this.sinceLook += batch.length;
      if (this.sinceLook < this.batch) continue;
      const between = performance.now();
      await this.look('quick');
      this.pace(performance.now() - between);
    }
  }

  /** In a big tree a look costs more than the files between two: then more go at once. */
  private pace(looking: number): void {
    if (this.looks > FREE_LOOKS && looking > this.removing) this.batch = Math.min(this.batch * 2, MAX_BATCH);
    this.removing = 0;
    this.sinceLook = 0;
  }

  private mayGo(group: Group, entry: GcEntry): boolean {
    const { book } = this.search;
    const reason: SparedReason | undefined = this.isOfChangedUnit(group)
      ? 'changed'
      : group.names.isUsed(entry.name) || book.managedKeys.has(group.key) || book.managedKeys.has(group.unitKey)
        ? 'in-use-now'
        : undefined;
    if (reason === undefined) return true;
    this.spared.set(entry.path, { path: entry.path, reason });
    return false;
  }

  /** Something happens in a directory that is judged as a whole: whoever writes there is not dead. */
  private isOfChangedUnit({ place, directory }: Group): boolean {
    const isWhole = place.kind === 'checkpoint' || place.kind === 'savepoint' || place.kind === 'managed';
    return (isWhole || place.kind === 'working') && (this.changed.has(place.unit) || this.changed.has(`${directory}`));
  }

  /** True if there are files in a directory that were not there when it was listed, such as metadata. */
  private async hasGrown({ directory, names }: Group): Promise<boolean> {
    try {
      for await (const entries of (await this.fileSystems.get(directory)).list(directory, this.options.signal)) {
        const files = entries.filter(({ name, type, isLink }) => type === 'file' && !isLink && !isLockName(name));
        if (files.some(({ name }) => !names.has(name))) return true;
      }
      return false;
    } catch (error) {
      if (error instanceof CkptError) return true;
      throw error;
    }
  }

  private async removeBatch({ directory, identity }: Group, batch: readonly GcEntry[]): Promise<void> {
    let results: readonly BulkDeletion[];
    try {
      const names = batch.map(({ name }) => name);
      results = await this.removal.removeFiles(directory, names, { identity, signal: this.options.signal });
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
      results = batch.map(() => error);
    }
    const gone: GcEntry[] = [];
    const records: DeletionRecord[] = [];
    for (const [index, entry] of batch.entries()) {
      const result = results[index];
      if (result instanceof CkptError) this.fail(entry.path, result);
      else if (result !== undefined) this.search.snapshot.forget(directory, entry.name);
      if (result === false) this.alreadyGone++;
      if (result !== true) continue;
      gone.push(entry);
      this.deletedFiles++;
      this.deletedBytes += entry.bytes;
      if (this.options.log) records.push({ action: this.removal.action, path: entry.path, bytes: entry.bytes });
    }
    this.record(records);
    await this.options.onRemoved?.(gone);
    this.done += batch.length;
    this.options.onProgress?.(this.done, this.search.findings.unreferenced.length);
    // Calls that never wait would keep signals and timers out.
    await breathe();
  }

  /** Plans the rest of each discard anew: what was shown may go, and nothing else. */
  private async finishDiscards(): Promise<void> {
    if (this.isStopped || this.search.discards.plan === undefined) return;
    const { snapshot, book, options, discards } = this.search;
    const now = await planPendingDiscards(this.fileSystems, snapshot, book.grounds, {
      ...options,
      signal: this.options.signal,
    });
    const shown = new Set(discards.entries.map(({ path }) => path));
    if (now.plan === undefined || now.entries.some(({ path }) => !shown.has(path))) {
      for (const { target } of discards.plan?.targets ?? []) {
        const path = target.tombstonePath.toString();
        this.spared.set(path, { path, reason: 'changed' });
      }
      return;
    }
    const result = await executePlan(this.fileSystems, now.plan, {
      removal: this.removal,
      log: this.options.log,
      signal: this.options.signal,
    });
    this.deletedFiles += result.deletedFiles;
    this.deletedBytes += result.deletedBytes;
    this.alreadyGone += result.alreadyGone;
    this.failed.push(...result.failures.map(({ path, message }) => ({ path, message })));
    await this.options.onRemoved?.(now.entries);
    this.options.signal?.throwIfAborted();
  }

  private async removeDirectories(): Promise<void> {
    for (const directory of this.search.findings.emptyDirectories) {
      if (this.isStopped) return;
      try {
        if (!(await (await this.fileSystems.get(directory)).deleteDirectory(directory))) continue;
        this.deletedDirectories++;
        this.record([{ action: 'directory', path: directory.toString(), bytes: 0 }]);
      } catch (error) {
        // Something has come, or something stays: then it is not empty.
        if (error instanceof DirectoryNotEmptyError) continue;
        this.fail(directory.toString(), error);
      }
    }
  }

  private record(records: readonly DeletionRecord[]): void {
    if (this.logIsBroken) return;
    try {
      this.options.log?.append(records);
    } catch (error) {
      // What is done is done: it goes on, and the failure is told.
      this.logIsBroken = true;
      this.fail('the log', error);
    }
  }

  private fail(path: string, error: unknown): void {
    if (!(error instanceof CkptError)) throw error;
    this.failed.push({ path, message: asError(error).message });
  }
}

/** True for files of which none may go if something happens in their directory. */
function isJudgedWhole([first]: readonly GcEntry[]): boolean {
  return first?.kind === 'incomplete-checkpoint' || first?.kind === 'managed-directory';
}

/** As many files as the look took listings, roughly: of a small tree few, so that little can happen between two looks. */
function firstBatch({ last }: Settlement): number {
  return Math.min(Math.max(Math.ceil((last.directories + last.entries / 20) / 4), 1), MAX_BATCH);
}
