/**
 * The delegation tokens of a Hadoop token file (`HADOOP_TOKEN_FILE_LOCATION`, `hdfs fetchdt`).
 * Layout: `HDTS`, format u8. Format 0: token count (Hadoop variable-length integer), each token an alias (text), identifier and
 * password (bytes), kind and service (text), all with their length in front; then secret keys, which are not read. Format 1:
 * a delimited protocol buffer `CredentialsProto`.
 * Origin: Hadoop `Credentials`, `Token`, `WritableUtils`, `Security.proto`; checked with files that Hadoop 3.4.2 wrote.
 */
import { UsageError } from '../../errors.js';

/** A token. Its password is a secret, and so is everything made from it. */
export interface HadoopToken {
  readonly identifier: Uint8Array;
  readonly password: Uint8Array;
  /** `HDFS_DELEGATION_TOKEN`, `WEBHDFS delegation`, …. */
  readonly kind: string;
  /** Whose it is: `host:port`, `ha-hdfs:NAMESERVICE`. */
  readonly service: string;
}

const MAGIC = 'HDTS';

/**
 * Reads all tokens of a file.
 * @throws UsageError with the offset of what is wrong, never with contents
 */
export function parseTokenFile(bytes: Uint8Array, file: string): HadoopToken[] {
  const cursor = new Cursor(bytes, file);
  if (Buffer.from(cursor.take(4)).toString('latin1') !== MAGIC) throw cursor.wrong(0, 'it does not begin with HDTS');
  const format = cursor.byte();
  if (format === 0) return readWritable(cursor);
  if (format === 1) return readProtocolBuffer(cursor);
  throw cursor.wrong(4, `its format ${format} is not known`);
}

/** A token as a URL has it: Hadoop's `Token.encodeToUrlString`. */
export function encodeToken({ identifier, password, kind, service }: HadoopToken): string {
  const parts = [identifier, password, Buffer.from(kind), Buffer.from(service)];
  return Buffer.concat(parts.flatMap((part) => [writeVarint(part.byteLength), part])).toString('base64url');
}

function readWritable(cursor: Cursor): HadoopToken[] {
  const count = cursor.hadoopInt();
  const tokens: HadoopToken[] = [];
  for (let index = 0; index < count; index++) {
    cursor.take(cursor.hadoopInt());
    const identifier = cursor.take(cursor.hadoopInt());
    const password = cursor.take(cursor.hadoopInt());
    const kind = cursor.text(cursor.hadoopInt());
    const service = cursor.text(cursor.hadoopInt());
    tokens.push({ identifier, password, kind, service });
  }
  return tokens;
}

function readProtocolBuffer(cursor: Cursor): HadoopToken[] {
  const tokens: HadoopToken[] = [];
  for (const entry of cursor.sub(cursor.varint()).fields()) {
    if (entry.number !== 1) continue;
    for (const member of entry.value.fields()) {
      if (member.number !== 2) continue;
      const parts = new Map<number, Cursor>();
      for (const { number, value } of member.value.fields()) parts.set(number, value);
      tokens.push({
        identifier: parts.get(1)?.rest() ?? new Uint8Array(0),
        password: parts.get(2)?.rest() ?? new Uint8Array(0),
        kind: Buffer.from(parts.get(3)?.rest() ?? []).toString('utf8'),
        service: Buffer.from(parts.get(4)?.rest() ?? []).toString('utf8'),
      });
    }
  }
  return tokens;
}

/** A range of the file, read from its start. */
class Cursor {
  #at: number;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly file: string,
    start = 0,
    private readonly end = bytes.byteLength,
  ) {
    this.#at = start;
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  take(length: number): Uint8Array {
    if (length < 0 || length > this.end - this.#at) throw this.wrong(this.#at, `${length} bytes should follow`);
    const taken = this.bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  text(length: number): string {
    return Buffer.from(this.take(length)).toString('utf8');
  }

  rest(): Uint8Array {
    return this.take(this.end - this.#at);
  }

  sub(length: number): Cursor {
    const start = this.#at;
    this.take(length);
    return new Cursor(this.bytes, this.file, start, this.#at);
  }

  /** `WritableUtils.readVInt`: one byte from -112 to 127, or a sign and length byte before up to eight bytes. */
  hadoopInt(): number {
    const start = this.#at;
    const first = (this.byte() << 24) >> 24;
    if (first >= -112) return first;
    if (first < -120) throw this.wrong(start, 'a length is negative');
    let value = 0;
    for (const byte of this.take(-112 - first)) value = value * 256 + byte;
    return value;
  }

  /** The varint of protocol buffers. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 128) return value;
      if (factor > 2 ** 49) throw this.wrong(this.#at, 'a number is too long');
    }
  }

  /** The fields of a message whose type is bytes; others do not occur in it, but may one day. */
  *fields(): Generator<{ readonly number: number; readonly value: Cursor }> {
    while (this.#at < this.end) {
      const start = this.#at;
      const tag = this.varint();
      const type = tag % 8;
      if (type === 0) this.varint();
      else if (type === 1) this.take(8);
      else if (type === 5) this.take(4);
      else if (type === 2) yield { number: Math.floor(tag / 8), value: this.sub(this.varint()) };
      else throw this.wrong(start, 'it is no message of protocol buffers');
    }
  }

  wrong(offset: number, reason: string): UsageError {
    return new UsageError(`${this.file}: no Hadoop token file: at byte ${offset}: ${reason}`, {
      path: this.file,
      offset,
    });
  }
}

/** `WritableUtils.writeVInt` of a number that is not negative. */
function writeVarint(value: number): Buffer {
  if (value <= 127) return Buffer.of(value);
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(256 - 112 - bytes.length, ...bytes);
}
