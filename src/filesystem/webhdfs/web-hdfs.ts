/** HDFS over its REST interface, WebHDFS. Origin: Flink's `HadoopFileSystem` over Hadoop's `WebHdfsFileSystem`. */
import type { CkptError } from '../../errors.js';
import { AlreadyExistsError, InvalidPathError, WrongFileTypeError } from '../../errors.js';
import type {
  AtomicOptions,
  AtomicWriter,
  BulkDeletion,
  BulkDeletionOptions,
  ByteSource,
  DirectoryEntry,
  EntryStatus,
  FileStatus,
  FileSystem,
} from '../file-system.js';
import { Path } from '../path.js';
import { deleteEntries, removeDirectory, removeFile } from './deletion.js';
import { makeNewDirectory } from './directory.js';
import { findEntries, listDirectory } from './listing.js';
import { RemoteFailure, toCkptError } from './remote-failure.js';
import { renameFile } from './rename.js';
import { HdfsSource } from './source.js';
import { type RemoteStatus, toEntryStatus, toFileStatus } from './status.js';
import type { HdfsStore } from './store.js';
import { send } from './upload.js';
import { HdfsWriter } from './writer.js';

/** Settings of a {@link WebHdfsFileSystem}. */
export interface WebHdfsOptions {
  /** `hdfs`, `webhdfs` or `swebhdfs`. */
  readonly scheme: string;
  /** Of paths that have none. */
  readonly authority: string | undefined;
  /** Whose home directory relative paths start from. */
  readonly user: string | undefined;
}

/** Files of one HDFS. */
export class WebHdfsFileSystem implements FileSystem {
  readonly kind = 'file-system';
  readonly scheme: string;
  readonly #store: HdfsStore;
  readonly #options: WebHdfsOptions;

  constructor(store: HdfsStore, options: WebHdfsOptions) {
    this.#store = store;
    this.#options = options;
    this.scheme = options.scheme;
  }

  /** @throws InvalidPathError for another scheme */
  qualify(path: Path): Path {
    if (path.scheme !== undefined && path.scheme !== this.scheme) {
      throw new InvalidPathError(path.toString(), `its scheme is not ${this.scheme}`);
    }
    const { scheme, authority = this.#options.authority } = { ...path, scheme: this.scheme, authority: path.authority };
    if (path.scheme !== undefined || path.path.startsWith('/') || path.authority !== undefined) {
      return Path.verbatim({ scheme, authority, path: path.path === '' ? '/' : path.path }).tidy;
    }
    const home = Path.verbatim({ scheme, authority, path: `/user/${this.#options.user ?? 'hadoop'}` });
    return path.path === '' ? home : home.child(path.path).tidy;
  }

  /** By the answers of the name node, which stamps the files. One that does not tell is taken to have the time of here. */
  async clockOffset(path: Path, signal?: AbortSignal): Promise<number> {
    const { client } = this.#store;
    if (client.clockOffset === undefined) {
      await this.#store.find(path, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        // A refusal has the time too.
        if (client.clockOffset === undefined) throw toCkptError(error, { path, action: 'asking for the time' });
      });
    }
    return client.clockOffset ?? 0;
  }

  async getFileStatus(path: Path): Promise<FileStatus> {
    return toFileStatus(path, await this.#status(path, 'status'));
  }

  async getFileStatuses(
    directory: Path,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (EntryStatus | CkptError | undefined)[]> {
    const found = await findEntries(this.#store, directory, names, signal);
    return found.map((entry) => (entry === undefined || entry instanceof Error ? entry : toEntryStatus(entry)));
  }

  list(directory: Path, signal?: AbortSignal): AsyncIterable<readonly DirectoryEntry[]> {
    return listDirectory(this.#store, directory, signal);
  }

  async open(path: Path): Promise<ByteSource> {
    const status = await this.#status(path, 'open');
    if (status.type !== 'file') throw new WrongFileTypeError(path.toString(), 'file');
    return new HdfsSource(this.#store, path, status);
  }

  /** HDFS has had no links that a server follows since Hadoop 2.2. */
  async resolveLinks(path: Path): Promise<Path> {
    return path;
  }

  makeDirectory(path: Path): Promise<boolean> {
    return makeNewDirectory(this.#store, path);
  }

  async createAtomic(path: Path, options: AtomicOptions = {}): Promise<AtomicWriter> {
    const existing = await this.#existing(path, 'create');
    if (existing !== undefined && options.overwrite !== true) throw new AlreadyExistsError(path.toString());
    if (existing?.type === 'directory') throw new WrongFileTypeError(path.toString(), 'file');
    return new HdfsWriter(this.#store, path, options, existing);
  }

  /** A file that is renamed into its place: one created there would be seen before it is whole. */
  async createExclusive(path: Path, contents: Uint8Array): Promise<void> {
    const writer = await this.createAtomic(path);
    try {
      await writer.write(contents);
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await writer.commit();
  }

  /** Through this machine: WebHDFS has no copy. */
  async copyFile(from: Path, to: Path, options: { readonly sync?: boolean } = {}): Promise<void> {
    const status = await this.#status(from, 'copy');
    if (status.type !== 'file') throw new WrongFileTypeError(from.toString(), 'file');
    const { client } = this.#store;
    let whose = to;
    try {
      await client.requests.run(`CREATE ${to}`, () => {
        whose = to;
        const bytes = () =>
          telling(this.#store.readWhole(from, status), () => {
            whose = from;
          });
        return send(this.#store, to, bytes, { sync: options.sync === true, parents: false });
      });
    } catch (error) {
      throw toCkptError(error, { path: whose, action: 'copy', isCreation: whose === to });
    }
  }

  rename(from: Path, to: Path): Promise<void> {
    return renameFile(this.#store, from, to);
  }

  deleteFile(path: Path): Promise<boolean> {
    return removeFile(this.#store, path);
  }

  deleteFiles(
    directory: Path,
    names: readonly string[],
    options: BulkDeletionOptions = {},
  ): Promise<readonly BulkDeletion[]> {
    return deleteEntries(this.#store, directory, names, options);
  }

  deleteDirectory(path: Path): Promise<boolean> {
    return removeDirectory(this.#store, path);
  }

  async #status(path: Path, action: string): Promise<RemoteStatus> {
    try {
      return await this.#store.status(path);
    } catch (error) {
      throw toCkptError(error, { path, action });
    }
  }

  /** What is in the place where something is to be made; undefined if nothing is, and nothing is in its way. */
  async #existing(path: Path, action: string): Promise<RemoteStatus | undefined> {
    try {
      return await this.#store.status(path);
    } catch (error) {
      if (error instanceof RemoteFailure && error.exception === 'FileNotFoundException') return undefined;
      throw toCkptError(error, { path, action, isCreation: true });
    }
  }
}

/** Passes pieces on; `onFailure` is told before they fail. */
async function* telling(pieces: AsyncIterable<Uint8Array>, onFailure: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* pieces;
  } catch (error) {
    onFailure();
    throw error;
  }
}
