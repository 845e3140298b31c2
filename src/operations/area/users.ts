/** Who uses which files: every metadata file below some directories, whatever it is called, and what it names. */
import { CkptError, NotFoundError } from '../../errors.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { METADATA_FILE } from '../layout.js';
import type { FileKeys } from './file-keys.js';
import { forEachReference, type KeyedReference, type OperatorMention } from './references.js';
import type { CheckpointDirectory, Unreadable } from './scan.js';

const METADATA_MAGIC_BYTES = [0x49, 0x60, 0x67, 0x2d] as const;
const CONCURRENT_METADATA = 4;
const CONCURRENT_PEEKS = 16;

/** A metadata file that keeps what it names. */
export interface User {
  /** The checkpoint directory, as it is named: what a user sees. */
  readonly pointer: Path;
  readonly metadataPath: Path;
}

/** What {@link readUsers} reports, metadata by metadata; calls of different ones are mixed. */
export interface UserConsumer {
  file(user: User, reference: KeyedReference): void;
  managedDirectory?(user: User, key: string, path: string): void;
  operator?(user: User, operator: OperatorMention): void;
  /**
   * The user was read to its end.
   * @param error why it was not, then what was reported of it is not all; undefined if it was. Also for one that vanished.
   */
  end?(user: User, error: CkptError | undefined): void;
}

/** Options of {@link readUsers}. */
export interface ReadUsersOptions {
  readonly signal?: AbortSignal | undefined;
  /** Metadata files that are not users: those that are to go. */
  readonly except?: ((metadataPath: Path) => boolean) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Reads all metadata in these directories: `_metadata`, tombstones, and any other file that begins as one. Of a directory
 * that a checkpoint's metadata names files in, those files are its state and are not looked into.
 * @returns what could not be read; a file that vanished meanwhile is not among it
 * @throws the signal's reason; what the consumer throws
 */
export async function readUsers(
  fileSystems: FileSystems,
  checkpoints: readonly CheckpointDirectory[],
  keys: FileKeys,
  consumer: UserConsumer,
  options: ReadUsersOptions = {},
): Promise<Unreadable[]> {
  const unreadable: Unreadable[] = [];
  let done = 0;
  await forEachConcurrently(
    checkpoints,
    async ({ directory }) => {
      await readDirectory(fileSystems, directory, keys, consumer, options, unreadable);
      options.onProgress?.(++done, checkpoints.length);
    },
    { concurrency: CONCURRENT_METADATA, ...(options.signal && { signal: options.signal }) },
  );
  options.signal?.throwIfAborted();
  return unreadable;
}

/**
 * Reads those of the files in a directory that begin as metadata, and whatever is called `_metadata`.
 * @param names of plain files, but for `_metadata`
 * @returns what could not be read
 * @throws as {@link readUsers}
 */
export async function readUsersAmong(
  fileSystems: FileSystems,
  directory: Path,
  names: readonly string[],
  keys: FileKeys,
  consumer: UserConsumer,
  options: ReadUsersOptions = {},
): Promise<Unreadable[]> {
  const unreadable: Unreadable[] = [];
  const others = names.filter((name) => name !== METADATA_FILE);
  const found = await filesThatBeginAsMetadata(fileSystems, directory, others, unreadable);
  for (const name of names.includes(METADATA_FILE) ? [METADATA_FILE, ...found] : found) {
    await readUser(fileSystems, { pointer: directory, metadataPath: directory.entry(name) }, keys, consumer, {
      ...options,
      unreadable,
    });
  }
  return unreadable;
}

async function readDirectory(
  fileSystems: FileSystems,
  directory: Path,
  keys: FileKeys,
  consumer: UserConsumer,
  options: ReadUsersOptions,
  unreadable: Unreadable[],
): Promise<void> {
  const own = new Set<string>();
  const { key } = await keys.directory(directory.toString());
  const onMention = (reference: KeyedReference): void => {
    if (reference.directoryKey === key) own.add(reference.name);
  };
  const read = (metadataPath: Path): Promise<void> =>
    readUser(fileSystems, { pointer: directory, metadataPath }, keys, consumer, { ...options, unreadable, onMention });
  const names = await fileNames(fileSystems, directory, unreadable);
  if (names.includes(METADATA_FILE)) await read(directory.child(METADATA_FILE));
  const others = names.filter((name) => name !== METADATA_FILE && !own.has(name));
  for (const name of await filesThatBeginAsMetadata(fileSystems, directory, others, unreadable)) {
    await read(directory.entry(name));
  }
}

interface ReadUserOptions extends ReadUsersOptions {
  readonly unreadable: Unreadable[];
  /** Told of each mention, also of a metadata file that does not count. */
  readonly onMention?: ((reference: KeyedReference) => void) | undefined;
}

async function readUser(
  fileSystems: FileSystems,
  user: User,
  keys: FileKeys,
  consumer: UserConsumer,
  { unreadable, onMention, except, signal }: ReadUserOptions,
): Promise<void> {
  const { metadataPath } = user;
  const counts = except?.(metadataPath) !== true;
  try {
    await readMetadata(
      fileSystems,
      user,
      keys,
      {
        file(reference) {
          onMention?.(reference);
          if (counts) consumer.file(user, reference);
        },
        managedDirectory(managedKey, path) {
          if (counts) consumer.managedDirectory?.(user, managedKey, path);
        },
        operator(operator) {
          if (counts) consumer.operator?.(user, operator);
        },
      },
      signal,
    );
    if (counts) consumer.end?.(user, undefined);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof CkptError)) throw error;
    if (counts) consumer.end?.(user, error);
    if (!(error instanceof NotFoundError)) unreadable.push({ path: metadataPath, error });
  }
}

async function readMetadata(
  fileSystems: FileSystems,
  user: User,
  keys: FileKeys,
  consumer: Parameters<typeof forEachReference>[2],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { metadataPath, pointer } = user;
  const source = await (await fileSystems.get(metadataPath)).open(metadataPath);
  try {
    await forEachReference({ source, location: metadataPath.toString(), directory: pointer }, keys, consumer, signal);
  } finally {
    await source.close();
  }
}

async function fileNames(fileSystems: FileSystems, directory: Path, unreadable: Unreadable[]): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entries of (await fileSystems.get(directory)).list(directory)) {
      // Whatever stands in the place of the metadata must be looked at, a file or not.
      for (const { name, type } of entries) if (type === 'file' || name === METADATA_FILE) names.push(name);
    }
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    if (!(error instanceof CkptError)) throw error;
    unreadable.push({ path: directory, error });
  }
  return names;
}

/** Those of the files whose first four bytes are those of metadata. */
async function filesThatBeginAsMetadata(
  fileSystems: FileSystems,
  directory: Path,
  names: readonly string[],
  unreadable: Unreadable[],
): Promise<string[]> {
  const found: string[] = [];
  await forEachConcurrently(
    names,
    async (name) => {
      const path = directory.entry(name);
      try {
        if (await beginsAsMetadata(fileSystems, path)) found.push(name);
      } catch (error) {
        if (error instanceof NotFoundError) return;
        if (!(error instanceof CkptError)) throw error;
        unreadable.push({ path, error });
      }
    },
    { concurrency: CONCURRENT_PEEKS },
  );
  return found;
}

/**
 * True if a file begins with the four bytes of a metadata file.
 * @throws the errors of opening and reading it
 */
export async function beginsAsMetadata(fileSystems: FileSystems, path: Path): Promise<boolean> {
  const source = await (await fileSystems.get(path)).open(path);
  try {
    if (source.size < METADATA_MAGIC_BYTES.length) return false;
    const start = await source.read(0, METADATA_MAGIC_BYTES.length);
    return METADATA_MAGIC_BYTES.every((byte, i) => start[i] === byte);
  } finally {
    await source.close();
  }
}
