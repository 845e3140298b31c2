/** The fields of an edit in a MANIFEST: numbers of seven bits a byte, and bytes with such a length in front. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { KEY_SUFFIX_BYTES } from './entry-type.js';
import { readVarint } from './varint.js';

/** Reads them one after another. All methods throw ByteFormatError if what they read is not there. */
export class EditReader {
  private position = 0;

  /** @param start of the record in the file, for errors */
  constructor(
    private readonly record: Uint8Array,
    private readonly start: number,
  ) {}

  get isAtEnd(): boolean {
    return this.position >= this.record.length;
  }

  /** For errors: about where the next field is in the file. Headers of the log that lie between are not counted. */
  get offset(): number {
    return this.start + this.position;
  }

  number(reading: string): number {
    const { value, next } = readVarint(this.record, this.position, this.record.length, this.start, reading);
    this.position = next;
    return value;
  }

  /** A copy of bytes. */
  bytes(reading: string): Uint8Array {
    const length = this.number(`the length of ${reading}`);
    const end = this.position + length;
    if (end > this.record.length) throw new ByteFormatError(this.offset, reading, `a length of ${length} bytes`);
    const bytes = Uint8Array.from(this.record.subarray(this.position, end));
    this.position = end;
    return bytes;
  }

  text(reading: string): string {
    return Buffer.from(this.bytes(reading)).toString('utf8');
  }

  /** A user key with its suffix. */
  internalKey(reading: string): Uint8Array {
    const at = this.offset;
    const key = this.bytes(reading);
    if (key.length < KEY_SUFFIX_BYTES) throw new ByteFormatError(at, reading, `${key.length} bytes`);
    return key;
  }
}
