/** Walks directory trees of any size: many directories at once, links followed, nothing kept. */
import type { DirectoryEntry } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';

const CONCURRENT_LISTINGS = 16;

/** Told of what a walk finds. Calls for one directory come in order; those for different ones are mixed. */
export interface TreeVisitor {
  /** Some of the children of a directory. */
  entries(directory: Path, entries: readonly DirectoryEntry[]): void | Promise<void>;
  /** All children of the directory have been reported. */
  endDirectory?(directory: Path): void | Promise<void>;
  /** The directory could not be listed, or not to its end. The walk goes on elsewhere. */
  unlistable(directory: Path, error: unknown): void;
}

/** Options of {@link walkTree}. */
export interface WalkOptions {
  readonly signal?: AbortSignal | undefined;
  /** Directories that are not entered. */
  readonly skip?: (directory: Path) => boolean;
}

/**
 * Lists `root` and every directory below it. A link to a directory is followed unless it leads to where the walk has been
 * through another name or will come anyway, so circles end.
 * @throws the signal's reason; what the visitor throws. A root that cannot be listed is reported like any directory.
 */
export async function walkTree(
  fileSystems: FileSystems,
  root: Path,
  visitor: TreeVisitor,
  options: WalkOptions = {},
): Promise<void> {
  const walk = new Walk(fileSystems, visitor, options);
  await walk.run(root);
}

class Walk {
  private readonly waiting: Path[] = [];
  private readonly visitedLinks = new Set<string>();
  private realRoot: Path | undefined;
  private active = 0;
  private failure: { readonly error: unknown } | undefined;
  private wake: (() => void) | undefined;

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly visitor: TreeVisitor,
    private readonly options: WalkOptions,
  ) {}

  async run(root: Path): Promise<void> {
    this.waiting.push(root);
    this.realRoot = await this.resolve(root);
    while (this.waiting.length > 0 || this.active > 0) {
      if (this.failure) break;
      this.options.signal?.throwIfAborted();
      const next = this.active < CONCURRENT_LISTINGS ? this.waiting.pop() : undefined;
      if (next) void this.start(next);
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
    while (this.active > 0) await new Promise<void>((resolve) => (this.wake = resolve));
    if (this.failure) throw this.failure.error;
  }

  private async start(directory: Path): Promise<void> {
    this.active++;
    try {
      await this.list(directory);
    } catch (error) {
      this.failure ??= { error };
    } finally {
      this.active--;
      this.wake?.();
    }
  }

  private async list(directory: Path): Promise<void> {
    const { visitor, options } = this;
    let batches: AsyncIterator<readonly DirectoryEntry[]>;
    try {
      const fileSystem = await this.fileSystems.get(directory);
      batches = fileSystem.list(directory, options.signal)[Symbol.asyncIterator]();
    } catch (error) {
      visitor.unlistable(directory, error);
      return;
    }
    for (;;) {
      let batch: IteratorResult<readonly DirectoryEntry[]>;
      try {
        batch = await batches.next();
      } catch (error) {
        options.signal?.throwIfAborted();
        visitor.unlistable(directory, error);
        return;
      }
      if (batch.done) break;
      await visitor.entries(directory, batch.value);
      await this.enter(directory, batch.value);
      if (this.failure) return;
    }
    await visitor.endDirectory?.(directory);
  }

  private async enter(directory: Path, entries: readonly DirectoryEntry[]): Promise<void> {
    let added = false;
    for (const entry of entries) {
      if (entry.type !== 'directory') continue;
      const path = directory.entry(entry.name);
      if (this.options.skip?.(path)) continue;
      if (entry.isLink && !(await this.isNewPlace(path))) continue;
      this.waiting.push(path);
      added = true;
    }
    if (added) this.wake?.();
  }

  private async isNewPlace(link: Path): Promise<boolean> {
    const real = await this.resolve(link);
    if (!real || (this.realRoot && real.startsWith(this.realRoot))) return false;
    if (this.realRoot?.startsWith(real)) return false;
    const key = real.toString();
    if (this.visitedLinks.has(key)) return false;
    this.visitedLinks.add(key);
    return true;
  }

  /** Undefined for a path that leads nowhere any more. */
  private async resolve(path: Path): Promise<Path | undefined> {
    try {
      return await (await this.fileSystems.get(path)).resolveLinks(path);
    } catch {
      return undefined;
    }
  }
}
