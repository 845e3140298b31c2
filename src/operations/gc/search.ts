/**
 * The search for garbage. Files are listed first and metadata is read after: what a checkpoint that completes meanwhile
 * names is either in its metadata or was not listed. Then metadata is listed again until nothing has come or gone.
 */
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { FileKeys } from '../area/file-keys.js';
import { type CheckpointDirectory, scanArea, type Unreadable } from '../area/scan.js';
import { blockedPaths } from './blocked.js';
import { type Candidates, findCandidates, type Hidden } from './candidates.js';
import { findEmptyDirectories } from './empty-directories.js';
import { type PendingDiscards, planPendingDiscards } from './half-discarded.js';
import { type Inventory, quietPlaces, takeInventory } from './inventory.js';
import { NameSearch } from './name-search.js';
import { DirectoryBook } from './named-directories.js';
import { namesOf, placeOf } from './places.js';
import { findGrounds, type GcPlaces, pathsOfDead } from './search-grounds.js';
import { directoriesOf, Snapshot } from './snapshot.js';
import { searchState } from './state-search.js';
import type { GcEntry, GcFindings, SparedPath, TaskOwnedFile } from './types.js';
import { UserReader } from './users.js';

/** What a search is at. `done` and `total` count files (0: unknown) or metadata. */
export interface GcProgress {
  readonly stage: 'listing' | 'reading' | 'searching-state' | 'sizing';
  readonly done: number;
  readonly total: number;
}

/** Arguments of {@link searchGarbage}. */
export interface GcSearchOptions extends GcPlaces {
  /** Milliseconds; younger files stay. */
  readonly minAge: number;
  /** The store's clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Pointers of broken checkpoints that nobody will restore. */
  readonly assumeDead?: readonly string[] | undefined;
  readonly workingDirectories?: boolean | undefined;
  readonly taskOwned?: boolean | undefined;
  readonly emptyDirectories?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: GcProgress) => void) | undefined;
}

/** Garbage, and what is needed to see whether it still is. */
export interface GcSearch {
  readonly findings: GcFindings;
  /** The files that go one by one: those of the findings without those that go with a discard. */
  readonly entries: readonly GcEntry[];
  readonly discards: PendingDiscards;
  readonly snapshot: Snapshot;
  readonly book: DirectoryBook;
  readonly options: GcSearchOptions;
  /** Paths of directories that were taken out. */
  readonly dead: ReadonlySet<string>;
}

/**
 * Finds what no readable metadata names. Changes nothing.
 * @throws the errors of places that are not there; the signal's reason; I/O errors. Metadata that cannot be read is no
 *   error but among what blocks.
 */
export async function searchGarbage(fileSystems: FileSystems, options: GcSearchOptions): Promise<GcSearch> {
  const { signal, onProgress } = options;
  const grounds = await findGrounds(fileSystems, options);
  const keys = new FileKeys(fileSystems);
  const inventory = await takeInventory(fileSystems, [...grounds.roots.roots, ...grounds.changelogBases], keys, {
    changelogBases: grounds.changelogBases,
    signal,
    onProgress: (files) => onProgress?.({ stage: 'listing', done: files, total: 0 }),
  });
  const readOnly = await scanReadOnly(fileSystems, grounds.readOnly.roots, inventory, grounds.roots.roots, signal);
  const book = new DirectoryBook(fileSystems, keys, inventory, grounds);
  const reader = new UserReader(fileSystems, keys, book);
  const warnings: string[] = [];
  const checkpoints = distinct([...inventory.checkpoints, ...readOnly.checkpoints]);
  const named = await pathsOfDead(fileSystems, options.assumeDead ?? []);
  const dead = await findDead(reader, checkpoints, named, warnings, signal);
  for (const { path } of [...inventory.unlistable, ...readOnly.unlistable]) {
    if (named.has(path.toString())) dead.add(path.toString());
  }
  const snapshot = new Snapshot(fileSystems, reader, {
    roots: [...grounds.roots.roots, ...grounds.readOnly.roots],
    quiet: new Set([...inventory.quiet, ...readOnly.quiet]),
    dead,
    unlistable: [...inventory.unlistable, ...readOnly.unlistable],
  });
  await snapshot.read(
    directoriesOf(checkpoints).filter((directory) => !dead.has(directory.toString())),
    { signal, onProgress: (done, total) => onProgress?.({ stage: 'reading', done, total }) },
  );
  const { isSettled } = await snapshot.settle({ signal, depth: 'quick' });
  const blocked = blockedPaths(fileSystems, snapshot, book, { isSettled });
  const states = { snapshot, dead };
  const base = {
    roots: grounds.roots.roots,
    blocked,
    files: inventory.files,
    checkpoints: [...snapshot.reports.values()].reduce((sum, { users }) => sum + users.length, 0),
    warnings,
  };
  if (blocked.length > 0) {
    const nothing = { unreferenced: [], spared: [], taskOwned: [], emptyDirectories: [] };
    const discards = { plan: undefined, entries: [], spared: [], warnings: [] };
    return { findings: { ...base, ...nothing }, entries: [], discards, ...states, book, options };
  }
  onProgress?.({ stage: 'sizing', done: 0, total: 0 });
  const candidates = await findCandidates(fileSystems, book, states, {
    ...options,
    hasUsedBy: (options.usedBy ?? []).length > 0,
    workingDirectories: options.workingDirectories === true,
  });
  const sorted = await askState(fileSystems, candidates, snapshot, options, warnings);
  const discards = await planPendingDiscards(fileSystems, snapshot, grounds, options);
  warnings.push(...discards.warnings);
  const entries = [...candidates.entries, ...sorted.entries].sort(byPath);
  const unreferenced = [...entries, ...discards.entries];
  const spared = [...candidates.spared, ...sorted.spared, ...discards.spared];
  const emptyDirectories = options.emptyDirectories
    ? await findEmptyDirectories(fileSystems, book, unreferenced, options)
    : [];
  const findings = { ...base, unreferenced, spared, taskOwned: sorted.taskOwned, emptyDirectories };
  return { findings, entries, discards, ...states, book, options };
}

/** By directory, then by name. */
function byPath(a: GcEntry, b: GcEntry): number {
  if (a.directory !== b.directory) {
    const [left, right] = [a.directory.toString(), b.directory.toString()];
    if (left !== right) return left < right ? -1 : 1;
  }
  return a.name < b.name ? -1 : 1;
}

/** What there is in places that are only read. */
async function scanReadOnly(
  fileSystems: FileSystems,
  roots: readonly Path[],
  inventory: Inventory,
  listed: readonly Path[],
  signal: AbortSignal | undefined,
): Promise<{ checkpoints: CheckpointDirectory[]; unlistable: Unreadable[]; quiet: ReadonlySet<string> }> {
  const rest = roots.filter((root) => !listed.some((other) => root.startsWith(other)));
  const large: Path[] = [];
  const { checkpoints, unlistable } = await scanArea(fileSystems, rest, {
    signal,
    skip: (directory) => listed.some((root) => root.equals(directory)),
    onDirectory: (directory) => {
      const root = rest.find((candidate) => directory.startsWith(candidate));
      const place = placeOf(directory, namesOf(root?.path ?? '').length);
      if (place.isUnit && quietPlaces.has(place.kind)) large.push(directory);
    },
  });
  const quiet = new Set(large.map((directory) => directory.toString()));
  for (const { directory } of [...checkpoints, ...inventory.checkpoints]) {
    for (let path: Path | undefined = directory; path; path = path.parent) quiet.delete(path.toString());
  }
  return { checkpoints: [...checkpoints], unlistable: [...unlistable], quiet };
}

function distinct(checkpoints: readonly CheckpointDirectory[]): CheckpointDirectory[] {
  return [...new Map(checkpoints.map((checkpoint) => [checkpoint.directory.toString(), checkpoint])).values()];
}

/** Which of the checkpoints that were declared dead are broken. One that is whole is not taken out. */
async function findDead(
  reader: UserReader,
  checkpoints: readonly CheckpointDirectory[],
  named: ReadonlySet<string>,
  warnings: string[],
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const dead = new Set<string>();
  const directories = directoriesOf(checkpoints).filter((directory) => named.has(directory.toString()));
  for (const { directory, users, unreadable } of await reader.readAll(directories, 'probe', { signal })) {
    const isBroken = unreadable.length > 0 || users.some(({ missing, strange }) => missing.length > 0 || strange);
    if (isBroken) dead.add(directory.toString());
    else warnings.push(`${directory}: not assumed to be dead, nothing about it is broken; its files stay`);
  }
  return dead;
}

/** Looks in operator state for files that may be named there, and sorts them by what it says. */
async function askState(
  fileSystems: FileSystems,
  { taskOwned, exclusive }: Candidates,
  snapshot: Snapshot,
  options: GcSearchOptions,
  warnings: string[],
): Promise<{ entries: GcEntry[]; spared: SparedPath[]; taskOwned: TaskOwnedFile[] }> {
  const entries: GcEntry[] = [];
  const spared: SparedPath[] = [];
  const told: TaskOwnedFile[] = [];
  const hidden = [...taskOwned, ...exclusive];
  if (hidden.length === 0) return { entries, spared, taskOwned: told };
  options.onProgress?.({ stage: 'searching-state', done: 0, total: 0 });
  const search = new NameSearch(hidden.map(({ entry }) => entry.name));
  const users = [...snapshot.reports.values()].flatMap((report) => report.users);
  const { isComplete, failures } = await searchState(fileSystems, users, search, options.signal);
  for (const { path, error } of failures) {
    warnings.push(
      `${path}: state could not be searched for names of files: ${error instanceof Error ? error.message : ''}`,
    );
  }
  const inState = ({ entry }: Hidden): boolean | null => search.has(entry.name) || (isComplete ? false : null);
  const offer = (file: Hidden, answer: boolean | null): void => {
    const { path } = file.entry;
    if (answer === true) spared.push({ path, reason: 'in-state' });
    else if (answer === null) spared.push({ path, reason: 'state-unread' });
    else if (file.isYoung) spared.push({ path, reason: 'young' });
    else entries.push(file.entry);
  };
  for (const file of taskOwned) {
    const answer = inState(file);
    told.push({ path: file.entry.path, bytes: file.entry.bytes, inState: answer });
    if (options.taskOwned) offer(file, answer);
  }
  for (const file of exclusive) offer(file, inState(file));
  return { entries, spared, taskOwned: told };
}
