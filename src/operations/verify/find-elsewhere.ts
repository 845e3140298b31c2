/** Where else a missing file may lie: a file of its name in another directory. */
import { CkptError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { SHARED_DIRECTORY, TASK_OWNED_DIRECTORY } from '../layout.js';
import { walkTree } from '../tree.js';
import { fileNameOf } from './file-looks.js';
import type { CheckpointVerification, VerifyFault } from './result.js';

/** Missing files by their paths, with the place where one of the same name lies. */
export type FoundElsewhere = ReadonlyMap<string, string>;

/** The paths of all missing files. */
export function missingPaths(results: Iterable<CheckpointVerification>): Set<string> {
  const paths = new Set<string>();
  for (const { faults } of results) {
    for (const { fault, path, operatorId } of faults) if (fault === 'missing' && operatorId !== null) paths.add(path);
  }
  return paths;
}

/** Where to look for the files of a checkpoint that was given by itself: with it, and where Flink puts shared files. */
export function placesAround(directory: Path): Path[] {
  const { parent } = directory;
  return parent === undefined || parent === null
    ? [directory]
    : [directory, parent.child(SHARED_DIRECTORY), parent.child(TASK_OWNED_DIRECTORY)];
}

/**
 * Looks for files of the same names. Directories that are not there, or cannot be listed, have none. Of several places the
 * first in the alphabet is told, so that the answer is always the same.
 * @throws the signal's reason
 */
export async function findElsewhere(
  fileSystems: FileSystems,
  missing: ReadonlySet<string>,
  places: readonly Path[],
  signal?: AbortSignal,
): Promise<FoundElsewhere> {
  const found = new Map<string, string>();
  if (missing.size === 0) return found;
  const wanted = new Set<string>();
  for (const path of missing) wanted.add(fileNameOf(path).name);
  const candidates = new Map<string, string>();
  for (const place of places) {
    await walkTree(
      fileSystems,
      place,
      {
        entries(directory, entries) {
          for (const { name, type } of entries) {
            if (type !== 'file' || !wanted.has(name)) continue;
            const path = directory.entry(name).toString();
            const known = candidates.get(name);
            if (known === undefined || path < known) candidates.set(name, path);
          }
        },
        unlistable(_directory, error) {
          if (!(error instanceof CkptError)) throw error;
        },
      },
      { signal },
    );
  }
  for (const path of missing) {
    const candidate = candidates.get(fileNameOf(path).name);
    if (candidate !== undefined && candidate !== path) found.set(path, candidate);
  }
  return found;
}

/** Adds the places that were found to the faults, which must belong to the caller. */
export function addPlaces({ faults }: CheckpointVerification, found: FoundElsewhere): void {
  if (found.size === 0) return;
  for (const fault of faults as Mutable<VerifyFault>[]) {
    if (fault.fault === 'missing') fault.foundAt = found.get(fault.path) ?? null;
  }
}

/** There may be millions: they are not made again for one field. */
type Mutable<T> = { -readonly [K in keyof T]: T[K] };
