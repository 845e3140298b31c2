/**
 * Between {@link Path} and what the operating system calls a file.
 *
 * A name on disk is any bytes, a name here is a string. Bytes that are not UTF-8 become lone surrogates, each byte `0xNN`
 * the code unit U+DCNN, and turn back into that byte: such files are listed, opened and removed like others, and no two of
 * them share a name. (Python does the same.) They print as U+FFFD, and Flink can neither write nor find them.
 */
import { isUtf8 } from 'node:buffer';
import { InvalidPathError, NotFoundError } from '../errors.js';
import { normalizeUriPath } from './java-uri.js';
import { Path } from './path.js';

const SURROGATE = /[\ud800-\udfff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const STRAY_BYTE = /[\udc80-\udcff]/;

/**
 * The path with scheme `file` and absolute, as Flink's `makeQualified` does for its local file system: relative paths
 * start at `workingDirectory` (absolute, with slashes). No I/O.
 * @throws InvalidPathError if the path has another scheme or names a host (`file://host/a`)
 */
export function qualifyLocal(path: Path, workingDirectory: string): Path {
  if (path.scheme !== undefined && path.scheme !== 'file') {
    throw new InvalidPathError(path.toString(), 'it is not a local path');
  }
  if (path.authority !== undefined) {
    const hint = `file:///${path.authority}${path.path}`;
    throw new InvalidPathError(path.toString(), `a local path names no host; "${hint}" was meant?`);
  }
  if (path.path.startsWith('/')) {
    const isQualified = path.scheme === 'file' && (path.path === '/' || !path.path.endsWith('/'));
    return isQualified ? path : Path.verbatim({ scheme: 'file', path: path.path }).tidy;
  }
  // Not by `Path.child`: the working directory may have a name that is no path string (a backslash in it).
  return Path.verbatim({ scheme: 'file', path: normalizeUriPath(`${workingDirectory}/${path.path}`) }).tidy;
}

/** The working directory of this process, with slashes. */
export function currentDirectory(): string {
  const directory = process.cwd();
  return process.platform === 'win32' ? `/${directory.replaceAll('\\', '/')}` : directory;
}

/**
 * What to hand to `node:fs` for a qualified path.
 * @throws InvalidPathError if the path is not a qualified local one
 * @throws NotFoundError if no file can have this name (it has a NUL or half a character)
 */
export function toNativePath(path: Path): string | Buffer {
  if (path.scheme !== 'file' || path.authority !== undefined || !path.path.startsWith('/')) {
    throw new InvalidPathError(path.toString(), 'it is not a qualified local path');
  }
  const { path: absolute } = path;
  if (absolute.includes('\0')) throw new NotFoundError(path.toString());
  // A slash at the end would make the system follow a link.
  const plain = absolute.length > 1 && absolute.endsWith('/') ? absolute.slice(0, -1) : absolute;
  if (process.platform === 'win32') return plain.slice(1);
  return SURROGATE.test(plain) ? encodeName(plain, path) : plain;
}

/** The string for bytes that the operating system reported as a name or path. */
export function fromNativeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let name = '';
  for (let start = 0; start < bytes.length; ) {
    const length = [1, 2, 3, 4].find((count) => isCharacter(bytes.subarray(start, start + count), count));
    name += length === undefined ? stray(bytes, start) : bytes.toString('utf8', start, start + length);
    start += length ?? 1;
  }
  return name;
}

/** A native path, for the name of a temporary file beside another: joins as bytes if need be. */
export function joinNative(directory: string | Buffer, name: string): string | Buffer {
  return typeof directory === 'string' ? `${directory}/${name}` : Buffer.concat([directory, Buffer.from(`/${name}`)]);
}

function isCharacter(bytes: Buffer, count: number): boolean {
  return bytes.length === count && isUtf8(bytes);
}

function stray(bytes: Buffer, position: number): string {
  return String.fromCharCode(0xdc00 + bytes.readUInt8(position));
}

function encodeName(name: string, path: Path): string | Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const match of name.matchAll(LONE_SURROGATE)) {
    // Any other half of a character would be written as U+FFFD, which is the name of another file.
    if (!STRAY_BYTE.test(match[0])) throw new NotFoundError(path.toString());
    parts.push(Buffer.from(name.slice(end, match.index)), Buffer.from([match[0].charCodeAt(0) - 0xdc00]));
    end = match.index + 1;
  }
  return parts.length === 0 ? name : Buffer.concat([...parts, Buffer.from(name.slice(end))]);
}
