/**
 * Finds the file system of a path by its scheme, as Flink's `FileSystem.get` does. The code of a scheme is loaded when the
 * first path of it turns up.
 */
import { UnknownSchemeError } from '../errors.js';
import type { FileSystem } from './file-system.js';
import { currentDirectory, qualifyLocal } from './local-path.js';
import type { Path } from './path.js';
import type { RetriedRequest } from './requests.js';

/** What file systems are made with. */
export interface FileSystemSettings {
  /** Flink's options (`s3.endpoint`, …), as given; each file system picks its own. */
  readonly configuration: ReadonlyMap<string, string>;
  /** Where relative paths start, absolute and with slashes; default: the working directory of the process. */
  readonly workingDirectory?: string;
  /** Variables of the environment (`HADOOP_CONF_DIR`, …); default: none. A SDK may look for its own in the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Requests at once to each remote store; default: what suits it. */
  readonly requests?: number | undefined;
  /** Told of each request to a remote store that is made again. */
  readonly onRetry?: ((retried: RetriedRequest) => void) | undefined;
  /** Takes what a user should know of a store, a line each: what it cannot promise, what was ignored. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * Makes the file system for all paths of one scheme and authority.
 * @param authority bucket, or host and port; undefined if the paths have none
 */
export type FileSystemLoader = (
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
) => Promise<FileSystem>;

/** Gives the file system of any path. */
export interface FileSystems {
  /** The known schemes. */
  readonly schemes: readonly string[];

  /**
   * Adds what is missing to a path of a user: without a scheme it is a local one. A path of another scheme stays, known or
   * not. No I/O.
   * @throws InvalidPathError for a local path with a host
   */
  qualify(path: Path): Path;

  /**
   * The file system of a path. Its methods take qualified paths. It is made once for each scheme and authority.
   * @throws UnknownSchemeError, InvalidPathError (a local path with a host), or what making it fails with
   */
  get(path: Path): Promise<FileSystem>;

  /** Where a path is really looked up, qualified: another place only if it is mapped (see `map.ts`). No I/O. */
  lookUp(path: Path): Path;

  /**
   * The name, qualified, of what a user gave a path of: with a mapping both the name itself and the place where it is
   * looked up lead to the name that the metadata has. No I/O.
   */
  nameOf(path: Path): Path;
}

/** The schemes of this program. A new one is a line here and a file of its own; whatever it needs, it imports when it runs. */
const LOADERS: ReadonlyMap<string, FileSystemLoader> = new Map<string, FileSystemLoader>([
  [
    'file',
    async ({ workingDirectory }) => {
      const { LocalFileSystem } = await import('./local.js');
      return new LocalFileSystem({ ...(workingDirectory !== undefined && { workingDirectory }) });
    },
  ],
]);

/**
 * The file systems of this program.
 * @param more loaders that come first, for tests and for users of the library
 * @example
 * const systems = createFileSystems({ configuration: new Map() });
 * const path = systems.qualify(Path.parse('checkpoints/chk-1'));
 * const status = await (await systems.get(path)).getFileStatus(path);
 */
export function createFileSystems(
  settings: FileSystemSettings,
  more: ReadonlyMap<string, FileSystemLoader> = new Map(),
): FileSystems {
  return new Registry(settings, new Map([...LOADERS, ...more]));
}

class Registry implements FileSystems {
  readonly #made = new Map<string, Promise<FileSystem>>();

  constructor(
    private readonly settings: FileSystemSettings,
    private readonly loaders: ReadonlyMap<string, FileSystemLoader>,
  ) {}

  get schemes(): readonly string[] {
    return [...this.loaders.keys()].sort();
  }

  qualify(path: Path): Path {
    const isLocal = path.scheme === undefined || path.scheme === 'file';
    return isLocal ? qualifyLocal(path, this.settings.workingDirectory ?? currentDirectory()) : path.tidy;
  }

  async get(path: Path): Promise<FileSystem> {
    const { scheme = 'file', authority } = this.qualify(path);
    const key = `${scheme}://${authority ?? ''}`;
    const made = this.#made.get(key) ?? this.#make(path, scheme, authority);
    this.#made.set(key, made);
    try {
      return await made;
    } catch (error) {
      // Not for good: the next caller may have more luck (credentials, a server that was down).
      this.#made.delete(key);
      throw error;
    }
  }

  lookUp(path: Path): Path {
    return this.qualify(path);
  }

  nameOf(path: Path): Path {
    return this.qualify(path);
  }

  async #make(path: Path, scheme: string, authority: string | undefined): Promise<FileSystem> {
    const loader = this.loaders.get(scheme);
    if (loader === undefined) throw new UnknownSchemeError(path.toString(), scheme, this.schemes);
    return loader(this.settings, scheme, authority);
  }
}
