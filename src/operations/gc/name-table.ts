/**
 * The names of the files of one directory, and which of them are in use. Flink's names are UUIDs: those take 16 bytes each,
 * and are looked up by the bytes of a metadata file without a string being made.
 */

const FIRST_CAPACITY = 16;
const MAX_LOAD = 0.7;
const UUID_LENGTH = 36;
/** Value of a hex digit by its character code; a bit above the lower four for everything else, capital letters too. */
const DIGITS = new Uint8Array(256).fill(0x10);
for (let value = 0; value < 16; value++) DIGITS[value.toString(16).charCodeAt(0)] = value;
const DASH = 0x2d;

/** What a slot of the table holds. */
const Slot = { Empty: 0, Unused: 1, Used: 2 } as const;

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

/**
 * See the file comment. An open hash table: the words of a UUID stand in its slot, so that a look at it touches one place of
 * memory and not three; a big job's metadata asks millions of times.
 */
export class NameTable implements NameMarks {
  private words = new Int32Array(FIRST_CAPACITY * 4);
  private slots = new Uint8Array(FIRST_CAPACITY);
  private uuids = 0;
  /** All other names; true if in use. */
  private readonly others = new Map<string, boolean>();
  private word0 = 0;
  private word1 = 0;
  private word2 = 0;
  private word3 = 0;
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
    const slot = this.find();
    if (this.slots[slot] !== Slot.Empty) return;
    this.put(slot, Slot.Unused);
    if (++this.uuids > this.slots.length * MAX_LOAD) this.grow();
  }

  use(name: string): boolean {
    if (this.parseText(name)) return this.useFound();
    if (!this.others.has(name)) return false;
    this.others.set(name, true);
    return true;
  }

  useBytes(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start === UUID_LENGTH && this.parse(bytes, start)) return this.useFound();
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
    return this.parseText(name) ? this.slots[this.find()] === Slot.Used : this.others.get(name) === true;
  }

  has(name: string): boolean {
    return this.parseText(name) ? this.slots[this.find()] !== Slot.Empty : this.others.has(name);
  }

  /** True if every name is in use. */
  get isAllUsed(): boolean {
    return this.unused().next().done === true;
  }

  /** The names that are not in use, in no order that means anything. Names may be marked meanwhile, but none added. */
  *unused(): Generator<string, void, undefined> {
    for (let slot = 0; slot < this.slots.length; slot++) if (this.slots[slot] === Slot.Unused) yield this.nameAt(slot);
    for (const [name, used] of this.others) if (!used) yield name;
  }

  /** All names. None may be added meanwhile. */
  *names(): Generator<string, void, undefined> {
    for (let slot = 0; slot < this.slots.length; slot++) if (this.slots[slot] !== Slot.Empty) yield this.nameAt(slot);
    yield* this.others.keys();
  }

  private useFound(): boolean {
    const slot = this.find();
    if (this.slots[slot] === Slot.Empty) return false;
    this.slots[slot] = Slot.Used;
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

  /** Reads a UUID of 36 characters into the four words; false if it is none. */
  private parse(bytes: Uint8Array, at: number): boolean {
    if (bytes[at + 8] !== DASH || bytes[at + 13] !== DASH || bytes[at + 18] !== DASH || bytes[at + 23] !== DASH) {
      return false;
    }
    const half0 = quad(bytes, at);
    const half1 = quad(bytes, at + 4);
    const half2 = quad(bytes, at + 9);
    const half3 = quad(bytes, at + 14);
    const half4 = quad(bytes, at + 19);
    const half5 = quad(bytes, at + 24);
    const half6 = quad(bytes, at + 28);
    const half7 = quad(bytes, at + 32);
    this.word0 = (half0 << 16) | half1;
    this.word1 = (half2 << 16) | half3;
    this.word2 = (half4 << 16) | half5;
    this.word3 = (half6 << 16) | half7;
    return (half0 | half1 | half2 | half3 | half4 | half5 | half6 | half7) >= 0;
  }

  /** The slot of the UUID that was parsed, or the empty one where it would be put. */
  private find(): number {
    const { words, slots, word0, word1, word2, word3 } = this;
    const mask = slots.length - 1;
    const mixed = Math.imul(word0 ^ Math.imul(word1, 0x9e3779b1) ^ Math.imul(word2, 0x85ebca77) ^ word3, 0xc2b2ae3d);
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    while (slots[slot] !== Slot.Empty) {
      const at = slot * 4;
      if (words[at] === word0 && words[at + 1] === word1 && words[at + 2] === word2 && words[at + 3] === word3) {
        break;
      }
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private put(slot: number, state: number): void {
    const at = slot * 4;
    this.words[at] = this.word0;
    this.words[at + 1] = this.word1;
    this.words[at + 2] = this.word2;
    this.words[at + 3] = this.word3;
    this.slots[slot] = state;
  }

  private nameAt(slot: number): string {
    let hex = '';
    for (let i = 0; i < 4; i++) hex += ((this.words[slot * 4 + i] as number) >>> 0).toString(16).padStart(8, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  private grow(): void {
    const { words, slots } = this;
    this.words = new Int32Array(words.length * 2);
    this.slots = new Uint8Array(slots.length * 2);
    for (let slot = 0; slot < slots.length; slot++) {
      if (slots[slot] === Slot.Empty) continue;
      this.word0 = words[slot * 4] as number;
      this.word1 = words[slot * 4 + 1] as number;
      this.word2 = words[slot * 4 + 2] as number;
      this.word3 = words[slot * 4 + 3] as number;
      this.put(this.find(), slots[slot] as number);
    }
  }
}

/** Four hex digits as a number; negative if they are none. */
function quad(bytes: Uint8Array, at: number): number {
  const a = DIGITS[bytes[at] as number] as number;
  const b = DIGITS[bytes[at + 1] as number] as number;
  const c = DIGITS[bytes[at + 2] as number] as number;
  const d = DIGITS[bytes[at + 3] as number] as number;
  return (a | b | c | d) > 0xf ? -1 : (a << 12) | (b << 8) | (c << 4) | d;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}
