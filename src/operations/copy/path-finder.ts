/**
 * Finds paths of files in bytes of which nobody knows what they mean. User code keeps them inside operator state in whatever
 * form its serializer writes; nearly all write text with its length in front.
 */

/** Bytes that may stand in a path: printable ASCII without quotes, angle brackets and blanks. */
const PATH_BYTE = '[!#-&(-;=?-_a-~]';
const URI_OR_PATH = new RegExp(
  `(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:/${PATH_BYTE}{2,2048})|(?:(?:/[A-Za-z0-9._@%+=~:-]{1,255}){2,200})`,
  'g',
);
/** Addresses, not files. */
const NO_FILES = /^(?:https?|wss?|jdbc|mailto|urn):/i;
const LONGEST = 4096;
/** Most bytes of lengths that may stand in front. */
const LENGTH_BYTES = 8;
/** What follows a text, a length or a tag, may look like a part of it, but not for long. */
const MOST_BEHIND = 8;

/** Looks for paths in one stream of bytes. */
export class PathFinder {
  private rest = Buffer.alloc(0);

  /** @param found told of each, of one found several times each time */
  constructor(private readonly found: (path: string) => void) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    const buffer = Buffer.concat([this.rest, bytes.subarray(start, end)]);
    // What may go on in the next piece waits for it, with the length in front of it.
    let open = buffer.length;
    while (open > 0 && buffer.length - open < LONGEST && isPathByte(buffer[open - 1] ?? 0)) open--;
    this.search(buffer, open);
    this.rest = Buffer.from(buffer.subarray(Math.max(0, open - LENGTH_BYTES)));
    this.skip = Math.min(open, LENGTH_BYTES);
  }

  finish(): void {
    this.search(this.rest, this.rest.length);
    this.rest = Buffer.alloc(0);
    this.skip = 0;
  }

  /** Bytes at the beginning of the rest that were searched: only lengths are read from them. */
  private skip = 0;

  private search(buffer: Buffer, end: number): void {
    const text = buffer.subarray(0, end).toString('latin1');
    URI_OR_PATH.lastIndex = this.skip;
    for (let match = URI_OR_PATH.exec(text); match; match = URI_OR_PATH.exec(text)) {
      for (const path of exactly(buffer, match.index, match[0])) if (!NO_FILES.test(path)) this.found(path);
    }
  }
}

function isPathByte(byte: number): boolean {
  return (
    byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x27 && byte !== 0x3c && byte !== 0x3e && byte !== 0x60
  );
}

/**
 * The path without what only looks like a part of it: a length in front tells where it begins and ends. None for what is
 * probably no path, like the middle of a class name.
 */
function exactly(buffer: Buffer, index: number, text: string): readonly string[] {
  const [one, other] = index >= 8 ? [buffer.readUInt32LE(index - 8), buffer.readUInt32LE(index - 4)] : [0, 0];
  // A file in progress of a local file sink: both lengths, then both paths.
  if (one > 0 && other > 0 && one + other <= text.length && one + other >= text.length - MOST_BEHIND) {
    return [text.slice(0, one), text.slice(one, one + other)];
  }
  const isUri = !text.startsWith('/');
  // A byte of a length may look like the first letter of the scheme.
  const lastStart = isUri ? Math.min(text.indexOf(':') - 2, 3) : 0;
  for (const spare of [0, MOST_BEHIND]) {
    for (let skip = 0; skip <= lastStart; skip++) {
      const most = text.length - skip;
      for (const length of lengthsBefore(buffer, index + skip, spare > 0)) {
        if (length <= most && length >= Math.max(4, most - spare)) return [text.slice(skip, skip + length)];
      }
    }
  }
  if (isUri) return [text];
  const before = String.fromCharCode(buffer[index - 1] ?? 0);
  const names = text.split('/').slice(1);
  const isLikely = names.length >= 3 && names.every((name) => name.length >= 2);
  return isLikely && !/[\w$;.]/.test(before) ? [text] : [];
}

/** What may be the length of a text that begins here, in the forms of Java, Flink and Kryo. */
function lengthsBefore(buffer: Buffer, at: number, onlyWide: boolean): number[] {
  const lengths: number[] = [];
  if (at >= 4) lengths.push(buffer.readUInt32BE(at - 4), buffer.readUInt32LE(at - 4));
  if (at >= 2) lengths.push(buffer.readUInt16BE(at - 2));
  if (onlyWide) return lengths;
  const low = buffer[at - 1] ?? 0;
  if (at >= 2) {
    const varint = ((buffer[at - 2] ?? 0) & 0x7f) | (low << 7);
    lengths.push(varint, varint - 1);
  }
  if (at >= 1) lengths.push(low, low - 1);
  return lengths;
}
