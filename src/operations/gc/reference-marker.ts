/** Second step: goes through one metadata file and marks what it names as being in use. */
import type { Path } from '../../filesystem/path.js';
import { Tag } from '../../format/metadata/tags.js';
import {
  type MergedDirectoriesView,
  MetadataVisitor,
  type OperatorHandleView,
  Role,
  type StreamHandleView,
} from '../../format/metadata/visitor.js';
import { DirectoryTable, type Located } from '../directory-table.js';
import type { NameMarks } from './name-table.js';

/** How many names that were not listed are kept for a look at the store. */
const MAX_UNLISTED = 256;

/** What is known of a directory that metadata names. */
export interface NamedDirectory {
  /** Names in it that were listed; undefined if it lies nowhere among the candidates. */
  readonly names: NameMarks | undefined;
  /** Links in it that lead to files. */
  readonly links: ReadonlyMap<string, { readonly directory: string; readonly name: string }>;
  /** True if the directory is the one of the metadata itself. */
  readonly isOwn: boolean;
  /** True if every file named in it should have been listed. */
  readonly isComplete: boolean;
}

/** Where {@link ReferenceMarker} looks directories up. */
export interface NamedDirectories {
  /** What is known without a look at a store; undefined if nothing is. */
  known(directory: string): NamedDirectory | undefined;
  /** Looks at the store if need be. */
  find(directory: string): Promise<NamedDirectory>;
  /** Names of the directory with this key. */
  namesOf(key: string): NameMarks | undefined;
  /** File merging owns all of the directory. */
  useAll(directory: string): Promise<void>;
}

interface Waiting {
  readonly index: number;
  readonly name: Buffer;
  readonly isPlain: boolean;
}

/** See the file comment. */
export class ReferenceMarker extends MetadataVisitor {
  /** True if there is state of operators or their coordinators, which can name files in ways of its own. */
  hasOperatorState = false;
  /** Directories that changelog handles name files in. */
  readonly changelogDirectories = new Set<string>();
  /** Files that should have been listed and were not: the first of them. */
  readonly unlisted = new Set<string>();
  private readonly table: DirectoryTable;
  private readonly found: (NamedDirectory | undefined)[] = [];
  private waiting: Waiting[] = [];
  private readonly managed = new Set<string>();
  private readonly seenManaged = new Set<string>();

  constructor(
    own: Path,
    private readonly directories: NamedDirectories,
    /** Names in the own directory; those that are state are marked as used. */
    private readonly ownNames: NameMarks,
  ) {
    super();
    this.table = new DirectoryTable(own);
  }

  override mergedDirectories(view: MergedDirectoriesView): void {
    for (const slice of [view.taskOwned, view.shared]) {
      const path = this.table.normalize(slice.text());
      if (this.seenManaged.has(path)) continue;
      this.seenManaged.add(path);
      this.managed.add(path);
    }
  }

  override beginOperatorHandle(_view: OperatorHandleView): void {
    this.hasOperatorState = true;
  }

  override streamHandle(view: StreamHandleView): void {
    if (view.role === Role.Coordinator && view.dataLength > 0) this.hasOperatorState = true;
    if (view.tag === Tag.File || view.tag === Tag.Segment) this.mark(this.table.locate(view.path), view);
    else if (view.tag === Tag.RelativeFile) this.mark(this.table.locateRelative(view.path), view);
  }

  private mark(located: Located, view: StreamHandleView): void {
    const index = located.directory;
    if (view.role === Role.ChangelogFile) this.changelogDirectories.add(this.pathOf(index));
    const directory = this.found[index] ?? this.lookUp(index);
    const { nameBytes, nameStart, nameEnd, plain } = located;
    if (directory) {
      this.use(directory, index, nameBytes, nameStart, nameEnd, plain);
      return;
    }
    const name = Buffer.from(nameBytes.subarray(nameStart, nameEnd));
    this.waiting.push({ index, name, isPlain: plain });
  }

  private lookUp(index: number): NamedDirectory | undefined {
    const directory = this.directories.known(this.pathOf(index));
    this.found[index] = directory;
    return directory;
  }

  private pathOf(index: number): string {
    return this.table.directories[index]?.path ?? '';
  }

  private use(
    directory: NamedDirectory,
    index: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    isPlain: boolean,
  ): void {
    const { names, links, isOwn, isComplete } = directory;
    if (isPlain && links.size === 0) {
      if (isOwn) this.ownNames.useBytes(bytes, start, end);
      if (names?.useBytes(bytes, start, end) === true || !isComplete) return;
      this.tellUnlisted(index, textOf(bytes, start, end, 'latin1'));
      return;
    }
    const name = textOf(bytes, start, end, isPlain ? 'latin1' : 'utf8');
    if (isOwn) this.ownNames.use(name);
    const link = links.get(name);
    if (link) this.directories.namesOf(link.directory)?.use(link.name);
    if (names?.use(name) !== true && isComplete && !link) this.tellUnlisted(index, name);
  }

  private tellUnlisted(index: number, name: string): void {
    if (this.unlisted.size < MAX_UNLISTED) this.unlisted.add(`${this.pathOf(index)}/${name}`);
  }

  /** Looks up the directories that turned up since the last call. */
  async settle(): Promise<void> {
    const { waiting } = this;
    this.waiting = [];
    for (const { index, name, isPlain } of waiting) {
      const directory = this.found[index] ?? (await this.directories.find(this.pathOf(index)));
      this.found[index] = directory;
      this.use(directory, index, name, 0, name.length, isPlain);
    }
    for (const path of this.managed) await this.directories.useAll(path);
    this.managed.clear();
  }
}

function textOf(bytes: Uint8Array, start: number, end: number, encoding: 'latin1' | 'utf8'): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(encoding);
}
