/** Reads what a pass over tables asks for, and what it will ask for next while it works on that. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteRange } from '../../format/byte-request.js';
import type { TableFile, TableRequest } from '../../format/sst/sorted-run.js';
import { loadQuickZstd, wantsQuickZstd } from '../../format/sst/zstd.js';
import type { StateFiles } from './state-files.js';

interface PendingRead extends ByteRange {
  readonly bytes: Promise<Uint8Array>;
}

/** The name of a table's file. */
export function tableFileName(number: number): string {
  return `${String(number).padStart(6, '0')}.sst`;
}

/** See the file comment. One for each pass. */
export class TableReader {
  private readonly ahead = new Map<number, PendingRead>();
  private readonly sizes: ReadonlyMap<number, number>;

  /** @param tables those of the pass, with the sizes that they must have */
  constructor(
    private readonly files: StateFiles,
    tables: readonly TableFile[],
    private readonly signal: AbortSignal | undefined,
  ) {
    this.sizes = new Map(tables.map(({ number, size }) => [number, size]));
  }

  /** The bytes of a request. @throws the errors of reading; the signal's reason */
  async read(request: TableRequest): Promise<Uint8Array> {
    this.signal?.throwIfAborted();
    if (wantsQuickZstd()) await loadQuickZstd();
    const { table, start, end, ahead } = request;
    const pending = this.ahead.get(table);
    this.ahead.delete(table);
    const isPending = pending?.start === start && pending.end === end;
    const bytes = isPending ? pending.bytes : this.fetch(table, request);
    if (ahead) {
      const next = this.fetch(table, ahead);
      // It may fail while nobody waits for it yet.
      next.catch(() => undefined);
      this.ahead.set(table, { ...ahead, bytes: next });
    }
    return bytes;
  }

  /** Waits until nothing is being read any more. */
  async end(): Promise<void> {
    await Promise.allSettled([...this.ahead.values()].map(({ bytes }) => bytes));
    this.ahead.clear();
  }

  private fetch(table: number, { start, end }: ByteRange): Promise<Uint8Array> {
    return this.files.use(tableFileName(table), async ({ bytes }) => {
      const size = this.sizes.get(table);
      if (size !== bytes.size) {
        const shorter = Math.min(bytes.size, size ?? bytes.size);
        throw new ByteFormatError(shorter, `a table of ${size} bytes, as the MANIFEST says`, `${bytes.size} bytes`);
      }
      return bytes.read(start, end);
    });
  }
}
