/** How files leave: deleted, or moved to another place with the same layout. */
import { AlreadyExistsError, CkptError, IoError, UnsupportedOperationError, WrongFileTypeError } from '../../errors.js';
import type { BulkDeletion } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { copiedByStore, copyContents, haveSameContents, isMissing } from '../file-contents.js';

/** Takes files away. */
export interface Removal {
  /** What the log calls it. */
  readonly action: 'deleted' | 'moved';
  /** Takes files of one directory away; results as those of `FileSystem.deleteFiles`. Never rejects. */
  removeFiles(
    directory: Path,
    names: readonly string[],
    options: { readonly identity: string | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<readonly BulkDeletion[]>;
  /**
   * Takes the tombstone of a checkpoint away.
   * @param metadataPath what it is called again, if it is kept elsewhere
   * @param identity of its directory
   * @returns false if nothing was there
   */
  removeTombstone(tombstonePath: Path, metadataPath: Path, identity: string | undefined): Promise<boolean>;
}

/** Deletes files; an empty directory in the place of one as well, as Flink does. */
export function deletion(fileSystems: FileSystems): Removal {
  return {
    action: 'deleted',
    async removeFiles(directory, names, options) {
      const fileSystem = await fileSystems.get(directory);
      const results = [...(await fileSystem.deleteFiles(directory, names, options))];
      for (const [index, result] of results.entries()) {
        if (!(result instanceof WrongFileTypeError)) continue;
        try {
          results[index] = await fileSystem.deleteDirectory(directory.entry(names[index] ?? ''));
        } catch (error) {
          results[index] = error instanceof CkptError ? error : result;
        }
      }
      return results;
    },
    async removeTombstone(path, _metadataPath, identity) {
      const directory = path.parent ?? path;
      const [result] = await (await fileSystems.get(directory)).deleteFiles(directory, [path.name], { identity });
      if (typeof result === 'boolean') return result;
      throw result ?? new IoError(path.toString(), 'delete');
    },
  };
}

/** Moves files below another directory, where they lie as they lay below their root. */
export function move(fileSystems: FileSystems, roots: readonly Path[], moveTo: Path): Removal {
  const places = placesOf(roots, moveTo);
  const placeOf = (path: Path): Path => {
    for (const { root, place } of places) {
      const rest = path.relativeTo(root);
      if (rest !== undefined) return rest.split('/').reduce((directory, name) => directory.entry(name), place);
    }
    throw new IoError(path.toString(), 'move', { cause: new Error('it is named by another name than its root') });
  };
  const moveFile = async (from: Path, as: Path): Promise<boolean> => {
    const to = placeOf(as);
    const target = await fileSystems.get(to);
    // An object store needs no directories, and would keep a marker for each.
    if (target.kind !== 'object-store') await target.makeDirectory(to.parent ?? to);
    return moveOne(fileSystems, from, to);
  };
  return {
    action: 'moved',
    async removeFiles(directory, names, { signal, identity }) {
      const results: BulkDeletion[] = new Array(names.length).fill(undefined);
      const fileSystem = await fileSystems.get(directory);
      await forEachConcurrently(
        names.entries(),
        async ([index, name]) => {
          const path = directory.entry(name);
          try {
            const now = identity === undefined ? undefined : (await fileSystem.getFileStatus(directory)).identity;
            if (now !== identity) throw new IoError(path.toString(), 'move', { cause: new Error(REPLACED) });
            results[index] = await moveFile(path, path);
          } catch (error) {
            if (isMissing(error, directory)) results[index] = false;
            else
              results[index] =
                error instanceof CkptError ? error : new IoError(path.toString(), 'move', { cause: error });
          }
        },
        { signal },
      );
      return results;
    },
    removeTombstone: moveFile,
  };
}

const REPLACED = 'another directory, or a link to one, has taken the place of its own since it was looked at';

/** Below the directory itself if there is one root, else each root in a directory of its own name. */
function placesOf(roots: readonly Path[], moveTo: Path): { readonly root: Path; readonly place: Path }[] {
  const [only, second] = roots;
  if (only && !second) return [{ root: only, place: moveTo }];
  const taken = new Set<string>();
  return roots.map((root) => {
    const name = root.name || 'root';
    let own = name;
    for (let number = 2; taken.has(own); number++) own = `${name}-${number}`;
    taken.add(own);
    return { root, place: moveTo.entry(own) };
  });
}

/** @returns false if nothing was there */
async function moveOne(fileSystems: FileSystems, from: Path, to: Path): Promise<boolean> {
  const fileSystem = await fileSystems.get(from);
  try {
    if (fileSystem.kind !== 'object-store') {
      await fileSystem.rename(from, to);
      return true;
    }
  } catch (error) {
    if (isMissing(error, from)) return false;
    if (!(error instanceof UnsupportedOperationError || isOtherDevice(error))) throw error;
  }
  try {
    await copyAside(fileSystems, from, to);
  } catch (error) {
    if (isMissing(error, from)) return false;
    throw error;
  }
  return fileSystem.deleteFile(from);
}

/** Leaves a whole copy at `to`, or fails; one that a killed run has left there is as good. */
async function copyAside(fileSystems: FileSystems, from: Path, to: Path): Promise<void> {
  try {
    if (await copiedAside(fileSystems, from, to)) return;
    await copyContents(fileSystems, from, to);
  } catch (error) {
    if (!(error instanceof AlreadyExistsError) || !(await haveSameContents(fileSystems, from, to))) throw error;
  }
}

/** An object store copies within itself, and what it copies is whole. Nothing is ever replaced. */
async function copiedAside(fileSystems: FileSystems, from: Path, to: Path): Promise<boolean> {
  const fileSystem = await fileSystems.get(from);
  const target = await fileSystems.get(to);
  // Looks at both ends are requests: not where another kind of store is written to anyway.
  if (fileSystem.kind !== 'object-store' || target.kind !== 'object-store') return false;
  const { size } = await fileSystem.getFileStatus(from);
  const [present] = await target.getFileStatuses(to.parent ?? to, [to.name]);
  if (present instanceof CkptError) throw present;
  if (present !== undefined && present.type !== 'directory') throw new AlreadyExistsError(to.toString());
  if (!(await copiedByStore(fileSystems, from, to))) return false;
  const copied = await target.getFileStatus(to);
  if (copied.size === size) return true;
  throw new IoError(to.toString(), 'move', { cause: new Error(`the copy has ${copied.size} bytes, not ${size}`) });
}

function isOtherDevice(error: unknown): boolean {
  const cause = error instanceof IoError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'EXDEV';
}
