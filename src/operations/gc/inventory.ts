/** First step: what lies below the roots, in the places where Flink puts things. Names only, before any metadata is read. */
import type { DirectoryEntry } from '../../filesystem/file-system.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { isTemporaryName } from '../../filesystem/temporary-name.js';
import type { FileKeys } from '../area/file-keys.js';
import { type CheckpointDirectory, outermost, scanArea, type Unreadable } from '../area/scan.js';
import { isLockName } from '../discard/lock.js';
import { METADATA_FILE, TOMBSTONE_FILE } from '../layout.js';
import { NameTable } from './name-table.js';
import { type BaseFlags, isUnfinishedOfFlink, namesOf, type Place, type PlaceKind, placeOf } from './places.js';

/** The places of the many files. */
export const quietPlaces: ReadonlySet<PlaceKind> = new Set<PlaceKind>(['shared', 'taskowned', 'changelog']);

/** The files of one directory. */
export interface Group {
  /** As it was listed, qualified. */
  readonly directory: Path;
  readonly place: Place;
  /** See `FileKeys`. */
  readonly key: string;
  /** Identity of the directory within its store; undefined if it has none. */
  readonly identity: string | undefined;
  /** Key of the unit of the place. */
  readonly unitKey: string;
  /** Plain files; links are nobody's garbage. */
  readonly names: NameTable;
}

/** What an inventory knows of one directory that may be removed when it is empty. */
export interface KnownDirectory {
  readonly directory: Path;
  readonly place: Place;
  /** Entries of any kind. */
  entries: number;
}

/** See the file comment. */
export interface Inventory {
  /** By key. */
  readonly groups: ReadonlyMap<string, Group>;
  readonly checkpoints: readonly CheckpointDirectory[];
  readonly unlistable: readonly Unreadable[];
  /** Ids of the jobs that have a directory with checkpoints, or for them. */
  readonly jobs: ReadonlySet<string>;
  /** See {@link Place.mark}. */
  readonly marks: ReadonlySet<string>;
  /** True if there is a place of checkpoints that no job id names. */
  readonly hasBareBases: boolean;
  /** By path: what is in the directories that places are in. */
  readonly bases: ReadonlyMap<string, BaseFlags>;
  /** By path; only the places of Flink, and directories named by job ids. */
  readonly directories: ReadonlyMap<string, KnownDirectory>;
  /** Paths that the search for new metadata need not enter: the places where the many files are, and none was found. */
  readonly quiet: ReadonlySet<string>;
  /** Directories below the roots in which a run holds a lock, or has left one. */
  readonly locked: readonly Path[];
  /** Plain files seen, in such places or not. */
  readonly files: number;
}

/** Options of {@link takeInventory}. */
export interface InventoryOptions {
  /** Flat directories of changelog files. */
  readonly changelogBases: readonly Path[];
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((files: number) => void) | undefined;
}

interface Open {
  readonly directory: Path;
  readonly place: Place;
  readonly names: NameTable;
  readonly links: string[];
  entries: number;
}

/**
 * Lists the roots and everything below them.
 * @throws the signal's reason
 */
export async function takeInventory(
  fileSystems: FileSystems,
  roots: readonly Path[],
  keys: FileKeys,
  options: InventoryOptions,
): Promise<Inventory> {
  const taker = new InventoryTaker(outermost(roots), keys, options);
  const { checkpoints, unlistable } = await scanArea(fileSystems, roots, {
    signal: options.signal,
    onEntries: (directory, entries) => taker.entries(directory, entries),
    onDirectory: (directory) => taker.end(directory),
  });
  return taker.finish(checkpoints, unlistable);
}

class InventoryTaker {
  private readonly groups = new Map<string, Group>();
  private readonly jobs = new Set<string>();
  private readonly marks = new Set<string>();
  private readonly bases = new Map<string, BaseFlags>();
  private readonly directories = new Map<string, KnownDirectory>();
  private readonly open = new Map<string, Open>();
  private readonly flat: ReadonlySet<string>;
  private readonly locked: Path[] = [];
  private files = 0;
  private hasBareBases = false;

  constructor(
    private readonly roots: readonly Path[],
    private readonly keys: FileKeys,
    private readonly options: InventoryOptions,
  ) {
    this.flat = new Set(options.changelogBases.map((base) => base.toString()));
  }

  entries(directory: Path, entries: readonly DirectoryEntry[]): void {
    const open = this.openOf(directory);
    const { names, links } = open;
    const takesAll = open.place.kind !== 'outside' && open.place.kind !== 'job';
    for (const { name, type, isLink } of entries) {
      if (isLockName(name)) {
        this.noteLock(directory);
        continue;
      }
      open.entries++;
      if (type !== 'file') continue;
      this.files++;
      if (isLink) links.push(name);
      else if (takesAll ? name !== METADATA_FILE && name !== TOMBSTONE_FILE : isUnfinished(name)) names.add(name);
    }
    this.options.onProgress?.(this.files);
  }

  async end(directory: Path): Promise<void> {
    const text = directory.toString();
    const { place, names, links, entries } = this.openOf(directory);
    this.open.delete(text);
    this.note(directory, place);
    if (place.kind !== 'outside') this.directories.set(text, { directory, place, entries });
    if (place.kind !== 'outside' || names.size > 0) {
      this.keys.learn(text, links);
      await this.addGroup(directory, place, names);
    }
  }

  finish(checkpoints: readonly CheckpointDirectory[], unlistable: readonly Unreadable[]): Inventory {
    const { groups, jobs, marks, bases, directories, files, locked, hasBareBases } = this;
    const quiet = new Set<string>();
    for (const { directory, place } of directories.values()) {
      if (place.isUnit && quietPlaces.has(place.kind)) quiet.add(directory.toString());
    }
    for (const { directory } of checkpoints) {
      for (let path: Path | undefined = directory; path; path = path.parent) quiet.delete(path.toString());
    }
    return { groups, checkpoints, unlistable, jobs, marks, hasBareBases, bases, directories, quiet, locked, files };
  }

  private openOf(directory: Path): Open {
    const text = directory.toString();
    const known = this.open.get(text);
    if (known) return known;
    const place = this.placeOf(directory, text);
    const open: Open = { directory, place, names: new NameTable(), links: [], entries: 0 };
    this.open.set(text, open);
    return open;
  }

  private placeOf(directory: Path, text: string): Place {
    const root = this.roots.find((candidate) => directory.startsWith(candidate));
    const place = placeOf(directory, namesOf(root?.path ?? '').length);
    const isFree = place.kind === 'outside' || place.kind === 'job';
    return isFree && this.flat.has(text) ? { ...place, kind: 'flat-changelog', unit: text } : place;
  }

  private noteLock(directory: Path): void {
    if (!this.roots.some((root) => root.equals(directory))) this.locked.push(directory);
  }

  /** Takes down what the name of a directory tells of the one that it is in. */
  private note(directory: Path, place: Place): void {
    if (place.mark !== null) this.marks.add(place.mark);
    if (!place.isUnit || place.base === '') return;
    const flags = this.bases.get(place.base) ?? { checkpoint: false, shared: false, taskOwned: false };
    this.bases.set(place.base, flags);
    const { name } = directory;
    if (place.kind === 'checkpoint') flags.checkpoint = true;
    else if (place.kind === 'shared' && name === 'shared') flags.shared = true;
    else if (place.kind === 'taskowned' && name === 'taskowned') flags.taskOwned = true;
    else return;
    if (place.jobId !== null) this.jobs.add(place.jobId);
    else if (isBase(flags)) this.hasBareBases = true;
  }

  private async addGroup(directory: Path, place: Place, names: NameTable): Promise<void> {
    const { key, identity } = await this.keys.directory(directory.toString());
    // Of a huge place nobody asks, and it would be listed again.
    const isWhole = place.kind === 'managed' || place.kind === 'working' || place.kind === 'checkpoint';
    const unitKey = place.isUnit || !isWhole ? key : (await this.keys.directory(place.unit)).key;
    const known = this.groups.get(key);
    // A directory that has two names below the roots: its files are the same.
    if (known) for (const name of names.names()) known.names.add(name);
    else this.groups.set(key, { directory, place, key, identity, unitKey, names });
  }
}

/** True if what is in a directory that no job id names makes it one that Flink writes checkpoints to. */
export function isBase(flags: BaseFlags | undefined): boolean {
  return flags !== undefined && (flags.checkpoint || (flags.shared && flags.taskOwned));
}

function isUnfinished(name: string): boolean {
  return isTemporaryName(name) || isUnfinishedOfFlink(name);
}
