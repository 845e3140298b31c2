/** What keeps everything from being offered: whoever cannot be asked may need any file. */
import { asError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { DirectoryBook } from './named-directories.js';
import { marksIn } from './places.js';
import type { Snapshot } from './snapshot.js';
import type { BlockedPath } from './types.js';
import type { MetadataUser } from './users.js';

/**
 * Everything that blocks; nothing if garbage may be offered.
 * @param state whether metadata stayed as it was after it had been read
 */
export function blockedPaths(
  fileSystems: FileSystems,
  snapshot: Snapshot,
  book: DirectoryBook,
  state: { readonly isSettled: boolean },
): BlockedPath[] {
  const blocked: BlockedPath[] = [];
  for (const { path, error } of snapshot.unlistableDirectories) {
    blocked.push({ path: path.toString(), reason: 'unreadable', message: asError(error).message });
  }
  for (const report of snapshot.reports.values()) {
    for (const { path, error } of report.unreadable) {
      blocked.push({ path: path.toString(), reason: 'unreadable', message: asError(error).message });
    }
    for (const user of report.users) {
      const problem = otherName(fileSystems, user, book) ?? missingFiles(user);
      if (problem) blocked.push(problem);
    }
  }
  if (!state.isSettled) {
    const [root] = book.grounds.roots.roots;
    const message = 'checkpoints come and go faster than their metadata can be read';
    blocked.push({ path: String(root), reason: 'changing', message });
  }
  return blocked;
}

function otherName(fileSystems: FileSystems, user: MetadataUser, book: DirectoryBook): BlockedPath | undefined {
  const path = user.pointer.toString();
  if (user.strange !== undefined) {
    return {
      path,
      reason: 'other-name',
      message: `it names files in ${user.strange}, which is not below the roots by that name: the tree is reached by another name (say --map or --alias), or those files are elsewhere (say --used-by)`,
    };
  }
  // A flat changelog has no name that would tell it from another one.
  if (book.grounds.changelogBases.length === 0) return undefined;
  for (const directory of user.changelogDirectories) {
    const named = fileSystems.qualify(Path.parse(directory));
    const isKnown =
      book.grounds.roots.contains(named) ||
      book.grounds.readOnly.contains(named) ||
      book.grounds.changelogBases.some((base) => base.equals(named));
    if (isKnown || marksIn(named.path).marks.length > 0) continue;
    const message = `it names changelog files in ${directory}, which is none of the directories given with --changelog-base: say that one too, or --map if it is one of them by another name`;
    return { path, reason: 'other-name', message };
  }
  return undefined;
}

function missingFiles({ pointer, missing }: MetadataUser): BlockedPath | undefined {
  const [first] = missing;
  if (first === undefined) return undefined;
  const count = missing.length === 1 ? 'a file' : `${missing.length} files or more`;
  return {
    path: pointer.toString(),
    reason: 'files-missing',
    message: `it needs ${count} that cannot be found, the first: ${first}; either the tree is reached by another name (say --map), or the checkpoint is broken (say --assume-dead ${pointer})`,
  };
}
