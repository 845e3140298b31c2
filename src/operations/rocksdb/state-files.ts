/** The files of one RocksDB or ForSt instance, opened when they are needed, and not too many of them at once. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CorruptStateError, UnknownStateFormatError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { type OpenState, openState, type StateSource, sourceName } from '../state/state-source.js';

const MAX_OPEN = 128;

/** A file of an instance. */
export interface LocalFile {
  /** What the instance calls it. */
  readonly name: string;
  readonly source: StateSource;
}

interface Slot {
  readonly state: Promise<OpenState>;
  /** Reads that are under way. */
  users: number;
}

/** See the file comment. */
export class StateFiles {
  private readonly byName: ReadonlyMap<string, StateSource>;
  /** In the order of their last use. */
  private readonly slots = new Map<string, Slot>();

  constructor(
    private readonly fileSystems: FileSystems,
    files: readonly LocalFile[],
  ) {
    this.byName = new Map(files.map(({ name, source }) => [name.slice(name.lastIndexOf('/') + 1), source]));
  }

  /** True if the checkpoint has a file of this name. */
  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Where a file is, for errors. */
  locationOf(name: string): string {
    const source = this.byName.get(name);
    return source ? sourceName(source) : name;
  }

  /**
   * Works on an open file.
   * @throws CorruptStateError and UnknownStateFormatError with the file's name, for the errors of parsing; the errors of reading
   */
  async use<T>(name: string, work: (state: OpenState) => Promise<T>): Promise<T> {
    const slot = this.open(name);
    slot.users++;
    try {
      return await work(await slot.state);
    } catch (error) {
      throw locatedError(error, this.locationOf(name));
    } finally {
      slot.users--;
      await this.closeSome(MAX_OPEN);
    }
  }

  /** Closes all files. They are opened again when they are needed. */
  async close(): Promise<void> {
    await this.closeSome(0);
  }

  private open(name: string): Slot {
    const source = this.byName.get(name);
    const slot = this.slots.get(name) ?? {
      state: source
        ? openState(this.fileSystems, source)
        : Promise.reject(new ByteFormatError(0, 'a file of this name in the checkpoint', 'none')),
      users: 0,
    };
    this.slots.delete(name);
    this.slots.set(name, slot);
    slot.state.catch(() => this.slots.delete(name));
    return slot;
  }

  private async closeSome(keep: number): Promise<void> {
    if (this.slots.size <= keep) return;
    const closing: Promise<void>[] = [];
    for (const [name, slot] of this.slots) {
      if (this.slots.size <= keep) break;
      if (slot.users > 0) continue;
      this.slots.delete(name);
      closing.push(slot.state.then((state) => state.close()));
    }
    await Promise.all(closing);
  }
}

/** Names the file in an error of parsing. Others are returned as they are. */
export function locatedError(error: unknown, location: string): unknown {
  if (error instanceof ByteFormatError) {
    const { offset, reading: expected, found } = error;
    return new CorruptStateError({ location, offset, expected, found }, { cause: error });
  }
  if (error instanceof UnknownFormatError) {
    return new UnknownStateFormatError(location, error.offset, error.what, { cause: error });
  }
  return error;
}
