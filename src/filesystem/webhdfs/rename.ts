/** Renaming without ever replacing, or with, by whatever rename a server has. */
import {
  AlreadyExistsError,
  asError,
  type CkptError,
  IoError,
  NotFoundError,
  WrongFileTypeError,
} from '../../errors.js';
import type { Path } from '../path.js';
import { encodePath } from './client.js';
import { RemoteFailure, toCkptError } from './remote-failure.js';
import type { HdfsStore, KnownFile, RenameMode } from './store.js';

/** A file and what is known of it. */
export interface MovedFile {
  readonly path: Path;
  readonly status: KnownFile;
}

/** See `FileSystem.rename`. */
export async function renameFile(store: HdfsStore, from: Path, to: Path): Promise<void> {
  encodePath(to);
  const status = await store.status(from).catch((error: unknown) => {
    throw toCkptError(error, { path: from, action: 'rename' });
  });
  if (status.type === 'directory') throw new WrongFileTypeError(from.toString(), 'file');
  if (from.equals(to)) throw new AlreadyExistsError(to.toString());
  await moveFile(store, { path: from, status }, to, 'NONE');
}

/**
 * Gives a file another name.
 * @throws NotFoundError, AlreadyExistsError and others, as `FileSystem.rename`
 */
export async function moveFile(store: HdfsStore, file: MovedFile, to: Path, mode: RenameMode): Promise<void> {
  const outcome = await store.rename(file.path, to, file.status, mode).catch(async (error: unknown) => {
    throw await explain(store, file.path, to, error);
  });
  if (outcome === 'renamed') return;
  if (outcome === 'renamed-the-old-way') return checkArrival(store, file, to);
  await settleRefusal(store, file, to, mode);
}

/**
 * `FileSystem.rename` of old does not say why it refuses. Through a gateway there is no other one, nor one that replaces:
 * the old file goes first, so that for a moment neither has the name.
 */
async function settleRefusal(store: HdfsStore, file: MovedFile, to: Path, mode: RenameMode): Promise<void> {
  const found = await store.find(to).catch((error: unknown) => {
    throw toCkptError(error, { path: to, action: 'rename' });
  });
  const refused = new Error('the server refuses the rename and does not say why');
  if (found === undefined || mode === 'NONE') throw await explain(store, file.path, to, refused);
  if (found.type === 'directory') throw new WrongFileTypeError(to.toString(), 'file');
  try {
    await store.remove(to, found);
  } catch (error) {
    throw toCkptError(error, { path: to, action: 'delete' });
  }
  await moveFile(store, file, to, 'NONE');
}

/** The old rename moves a file into a directory that has the new name; then it goes back where it was. */
async function checkArrival(store: HdfsStore, file: MovedFile, to: Path): Promise<void> {
  const inside = to.entry(file.path.name);
  try {
    if ((await store.find(to))?.type !== 'directory' || file.status.type === 'directory') return;
    if ((await store.find(inside)) === undefined) return;
    await store.rename(inside, file.path, file.status, 'NONE');
  } catch (error) {
    throw toCkptError(error, { path: to, action: 'rename' });
  }
  throw new AlreadyExistsError(to.toString());
}

/** A rename that failed, by what is there now: servers word it in many ways, and not of which name it is. */
async function explain(store: HdfsStore, from: Path, to: Path, error: unknown): Promise<CkptError> {
  const options = { cause: asError(error) };
  if (error instanceof RemoteFailure && error.isMissing) {
    const source = await store.find(from).catch(() => 'unknown');
    return new NotFoundError((source === undefined ? from : to).toString(), options);
  }
  const ours = toCkptError(error, { path: to, action: 'rename' });
  if (!(ours instanceof IoError)) return ours;
  if ((await store.find(from).catch(() => 'unknown')) === undefined) return new NotFoundError(from.toString(), options);
  const target = await store.find(to).catch(() => undefined);
  if (target !== undefined) return new AlreadyExistsError(to.toString(), options);
  const parent = to.parent === undefined ? undefined : await store.find(to.parent).catch(() => 'unknown');
  return parent === undefined ? new NotFoundError(to.toString(), options) : ours;
}
