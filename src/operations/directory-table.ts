/** Which directories the files of a metadata file lie in, found by bytes: nearly all paths differ in their last name only. */
import { copyBytes, type Utf8Slice } from '../bytes/byte-reader.js';
import { Path } from '../filesystem/path.js';

const SLASH = 0x2f;
const DOT = 0x2e;

/** A directory with what was found in it. */
export interface DirectoryUse {
  readonly path: string;
  /** Distinct files. */
  files: number;
  /** Bytes of them as recorded; of merged files those of the segments. */
  bytes: number;
  /** True if a handle names it by its absolute path. */
  absolute: boolean;
  /** True if changelog handles name files in it. */
  changelog: boolean;
}

/** The file that a path names: its directory and where its name stands in the slice. */
export interface Located {
  directory: number;
  nameStart: number;
  nameEnd: number;
  nameBytes: Uint8Array;
  /** True if the name is ASCII; else it is UTF-8. */
  plain: boolean;
  /** True if the path as it is written has a `..`, wherever that leads: no Flink writes such a path. */
  climbs: boolean;
}

/** A name `..` among those of a path; Flink takes a backslash for a slash. */
const CLIMBS = /(?:^|[\\/])\.\.(?:[\\/]|$)/;

/** See the file comment. The first directory is that of the metadata file. */
export class DirectoryTable {
  readonly directories: DirectoryUse[] = [];
  private readonly indexes = new Map<string, number>();
  private lastBytes: Uint8Array = new Uint8Array(0);
  private lastIndex = -1;
  private lastClimbs = false;
  private readonly located: Located = {
    directory: 0,
    nameStart: 0,
    nameEnd: 0,
    nameBytes: new Uint8Array(0),
    plain: true,
    climbs: false,
  };

  constructor(readonly own: Path) {
    this.add(withoutSlash(own.toString()));
  }

  /** The index of a directory, which is added if it is new. A slash and a name behind its path are the path of a file. */
  add(path: string): number {
    const known = this.indexes.get(path);
    if (known !== undefined) return known;
    const index = this.directories.length;
    this.indexes.set(path, index);
    this.directories.push({ path, files: 0, bytes: 0, absolute: false, changelog: false });
    return index;
  }

  /** A file relative to the own directory. The result is reused. */
  locateRelative(path: Utf8Slice): Located {
    if (!path.plain || !hasPlainName(path.buffer, path.start, path.end))
      return this.locateOdd(this.child(path.text()), CLIMBS.test(path.text()));
    return this.result(0, path.buffer, path.start, path.end, false);
  }

  /** A file by its absolute path. The result is reused. */
  locate(path: Utf8Slice): Located {
    const { buffer, start, end } = path;
    const length = this.lastBytes.length;
    if (
      this.lastIndex >= 0 &&
      path.plain &&
      end - start > length &&
      buffer.compare(this.lastBytes, 0, length, start, start + length) === 0
    ) {
      if (hasPlainName(buffer, start + length, end))
        return this.result(this.lastIndex, buffer, start + length, end, this.lastClimbs);
    }
    const text = path.text();
    const slash = buffer.lastIndexOf(SLASH, end - 1);
    if (slash < start || !path.plain || !hasPlainName(buffer, slash + 1, end))
      return this.locateOdd(text, CLIMBS.test(text));
    const directory = text.slice(0, slash - start);
    this.lastIndex = this.add(withoutSlash(normalized(directory)));
    this.lastClimbs = CLIMBS.test(directory);
    this.lastBytes = copyBytes(buffer, start, slash + 1);
    return this.result(this.lastIndex, buffer, slash + 1, end, this.lastClimbs);
  }

  private child(relative: string): string {
    try {
      return this.own.child(relative).toString();
    } catch {
      return `${withoutSlash(this.own.toString())}/${relative}`;
    }
  }

  private locateOdd(text: string, climbs: boolean): Located {
    const whole = normalized(text);
    const slash = whole.lastIndexOf('/');
    const name = Buffer.from(whole.slice(slash + 1), 'utf8');
    const result = this.result(this.add(whole.slice(0, Math.max(slash, 0))), name, 0, name.length, climbs);
    result.plain = false;
    return result;
  }

  /** The path of a directory as Flink's `Path` prints it; one that it refuses stays as it is. Without a slash at its end. */
  normalize(path: string): string {
    return withoutSlash(normalized(path));
  }

  private result(
    directory: number,
    nameBytes: Uint8Array,
    nameStart: number,
    nameEnd: number,
    climbs: boolean,
  ): Located {
    const { located } = this;
    located.directory = directory;
    located.nameBytes = nameBytes;
    located.nameStart = nameStart;
    located.nameEnd = nameEnd;
    located.plain = true;
    located.climbs = climbs;
    return located;
  }
}

function normalized(path: string): string {
  try {
    return Path.parse(path).toString();
  } catch {
    return path;
  }
}

/** A root has a slash at its end, and Flink leaves one behind `/.` and `/..`. */
function withoutSlash(directory: string): string {
  return directory.endsWith('/') ? directory.slice(0, -1) : directory;
}

/** True if the bytes are a name that no rule of paths changes: no slash, no backslash, not empty, no dot in front. */
function hasPlainName(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end || bytes[start] === DOT) return false;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === SLASH || byte === 0x5c || byte === 0x3a) return false;
  }
  return true;
}
