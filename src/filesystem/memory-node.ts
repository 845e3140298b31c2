/** The tree behind a `MemoryFileSystem`. */
import type { DirectoryEntry, FileSystemKind, FileType } from './file-system.js';
import type { Path } from './path.js';

/** Contents of a file; several nodes may share it (hard links). */
export interface MemoryFile {
  readonly id: number;
  bytes: Uint8Array;
  /** Milliseconds since the epoch. */
  modificationTime: number;
  /** When anything about the file changed last, its names included. */
  changeTime: number;
  linkCount: number;
}

let nextId = 1;

/** A name: a file, a directory, in an object store both, or nothing. */
export class MemoryNode {
  readonly children = new Map<string, MemoryNode>();
  file: MemoryFile | undefined;
  /** It was made as a directory. In an object store: there is a marker object. */
  isDirectory = false;

  constructor(
    private readonly kind: FileSystemKind,
    /** Milliseconds since the epoch, of its making. */
    readonly directoryTime: number,
  ) {}

  /** What a status says. An empty object of the name of a directory is a marker of that directory. */
  get type(): FileType | undefined {
    const isDirectory = this.isDirectory || (this.kind === 'object-store' && this.children.size > 0);
    if (this.file !== undefined && !(isDirectory && this.file.bytes.byteLength === 0)) return 'file';
    return isDirectory ? 'directory' : undefined;
  }

  /** The child of this name, made as nothing if it is not there. */
  child(name: string, now: number): MemoryNode {
    const child = this.children.get(name) ?? new MemoryNode(this.kind, now);
    this.children.set(name, child);
    return child;
  }

  setFile(bytes: Uint8Array, now: number): MemoryFile {
    // A replaced file lives on under its other names.
    if (this.file !== undefined) this.file.linkCount -= 1;
    this.file = { id: nextId++, bytes, modificationTime: now, changeTime: now, linkCount: 1 };
    return this.file;
  }

  /** How it is listed: in an object store a name may be an object and a directory, two entries. */
  entries(name: string): DirectoryEntry[] {
    const { type, file } = this;
    const entries: DirectoryEntry[] = [];
    if (type === 'file' && file !== undefined) {
      const size = file.bytes.byteLength;
      entries.push({ name, type, isLink: false, size, modificationTime: file.modificationTime });
    }
    if (type === 'directory' || this.children.size > 0) {
      entries.push({ name, type: 'directory', isLink: false, size: undefined, modificationTime: undefined });
    }
    return entries;
  }

  /** Every file below, by its printed path. */
  files(path: Path): [string, Uint8Array][] {
    const own: [string, Uint8Array][] = this.file === undefined ? [] : [[path.toString(), this.file.bytes]];
    return own.concat([...this.children].flatMap(([name, child]) => child.files(path.entry(name))));
  }
}
