/**
 * The plan of a discard: every file that goes and every file that stays, with the reason. Making it changes nothing. It
 * covers any number of checkpoints: what only they use goes.
 */
import { CkptError, NotFoundError, RefusedError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import { Path as FlinkPath } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { Area } from '../area/area.js';
import { type AreaView, viewArea } from './area-view.js';
import { addCopyMarkers } from './copy-markers.js';
import { type FoundUsers, findUsers, noUsers, unnamedEntries } from './find-users.js';
import { judge, lookAtFiles, requireLinkInside } from './judge-files.js';
import { requireNotNewest } from './newest-guard.js';
import {
  type ReadTargets,
  readTargets,
  type TargetFile,
  type TargetFiles,
  type TargetManagedDirectory,
} from './target-files.js';
import { type DiscardTargets, isStatus, presentMetadata } from './targets.js';
import type {
  DirectoryWork,
  DiscardPlan,
  DiscardTarget,
  FileWork,
  KeptFile,
  ManagedDirectoryWork,
  PlannedDeletion,
  TargetWork,
} from './types.js';

/** How old the files of a job must be for its newest checkpoint to be free, in milliseconds, unless it is said. */
export const DEFAULT_MIN_AGE = 15 * 60_000;

/** Directories that file merging makes for a subtask of an operator or for a task manager. */
const MANAGED = /^job_.+_(?:op|tm)_/;

/** Options of {@link planDiscard}. */
export interface PlanOptions {
  /** `own-directories`: nothing outside the checkpoints' own directories goes, and metadata that cannot be read is no reason to refuse. */
  readonly scope?: 'all' | 'own-directories' | undefined;
  /** `ignore`: files go even if others name them. */
  readonly otherUsers?: 'respect' | 'ignore' | undefined;
  /** `stopped`: no job runs that could build on a checkpoint or be writing a file. */
  readonly job?: 'may-run' | 'stopped' | undefined;
  /** Milliseconds; default {@link DEFAULT_MIN_AGE}. */
  readonly minAge?: number | undefined;
  /** What becomes of a `chk-N` with broken metadata, see `ReadTargetsOptions`. */
  readonly unreadable?: 'fail' | 'own-directory' | undefined;
  /** Where files are moved instead of being deleted; must lie outside the area. */
  readonly moveTo?: Path | undefined;
  /** By the clock of the store, ms since the epoch; default `Date.now()`. */
  readonly now?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many checkpoints have been found, then how many have been read of how many. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Plans the discard of checkpoints. The pointers that cannot be discarded are in `failed` of the plan.
 * @throws RefusedError with the reason in `data.reason`: a path with `..`, a link that leads out, metadata in the area that
 *   cannot be read, the newest checkpoint of a job that may run, a place to move to in the area; the signal's reason
 */
export async function planDiscard(
  fileSystems: FileSystems,
  { targets, failed, area }: DiscardTargets,
  options: PlanOptions = {},
): Promise<DiscardPlan> {
  const { signal, minAge = DEFAULT_MIN_AGE } = options;
  if (options.moveTo) await requireApart(fileSystems, area, options.moveTo);
  const view = await viewArea(fileSystems, area.roots, targets, {
    signal,
    onCheckpoint: (found) => options.onProgress?.(found, 0),
  });
  const read = await readTargets(fileSystems, targets, view.keys, {
    unreadable: options.unreadable,
    signal,
    fileNames: async (target) => {
      const entries = await view.entriesOf(target);
      return entries.filter(({ type }) => type === 'file').map(({ name }) => name);
    },
  });
  const now = options.now ?? Date.now();
  await addCopyMarkers(fileSystems, view, view.keys, read, now);
  const mayRun = options.job !== 'stopped' && minAge > 0;
  const youngFrom = mayRun ? now - minAge : Number.POSITIVE_INFINITY;
  if (mayRun) {
    await requireNotNewest(fileSystems, view.checkpoints, read.readable, view.isTarget, { youngFrom, signal });
  }
  noteManagedParents(read.files);
  const identities = await lookAtFiles(fileSystems, read.files.files, area, signal);
  const roots = area.roots.map(String);
  const users =
    options.otherUsers === 'ignore' || read.readable.length === 0
      ? noUsers(roots, view)
      : await findUsers(fileSystems, roots, view, read.readable, read.files, {
          unreadable: options.scope === 'own-directories' ? 'tolerate' : 'refuse',
          signal,
          onProgress: options.onProgress,
        });
  const rules = {
    ownDirectories: new Set(read.readable.map(view.keyOf)),
    keepShared: options.scope === 'own-directories',
    youngFrom,
  };
  for (const file of read.files.files) file.verdict = judge(file, rules);
  const assembly = new Assembly(fileSystems, area, view, read, users, identities, options.scope);
  return assembly.plan([...failed, ...read.failed]);
}

/** File merging owns the directories of its files, whether or not a handle says so. */
function noteManagedParents(files: TargetFiles): void {
  for (const { merged, directory, directoryKey, targets } of files.files) {
    if (!merged || !MANAGED.test(directory.slice(directory.lastIndexOf('/') + 1))) continue;
    for (const target of files.sets.members(targets)) files.addManaged(directoryKey, directory, target);
  }
}

/** @throws RefusedError if a place to move to lies in the area, or the area in it */
export async function requireApart(fileSystems: FileSystems, area: Area, moveTo: Path): Promise<void> {
  const real = await resolveNearest(fileSystems, moveTo);
  if (!area.overlaps(moveTo, real)) return;
  throw new RefusedError(
    `${moveTo}: what is moved must not stay in, or come above, the directories it is taken from (${area.roots.join(', ')}); nothing was changed`,
    { reason: 'move-to', path: moveTo.toString() },
  );
}

/** The path with the links of its nearest existing directory resolved. */
async function resolveNearest(fileSystems: FileSystems, path: Path): Promise<Path> {
  try {
    return await (await fileSystems.get(path)).resolveLinks(path);
  } catch (error) {
    const { parent } = path;
    if (!(error instanceof NotFoundError) || !parent || parent.equals(path)) throw error;
    return (await resolveNearest(fileSystems, parent)).entry(path.name);
  }
}

type Location = Pick<TargetWork, 'identity' | 'locationIndex' | 'strayEntries'>;

/** Puts together what was found. */
class Assembly {
  private readonly deletions: PlannedDeletion[] = [];
  private readonly keep: KeptFile[] = [];

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly area: Area,
    private readonly view: AreaView,
    private readonly read: ReadTargets,
    private readonly users: FoundUsers,
    private readonly identities: ReadonlyMap<string, string | undefined>,
    private readonly scope: PlanOptions['scope'],
  ) {}

  async plan(failed: DiscardPlan['failed']): Promise<DiscardPlan> {
    const { files, readable } = this.read;
    const metadata = [];
    for (const target of readable) metadata.push(await this.planMetadata(target));
    const { directories, alreadyGone } = this.planFiles();
    const managedDirectories = await this.planManagedDirectories();
    const locations = new Map<string, Location>();
    const targets: TargetWork[] = [];
    for (const [index, target] of readable.entries()) {
      const key = this.view.keyOf(target);
      const location = locations.get(key) ?? (await this.planLocation(target));
      locations.set(key, location);
      targets.push({ target, metadata: metadata[index], ...location });
    }
    const strayEntries = [...locations.values()].flatMap((location) => location.strayEntries).sort();
    return {
      roots: this.area.roots,
      failed,
      targets,
      directories,
      managedDirectories,
      targetSets: files.sets.all,
      delete: this.deletions,
      keep: this.keep,
      alreadyGone,
      strayEntries,
      search: this.users.reach,
      locks: this.view.locked,
      area: this.view.checkpoints.map(({ directory, files: plain, others }) => ({
        directory,
        entries: plain + others,
      })),
    };
  }

  private async planMetadata(target: DiscardTarget): Promise<TargetWork['metadata']> {
    const path = presentMetadata(target);
    if (path === undefined) return undefined;
    const { directory } = target;
    const [status] = await (await this.fileSystems.get(directory)).getFileStatuses(directory, [path.name]);
    if (!isStatus(status)) throw status ?? new NotFoundError(path.toString());
    if (status.type === 'link') await requireLinkInside(this.fileSystems, path, this.area);
    const bytes = status.linkCount > 1 && !target.hasTombstone ? 0 : status.size;
    const index = this.deletions.push({ path: path.toString(), bytes, step: 'metadata' }) - 1;
    return { size: status.size, modificationTime: status.modificationTime, bytes, index };
  }

  private planFiles(): { directories: DirectoryWork[]; alreadyGone: number } {
    const byDirectory = new Map<string, FileWork[]>();
    let alreadyGone = 0;
    for (const file of this.read.files.files) {
      const { path, verdict } = file;
      if (verdict === 'gone') {
        alreadyGone++;
      } else if (verdict !== 'delete') {
        this.keep.push({ path, bytes: file.size, reason: verdict, usedBy: this.usersOf(file) });
      } else {
        file.index = this.deletions.push({ path, bytes: file.bytes, step: 'state' }) - 1;
        const siblings = byDirectory.get(file.directory);
        if (siblings) siblings.push(file);
        else byDirectory.set(file.directory, [file]);
      }
    }
    const directories = [...byDirectory].map(([name, files]) => ({
      directory: FlinkPath.parse(name),
      identity: this.identities.get(name),
      files,
    }));
    return { directories, alreadyGone };
  }

  private usersOf(file: TargetFile): string[] {
    return this.users.sets
      .members(file.users)
      .map((number) => this.users.pointers[number] ?? '')
      .sort();
  }

  /** Directories of file merging that are empty when all of this has gone, and that nobody else claims. */
  private async planManagedDirectories(): Promise<ManagedDirectoryWork[]> {
    const planned: ManagedDirectoryWork[] = [];
    for (const [key, managed] of this.read.files.managed) {
      if (managed.isUsed || !(await this.willBeEmpty(key, managed))) continue;
      const index = this.deletions.push({ path: managed.path, bytes: 0, step: 'location' }) - 1;
      planned.push({ directory: FlinkPath.parse(managed.path), index, targets: managed.targets });
    }
    return planned;
  }

  private async willBeEmpty(key: string, { path }: TargetManagedDirectory): Promise<boolean> {
    try {
      const directory = FlinkPath.parse(path);
      if (this.scope === 'own-directories' || !MANAGED.test(directory.name)) return false;
      const fileSystem = await this.fileSystems.get(directory);
      if (fileSystem.kind === 'object-store') return false;
      if (!this.area.containsReal(await fileSystem.resolveLinks(directory))) return false;
      for await (const entries of fileSystem.list(directory)) {
        if (!entries.every(({ name }) => this.goes(key, name))) return false;
      }
      return true;
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
      return false;
    }
  }

  /** What will be left in the directory of a checkpoint: nothing, files that others need, or what belongs to nobody. */
  private async planLocation(target: DiscardTarget): Promise<Location> {
    const { directory } = target;
    const { identity } = await (await this.fileSystems.get(directory)).getFileStatus(directory);
    const { files, readable } = this.read;
    const strayEntries: string[] = [];
    let isKept = false;
    for (const { name } of await unnamedEntries(this.view, target, readable, files)) {
      const belongsToOthers = this.users.belongsToOthers(this.view.keyOf(target), name);
      if (!belongsToOthers) strayEntries.push(directory.entry(name).toString());
      isKept = true;
    }
    for (const { verdict } of files.inDirectory(this.view.keyOf(target))) {
      isKept ||= verdict !== 'delete' && verdict !== 'gone';
    }
    const locationIndex = isKept
      ? undefined
      : this.deletions.push({ path: directory.toString(), bytes: 0, step: 'location' }) - 1;
    return { identity, locationIndex, strayEntries };
  }

  private goes(directoryKey: string, name: string): boolean {
    return this.read.files.find(directoryKey, name)?.verdict === 'delete';
  }
}
