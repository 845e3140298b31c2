/** Looks at files, each distinct one only once, however many handles of however many checkpoints name it. */
import { CkptError } from '../../errors.js';
import type { EntryStatus } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { FileHasher, HashIndex64 } from '../file-index.js';

/** In place of a size. */
const Unknown = { NotLooked: -1, Missing: -2, Unreadable: -3 } as const;

/** What is known of one file after a look. */
export type FileLook =
  | { readonly kind: 'file'; readonly size: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** A path as the metadata names it, and where it leads. */
export interface FilePlaces {
  readonly path: string;
  readonly lookedUpAt: string;
}

/** A file by the directory and the name that it is looked up under. */
export interface FileName {
  readonly directory: string;
  readonly name: string;
}

/** Splits a qualified path at its last slash. */
export function fileNameOf(path: string): FileName {
  const slash = path.lastIndexOf('/');
  const directory = path.slice(0, Math.max(slash, 0));
  // What is left of a file at the top is no directory without its slash.
  return { directory: TOP.test(directory) ? `${directory}/` : directory, name: path.slice(slash + 1) };
}

const TOP = /^[^/]*:(?:\/\/[^/]*)?$/;
/** Stores that scatter files have a directory for each. */
const CONCURRENT_DIRECTORIES = 16;

/** See the file comment. Takes some 30 bytes for a file. */
export class FileLooks {
  private readonly index = new HashIndex64();
  private readonly hasher = new FileHasher();
  private sizes = new Float64Array(1024).fill(Unknown.NotLooked);
  private readonly reasons = new Map<number, string>();
  private readonly firstBytes = new Map<number, Promise<number | undefined>>();
  /** Of files with faults. */
  private readonly places = new Map<number, FilePlaces>();
  /** What is being looked at by somebody else just now. */
  private readonly looking = new Map<number, Promise<void>>();

  constructor(readonly fileSystems: FileSystems) {}

  /** Distinct files that were asked for. */
  get files(): number {
    return this.index.size;
  }

  /** The number of a file, the same whenever it is asked for. */
  numberOf({ directory, name }: FileName): number {
    const hash = this.hasher.of(directory, name);
    const number = this.index.indexOf(hash.high, hash.low);
    if (number >= this.sizes.length) {
      const larger = new Float64Array(this.sizes.length * 2).fill(Unknown.NotLooked);
      larger.set(this.sizes);
      this.sizes = larger;
    }
    return number;
  }

  /** The look at a file. It must have been taken: see {@link lookAt}. */
  get(number: number): FileLook {
    const size = this.sizes[number] ?? Unknown.NotLooked;
    if (size >= 0) return { kind: 'file', size };
    if (size === Unknown.Missing) return { kind: 'missing' };
    if (size === Unknown.Unreadable) return { kind: 'unreadable', reason: this.reasons.get(number) ?? '' };
    throw new Error('a file was judged that nobody looked at');
  }

  /** Looks at those of the files that nobody has looked at yet. */
  async lookAt(files: ReadonlyMap<number, FileName>, signal?: AbortSignal): Promise<void> {
    const byDirectory = new Map<string, { readonly names: string[]; readonly numbers: number[] }>();
    const others: Promise<void>[] = [];
    for (const [number, { directory, name }] of files) {
      if (this.sizes[number] !== Unknown.NotLooked) continue;
      const busy = this.looking.get(number);
      if (busy !== undefined) {
        others.push(busy);
        continue;
      }
      const group = byDirectory.get(directory) ?? { names: [], numbers: [] };
      byDirectory.set(directory, group);
      group.names.push(name);
      group.numbers.push(number);
    }
    // Noted before the first of them begins, so that nobody else looks at the same files.
    const groups = [...byDirectory].map(([directory, { names, numbers }]) =>
      this.prepareLook(directory, names, numbers, signal),
    );
    const results = await Promise.allSettled([startAll(groups, signal), ...others]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    signal?.throwIfAborted();
  }

  private prepareLook(
    directory: string,
    names: readonly string[],
    numbers: readonly number[],
    signal: AbortSignal | undefined,
  ): PreparedLook {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const look = begun
      .then(() => this.lookAtNames(directory, names, numbers, signal))
      .finally(() => {
        for (const number of numbers) this.looking.delete(number);
      });
    for (const number of numbers) this.looking.set(number, look);
    return {
      start() {
        begin();
        return look;
      },
    };
  }

  private async lookAtNames(
    directory: string,
    names: readonly string[],
    numbers: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let statuses: readonly (EntryStatus | CkptError | undefined)[];
    signal?.throwIfAborted();
    try {
      const path = this.fileSystems.qualify(Path.parse(directory));
      statuses = await (await this.fileSystems.get(path)).getFileStatuses(path, names, signal);
    } catch (error) {
      if (!(error instanceof CkptError) || signal?.aborted) throw error;
      statuses = names.map(() => error);
    }
    for (const [i, number] of numbers.entries()) this.note(number, statuses[i]);
  }

  private note(number: number, status: EntryStatus | CkptError | undefined): void {
    if (status === undefined) {
      this.sizes[number] = Unknown.Missing;
    } else if (status instanceof CkptError) {
      this.sizes[number] = Unknown.Unreadable;
      this.reasons.set(number, status.message);
    } else if (status.type !== 'file') {
      this.sizes[number] = Unknown.Unreadable;
      this.reasons.set(number, status.type === 'directory' ? 'a directory' : 'no regular file');
    } else {
      this.sizes[number] = status.size;
    }
  }

  /**
   * The path of a file with the place where it is really looked up: for the same file always the same object, so that a
   * million faults of it keep two texts.
   */
  placesOf(number: number, path: string): FilePlaces {
    const known = this.places.get(number);
    if (known) return known;
    // What a larger text is cut from would stay as long as the part of it.
    const places = { path: Buffer.from(path).toString(), lookedUpAt: this.placeOf(path) };
    this.places.set(number, places);
    return places;
  }

  /** Where a path is really looked up. */
  placeOf(path: string): string {
    try {
      return this.fileSystems.lookUp(Path.parse(path)).toString();
    } catch (error) {
      if (error instanceof CkptError) return path;
      throw error;
    }
  }

  /** The first byte of a file, or undefined if it has none or cannot be read. */
  firstByte(number: number, file: FileName): Promise<number | undefined> {
    const known = this.firstBytes.get(number);
    if (known !== undefined) return known;
    const read = this.readFirstByte(file);
    this.firstBytes.set(number, read);
    return read;
  }

  private async readFirstByte({ directory, name }: FileName): Promise<number | undefined> {
    try {
      const path = this.fileSystems.qualify(Path.parse(directory)).entry(name);
      const source = await (await this.fileSystems.get(path)).open(path);
      try {
        return source.size === 0 ? undefined : (await source.read(0, 1))[0];
      } finally {
        await source.close();
      }
    } catch (error) {
      if (error instanceof CkptError) return undefined;
      throw error;
    }
  }
}

/** A look that begins when it is told to; more often does no harm. */
interface PreparedLook {
  readonly start: () => Promise<void>;
}

async function startAll(looks: readonly PreparedLook[], signal: AbortSignal | undefined): Promise<void> {
  try {
    await forEachConcurrently(looks, (look) => look.start(), { concurrency: CONCURRENT_DIRECTORIES, signal });
  } finally {
    // What was not begun because of an abort must not be waited for by others for ever.
    await Promise.allSettled(looks.map((look) => look.start()));
  }
}
