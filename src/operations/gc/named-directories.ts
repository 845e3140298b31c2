/** What the directories that metadata names are to the files that may be garbage. */
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { Area } from '../area/area.js';
import type { DirectoryKey, FileKeys } from '../area/file-keys.js';
import { jobIdOf, SHARED_DIRECTORY, TASK_OWNED_DIRECTORY } from '../layout.js';
import type { Inventory } from './inventory.js';
import type { NameMarks } from './name-table.js';
import { marksIn } from './places.js';
import type { NamedDirectories, NamedDirectory } from './reference-marker.js';

/** Where it is looked for names and users. */
export interface Grounds {
  /** Below these files may go. */
  readonly roots: Area;
  /** Below these nothing goes, but it is known what there is. */
  readonly readOnly: Area;
  /** Flat directories of changelog files. */
  readonly changelogBases: readonly Path[];
}

/** The same for all metadata. */
interface Known extends DirectoryKey {
  readonly isInside: boolean;
  readonly isReadAlong: boolean;
  readonly marks: readonly string[];
  readonly isBare: boolean;
}

/** Whether marks are set, or it is only asked what would be there to mark. */
export type MarkingMode = 'mark' | 'probe';

/** Keeps what is known of directories by their names. */
export class DirectoryBook {
  private readonly knowns = new Map<string, Known>();
  /** Keys of the directories that file merging owns. */
  readonly managedKeys = new Set<string>();

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly keys: FileKeys,
    readonly inventory: Inventory,
    readonly grounds: Grounds,
  ) {}

  /** The view that one metadata file has. */
  viewOf(directory: Path, ownKey: string, mode: MarkingMode): UserView {
    return new UserView(this, directory, ownKey, mode);
  }

  known(directory: string): Known | undefined {
    return this.knowns.get(directory);
  }

  async find(directory: string): Promise<Known> {
    const known = this.knowns.get(directory);
    if (known) return known;
    const { roots, readOnly, changelogBases } = this.grounds;
    const path = this.qualified(directory);
    const found: Known = {
      ...(await this.keys.directory(directory)),
      isInside: path !== undefined && (roots.contains(path) || changelogBases.some((base) => base.equals(path))),
      isReadAlong: path !== undefined && readOnly.contains(path),
      ...marksIn(path?.path ?? directory),
    };
    this.knowns.set(directory, found);
    return found;
  }

  namesOf(key: string, mode: MarkingMode): NameMarks | undefined {
    const names = this.inventory.groups.get(key)?.names;
    return mode === 'mark' ? names : names?.probing;
  }

  private qualified(directory: string): Path | undefined {
    try {
      return this.fileSystems.qualify(Path.parse(directory));
    } catch {
      return undefined;
    }
  }
}

/** How one checkpoint or savepoint sees the directories that it names. */
export class UserView implements NamedDirectories {
  /** Directories that it names under names by which the roots are not known, so that nothing can be told of what is in them. */
  readonly strange = new Set<string>();
  private readonly jobId: string | null;
  private readonly ownPlaces: readonly string[];
  private readonly isInRoots: boolean;

  constructor(
    private readonly book: DirectoryBook,
    directory: Path,
    private readonly ownKey: string,
    private readonly mode: MarkingMode,
  ) {
    this.jobId = jobIdOf(directory);
    this.isInRoots = book.grounds.roots.contains(directory);
    const base = directory.parent?.toString() ?? '';
    this.ownPlaces = [SHARED_DIRECTORY, TASK_OWNED_DIRECTORY].map((name) => `${base}/${name}`);
  }

  known(directory: string): NamedDirectory | undefined {
    const known = this.book.known(directory);
    return known && this.see(directory, known);
  }

  async find(directory: string): Promise<NamedDirectory> {
    return this.see(directory, await this.book.find(directory));
  }

  namesOf(key: string): NameMarks | undefined {
    return this.book.namesOf(key, this.mode);
  }

  async useAll(directory: string): Promise<void> {
    const known = await this.book.find(directory);
    this.see(directory, known);
    if (this.mode === 'mark') this.book.managedKeys.add(known.key);
  }

  private see(directory: string, known: Known): NamedDirectory {
    const isOwnPlace = this.isOwnPlace(directory, known);
    if (this.isStrange(known, isOwnPlace)) this.strange.add(directory);
    return {
      names: this.namesOf(known.key),
      links: known.links,
      isOwn: known.key === this.ownKey,
      isComplete: isOwnPlace && this.isInRoots && known.isInside,
    };
  }

  private isOwnPlace(directory: string, { marks }: Known): boolean {
    const { jobId } = this;
    if (jobId !== null) {
      return marks.some(
        (mark) => mark === `${jobId}/${SHARED_DIRECTORY}` || mark === `${jobId}/${TASK_OWNED_DIRECTORY}`,
      );
    }
    return this.ownPlaces.some((place) => directory === place || directory.startsWith(`${place}/`));
  }

  /** True if the directory looks like one below the roots and has a name that leads elsewhere, or would if it led anywhere. */
  private isStrange({ isInside, isReadAlong, marks, isBare }: Known, isOwnPlace: boolean): boolean {
    if (isInside || isReadAlong) return false;
    if (isOwnPlace && this.isInRoots) return true;
    if (marks.some((mark) => this.book.inventory.marks.has(mark))) return true;
    return isBare && this.book.inventory.hasBareBases;
  }
}
