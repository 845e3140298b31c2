/** Directories in which nothing is left, or will be: only where Flink makes them. */

import { CkptError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type AgeRule, isYoung } from './ages.js';
import { isBase, type KnownDirectory } from './inventory.js';
import type { DirectoryBook } from './named-directories.js';
import type { GcEntry } from './types.js';

/** See {@link findEmptyDirectories}. */
export interface EmptyDirectoryOptions extends AgeRule {
  readonly workingDirectories?: boolean | undefined;
}

/**
 * The directories that will be empty once these files have gone, the innermost first. Never a root.
 * @param entries the files that go
 */
export async function findEmptyDirectories(
  fileSystems: FileSystems,
  book: DirectoryBook,
  entries: readonly GcEntry[],
  options: EmptyDirectoryOptions,
): Promise<Path[]> {
  const left = new Map<string, number>();
  for (const [path, { entries: count }] of book.inventory.directories) left.set(path, count);
  const takeFrom = (path: string): void => {
    left.set(path, (left.get(path) ?? 1) - 1);
  };
  for (const { directory } of entries) takeFrom(directory.toString());
  const found: Path[] = [];
  const innermostFirst = [...book.inventory.directories.entries()].sort(([a], [b]) => b.length - a.length);
  for (const [path, known] of innermostFirst) {
    if ((left.get(path) ?? 1) > 0 || !mayGo(known, book, options)) continue;
    if (!(await isOldDirectory(fileSystems, known.directory, book, options))) continue;
    found.push(known.directory);
    const { parent } = known.directory;
    if (parent) takeFrom(parent.toString());
  }
  return found;
}

function mayGo({ directory, place }: KnownDirectory, book: DirectoryBook, options: EmptyDirectoryOptions): boolean {
  const { roots } = book.grounds;
  if (!roots.contains(directory) || roots.roots.some((root) => root.equals(directory))) return false;
  if (place.kind === 'flat-changelog' || (place.kind === 'working' && !options.workingDirectories)) return false;
  const isOfJob = place.jobId !== null || place.kind === 'checkpoint' || place.kind === 'savepoint';
  return isOfJob || isBase(book.inventory.bases.get(place.base));
}

async function isOldDirectory(
  fileSystems: FileSystems,
  directory: Path,
  book: DirectoryBook,
  rule: AgeRule,
): Promise<boolean> {
  const fileSystem = await fileSystems.get(directory);
  if (fileSystem.kind !== 'file-system') return false;
  try {
    const status = await fileSystem.getFileStatus(directory);
    if (status.type !== 'directory' || isYoung(status.newestTime, rule)) return false;
    if (book.managedKeys.has((await book.find(directory.toString())).key)) return false;
    return book.grounds.roots.containsReal(await fileSystem.resolveLinks(directory));
  } catch (error) {
    if (error instanceof CkptError) return false;
    throw error;
  }
}
