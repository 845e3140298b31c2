/**
 * What each checkpoint holds, and what it alone holds: every metadata file below the roots is streamed once, and of the files
 * that they name hashes are kept. Sizes are those that the metadata records; no state file is looked at.
 */
import { CkptError, NotFoundError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { FileKeys } from '../area/file-keys.js';
import type { KeyedReference } from '../area/references.js';
import type { CheckpointDirectory } from '../area/scan.js';
import { readUsers, type User } from '../area/users.js';
import { FileHasher } from '../file-index.js';
import { HashSet64 } from '../file-set.js';
import { METADATA_FILE, TOMBSTONE_FILE } from '../layout.js';
import type { ListEntry, ListResult } from './entry.js';
import { Holdings } from './holdings.js';
import { filesIn } from './look.js';

/** An entry with the directory it was made from, and the job it belongs to. */
export interface SizedItem {
  readonly checkpoint: CheckpointDirectory;
  readonly entry: ListEntry;
  /** Number of the job. */
  readonly job: number;
}

/** What {@link addSizes} found. */
export interface Sizes {
  /** The entries with sizes, in the order given. */
  readonly entries: readonly ListEntry[];
  /** Bytes of each job, each file counted once. */
  readonly jobBytes: readonly number[];
  readonly unread: ListResult['unread'];
}

/** Options of {@link addSizes}. */
export interface SizeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

interface Reading {
  readonly holder: number;
  /** Undefined for metadata that no entry stands for. */
  readonly item: number | undefined;
  readonly seen: HashSet64;
  readonly names: Set<string>;
  bytes: number;
}

/**
 * Reads all metadata of the entries and adds up.
 * @param items all entries below the roots, whichever are shown
 * @param jobs how many jobs there are
 * @throws the signal's reason
 */
export async function addSizes(
  fileSystems: FileSystems,
  items: readonly SizedItem[],
  jobs: number,
  options: SizeOptions = {},
): Promise<Sizes> {
  const pass = new SizePass(fileSystems, items, jobs);
  const { signal, onProgress } = options;
  const { consumer } = pass;
  const directories = items.map(({ checkpoint }) => checkpoint);
  const unreadable = await readUsers(fileSystems, directories, pass.keys, consumer, { signal, onProgress });
  for (const [item, { checkpoint, entry }] of items.entries()) {
    if (entry.leftFiles !== null) await pass.addLeftFiles(item, checkpoint, signal);
  }
  const pointers = new Set(items.map(({ entry }) => entry.pointer));
  const isEntry = (path: string): boolean => pass.failed.has(path) || pointers.has(path);
  return {
    entries: items.map((_, item) => pass.entry(item)),
    jobBytes: pass.jobBytes,
    unread: unreadable.flatMap(({ path, error }) =>
      error instanceof CkptError && !isEntry(path.toString()) ? [{ path: path.toString(), error }] : [],
    ),
  };
}

interface Result extends Pick<ListEntry, 'totalBytes' | 'operatorNames' | 'error'> {
  /** Only where it is known before all was read. */
  readonly exclusiveBytes?: number;
}

class SizePass {
  readonly keys: FileKeys;
  readonly jobBytes: number[];
  /** Metadata files of entries that could not be read to their end. */
  readonly failed = new Set<string>();
  private readonly hasher = new FileHasher();
  private readonly holdings = new Holdings();
  private readonly jobFiles: readonly HashSet64[];
  private readonly itemOf: ReadonlyMap<string, number>;
  private readonly readings = new Map<string, Reading>();
  private readonly results: (Result | undefined)[] = [];
  private holders: number;

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly items: readonly SizedItem[],
    jobs: number,
  ) {
    this.keys = new FileKeys(fileSystems);
    this.holders = items.length;
    this.itemOf = new Map(items.map(({ entry }, item) => [entry.pointer, item]));
    this.jobFiles = Array.from({ length: jobs }, () => new HashSet64());
    this.jobBytes = Array.from({ length: jobs }, () => 0);
  }

  readonly consumer = {
    file: (user: User, keyed: KeyedReference): void => this.file(this.readingOf(user), keyed),
    operator: (user: User, { name, uid }: { name: string | null; uid: string | null }): void => {
      const text = name ?? uid;
      if (text !== null) this.readingOf(user).names.add(text);
    },
    end: (user: User, error: CkptError | undefined): void => this.end(user, error),
  };

  /** The metadata of an entry holds files for it; any other metadata file in its directory for itself. */
  private readingOf(user: User): Reading {
    const key = user.metadataPath.toString();
    const known = this.readings.get(key);
    if (known) return known;
    const item = this.itemFor(user);
    const reading = { item, holder: item ?? this.holders++, seen: new HashSet64(), names: new Set<string>(), bytes: 0 };
    this.readings.set(key, reading);
    return reading;
  }

  private itemFor({ pointer, metadataPath }: User): number | undefined {
    const item = this.itemOf.get(pointer.toString());
    const checkpoint = item === undefined ? undefined : this.items[item]?.checkpoint;
    if (!checkpoint) return undefined;
    return metadataPath.name === (checkpoint.hasMetadata ? METADATA_FILE : TOMBSTONE_FILE) ? item : undefined;
  }

  private file(reading: Reading, { directoryKey, name, reference, isLink }: KeyedReference): void {
    const { hasher, holdings } = this;
    const file = hasher.of(directoryKey, name);
    const { high, low } = file;
    // Of a merged file each segment counts, of any other the whole.
    if (reference.kind === 'segment') file.word(1 + reference.startPos).word(reference.startPos / 0x100000000);
    const isNew = reading.seen.add(file.high, file.low);
    // A link has no bytes of its own, and a size that is not recorded is none.
    const bytes = isNew && !isLink && reference.size > 0 ? reference.size : 0;
    reading.bytes += bytes;
    const { item } = reading;
    const job = item === undefined ? undefined : this.items[item]?.job;
    if (bytes > 0 && job !== undefined && this.jobFiles[job]?.add(file.high, file.low)) this.addToJob(job, bytes);
    holdings.hold(reading.holder, high, low, bytes);
  }

  private end(user: User, error: CkptError | undefined): void {
    const { item, bytes, names } = this.readingOf(user);
    this.readings.delete(user.metadataPath.toString());
    const found = item === undefined ? undefined : this.items[item];
    if (item === undefined || !found) return;
    const { entry, job } = found;
    // Discarded while we were reading: nothing is wrong with it, it is not there any more.
    if (error instanceof NotFoundError) return;
    if (error) {
      this.failed.add(user.metadataPath.toString());
      this.results[item] = { totalBytes: null, operatorNames: null, error };
      return;
    }
    this.results[item] = { totalBytes: (entry.metadataBytes ?? 0) + bytes, operatorNames: [...names], error: null };
    this.addToJob(job, entry.metadataBytes ?? 0);
  }

  private addToJob(job: number, bytes: number): void {
    this.jobBytes[job] = (this.jobBytes[job] ?? 0) + bytes;
  }

  /** The files in a directory without metadata, which holds nothing; other metadata may hold some of them. */
  async addLeftFiles(item: number, { directory }: CheckpointDirectory, signal: AbortSignal | undefined): Promise<void> {
    const job = this.items[item]?.job ?? 0;
    const { key } = await this.keys.directory(directory.toString());
    let bytes = 0;
    let exclusive = 0;
    try {
      const fileSystem = await this.fileSystems.get(directory);
      for await (const { name, size } of filesIn(fileSystem.list(directory, signal))) {
        const length = size ?? (await fileSystem.getFileStatus(directory.entry(name))).size;
        const { high, low } = this.hasher.of(key, name);
        bytes += length;
        if (this.jobFiles[job]?.add(high, low)) this.addToJob(job, length);
        if (!this.holdings.isHeld(high, low)) exclusive += length;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof CkptError)) throw error;
      return;
    }
    this.results[item] = { totalBytes: bytes, exclusiveBytes: exclusive, operatorNames: null, error: null };
  }

  entry(item: number): ListEntry {
    const entry = this.items[item]?.entry;
    const result = this.results[item];
    if (!entry) throw new Error('there is no such entry');
    if (!result) return entry;
    const { error, ...sizes } = result;
    if (error) return { ...entry, error, status: entry.status === 'complete' ? 'broken' : entry.status };
    const exclusive = (entry.metadataBytes ?? 0) + this.holdings.exclusiveBytes(item);
    return { ...entry, exclusiveBytes: exclusive, ...sizes };
  }
}
