/** Paths and the keys of objects. */
import { InvalidPathError } from '../../errors.js';
import type { Path } from '../path.js';

/** What older Hadoop file systems put beside a directory, at its own level: `name_$folder$`. */
export const LEGACY_MARKER = '_$folder$';

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The key of a path: everything behind the slash after the bucket; empty at the root.
 * @throws InvalidPathError where an object of that key would not be at that path: empty, `.` or `..` names, half characters
 */
export function keyOf(path: Path): string {
  const key = path.path.replace(/^\//, '');
  if (key === '') return key;
  for (const name of key.split('/')) {
    if (!isName(name)) throw new InvalidPathError(path.toString(), `no object can be called "${name}" in a path`);
  }
  if (LONE_SURROGATE.test(key)) throw new InvalidPathError(path.toString(), 'half a character has no place in a key');
  return key;
}

/** What the keys of everything below a directory begin with. */
export function prefixOf(key: string): string {
  return key === '' ? '' : `${key}/`;
}

/** True if a path can have this name; keys can have others (`a//b`, `a/../b`). */
export function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/** The longest string that all of these begin with, never cut within a character. */
export function commonPrefix(names: readonly string[]): string {
  let [prefix = ''] = names;
  for (const name of names) {
    let length = 0;
    while (length < prefix.length && prefix[length] === name[length]) length += 1;
    prefix = prefix.slice(0, length);
  }
  return /[\ud800-\udbff]$/.test(prefix) ? prefix.slice(0, -1) : prefix;
}
