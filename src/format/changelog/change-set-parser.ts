/** The changes of one set of a changelog file, one by one. Origin: Flink `StateChangeFormat`. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { METADATA_KEY_GROUP } from '../../model/state-handles.js';
import type { EntryParser } from '../entries/raw-entry.js';

const MAX_KEY_GROUP = 32767;
/** Bytes before the set are stepped over in pieces, so that the window need not hold them. */
const SKIPPED_AT_ONCE = 64 * 1024;

/** A change: [start, end) of the buffer, valid until the next ones are asked for. */
export interface RawChange {
  /** {@link METADATA_KEY_GROUP} for a record about a state. */
  readonly keyGroup: number;
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** See the file comment. It is done at the end of the set; others may follow in the file. */
export class ChangeSetParser implements EntryParser<RawChange> {
  isDone = false;
  private keyGroupsLeft: number | undefined;
  private changesLeft = 0;
  private keyGroup = METADATA_KEY_GROUP;

  /** @param toSkip bytes of the window before the set starts */
  constructor(private toSkip = 0) {}

  next(reader: ByteReader): RawChange | undefined {
    if (this.toSkip > 0) {
      this.toSkip -= this.skip(reader);
    } else if (this.keyGroupsLeft === undefined) {
      this.keyGroupsLeft = count(reader, 'number of key groups');
      this.isDone = this.keyGroupsLeft === 0;
    } else if (this.changesLeft > 0) {
      return this.readChange(reader);
    } else {
      this.readKeyGroup(reader, this.keyGroupsLeft);
    }
    return undefined;
  }

  private skip(reader: ByteReader): number {
    const bytes = Math.max(1, Math.min(this.toSkip, SKIPPED_AT_ONCE, reader.available));
    reader.take(bytes, 'changes');
    return bytes;
  }

  private readKeyGroup(reader: ByteReader, keyGroupsLeft: number): void {
    const changes = count(reader, 'number of changes');
    const at = reader.offset;
    const keyGroup = reader.readI32('key group');
    if (keyGroup < METADATA_KEY_GROUP || keyGroup > MAX_KEY_GROUP) reader.fail('key group', `${keyGroup}`, at);
    this.keyGroup = keyGroup;
    this.changesLeft = changes;
    this.keyGroupsLeft = keyGroupsLeft - 1;
    this.endChange();
  }

  private readChange(reader: ByteReader): RawChange {
    const length = count(reader, 'length of a change');
    const start = reader.take(length, 'a change');
    this.changesLeft--;
    this.endChange();
    return { keyGroup: this.keyGroup, buffer: reader.buffer, start, end: reader.position };
  }

  private endChange(): void {
    this.isDone = this.changesLeft === 0 && this.keyGroupsLeft === 0;
  }
}

function count(reader: ByteReader, reading: string): number {
  const at = reader.offset;
  const value = reader.readI32(reading);
  return value < 0 ? reader.fail(reading, `${value}`, at) : value;
}
