import type { OpenTables } from '../../format/sst/sorted-run.js';
import type { SstTable } from '../../format/sst/table.js';

/** Indexes are kept up to this many bytes together. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Keeps the tables that were used last open, so that looking up many keys does not read the same indexes again. */
export class TableCache implements OpenTables {
  private readonly tables = new Map<number, SstTable>();
  private bytes = 0;

  get(number: number): SstTable | undefined {
    const table = this.tables.get(number);
    if (table) {
      this.tables.delete(number);
      this.tables.set(number, table);
    }
    return table;
  }

  set(number: number, table: SstTable): void {
    this.drop(number);
    this.tables.set(number, table);
    this.bytes += bytesOf(table);
    for (const oldest of this.tables.keys()) {
      if (this.bytes <= MAX_BYTES || oldest === number) break;
      this.drop(oldest);
    }
  }

  private drop(number: number): void {
    const table = this.tables.get(number);
    if (!table) return;
    this.tables.delete(number);
    this.bytes -= bytesOf(table);
  }
}

/** What a table holds in memory, about. */
function bytesOf({ index, properties }: SstTable): number {
  let bytes = index.contents.length + 4096;
  for (const value of properties.all.values()) bytes += value.length;
  return bytes;
}
