/** Finds out who else uses the files of the checkpoints that are to go. */
import { asError, type CkptError, RefusedError } from '../../errors.js';
import type { DirectoryEntry } from '../../filesystem/file-system.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { fileKey } from '../area/file-keys.js';
import type { Unreadable } from '../area/scan.js';
import { readUsers, readUsersAmong, type User } from '../area/users.js';
import { METADATA_FILE } from '../layout.js';
import type { AreaView } from './area-view.js';
import { IdSets } from './id-sets.js';
import type { TargetFiles } from './target-files.js';
import type { DiscardTarget, SearchReach } from './types.js';

/** Options of {@link findUsers}. */
export interface FindUsersOptions {
  /** What metadata that cannot be read means: `refuse` the default, `tolerate` that it may use anything that is shared. */
  readonly unreadable?: 'refuse' | 'tolerate' | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Who was found. `TargetFile.users` are sets of {@link sets}, of places in {@link pointers}. */
export interface FoundUsers {
  readonly pointers: readonly string[];
  readonly sets: IdSets;
  /** True if an entry of the directory of a checkpoint that none of these names belongs to somebody else: metadata, or a file it names. */
  belongsToOthers(directoryKey: string, name: string): boolean;
  readonly reach: SearchReach;
}

/** For a discard in which others do not count. */
export function noUsers(roots: readonly string[], view: AreaView): FoundUsers {
  const reach = { roots, checkpoints: view.checkpoints.length, metadataFiles: 0, unreadable: [], searched: false };
  return { pointers: [], sets: new IdSets(), belongsToOthers: () => false, reach };
}

/**
 * Reads all metadata in the area but that of the checkpoints, and notes in `files` who names what.
 * @throws RefusedError if something cannot be read and that is not tolerated; the signal's reason
 */
export async function findUsers(
  fileSystems: FileSystems,
  roots: readonly string[],
  view: AreaView,
  targets: readonly DiscardTarget[],
  files: TargetFiles,
  options: FindUsersOptions = {},
): Promise<FoundUsers> {
  const { signal } = options;
  const sets = new IdSets();
  const pointers: string[] = [];
  const numbers = new Map<User, number>();
  const readers: User[] = [];
  const targetKeys = new Set(targets.map(view.keyOf));
  const othersFiles = new Set<string>();
  let metadataFiles = 0;
  const numberOf = (user: User): number => {
    const known = numbers.get(user);
    if (known !== undefined) return known;
    const number = pointers.push(pointerOf(user)) - 1;
    numbers.set(user, number);
    return number;
  };
  const consumer: Parameters<typeof readUsers>[3] = {
    file(user, { directoryKey, name }) {
      const file = files.find(directoryKey, name);
      if (file) file.users = sets.add(file.users, numberOf(user));
      else if (targetKeys.has(directoryKey)) othersFiles.add(fileKey(directoryKey, name));
    },
    managedDirectory(_user, key) {
      const managed = files.managed.get(key);
      if (managed) managed.isUsed = true;
    },
    end(user, error) {
      if (error === undefined) metadataFiles++;
      readers.push(user);
    },
  };
  const isOther = (checkpoint: AreaView['checkpoints'][number]): boolean =>
    !targets.some((target) => view.isTarget(checkpoint, target));
  const others = view.checkpoints.filter(isOther);
  const unreadable: Unreadable[] = [...view.unlistable];
  unreadable.push(
    ...(await readUsers(fileSystems, others, view.keys, consumer, { signal, onProgress: options.onProgress })),
  );
  for (const { target, names } of await unnamedFiles(view, targets, files)) {
    const found = await readUsersAmong(fileSystems, target.directory, names, view.keys, consumer, { signal });
    unreadable.push(...found);
  }
  // Metadata of others is no state, whatever names it.
  for (const user of readers) {
    const { key } = await view.keys.directory(user.pointer.toString());
    const file = files.find(key, user.metadataPath.name);
    if (file) file.users = sets.add(file.users, numberOf(user));
    else if (targetKeys.has(key)) othersFiles.add(fileKey(key, user.metadataPath.name));
  }
  if (unreadable.length > 0 && options.unreadable !== 'tolerate') throw refusal(unreadable);
  const reach: SearchReach = {
    roots,
    checkpoints: view.checkpoints.length,
    metadataFiles,
    unreadable: unreadable
      .map(({ path, error }) => ({ path: path.toString(), message: asError(error).message }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    searched: true,
  };
  return { pointers, sets, belongsToOthers: (key, name) => othersFiles.has(fileKey(key, name)), reach };
}

/** The plain files in the directories of the targets that none of these names: they may be metadata of others. */
async function unnamedFiles(
  view: AreaView,
  targets: readonly DiscardTarget[],
  files: TargetFiles,
): Promise<{ readonly target: DiscardTarget; readonly names: readonly string[] }[]> {
  const found = [];
  const seen = new Set<string>();
  for (const target of targets) {
    const key = view.keyOf(target);
    if (seen.has(key)) continue;
    seen.add(key);
    const names: string[] = [];
    for (const { name, type } of await unnamedEntries(view, target, targets, files)) {
      if (type === 'file' || name === METADATA_FILE) names.push(name);
    }
    for (const { name, isGuess, sight } of files.inDirectory(key)) if (isGuess && sight === 'file') names.push(name);
    found.push({ target, names });
  }
  return found;
}

/**
 * What is in the directory of a target and neither its metadata nor a file that one of the targets names. Needs the files to
 * be looked at: if there are as many entries as files that were seen, there is no other.
 */
export async function unnamedEntries(
  view: AreaView,
  target: DiscardTarget,
  targets: readonly DiscardTarget[],
  files: TargetFiles,
): Promise<readonly DirectoryEntry[]> {
  const key = view.keyOf(target);
  const own = metadataNames(view, key, targets);
  const entries = await view.entriesOf(target);
  let expected = entries.filter(({ name }) => own.has(name)).length;
  for (const { sight, name } of files.inDirectory(key)) if (sight !== 'gone' && !own.has(name)) expected++;
  if (expected === entries.length) return [];
  return entries.filter(({ name }) => !own.has(name) && !files.has(key, name));
}

/** Names of what the discard takes away as metadata in a directory. */
function metadataNames(view: AreaView, key: string, targets: readonly DiscardTarget[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const target of targets) {
    if (view.keyOf(target) !== key) continue;
    names.add(target.tombstonePath.name);
    // Metadata beside a tombstone that was named itself is another checkpoint's.
    if (target.state === 'complete') names.add(target.metadataPath.name);
  }
  return names;
}

/** What a user calls the one who uses a file: a checkpoint is its directory, other metadata is the file. */
function pointerOf({ pointer, metadataPath }: User): string {
  return (metadataPath.name === METADATA_FILE ? pointer : metadataPath).toString();
}

function refusal(unreadable: readonly Unreadable[]): RefusedError {
  const [first] = unreadable;
  const more = unreadable.length > 1 ? ` and ${unreadable.length - 1} more` : '';
  const error = new RefusedError(
    `${first?.path}${more}: cannot be read, so it may use any file; --keep-shared discards what lies in the checkpoint's own directory alone, nothing was changed`,
    { reason: 'unreadable', paths: unreadable.map(({ path }) => path.toString()) },
    { cause: first?.error },
  );
  error.suppressed.push(...unreadable.slice(1).map(({ error: later }) => asError(later) as CkptError));
  return error;
}
