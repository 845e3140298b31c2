/**
 * Finds the file system of a path by its scheme, as Flink's `FileSystem.get` does. The code of a scheme is loaded when the
 * first path of it turns up.
 */
import { UnknownSchemeError } from '../errors.js';
import type { FileSystem } from './file-system.js';
import { currentDirectory, qualifyLocal } from './local-path.js';
import type { Path } from './path.js';
import { entropyKeyOf, withoutEntropy } from './s3/entropy.js';
import type { FileSystemLoader, FileSystemSettings } from './settings.js';

export type { FileSystemLoader, FileSystemSettings } from './settings.js';

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

const openS3: FileSystemLoader = async (settings, scheme, authority) => {
  const { openS3FileSystem } = await import('./s3/s3-file-system.js');
  return openS3FileSystem(settings, scheme, authority);
};

const openAzure: FileSystemLoader = async (...place) =>
  (await import('./azure/azure.js')).openAzureFileSystem(...place);

/** The schemes of this program. A new one is a line here and a file of its own; whatever it needs, it imports when it runs. */
const LOADERS: ReadonlyMap<string, FileSystemLoader> = new Map<string, FileSystemLoader>([
  ...['abfs', 'abfss', 'wasb', 'wasbs'].map((scheme) => [scheme, openAzure] as const),
  ['gs', async (...place) => (await import('./gcs/gcs.js')).openGcsFileSystem(...place)],
  [
    'file',
    async ({ workingDirectory }) => {
      const { LocalFileSystem } = await import('./local.js');
      return new LocalFileSystem({ ...(workingDirectory !== undefined && { workingDirectory }) });
    },
  ],
  ['s3', openS3],
  ['s3a', openS3],
  ['s3n', openS3],
  ['s3p', openS3],
  [
    'oss',
    async (settings, scheme, authority) => {
      const { openOssFileSystem } = await import('./s3/s3-file-system.js');
      return openOssFileSystem(settings, scheme, authority);
    },
  ],
  ...['hdfs', 'webhdfs', 'swebhdfs'].map((scheme): [string, FileSystemLoader] => [
    scheme,
    async (...cluster) => (await import('./webhdfs/open-web-hdfs.js')).openWebHdfs(...cluster),
  ]),
  [
    'viewfs',
    async (settings, _scheme, authority) => {
      const { refuseViewFs } = await import('./webhdfs/view-fs.js');
      return refuseViewFs(settings, authority);
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
  readonly #entropyKey: string | undefined;
  readonly #made = new Map<string, Promise<FileSystem>>();

  constructor(
    private readonly settings: FileSystemSettings,
    private readonly loaders: ReadonlyMap<string, FileSystemLoader>,
  ) {
    this.#entropyKey = entropyKeyOf(settings.configuration);
  }

  get schemes(): readonly string[] {
    return [...this.loaders.keys()].sort();
  }

  qualify(path: Path): Path {
    const isLocal = path.scheme === undefined || path.scheme === 'file';
    if (isLocal) return qualifyLocal(path, this.settings.workingDirectory ?? currentDirectory());
    return withoutEntropy(path.tidy, this.#entropyKey);
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
