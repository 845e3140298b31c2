/**
 * Looks for names of files in bytes of which nobody knows what they mean. User code keeps handles inside operator state, in
 * whatever form its serializer writes: all of them spell the name out, one or two bytes a character.
 */
import { NameTable } from './name-table.js';

const UUID_LENGTH = 36;
const DASH = 0x2d;
/** Where the first dash of a UUID stands, and how far the others are from it. */
const FIRST_DASH = 8;
const MORE_DASHES = [5, 10, 15] as const;

/** Finds names in streams of bytes. */
export class NameSearch {
  private readonly uuids = new NameTable();
  private readonly others = new Map<string, readonly Buffer[]>();
  private readonly foundOthers = new Set<string>();
  private overlap = UUID_LENGTH * 2;
  private readonly compact = new Uint8Array(UUID_LENGTH);

  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (NameSearch.isUuidLike(name)) {
        this.uuids.add(name);
        continue;
      }
      const wide = Buffer.from(name, 'utf16le');
      this.others.set(name, [Buffer.from(name, 'utf8'), wide, Buffer.from(wide).swap16()]);
      this.overlap = Math.max(this.overlap, wide.length, Buffer.byteLength(name));
    }
  }

  /** True if the name was found somewhere. */
  has(name: string): boolean {
    return this.uuids.isUsed(name) || this.foundOthers.has(name);
  }

  /** A search in one stream: a name may be cut in two by its chunks. */
  begin(): NameStream {
    let rest = Buffer.alloc(0);
    return {
      push: (bytes, start, end) => {
        const chunk = Buffer.concat([rest, bytes.subarray(start, end)]);
        this.search(chunk);
        rest = Buffer.from(chunk.subarray(Math.max(0, chunk.length - this.overlap)));
      },
      finish: () => {
        rest = Buffer.alloc(0);
      },
    };
  }

  private static isUuidLike(name: string): boolean {
    return name.length === UUID_LENGTH && /^[0-9a-f-]*$/.test(name);
  }

  private search(chunk: Buffer): void {
    for (let dash = chunk.indexOf(DASH); dash >= 0; dash = chunk.indexOf(DASH, dash + 1)) {
      this.tryAt(chunk, dash, 1);
      this.tryAt(chunk, dash, 2);
    }
    for (const [name, forms] of this.others) {
      if (!this.foundOthers.has(name) && forms.some((form) => chunk.includes(form))) this.foundOthers.add(name);
    }
  }

  /** Tries the UUID whose first dash stands at `dash`; its characters are `step` bytes apart. */
  private tryAt(chunk: Buffer, dash: number, step: 1 | 2): void {
    if (MORE_DASHES.some((distance) => chunk[dash + distance * step] !== DASH)) return;
    const start = dash - FIRST_DASH * step;
    if (start < 0 || start + (UUID_LENGTH - 1) * step >= chunk.length) return;
    for (let i = 0; i < UUID_LENGTH; i++) this.compact[i] = chunk[start + i * step] as number;
    this.uuids.useBytes(this.compact, 0, UUID_LENGTH);
  }
}

/** See {@link NameSearch.begin}. */
export interface NameStream {
  push(bytes: Uint8Array, start: number, end: number): void;
  finish(): void;
}
