/** When files are missing because their tree is reached by another name: which name, and what it should be. */
import type { BrokenFile } from './broken-files.js';

/** The names in the metadata and those of the place where the same files lie. */
export interface MovedTree {
  readonly old: string;
  readonly new: string;
}

/**
 * The one change of a prefix that explains where all missing files of which another place is known lie: what `--map` takes.
 * Null if there are none, or no single change explains them.
 */
export function movedTree(files: readonly BrokenFile[]): MovedTree | null {
  let moved: MovedTree | null = null;
  for (const { path, foundAt } of files) {
    if (foundAt === null) continue;
    const change = changedPrefix(path, foundAt);
    if (change === null) return null;
    if (moved === null) moved = change;
    else if (moved.old !== change.old || moved.new !== change.new) return null;
  }
  return moved;
}

/** Takes away the last names that both have; at least one directory besides the file must be among them. */
function changedPrefix(path: string, foundAt: string): MovedTree | null {
  const from = path.split('/');
  const to = foundAt.split('/');
  let same = 0;
  while (same < from.length - 1 && same < to.length - 1 && from[from.length - 1 - same] === to[to.length - 1 - same]) {
    same++;
  }
  if (same < 2) return null;
  return { old: from.slice(0, -same).join('/'), new: to.slice(0, -same).join('/') };
}
