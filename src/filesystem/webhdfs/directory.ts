/** Making a directory so that one caller knows that it was the one: MKDIRS does not tell. */
import { AlreadyExistsError } from '../../errors.js';
import type { Path } from '../path.js';
import { temporaryName } from '../temporary-name.js';
import { RemoteFailure, toCkptError } from './remote-failure.js';
import { moveFile } from './rename.js';
import type { HdfsStore } from './store.js';

/**
 * See `FileSystem.makeDirectory`. A directory with a name that nobody knows is made and renamed: of several callers one
 * succeeds.
 */
export async function makeNewDirectory(store: HdfsStore, path: Path): Promise<boolean> {
  const { parent } = path;
  try {
    if (parent === undefined || (await isThere(store, path))) return false;
    const temporary = parent.entry(temporaryName());
    await store.makeDirectories(temporary);
    return await settle(store, temporary, path);
  } catch (error) {
    throw toCkptError(error, { path, action: 'create of the directory', isCreation: true });
  }
}

async function settle(store: HdfsStore, temporary: Path, path: Path): Promise<boolean> {
  const status = await store.status(temporary);
  try {
    await moveFile(store, { path: temporary, status }, path, 'NONE');
    // The old rename of a gateway moves it into the directory of another caller.
    const inside = path.entry(temporary.name);
    if (!store.hasOldRename || (await store.find(inside)) === undefined) return true;
    await store.remove(inside, status);
    return false;
  } catch (error) {
    await store.remove(temporary, status).catch(() => undefined);
    if (error instanceof AlreadyExistsError && (await isThere(store, path))) return false;
    throw error;
  }
}

/** @throws AlreadyExistsError if it is a file, or below one */
async function isThere(store: HdfsStore, path: Path): Promise<boolean> {
  try {
    const { type } = await store.status(path);
    if (type === 'directory') return true;
  } catch (error) {
    if (error instanceof RemoteFailure && error.exception === 'FileNotFoundException') return false;
    throw error;
  }
  throw new AlreadyExistsError(path.toString());
}
