/** The MANIFEST of a RocksDB database: which column families and tables there are. Origin: RocksDB `db/version_edit.cc`. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import { EditReader } from './edit-reader.js';
import { LogRecords } from './log-records.js';
import type { TableFile } from './sorted-run.js';

/** A table of a database as its MANIFEST describes it. */
export interface ManifestTable extends TableFile {
  readonly level: number;
  /** First and last key with their suffixes, the bounds of deleted ranges included. */
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
  readonly smallestSequence: number;
  readonly largestSequence: number;
}

/** A column family; in Flink a state. */
export interface ColumnFamily {
  readonly id: number;
  readonly name: string;
  /** What its keys are in the order of. */
  readonly comparator: string | undefined;
  /** Those that belong to the last version, in no particular order. */
  readonly tables: readonly ManifestTable[];
}

/** Origin: RocksDB `Tag`. */
const Tag = {
  Comparator: 1,
  LogNumber: 2,
  NextFileNumber: 3,
  LastSequence: 4,
  CompactCursor: 5,
  DeletedFile: 6,
  NewFile: 7,
  PrevLogNumber: 9,
  MinLogNumberToKeep: 10,
  NewFile2: 100,
  NewFile3: 102,
  NewFile4: 103,
  ColumnFamily: 200,
  ColumnFamilyAdd: 201,
  ColumnFamilyDrop: 202,
  MaxColumnFamily: 203,
  InAtomicGroup: 300,
  BlobFileAddition: 400,
  BlobFileGarbage: 401,
} as const;
/** Tags with this bit have a length and may be skipped by who does not know them. */
const MAY_BE_SKIPPED = 1 << 13;

/** The tags of a new table's own fields, which end with 1. Those with the bit must be known. Origin: `NewFileCustomTag`. */
const LAST_FIELD = 1;
const FIELD_MUST_BE_KNOWN = 1 << 6;
const PATH_ID_FIELD = 65;

interface FamilyState {
  readonly id: number;
  name: string;
  comparator: string | undefined;
  readonly tables: Map<number, ManifestTable>;
}

/** Follows the edits of a MANIFEST: push its bytes, finish, then ask. */
export class Manifest implements ByteSink {
  private readonly byId = new Map<number, FamilyState>([[0, newFamily(0, 'default')]]);
  private readonly log = new LogRecords((record, offset) => this.apply(record, offset));

  /** The column families that were not dropped, in the order of their ids. */
  get families(): readonly ColumnFamily[] {
    return [...this.byId.values()]
      .sort((a, b) => a.id - b.id)
      .map(({ id, name, comparator, tables }) => ({ id, name, comparator, tables: [...tables.values()] }));
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    this.log.push(bytes, start, end);
  }

  finish(): void {
    this.log.finish();
  }

  /** @throws ByteFormatError; UnknownFormatError for an edit of a kind that is not known here */
  private apply(record: Uint8Array, offset: number): void {
    const edit = readEdit(new EditReader(record, offset));
    const family = this.byId.get(edit.family);
    if (edit.added !== undefined) {
      if (family && edit.family !== 0) {
        throw new ByteFormatError(offset, 'a new column family', `number ${edit.family} again`);
      }
      this.byId.set(edit.family, newFamily(edit.family, edit.added, edit.comparator));
      return;
    }
    if (edit.isDropped) {
      this.byId.delete(edit.family);
      return;
    }
    // What happens to a family after it was dropped is of no interest any more.
    if (!family) return;
    if (edit.comparator !== undefined) family.comparator = edit.comparator;
    for (const number of edit.deleted) family.tables.delete(number);
    for (const table of edit.tables) family.tables.set(table.number, table);
  }
}

function newFamily(id: number, name: string, comparator?: string): FamilyState {
  return { id, name, comparator, tables: new Map() };
}

interface Edit {
  family: number;
  added: string | undefined;
  isDropped: boolean;
  comparator: string | undefined;
  readonly deleted: number[];
  readonly tables: ManifestTable[];
}

function readEdit(reader: EditReader): Edit {
  const edit: Edit = {
    family: 0,
    added: undefined,
    isDropped: false,
    comparator: undefined,
    deleted: [],
    tables: [],
  };
  while (!reader.isAtEnd) readField(reader, edit);
  return edit;
}

function readField(reader: EditReader, edit: Edit): void {
  const at = reader.offset;
  const tag = reader.number('the tag of an edit');
  switch (tag) {
    case Tag.Comparator:
      edit.comparator = reader.text('the name of a comparator');
      return;
    case Tag.LogNumber:
    case Tag.NextFileNumber:
    case Tag.LastSequence:
    case Tag.PrevLogNumber:
    case Tag.MinLogNumberToKeep:
    case Tag.MaxColumnFamily:
    case Tag.InAtomicGroup:
      reader.number('a number of an edit');
      return;
    case Tag.CompactCursor:
      reader.number('a level');
      reader.bytes('the place of a compaction');
      return;
    case Tag.DeletedFile:
      reader.number('a level');
      edit.deleted.push(reader.number('the number of a deleted table'));
      return;
    case Tag.NewFile:
    case Tag.NewFile2:
    case Tag.NewFile3:
    case Tag.NewFile4:
      edit.tables.push(readTable(reader, tag));
      return;
    case Tag.ColumnFamily:
      edit.family = reader.number('the number of a column family');
      return;
    case Tag.ColumnFamilyAdd:
      edit.added = reader.text('the name of a column family');
      return;
    case Tag.ColumnFamilyDrop:
      edit.isDropped = true;
      return;
    case Tag.BlobFileAddition:
    case Tag.BlobFileGarbage:
      throw new UnknownFormatError(at, 'a database with blob files');
    default:
      if ((tag & MAY_BE_SKIPPED) === 0) throw new UnknownFormatError(at, `an edit of a MANIFEST with tag ${tag}`);
      reader.bytes('a field of an edit');
  }
}

function readTable(reader: EditReader, tag: number): ManifestTable {
  const level = reader.number('the level of a table');
  const number = reader.number('the number of a table');
  if (tag === Tag.NewFile3) reader.number('the path of a table');
  const size = reader.number('the size of a table');
  const smallest = reader.internalKey('the first key of a table');
  const largest = reader.internalKey('the last key of a table');
  let smallestSequence = 0;
  let largestSequence = 0;
  if (tag !== Tag.NewFile) {
    smallestSequence = reader.number('the first sequence number of a table');
    largestSequence = reader.number('the last sequence number of a table');
  }
  if (tag === Tag.NewFile4) skipFields(reader);
  return { level, number, size, smallest, largest, smallestSequence, largestSequence };
}

function skipFields(reader: EditReader): void {
  for (;;) {
    const at = reader.offset;
    const tag = reader.number('the tag of a field of a table');
    if (tag === LAST_FIELD) return;
    if ((tag & FIELD_MUST_BE_KNOWN) !== 0 && tag !== PATH_ID_FIELD) {
      throw new UnknownFormatError(at, `a table of a MANIFEST with field ${tag}`);
    }
    reader.bytes('a field of a table');
  }
}
