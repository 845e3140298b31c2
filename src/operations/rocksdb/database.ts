/**
 * The contents of a RocksDB or ForSt instance as a checkpoint has it: which column families there are, and the entries of
 * each, newest values only. Nothing is written, no instance is started.
 */
import { CorruptStateError, UnknownStateFormatError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { EntryBatch } from '../../format/sst/entry-batch.js';
import { FamilyScan } from '../../format/sst/family-scan.js';
import type { KeyRange } from '../../format/sst/index-walk.js';
import { type ColumnFamily, Manifest, type ManifestTable } from '../../format/sst/manifest.js';
import { TableFailure, type TableRequest } from '../../format/sst/sorted-run.js';
import { BYTEWISE_COMPARATOR } from '../../format/sst/table-cursor.js';
import { pushAll } from '../state/state-bytes.js';
import { runsOf } from './runs.js';
import { type LocalFile, locatedError, StateFiles } from './state-files.js';
import { TableCache } from './table-cache.js';
import { TableReader, tableFileName } from './table-reader.js';

const CURRENT = 'CURRENT';
const LONGEST_CURRENT = 4096;
const MANIFEST_NAME = /^(MANIFEST-\d+)\n$/;

/** Options of {@link RocksDatabase.open}. */
export interface OpenDatabaseOptions {
  readonly fileSystems: FileSystems;
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link RocksDatabase.entries}. */
export interface EntriesOptions extends KeyRange {
  readonly signal?: AbortSignal | undefined;
}

/** See the file comment. */
export class RocksDatabase {
  private readonly tables = new TableCache();
  private readonly byName: ReadonlyMap<string, ColumnFamily>;

  private constructor(
    private readonly files: StateFiles,
    private readonly manifest: string,
    /** In Flink one for each state, and one called `default`. */
    readonly families: readonly ColumnFamily[],
  ) {
    this.byName = new Map(families.map((family) => [family.name, family]));
  }

  /**
   * Reads CURRENT and MANIFEST. Tables are opened when they are needed.
   * @param files shared and private state of the handle
   * @throws CorruptStateError, UnknownStateFormatError; the errors of reading; the signal's reason
   * @example
   * const database = await RocksDatabase.open(files, { fileSystems });
   * for await (const batch of database.entries('count')) {
   *   for (let i = 0; i < batch.length; i++) use(batch.key(i), batch.value(i));
   * }
   * await database.close();
   */
  static async open(files: readonly LocalFile[], options: OpenDatabaseOptions): Promise<RocksDatabase> {
    const state = new StateFiles(options.fileSystems, files);
    try {
      options.signal?.throwIfAborted();
      const current = await state.use(CURRENT, ({ bytes }) => bytes.read(0, Math.min(bytes.size, LONGEST_CURRENT)));
      const [, name] = MANIFEST_NAME.exec(Buffer.from(current).toString('latin1')) ?? [];
      if (name === undefined) {
        const expected = 'the name of a manifest and a line end';
        throw new CorruptStateError({ location: state.locationOf(CURRENT), offset: 0, expected, found: 'other bytes' });
      }
      const manifest = new Manifest();
      await state.use(name, ({ bytes }) => pushAll(bytes, 0, bytes.size, manifest));
      return new RocksDatabase(state, name, manifest.families);
    } catch (error) {
      await state.close();
      throw error;
    }
  }

  /**
   * The entries of a column family in the order of their keys, in batches. A batch is valid until the next one is asked for.
   * @param name of the family
   * @throws CorruptStateError, UnknownStateFormatError; the errors of reading; the signal's reason
   */
  async *entries(name: string, options: EntriesOptions = {}): AsyncGenerator<EntryBatch, void> {
    const family = this.familyOf(name);
    const { from, to, signal } = options;
    const reader = new TableReader(this.files, family.tables, signal);
    const scan = new FamilyScan(runsOf(family.tables), { range: { from, to }, tables: this.tables });
    const batch = new EntryBatch();
    try {
      for (let hasMore = true; hasMore; ) {
        hasMore = await drive(scan.fill(batch), reader, this.files);
        if (batch.length > 0) yield batch;
      }
    } finally {
      await reader.end();
    }
  }

  /**
   * The value of one key; undefined if it has none. Reads the index of each table that may have it, and a block or two.
   * @throws as {@link RocksDatabase.entries}
   */
  async get(name: string, key: Uint8Array, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    for await (const batch of this.entries(name, { from: key, to: Uint8Array.of(...key, 0), signal })) {
      return batch.value(0).slice();
    }
    return undefined;
  }

  /** The tables of a family. @throws CorruptStateError if there is no such family */
  tablesOf(name: string): readonly ManifestTable[] {
    return this.familyOf(name).tables;
  }

  /** Frees all files. Idempotent. Must be called. */
  async close(): Promise<void> {
    await this.files.close();
  }

  private familyOf(name: string): ColumnFamily {
    const family = this.byName.get(name);
    const location = this.files.locationOf(this.manifest);
    if (!family) {
      throw new CorruptStateError({ location, offset: 0, expected: `a column family "${name}"`, found: 'none' });
    }
    if (family.comparator !== undefined && family.comparator !== BYTEWISE_COMPARATOR) {
      throw new UnknownStateFormatError(location, 0, `a column family in the order of ${family.comparator}`);
    }
    return family;
  }
}

/** Gives a pass what it asks for, and names the table in its errors. */
async function drive<T>(
  pass: Generator<TableRequest, T, Uint8Array>,
  reader: TableReader,
  files: StateFiles,
): Promise<T> {
  try {
    let step = pass.next();
    while (!step.done) step = pass.next(await reader.read(step.value));
    return step.value;
  } catch (error) {
    if (!(error instanceof TableFailure)) throw error;
    throw locatedError(error.cause, files.locationOf(tableFileName(error.table)));
  }
}
