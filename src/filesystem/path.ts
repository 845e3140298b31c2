/**
 * Names of files and directories, after Flink's `org.apache.flink.core.fs.Path`.
 */
import { InvalidPathError } from '../errors.js';
import type { JavaUri } from './java-uri.js';
import { composeUri, decodeUri, normalizeUriPath, resolveUri, UriSyntaxError } from './java-uri.js';

/** The components of a {@link Path}, unescaped. */
export interface PathParts {
  readonly scheme?: string | undefined;
  readonly authority?: string | undefined;
  readonly path: string;
}

/**
 * Scheme (two letters or more: one is a Windows drive), authority, and an absolute path without empty, `.` or `..` segments
 * and without backslashes. Such strings, nearly all that occur, need no rules.
 */
const NORMAL = /^(?:([A-Za-z][A-Za-z0-9+.-]+):)?(?:\/\/([\w.:@-]*))?((?:\/(?!\.\.?(?:\/|$))[^/\\]+)+)$/;
/** Nearly all paths: no character that a URI would escape. */
const NEVER_ESCAPED = /^[A-Za-z0-9_.:/-]*$/;
const PLAIN_NAME = /^(?!\.\.?$)[^/\\:]+$/;
const WINDOWS_ROOT = /^\/[A-Za-z]+:\/$/;
const WINDOWS_DRIVE = /^\/[A-Za-z]:/;

/**
 * A path as Flink understands it, immutable. A path string has a scheme if a colon comes before the first slash, an
 * authority after `//`, and everything else is the path: there is neither query nor fragment, and nothing is decoded, so
 * `%20` is three characters. Backslashes become slashes; repeated and trailing slashes go; `.` and `..` are resolved, a
 * `..` without anything before it stays.
 *
 * @example
 * const path = Path.parse('file:///data//chk-1/');
 * path.toString(); // 'file:/data/chk-1'
 * path.child('_metadata').name; // '_metadata'
 */
export class Path {
  /** As it was written: Flink looks file systems up by the exact string. */
  readonly scheme: string | undefined;
  /** Bucket, or host and port; never empty. */
  readonly authority: string | undefined;
  /** Everything behind scheme and authority; starts with a slash if absolute; may be empty (`.`, `s3://bucket`). */
  readonly path: string;
  #string: string | undefined;

  private constructor(scheme: string | undefined, authority: string | undefined, path: string) {
    this.scheme = scheme;
    this.authority = authority;
    this.path = path;
  }

  /**
   * Flink's `new Path(string)`, including what surprises: `a:b/c` is a Windows drive, a relative name with a colon must be
   * written `./ab:c`, and `/a/b/..` is `/a/` with the slash ({@link Path.tidy} removes it).
   * @throws InvalidPathError if the string is empty or `java.net.URI` refuses it (`file:a`, `::`, `1x:/a`)
   */
  static parse(string: string): Path {
    const normal = NORMAL.exec(string);
    if (normal !== null) return new Path(normal[1], normal[2] || undefined, normal[3] ?? '');
    if (string === '') throw new InvalidPathError(string, 'it is empty');

    const text = /^[A-Za-z]:/.test(string) ? `/${string}` : string;
    const [, scheme, rest = ''] = /^(?:([^/:]*):)?(.*)$/s.exec(text) ?? [];
    const [, authority, path = ''] = (rest.length > 2 && /^\/\/([^/]*)(.*)$/s.exec(rest)) || [
      undefined,
      undefined,
      rest,
    ];
    return initialize(string, scheme, authority, path);
  }

  /**
   * A path of exactly these components, nothing normalized or checked: for names that a store has reported. Not for
   * strings of users or files: see {@link Path.parse}.
   */
  static verbatim(parts: PathParts): Path {
    return new Path(parts.scheme, parts.authority || undefined, parts.path);
  }

  /**
   * Flink's `new Path(parent, child)`. `..` is resolved, an absolute child is taken as relative to this path.
   * For an entry of a listing use {@link Path.entry}.
   * @throws InvalidPathError if `child` is no path, is `/`, or is absolute with a scheme
   */
  child(child: string): Path {
    if (PLAIN_NAME.test(child) && this.path.startsWith('/') && (this.path === '/' || !this.path.endsWith('/'))) {
      return new Path(this.scheme, this.authority, this.path === '/' ? `/${child}` : `${this.path}/${child}`);
    }
    const shown = `${this}/${child}`;
    const base = this.path === '' || this.path === '/' ? this.path : `${this.path}/`;
    let relative = Path.parse(child).#parts();
    if (relative.path === '/') throw new InvalidPathError(child, 'the root cannot be a child');
    return refusing(shown, () => {
      let childUri = composeUri(relative.scheme, relative.authority, relative.path);
      if (relative.path.startsWith('/')) {
        relative = { ...relative, path: relative.path.slice(1) };
        childUri = normalize(composeUri(relative.scheme, relative.authority, normalizeSlashes(relative.path)));
      }
      const resolved = resolveUri(composeUri(this.scheme, this.authority, base), childUri);
      if (resolved.path === undefined) throw new UriSyntaxError('its first name would be taken for a scheme');
      return initialize(
        shown,
        resolved.scheme,
        resolved.authority === undefined ? undefined : decodeUri(resolved.authority),
        decodeUri(resolved.path),
      );
    });
  }

  /**
   * The entry `name` of this directory, where `name` comes from a listing and is taken letter by letter: colons and
   * backslashes are part of it, as {@link Path.child} would not have it. See {@link Path.isFaithful}.
   * @throws InvalidPathError if the name is empty, `.`, `..`, or has a slash: no store lists such a thing honestly
   */
  entry(name: string): Path {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) {
      throw new InvalidPathError(`${this}/${name}`, `"${name}" cannot be the name of an entry`);
    }
    const directory = this.path.endsWith('/') ? this.path : `${this.path}/`;
    return new Path(
      this.scheme,
      this.authority,
      this.path === '' && this.authority === undefined ? name : directory + name,
    );
  }

  /**
   * The path without its last name; undefined at the root, `.` (an empty path) above a relative name. Of `/a/b/..`, which
   * is `/a/`, it is `/a`.
   * @throws InvalidPathError for a name right behind a Windows drive (`c:x`), as in Flink
   */
  get parent(): Path | undefined {
    const { path } = this;
    const slash = path.lastIndexOf('/');
    if (!WINDOWS_DRIVE.test(path)) {
      if (path === '' || path === '/') return undefined;
      if (slash > 0 && path.startsWith('/')) return new Path(this.scheme, this.authority, path.slice(0, slash));
      return initialize(this.toString(), this.scheme, this.authority, slash === -1 ? '.' : path.slice(0, slash || 1));
    }
    if (path.length === 3 || (path.length === 4 && slash === 3)) return undefined;
    const parent = path.slice(0, slash === 3 ? 4 : slash);
    if (parent === '') throw new InvalidPathError(this.toString(), 'it has no parent');
    return initialize(this.toString(), this.scheme, this.authority, parent);
  }

  /** Everything behind the last slash; empty at a root. */
  get name(): string {
    return this.path.slice(this.path.lastIndexOf('/') + 1);
  }

  /** True if the path starts with a slash (behind the Windows drive, if there is one). */
  get isAbsolute(): boolean {
    return this.path.startsWith('/', WINDOWS_DRIVE.test(this.path) ? 3 : 0);
  }

  /** Without a slash at the end, which only `/..` and `/.` at the end of a path string leave. Flink's `new Path(p.toString())`. */
  get tidy(): Path {
    return this.path.length > 1 && this.path.endsWith('/') && !WINDOWS_ROOT.test(this.path)
      ? new Path(this.scheme, this.authority, this.path.slice(0, -1))
      : this;
  }

  /**
   * True if {@link Path.parse} of the printed path gives this very path. False only for names that a listing has reported
   * and Flink cannot express (with a backslash): never parse what such a path prints, it would be another file.
   */
  get isFaithful(): boolean {
    const string = this.toString();
    return string !== '' && Path.parse(string).equals(this);
  }

  /** As Flink prints it: `file:/a/b` (one slash), `s3://bucket/key`, `a/b`. Empty for an empty path. */
  toString(): string {
    this.#string ??= this.#print();
    return this.#string;
  }

  /** As `java.net.URI` prints it, with escapes (`%20` for a blank): Flink's `path.toUri().toString()`. */
  toUriString(): string {
    const shown = this.toString();
    if (this.scheme !== undefined && this.path.startsWith('/') && NEVER_ESCAPED.test(shown)) return shown;
    const uri = composeUri(this.scheme, this.authority, this.path);
    const front = uri.scheme === undefined ? '' : `${uri.scheme}:`;
    return front + (uri.authority === undefined ? '' : `//${uri.authority}`) + (uri.path ?? '');
  }

  /** The same as `toString()`: a path in JSON is its string. */
  toJSON(): string {
    return this.toString();
  }

  /**
   * True if both have the same components. Stricter than `java.net.URI`, which ignores case in schemes and host names:
   * no file system of Flink's takes `FILE:/a`.
   */
  equals(other: Path): boolean {
    return this.path === other.path && this.scheme === other.scheme && this.authority === other.authority;
  }

  /**
   * True if this path is `prefix` or lies below it, name by name: `/a/bc` is not below `/a/b`. Scheme and authority must be
   * the same. False where `..` could lead out of `prefix`. Looks at names alone and follows no links.
   */
  startsWith(prefix: Path): boolean {
    return this.relativeTo(prefix) !== undefined;
  }

  /** What follows `prefix`, without a slash in front (empty if equal); undefined unless {@link Path.startsWith}. */
  relativeTo(prefix: Path): string | undefined {
    if (this.scheme !== prefix.scheme || this.authority !== prefix.authority) return undefined;
    const isRoot = prefix.path === '' || prefix.path === '/';
    if (isRoot && this.authority === undefined && this.path.startsWith('/') !== (prefix.path === '/')) return undefined;
    const front = isRoot || !prefix.path.endsWith('/') ? prefix.path : prefix.path.slice(0, -1);
    if (!isRoot && !this.path.startsWith(front)) return undefined;
    const rest = this.path.slice(isRoot ? 0 : front.length);
    if (!isRoot && rest !== '' && !rest.startsWith('/')) return undefined;
    const inner = rest.startsWith('/') ? rest.slice(1) : rest;
    return inner === '..' || inner.startsWith('../') ? undefined : inner;
  }

  #parts(): PathParts {
    return { scheme: this.scheme, authority: this.authority, path: this.path };
  }

  #print(): string {
    if (this.scheme === undefined && this.authority === undefined) {
      return WINDOWS_DRIVE.test(this.path) ? this.path.slice(1) : this.path;
    }
    const scheme = this.scheme === undefined ? '' : `${this.scheme}:`;
    return this.authority === undefined ? scheme + this.path : `${scheme}//${this.authority}${this.path}`;
  }
}

/** `Path.initialize` of Flink: tidies the slashes, builds the URI and normalizes it. */
function initialize(shown: string, scheme: string | undefined, authority: string | undefined, path: string): Path {
  return refusing(shown, () => {
    const uri = normalize(composeUri(scheme, authority, normalizeSlashes(path)));
    if (uri.path === undefined) throw new UriSyntaxError('its first name would be taken for a scheme');
    return Path.verbatim({
      scheme: uri.scheme,
      authority: uri.authority === undefined ? undefined : decodeUri(uri.authority),
      path: decodeUri(uri.path),
    });
  });
}

function normalize(uri: JavaUri): JavaUri {
  return uri.path === undefined ? uri : { ...uri, path: normalizeUriPath(uri.path) };
}

function normalizeSlashes(path: string): string {
  const slashed = path.replaceAll('\\', '/').replace(/\/{2,}/g, '/');
  return slashed.length > 1 && slashed.endsWith('/') && !WINDOWS_ROOT.test(slashed) ? slashed.slice(0, -1) : slashed;
}

function refusing(shown: string, build: () => Path): Path {
  try {
    return build();
  } catch (error) {
    if (error instanceof UriSyntaxError) throw new InvalidPathError(shown, error.message);
    throw error;
  }
}
