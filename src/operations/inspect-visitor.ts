/** Gathers what `inspect` shows, in one streaming pass. */
import type { Path } from '../filesystem/path.js';
import { Since, Tag } from '../format/metadata/tags.js';
import {
  type ChannelHandleView,
  HandleList,
  type KeyedHandleView,
  type MasterStateView,
  type MergedDirectoriesView,
  type OperatorHandleView,
  type OperatorView,
  Role,
  Slot,
  type StreamHandleView,
} from '../format/metadata/visitor.js';
import { DirectoryTable, type Located } from './directory-table.js';
import { Hash64, HashSet64, Novelty, OwnedHashSet64 } from './file-set.js';
import type { Backend } from './inspect-result.js';
import { SizeSummaryVisitor } from './size-summary.js';

const FILE_SEED = 1;
const SEGMENT_SEED = 2;

/**
 * The files of an instance besides its tables, in the order in which ForSt always lists them. RocksDB lists them as the
 * local file system does: another order proves RocksDB, this one does not quite prove ForSt. Nothing else in the metadata
 * tells the two apart.
 */
const FORST_ORDER = ['OPTIONS-', 'MANIFEST-', 'CURRENT'];

/** Least bytes that a named file takes in usual metadata, and the most files that room is made for unseen. */
const BYTES_OF_A_FILE = 130;
const MOST_EXPECTED = 5_000_000;
/** Files that are looked up together. */
const TOGETHER = 1024;

/** What an operator's handles tell beyond sizes. */
export class OperatorFacts {
  files = 0;
  hasState = false;
  heap = false;
  unified = false;
  ambiguous = false;
  canonical = false;
  incremental = false;
  changelog = false;
  /** True while every incremental handle lists its private files as ForSt does. */
  forstOrder = true;

  /** Null without managed keyed state. */
  backend(version: number): Backend | null {
    if (this.changelog) return 'changelog';
    if (this.incremental) return this.forstOrder && version >= Since.names ? 'forst' : 'rocksdb';
    if (this.unified) return 'rocksdb';
    if (this.heap) return 'hashmap';
    return this.canonical || this.ambiguous ? 'unknown' : null;
  }
}

/** See the file comment. */
export class InspectVisitor extends SizeSummaryVisitor {
  readonly table: DirectoryTable;
  readonly masterStates: { name: string; version: number; size: number }[] = [];
  inlineBytes = 0;
  incremental = false;
  unaligned = false;
  changelog = false;
  fileMerging = false;
  /** True once a handle of a canonical savepoint was seen. */
  canonical = false;

  private readonly fileSet: OwnedHashSet64;
  /** Files put aside by {@link count}. */
  private readonly highs = new Int32Array(TOGETHER);
  private readonly lows = new Int32Array(TOGETHER);
  private readonly directories = new Int32Array(TOGETHER);
  private readonly sizes = new Float64Array(TOGETHER);
  private waiting = 0;
  private readonly segmentSet = new HashSet64();
  private readonly hash = new Hash64();
  private readonly allFacts: OperatorFacts[] = [];
  private current = new OperatorFacts();
  private list: HandleList | undefined;
  private privateFiles = 0;
  private inForstOrder = true;
  private keyGroupsTag = 0;
  private sawZeroOffset = false;

  /** @param metadataBytes size of the file, by which room for the hashes of its files is made */
  constructor(own: Path, metadataBytes = 0) {
    super();
    this.table = new DirectoryTable(own);
    this.fileSet = new OwnedHashSet64(Math.min(metadataBytes / BYTES_OF_A_FILE, MOST_EXPECTED));
  }

  /** Distinct files of the checkpoint. */
  get files(): number {
    return this.fileSet.size;
  }

  facts(operator: number): OperatorFacts {
    return this.allFacts[operator] ?? new OperatorFacts();
  }

  override masterState(view: MasterStateView): void {
    this.masterStates.push({ name: view.name.text(), version: view.version, size: view.dataLength });
  }

  override beginOperator(view: OperatorView): void {
    super.beginOperator(view);
    this.current = new OperatorFacts();
    this.allFacts.push(this.current);
  }

  override endOperator(): void {
    this.countWaiting();
  }

  override beginOperatorHandle(view: OperatorHandleView): void {
    super.beginOperatorHandle(view);
    if (view.tag === Tag.MergedOperatorState) this.fileMerging = true;
    // A handle without a single named state counts as well: Flink refuses a restore without the operator all the same.
    this.current.hasState = true;
  }

  override mergedDirectories(view: MergedDirectoriesView): void {
    for (const slice of [view.taskOwned, view.shared]) {
      const use = this.table.directories[this.table.add(this.table.normalize(slice.text()))];
      if (use) use.absolute = true;
    }
  }

  override beginKeyedHandle(view: KeyedHandleView): void {
    super.beginKeyedHandle(view);
    const { current } = this;
    current.hasState = true;
    this.sawZeroOffset = false;
    this.keyGroupsTag = 0;
    switch (view.tag) {
      case Tag.KeyGroups:
      case Tag.KeyGroupsV2:
        this.keyGroupsTag = view.tag;
        break;
      case Tag.SavepointKeyGroups:
        this.canonical = true;
        if (view.slot === Slot.ManagedKeyed) current.canonical = true;
        break;
      case Tag.Incremental:
      case Tag.IncrementalV2:
        if (view.slot === Slot.ManagedKeyed) current.incremental = true;
        this.privateFiles = 0;
        this.inForstOrder = true;
        break;
      default:
        this.changelog = true;
        if (view.slot === Slot.ManagedKeyed) current.changelog = true;
    }
  }

  override offsets(bytes: Uint8Array, start: number, count: number): void {
    if (this.keyGroupsTag === 0) return;
    for (let at = start; at < start + count * 8 && !this.sawZeroOffset; at += 8) {
      let bits = 0;
      for (let i = at; i < at + 8; i++) bits |= bytes[i] as number;
      this.sawZeroOffset = bits === 0;
    }
  }

  override beginList(list: HandleList, count: number): void {
    super.beginList(list, count);
    this.list = list;
  }

  override stateChange(keyGroup: number, length: number): void {
    super.stateChange(keyGroup, length);
    this.inlineBytes += length;
  }

  override endKeyedHandle(view: KeyedHandleView): void {
    super.endKeyedHandle(view);
    const { current } = this;
    if (view.slot === Slot.ManagedKeyed && this.keyGroupsTag !== 0 && view.depth === 0) this.judgeKeyGroups();
    this.keyGroupsTag = 0;
    if (view.tag === Tag.Incremental || view.tag === Tag.IncrementalV2) {
      current.forstOrder &&= this.inForstOrder && this.privateFiles === FORST_ORDER.length;
    }
    this.list = undefined;
  }

  /**
   * A handle with key-group offsets is the heap's from version 4 on. Before, a full RocksDB checkpoint has the same: an
   * offset of 0 proves it; without one only the state file could tell.
   */
  private judgeKeyGroups(): void {
    if (this.metadata.version >= Since.properties) this.current.heap = true;
    else if (this.sawZeroOffset) this.current.unified = true;
    else this.current.ambiguous = true;
  }

  override beginChannelHandle(_view: ChannelHandleView): void {
    this.unaligned = true;
    this.current.hasState = true;
    this.keyGroupsTag = 0;
  }

  override streamHandle(view: StreamHandleView): void {
    super.streamHandle(view);
    if (view.role === Role.Private) this.checkForstOrder(view);
    // Files of a native savepoint stand in the list of shared ones as well, but are named as exclusive ones.
    else if (view.role === Role.Shared && view.tag !== Tag.RelativeFile) this.incremental = true;
    switch (view.tag) {
      case Tag.ByteStream:
        this.inlineBytes += view.dataLength;
        if (view.role === Role.Coordinator) this.current.hasState = true;
        break;
      case Tag.File:
        this.file(this.table.locate(view.path), view, true);
        break;
      case Tag.RelativeFile:
        this.file(this.table.locateRelative(view.path), view, false);
        break;
      case Tag.Segment:
        this.fileMerging = true;
        this.segment(this.table.locate(view.path), view);
        break;
      case Tag.EmptySegment:
        this.fileMerging = true;
        break;
      default:
    }
  }

  private checkForstOrder(view: StreamHandleView): void {
    const expected = FORST_ORDER[this.privateFiles++];
    this.inForstOrder &&= expected !== undefined && view.localPath.text().startsWith(expected);
  }

  /** Hashes a file and puts it aside, to be counted with others. */
  private count(located: Located, absolute: boolean, bytes: number): void {
    const { hash, table } = this;
    hash.start(FILE_SEED).word(located.directory).bytes(located.nameBytes, located.nameStart, located.nameEnd);
    const use = table.directories[located.directory];
    if (use && absolute) use.absolute = true;
    if (use && this.list === HandleList.ChangelogFiles) use.changelog = true;
    const at = this.waiting++;
    this.highs[at] = hash.high;
    this.lows[at] = hash.low;
    this.directories[at] = located.directory;
    this.sizes[at] = bytes;
    if (this.waiting === TOGETHER) this.countWaiting();
  }

  /**
   * Looks files up many at once: each look-up waits for memory, and the processor waits for several together if there is
   * nothing else between them.
   */
  private countWaiting(): void {
    const { fileSet, highs, lows, waiting, current } = this;
    const owner = this.allFacts.length;
    for (let i = 0; i < waiting; i++) {
      const novelty = fileSet.add(highs[i] as number, lows[i] as number, owner);
      if (novelty === Novelty.None) continue;
      current.files++;
      if (novelty !== Novelty.ForAll) continue;
      const use = this.table.directories[this.directories[i] as number];
      if (use) use.files++;
      this.addBytes(this.directories[i] as number, this.sizes[i] as number);
    }
    this.waiting = 0;
  }

  private file(located: Located, view: StreamHandleView, absolute: boolean): void {
    this.count(located, absolute, view.size.toNumber());
  }

  private segment(located: Located, view: StreamHandleView): void {
    this.count(located, true, 0);
    const { hash } = this;
    hash.start(SEGMENT_SEED).word(located.directory).bytes(located.nameBytes, located.nameStart, located.nameEnd);
    hash.word(view.startPos.high).word(view.startPos.low);
    if (this.segmentSet.add(hash.high, hash.low)) this.addBytes(located.directory, view.size.toNumber());
  }

  /** A size of -1 is unknown and counts as nothing. */
  private addBytes(directory: number, bytes: number): void {
    const use = this.table.directories[directory];
    if (use && bytes > 0) use.bytes += bytes;
  }
}
