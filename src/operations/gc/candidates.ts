/** Third step: which of the files that nobody names may be offered, and why others are not. */
import type { FileSystems } from '../../filesystem/registry.js';
import { isTemporaryName } from '../../filesystem/temporary-name.js';
import type { Area } from '../area/area.js';
import { COPY_MARKER, isBeingCopied } from '../copy/marker.js';
import { type AgeRule, isYoung, stated } from './ages.js';
import { type Group, type Inventory, isBase } from './inventory.js';
import { isUuid } from './name-table.js';
import type { DirectoryBook } from './named-directories.js';
import { isUnfinishedOfFlink } from './places.js';
import type { Snapshot } from './snapshot.js';
import { GcEntry, type GcKind, type SparedPath, type SparedReason } from './types.js';
import { isTombstone } from './users.js';

/** What may be offered besides what always is. */
export interface CandidateOptions extends AgeRule {
  /** Places were named that may refer to savepoints without metadata. */
  readonly hasUsedBy: boolean;
  readonly workingDirectories: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link findCandidates} finds. */
export interface Candidates {
  readonly entries: readonly GcEntry[];
  readonly spared: readonly SparedPath[];
  /** Files of which operator state may know: to be looked for there first. Those in `taskowned/`, and those beside metadata. */
  readonly taskOwned: readonly Hidden[];
  readonly exclusive: readonly Hidden[];
}

/** A file that operator state may name. */
export interface Hidden {
  readonly entry: GcEntry;
  readonly isYoung: boolean;
}

/** What is to become of the files of a group that nobody names. */
type Verdict =
  | { readonly offer: GcKind; readonly as: 'files' | 'unit' }
  | { readonly offer: 'unfinished' }
  | { readonly offer: 'hidden'; readonly as: 'taskowned' | 'exclusive' }
  | { readonly spare: SparedReason };

/** What the directories of checkpoints are, by path. */
export interface CheckpointStates {
  readonly snapshot: Snapshot;
  /** Paths of directories that were taken out. */
  readonly dead: ReadonlySet<string>;
}

/**
 * Sorts out what nobody names.
 * @throws the signal's reason; errors of the store where files cannot be looked at
 */
export async function findCandidates(
  fileSystems: FileSystems,
  book: DirectoryBook,
  states: CheckpointStates,
  options: CandidateOptions,
): Promise<Candidates> {
  const finder = new CandidateFinder(fileSystems, book, states, options);
  return finder.find();
}

class CandidateFinder {
  private readonly entries: GcEntry[] = [];
  private readonly spared = new Map<string, SparedPath>();
  private readonly taskOwned: Hidden[] = [];
  private readonly exclusive: Hidden[] = [];
  private readonly units = new Map<string, { readonly kind: GcKind; readonly groups: Group[] }>();
  private readonly inventory: Inventory;
  private readonly roots: Area;
  private readonly hasUsers: boolean;

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly book: DirectoryBook,
    private readonly states: CheckpointStates,
    private readonly options: CandidateOptions,
  ) {
    this.inventory = book.inventory;
    this.roots = book.grounds.roots;
    this.hasUsers = [...states.snapshot.reports.values()].some(({ users }) => users.length > 0);
  }

  async find(): Promise<Candidates> {
    for (const group of this.inventory.groups.values()) {
      this.options.signal?.throwIfAborted();
      await this.take(group);
    }
    for (const [path, unit] of this.units) await this.takeUnit(path, unit);
    const { entries, taskOwned, exclusive } = this;
    return { entries, spared: [...this.spared.values()], taskOwned, exclusive };
  }

  private async take(group: Group): Promise<void> {
    if (group.names.isAllUsed) return;
    const verdict = this.judge(group);
    if (!verdict) return;
    if ('spare' in verdict) {
      this.spare(group.place.unit, verdict.spare);
      return;
    }
    if (!(await this.isReallyInside(group))) {
      this.spare(group.place.unit, 'outside-roots');
      return;
    }
    switch (verdict.offer) {
      case 'unfinished':
        return this.takeUnfinished(group);
      case 'hidden':
        await this.takeHidden(group, verdict.as);
        return verdict.as === 'exclusive' ? this.takeUnfinished(group) : undefined;
      default:
        return verdict.as === 'unit' ? this.addToUnit(group, verdict.offer) : this.takeFiles(group, verdict.offer);
    }
  }

  private judge(group: Group): Verdict | undefined {
    const { place, directory } = group;
    const isFlat = place.kind === 'flat-changelog';
    if (!isFlat && !this.roots.contains(directory)) return undefined;
    if (this.book.managedKeys.has(group.key) || this.book.managedKeys.has(group.unitKey)) return undefined;
    const own = this.states.snapshot.reports.get(directory.toString());
    const holdsMetadata = own !== undefined && own.users.length > 0;
    const isCheckpoint = place.kind === 'checkpoint' || place.kind === 'savepoint';
    if (holdsMetadata && !isCheckpoint) return { offer: 'unfinished' };
    if (!isFlat && !isCheckpoint && !this.isFlinks(group)) return undefined;
    switch (place.kind) {
      case 'shared':
        return { offer: 'shared', as: 'files' };
      case 'taskowned':
        return { offer: 'hidden', as: 'taskowned' };
      case 'managed':
        return { offer: 'managed-directory', as: 'unit' };
      case 'working':
        return this.options.workingDirectories ? { offer: 'shared', as: 'unit' } : { spare: 'working-directory' };
      case 'changelog':
        return this.judgeChangelog(group);
      case 'flat-changelog':
        return this.hasUsers ? { offer: 'changelog', as: 'files' } : { spare: 'job-unknown' };
      case 'checkpoint':
      case 'savepoint':
        return this.judgeCheckpoint(group);
      case 'job':
        return { offer: 'unfinished' };
      case 'outside':
        return undefined;
    }
  }

  /** A directory of the right name is Flink's in a job's directory, or if others of the right names stand beside it. */
  private isFlinks({ place }: Group): boolean {
    return place.jobId !== null || isBase(this.inventory.bases.get(place.base));
  }

  /** Changelog files lie apart from their checkpoints: if none were found at all, it was looked in the wrong place. */
  private judgeChangelog({ place }: Group): Verdict | undefined {
    if (!place.isUnit) return undefined;
    const isKnown = this.hasUsers || this.inventory.jobs.has(place.jobId ?? '');
    return isKnown ? { offer: 'changelog', as: 'files' } : { spare: 'job-unknown' };
  }

  private judgeCheckpoint({ place, directory }: Group): Verdict | undefined {
    if (this.states.dead.has(place.unit)) return { spare: 'assumed-dead' };
    const report = this.states.snapshot.reports.get(place.unit);
    if (!report) return undefined;
    const isUnit = directory.toString() === place.unit;
    const nested = isUnit ? undefined : this.states.snapshot.reports.get(directory.toString());
    if (nested && nested.users.length > 0) return { offer: 'unfinished' };
    if (report.users.some((user) => !isTombstone(user.metadataPath.name))) {
      return isUnit ? { offer: 'hidden', as: 'exclusive' } : undefined;
    }
    if (report.users.length > 0) return undefined;
    if (place.kind === 'savepoint' && !this.options.hasUsedBy) return { spare: 'may-be-claimed' };
    return { offer: 'incomplete-checkpoint', as: 'unit' };
  }

  private async isReallyInside({ directory, place }: Group): Promise<boolean> {
    if (place.kind === 'flat-changelog') return true;
    return this.roots.containsReal(await (await this.fileSystems.get(directory)).resolveLinks(directory));
  }

  private addToUnit(group: Group, kind: GcKind): void {
    const { unit } = group.place;
    const known = this.units.get(unit);
    if (known) known.groups.push(group);
    else this.units.set(unit, { kind, groups: [group] });
  }

  /** A directory is as young as its youngest file, be it in use or not. */
  private async takeUnit(path: string, { kind, groups }: { kind: GcKind; groups: Group[] }): Promise<void> {
    const found: GcEntry[] = [];
    for (const group of this.groupsOf(path, groups)) {
      if (await this.isCopyGoingOn(group)) {
        this.spare(path, 'young');
        return;
      }
      for await (const { name, status } of this.statusesOf(group, group.names.names())) {
        if (isYoung(status.newestTime, this.options)) {
          this.spare(path, 'young');
          return;
        }
        if (!groups.includes(group) || group.names.isUsed(name)) continue;
        const own = isUnfinished(name) ? 'in-progress' : kind;
        found.push(new GcEntry(group.directory, name, status.size, own, status.modificationTime));
      }
    }
    this.entries.push(...found);
  }

  /** A copy is to become a checkpoint here; its marker is refreshed, however young files must be to be spared. */
  private async isCopyGoingOn({ directory, names }: Group): Promise<boolean> {
    for (const name of names.names()) {
      if (name === COPY_MARKER) return isBeingCopied(this.fileSystems, directory, this.options.now());
    }
    return false;
  }

  /** All groups of a unit, those included in which every file is in use. */
  private groupsOf(path: string, groups: readonly Group[]): Group[] {
    const others = [...this.inventory.groups.values()].filter(
      (group) => group.place.unit === path && !groups.includes(group),
    );
    return [...groups, ...others];
  }

  private async takeFiles(group: Group, kind: GcKind): Promise<void> {
    for await (const { name, status } of this.statusesOf(group, group.names.unused())) {
      const entry = new GcEntry(
        group.directory,
        name,
        status.size,
        isUnfinished(name) ? 'in-progress' : kind,
        status.modificationTime,
      );
      if (isYoung(status.newestTime, this.options)) this.spare(entry.path, 'young');
      else this.entries.push(entry);
    }
  }

  private async takeUnfinished(group: Group): Promise<void> {
    for await (const { name, status } of this.statusesOf(group, filter(group.names.unused(), isUnfinished))) {
      const entry = new GcEntry(group.directory, name, status.size, 'in-progress', status.modificationTime);
      if (isYoung(status.newestTime, this.options)) this.spare(entry.path, 'young');
      else this.entries.push(entry);
    }
  }

  private async takeHidden(group: Group, as: 'taskowned' | 'exclusive'): Promise<void> {
    const names = as === 'exclusive' ? filter(group.names.unused(), isUuid) : group.names.unused();
    for await (const { name, status } of this.statusesOf(group, names)) {
      const kind = isUnfinished(name) ? 'in-progress' : 'exclusive';
      const entry = new GcEntry(group.directory, name, status.size, kind, status.modificationTime);
      const hidden = { entry, isYoung: isYoung(status.newestTime, this.options) };
      (as === 'exclusive' ? this.exclusive : this.taskOwned).push(hidden);
    }
  }

  private statusesOf(group: Group, names: Iterable<string>): ReturnType<typeof stated> {
    return stated(this.fileSystems, group, names, this.options.signal);
  }

  private spare(path: string, reason: SparedReason): void {
    if (!this.spared.has(path)) this.spared.set(path, { path, reason });
  }
}

function isUnfinished(name: string): boolean {
  return isTemporaryName(name) || isUnfinishedOfFlink(name);
}

function* filter<T>(items: Iterable<T>, test: (item: T) => boolean): Generator<T, void, undefined> {
  for (const item of items) if (test(item)) yield item;
}
