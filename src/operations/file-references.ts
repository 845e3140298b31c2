/** Every file and directory that a metadata file names, as it streams by: the base of what checks, keeps and deletes files. */
import type { Path } from '../filesystem/path.js';
import { Tag } from '../format/metadata/tags.js';
import {
  HandleList,
  type KeyedHandleView,
  type MergedDirectoriesView,
  MetadataVisitor,
  type OperatorView,
  Role,
  Slot,
  type StreamHandleView,
  type SubtaskView,
} from '../format/metadata/visitor.js';
import { DirectoryTable, type Located } from './directory-table.js';

/** One mention of a file. The object is reused: copy what is to be kept. */
export interface FileReference {
  /** Qualified and normalised, as Flink would open it. */
  path: string;
  /** What stands before the last slash of the path. */
  directory: string;
  /** What stands behind it. */
  name: string;
  /** How the handle names the file. */
  kind: 'absolute' | 'relative' | 'segment';
  /** The relative path as stored; only for `relative`. */
  relativePath: string;
  /** True if the path as stored has a `..`: no Flink writes one. */
  climbs: boolean;
  /** Recorded length of the file, or of the segment; -1 if unknown. */
  size: number;
  /** Where the segment starts; 0 for whole files. */
  startPos: number;
  /** True for the files of a non-materialized changelog, whose sizes follow a rule of their own. */
  changelog: boolean;
  /** True for the files of the shared list of an incremental handle. */
  shared: boolean;
  operatorId: string;
  /** -1 for state of the coordinator. */
  subtask: number;
  slot: Slot;
}

/** See the file comment. Subclasses implement {@link reference}. */
export abstract class ReferenceVisitor extends MetadataVisitor {
  protected readonly table: DirectoryTable;
  protected operatorId = '';
  protected subtask = -1;
  private slot: Slot = Slot.ManagedOperator;
  private list: HandleList | undefined;
  private readonly current: FileReference = {
    path: '',
    directory: '',
    name: '',
    kind: 'absolute',
    relativePath: '',
    climbs: false,
    size: 0,
    startPos: 0,
    changelog: false,
    shared: false,
    operatorId: '',
    subtask: -1,
    slot: Slot.ManagedOperator,
  };

  /** @param own directory of the metadata file, qualified */
  constructor(own: Path) {
    super();
    this.table = new DirectoryTable(own);
  }

  /** A handle names a file. */
  protected abstract reference(reference: FileReference): void;

  /** An operator handle of file merging names a directory that the job owns. */
  protected managedDirectory(_path: string): void {}

  override beginOperator(view: OperatorView): void {
    this.operatorId = view.operatorId;
    this.subtask = -1;
  }

  override beginSubtask(view: SubtaskView): void {
    this.subtask = view.index;
  }

  override beginOperatorHandle(view: { readonly slot: Slot }): void {
    this.slot = view.slot;
    this.list = undefined;
  }

  override beginKeyedHandle(view: KeyedHandleView): void {
    this.slot = view.slot;
    this.list = undefined;
  }

  override beginList(list: HandleList, _count: number): void {
    this.list = list;
  }

  override endKeyedHandle(_view: KeyedHandleView): void {
    this.list = undefined;
  }

  override beginChannelHandle(view: { readonly slot: Slot }): void {
    this.slot = view.slot;
    this.list = undefined;
  }

  override mergedDirectories(view: MergedDirectoriesView): void {
    for (const slice of [view.taskOwned, view.shared]) this.managedDirectory(this.table.normalize(slice.text()));
  }

  override streamHandle(view: StreamHandleView): void {
    switch (view.tag) {
      case Tag.File:
        this.report(this.table.locate(view.path), 'absolute', view);
        break;
      case Tag.RelativeFile:
        this.report(this.table.locateRelative(view.path), 'relative', view);
        break;
      case Tag.Segment:
        this.report(this.table.locate(view.path), 'segment', view);
        break;
      default:
    }
  }

  private report(located: Located, kind: FileReference['kind'], view: StreamHandleView): void {
    const { current } = this;
    current.directory = this.table.directories[located.directory]?.path ?? '';
    current.name = nameOf(located);
    current.path = `${current.directory}/${current.name}`;
    current.kind = kind;
    // A plain name need not be decoded twice.
    if (kind !== 'relative') current.relativePath = '';
    else current.relativePath = located.plain ? current.name : view.path.text();
    current.climbs = located.climbs;
    current.size = view.size.toNumber();
    current.startPos = kind === 'segment' ? view.startPos.toNumber() : 0;
    current.changelog = view.role === Role.ChangelogFile || this.list === HandleList.ChangelogFiles;
    current.shared = view.role === Role.Shared;
    current.operatorId = this.operatorId;
    current.subtask = this.subtask;
    current.slot = this.slot;
    this.reference(current);
  }
}

function nameOf({ nameBytes, nameStart, nameEnd, plain }: Located): string {
  const buffer = Buffer.isBuffer(nameBytes) ? nameBytes : Buffer.from(nameBytes);
  return buffer.toString(plain ? 'latin1' : 'utf8', nameStart, nameEnd);
}
