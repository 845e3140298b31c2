/** How files leave: deleted, or moved to another place with the same layout. */
import { CkptError, IoError, NotFoundError, UnsupportedOperationError, WrongFileTypeError } from '../../errors.js';
import type { BulkDeletion } from '../../filesystem/file-system.js';
import { forEachConcurrently, readChunks } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';

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
    await (await fileSystems.get(to)).makeDirectory(to.parent ?? to);
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
            if (error instanceof NotFoundError && error.data.path === directory.toString()) results[index] = false;
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
    await fileSystem.rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof NotFoundError && error.data.path === from.toString()) return false;
    if (!(error instanceof UnsupportedOperationError || isOtherDevice(error))) throw error;
  }
  if (!(await copyFile(fileSystems, from, to))) return false;
  await fileSystem.deleteFile(from);
  return true;
}

async function copyFile(fileSystems: FileSystems, from: Path, to: Path): Promise<boolean> {
  let source: Awaited<ReturnType<Awaited<ReturnType<FileSystems['get']>>['open']>>;
  try {
    source = await (await fileSystems.get(from)).open(from);
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
  try {
    const writer = await (await fileSystems.get(to)).createAtomic(to);
    try {
      for await (const chunk of readChunks(source)) await writer.write(chunk);
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await writer.commit();
  } finally {
    await source.close();
  }
  return true;
}

function isOtherDevice(error: unknown): boolean {
  const cause = error instanceof IoError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'EXDEV';
}
