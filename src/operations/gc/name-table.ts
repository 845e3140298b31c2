/**
 * The names of the files of one directory, and which of them are in use. Flink's names are UUIDs: those take 16 bytes each,
 * and are looked up by the bytes of a metadata file without a string being made.
 */

const FIRST_CAPACITY = 8;
const MAX_LOAD = 0.6;
const UUID_LENGTH = 36;
/** Value of a hex digit by its character code; 255 for everything else, capital letters too. */
const DIGITS = new Uint8Array(256).fill(255);
for (let value = 0; value < 16; value++) DIGITS[value.toString(16).charCodeAt(0)] = value;
const DASH = 0x2d;
/** Where the four words of a UUID begin and where their digits stand. */
const WORD_DIGITS: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4, 5, 6, 7],
  [9, 10, 11, 12, 14, 15, 16, 17],
  [19, 20, 21, 22, 24, 25, 26, 27],
  [28, 29, 30, 31, 32, 33, 34, 35],
];

/** True for a name of the form in which Flink names its files: a UUID in lower case. */
export function isUuid(name: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);
}

/** Where the names that metadata mentions are marked. */
export interface NameMarks {
  /** Marks a name as being in use. Returns false if it is not known. */
  use(name: string): boolean;
  /** The same for a name in Latin-1, [start, end) of `bytes`. */
  useBytes(bytes: Uint8Array, start: number, end: number): boolean;
}

/** See the file comment. */
export class NameTable implements NameMarks {
  /** Four words for each UUID. */
  private words = new Uint32Array(FIRST_CAPACITY * 4);
  private used = new Uint8Array(FIRST_CAPACITY);
  private places = new Int32Array(FIRST_CAPACITY * 2).fill(-1);
  private uuids = 0;
  /** All other names; true if in use. */
  private readonly others = new Map<string, boolean>();
  private readonly probe = new Uint32Array(4);
  private readonly text = new Uint8Array(UUID_LENGTH);

  /** How many names there are. */
  get size(): number {
    return this.uuids + this.others.size;
  }

  /** Adds a name that is not in use; nothing happens if it is there. */
  add(name: string): void {
    if (!this.parseText(name)) {
      if (!this.others.has(name)) this.others.set(name, false);
      return;
    }
    const place = this.find();
    if ((this.places[place] as number) >= 0) return;
    if (this.uuids === this.used.length) this.growColumns();
    this.words.set(this.probe, this.uuids * 4);
    this.places[place] = this.uuids++;
    if (this.uuids > this.places.length * MAX_LOAD) this.growPlaces();
  }

  use(name: string): boolean {
    if (this.parseText(name)) return this.useProbe();
    if (!this.others.has(name)) return false;
    this.others.set(name, true);
    return true;
  }

  useBytes(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start === UUID_LENGTH && this.parse(bytes, start)) return this.useProbe();
    return this.others.size > 0 && this.use(latin1(bytes, start, end));
  }

  /** Tells which names are known and marks none. */
  get probing(): NameMarks {
    return {
      use: (name) => this.has(name),
      useBytes: (bytes, start, end) => this.has(latin1(bytes, start, end)),
    };
  }

  /** True if the name is in the table and in use. */
  isUsed(name: string): boolean {
    if (!this.parseText(name)) return this.others.get(name) === true;
    const index = this.places[this.find()] as number;
    return index >= 0 && this.used[index] === 1;
  }

  has(name: string): boolean {
    if (!this.parseText(name)) return this.others.has(name);
    return (this.places[this.find()] as number) >= 0;
  }

  /** The names that are not in use, in the order in which they were added (UUIDs first). */
  *unused(): Generator<string, void, undefined> {
    for (let index = 0; index < this.uuids; index++) if (this.used[index] === 0) yield this.nameAt(index);
    for (const [name, used] of this.others) if (!used) yield name;
  }

  /** All names. */
  *names(): Generator<string, void, undefined> {
    for (let index = 0; index < this.uuids; index++) yield this.nameAt(index);
    yield* this.others.keys();
  }

  private useProbe(): boolean {
    const index = this.places[this.find()] as number;
    if (index < 0) return false;
    this.used[index] = 1;
    return true;
  }

  private parseText(name: string): boolean {
    if (name.length !== UUID_LENGTH) return false;
    for (let i = 0; i < UUID_LENGTH; i++) {
      const code = name.charCodeAt(i);
      if (code > 0x7f) return false;
      this.text[i] = code;
    }
    return this.parse(this.text, 0);
  }

  /** Reads a UUID into the probe; false if it is none. */
  private parse(bytes: Uint8Array, start: number): boolean {
    if (
      bytes[start + 8] !== DASH ||
      bytes[start + 13] !== DASH ||
      bytes[start + 18] !== DASH ||
      bytes[start + 23] !== DASH
    ) {
      return false;
    }
    let bad = 0;
    for (let word = 0; word < 4; word++) {
      const digits = WORD_DIGITS[word] as readonly number[];
      let value = 0;
      for (let i = 0; i < 8; i++) {
        const digit = DIGITS[bytes[start + (digits[i] as number)] as number] as number;
        bad |= digit;
        value = (value << 4) | digit;
      }
      this.probe[word] = value;
    }
    return (bad & 0xf0) === 0;
  }

  /** The place where the probe is, or where it would be put. */
  private find(): number {
    const { words, probe, places } = this;
    const mask = places.length - 1;
    let at = ((probe[0] as number) ^ (probe[3] as number)) & mask;
    for (let index = places[at] as number; index >= 0; index = places[at] as number) {
      const first = index * 4;
      if (
        words[first] === probe[0] &&
        words[first + 1] === probe[1] &&
        words[first + 2] === probe[2] &&
        words[first + 3] === probe[3]
      ) {
        break;
      }
      at = (at + 1) & mask;
    }
    return at;
  }

  private nameAt(index: number): string {
    let hex = '';
    for (let i = 0; i < 4; i++) hex += (this.words[index * 4 + i] as number).toString(16).padStart(8, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  private growColumns(): void {
    const [words, used] = [new Uint32Array(this.words.length * 2), new Uint8Array(this.used.length * 2)];
    words.set(this.words);
    used.set(this.used);
    this.words = words;
    this.used = used;
  }

  private growPlaces(): void {
    this.places = new Int32Array(this.places.length * 2).fill(-1);
    for (let index = 0; index < this.uuids; index++) {
      for (let i = 0; i < 4; i++) this.probe[i] = this.words[index * 4 + i] as number;
      this.places[this.find()] = index;
    }
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
