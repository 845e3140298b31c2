/** Second step: reads every metadata file, whatever it is called, and notes in what state it was when it was read. */
import { CkptError, IoError, NotFoundError } from '../../errors.js';
import type { DirectoryEntry } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { isTemporaryName } from '../../filesystem/temporary-name.js';
import { visitMetadata } from '../../format/metadata/read.js';
import type { FileKeys } from '../area/file-keys.js';
import type { Unreadable } from '../area/scan.js';
import { beginsAsMetadata } from '../area/users.js';
import { isLockName } from '../discard/lock.js';
import { TOMBSTONE_SUFFIX } from '../discard/targets.js';
import { METADATA_FILE, misnamedReason } from '../layout.js';
import { NameTable } from './name-table.js';
import type { DirectoryBook, MarkingMode } from './named-directories.js';
import { isUnfinishedOfFlink } from './places.js';
import { ReferenceMarker } from './reference-marker.js';
import { metadataSignature, NameSum } from './signature.js';

const CONCURRENT_METADATA = 4;
const CONCURRENT_LOOKS = 16;

/** A metadata file that was read. */
export interface MetadataUser {
  /** The directory it is in. */
  readonly pointer: Path;
  readonly metadataPath: Path;
  /** True if files may be named from inside state of operators. */
  readonly hasOperatorState: boolean;
  /** See {@link ReferenceMarker.changelogDirectories}. */
  readonly changelogDirectories: ReadonlySet<string>;
  /** A directory that it names by a name under which the roots are not known; undefined if there is none. */
  readonly strange: string | undefined;
  /** Files in the job's own directories that are not there. */
  readonly missing: readonly string[];
}

/** What was found in one directory. */
export interface DirectoryReport {
  readonly directory: Path;
  readonly names: NameSum;
  /** See `metadataSignature`. */
  readonly metadata: string;
  readonly users: readonly MetadataUser[];
  readonly unreadable: readonly Unreadable[];
}

/** Whatever stands in the place of the metadata may stand for metadata that is somewhere else just now. */
function misnamed(directory: Path, entry: DirectoryEntry): CkptError {
  return new IoError(directory.toString(), 'reading its metadata', { cause: new Error(misnamedReason(entry)) });
}

/** True for what a metadata file is called, whatever its name was, once its checkpoint is being discarded. */
export function isTombstone(name: string): boolean {
  return name.endsWith(TOMBSTONE_SUFFIX);
}

/** Options of {@link UserReader.readAll}. */
export interface ReadDirectoriesOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Reads directories of checkpoints and marks what they name. */
export class UserReader {
  constructor(
    private readonly fileSystems: FileSystems,
    private readonly keys: FileKeys,
    private readonly book: DirectoryBook,
  ) {}

  /**
   * Reads all metadata in each directory.
   * @returns a report of each directory, without those that have vanished
   * @throws the signal's reason
   */
  async readAll(
    directories: readonly Path[],
    mode: MarkingMode,
    options: ReadDirectoriesOptions = {},
  ): Promise<DirectoryReport[]> {
    const reports: DirectoryReport[] = [];
    let done = 0;
    await forEachConcurrently(
      directories,
      async (directory) => {
        const report = await this.read(directory, mode, options.signal);
        if (report) reports.push(report);
        options.onProgress?.(++done, directories.length);
      },
      { concurrency: CONCURRENT_METADATA, signal: options.signal },
    );
    options.signal?.throwIfAborted();
    return reports;
  }

  private async read(
    directory: Path,
    mode: MarkingMode,
    signal: AbortSignal | undefined,
  ): Promise<DirectoryReport | undefined> {
    const unreadable: Unreadable[] = [];
    const names = new NameSum();
    const own = new NameTable();
    let hasMetadata = false;
    try {
      for await (const entries of (await this.fileSystems.get(directory)).list(directory, signal)) {
        for (const entry of entries) {
          const { name, type } = entry;
          if (isLockName(name)) continue;
          names.add(name);
          if (name === METADATA_FILE && type !== 'file')
            unreadable.push({ path: directory, error: misnamed(directory, entry) });
          else if (name === METADATA_FILE) hasMetadata = true;
          else if (type === 'file') own.add(name);
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof NotFoundError) return undefined;
      if (!(error instanceof CkptError)) throw error;
      unreadable.push({ path: directory, error });
    }
    const metadata = await metadataSignature(this.fileSystems, directory);
    const users: MetadataUser[] = [];
    const take = async (name: string): Promise<void> => {
      const path = directory.entry(name);
      try {
        users.push(await this.readMetadata(directory, path, own, mode, signal));
        if (mode === 'mark') await this.markItself(directory, name);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof NotFoundError) return;
        if (!(error instanceof CkptError)) throw error;
        // What was never finished is nobody's metadata, and may be garbage.
        if (!isTemporaryName(name) && !isUnfinishedOfFlink(name)) unreadable.push({ path, error });
      }
    };
    if (hasMetadata) await take(METADATA_FILE);
    for (const name of await this.thatBeginAsMetadata(directory, own, unreadable, signal)) await take(name);
    return { directory, names, metadata, users, unreadable };
  }

  private async readMetadata(
    directory: Path,
    metadataPath: Path,
    own: NameTable,
    mode: MarkingMode,
    signal: AbortSignal | undefined,
  ): Promise<MetadataUser> {
    const { key } = await this.keys.directory(directory.toString());
    const view = this.book.viewOf(directory, key, mode);
    const marker = new ReferenceMarker(directory, view, own);
    const source = await (await this.fileSystems.get(metadataPath)).open(metadataPath);
    try {
      const location = metadataPath.toString();
      await visitMetadata(source, location, marker, { signal, onPause: () => marker.settle() });
    } finally {
      await source.close();
    }
    const { hasOperatorState, changelogDirectories } = marker;
    // A tombstone's files may be gone already.
    const mayMiss = isTombstone(metadataPath.name);
    const missing = mayMiss ? [] : await this.missingOf(marker.unlisted);
    const [strange] = view.strange;
    return { pointer: directory, metadataPath, hasOperatorState, changelogDirectories, strange, missing };
  }

  /** Of files that were not listed: those that are not there. Others have come since. */
  private async missingOf(paths: ReadonlySet<string>): Promise<string[]> {
    const missing: string[] = [];
    await forEachConcurrently(
      paths,
      async (text) => {
        try {
          const path = Path.parse(text);
          await (await this.fileSystems.get(path)).getFileStatus(path);
        } catch (error) {
          if (!(error instanceof CkptError)) throw error;
          missing.push(text);
        }
      },
      { concurrency: CONCURRENT_LOOKS },
    );
    return missing;
  }

  private async thatBeginAsMetadata(
    directory: Path,
    own: NameTable,
    unreadable: Unreadable[],
    signal: AbortSignal | undefined,
  ): Promise<string[]> {
    const found: string[] = [];
    await forEachConcurrently(
      own.unused(),
      async (name) => {
        const path = directory.entry(name);
        try {
          if (await beginsAsMetadata(this.fileSystems, path)) found.push(name);
        } catch (error) {
          if (error instanceof NotFoundError) return;
          if (!(error instanceof CkptError)) throw error;
          unreadable.push({ path, error });
        }
      },
      { concurrency: CONCURRENT_LOOKS, signal },
    );
    signal?.throwIfAborted();
    return found;
  }

  /** Metadata of another name than Flink's is no leftover. One that was never finished is. */
  private async markItself(directory: Path, name: string): Promise<void> {
    if (isTemporaryName(name) || isUnfinishedOfFlink(name)) return;
    const { key } = await this.keys.directory(directory.toString());
    this.book.namesOf(key, 'mark')?.use(name);
  }
}
