/** Reads what a pass over tables asks for, and what it will ask for next while it works on that. */
import type { ByteRange } from '../../format/byte-request.js';
import type { TableRequest } from '../../format/sst/sorted-run.js';
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

  constructor(
    private readonly files: StateFiles,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** The bytes of a request. @throws the errors of reading; the signal's reason */
  async read(request: TableRequest): Promise<Uint8Array> {
    this.signal?.throwIfAborted();
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
    return this.files.use(tableFileName(table), ({ bytes }) => bytes.read(start, end));
  }
}
