/** The entries of a directory, which in an object store is what some keys begin with. */
import type { DirectoryEntry } from '../file-system.js';
import type { ObjectBucket } from './object-bucket.js';
import { isName, LEGACY_MARKER } from './object-keys.js';
import { hasChildren, isMarker } from './object-lookup.js';
import type { ObjectPage, ObjectStatus } from './object-store.js';

/** A page of a listing, as a file system sees it. */
export interface EntryPage {
  readonly entries: readonly DirectoryEntry[];
  /** Keys, or what keys begin with, that no path can name: `a//b`, an object with contents whose key ends with a slash. */
  readonly unnamed: readonly string[];
  /** There is anything at all, be it a marker. */
  readonly isThere: boolean;
}

/**
 * Lists a directory by pages. Markers are no entries.
 * @param prefix what the keys of its entries begin with
 * @param start what the names begin with of the entries that are wanted; default: all are
 */
export async function* listEntries(
  bucket: ObjectBucket,
  prefix: string,
  signal?: AbortSignal,
  start = '',
): AsyncGenerator<EntryPage, void> {
  for await (const page of bucket.pages(prefix + start, { delimiter: '/' }, signal)) {
    yield await entriesOf(bucket, prefix, page, signal);
  }
}

async function entriesOf(
  bucket: ObjectBucket,
  prefix: string,
  page: ObjectPage,
  signal: AbortSignal | undefined,
): Promise<EntryPage> {
  const unnamed: string[] = [];
  const directories = new Set<string>();
  const entries: DirectoryEntry[] = [];
  for (const below of page.prefixes) {
    const name = below.slice(prefix.length, -1);
    if (isName(name)) directories.add(name);
    else unnamed.push(below);
  }
  const marked: string[] = [];
  for (const object of page.objects) {
    const name = object.key.slice(prefix.length);
    if (name === '' || name.endsWith('/')) {
      if (!isMarker(object)) unnamed.push(object.key);
    } else if (object.isDirectory) marked.push(name);
    else if (name.endsWith(LEGACY_MARKER) && isMarker(object)) marked.push(name.slice(0, -LEGACY_MARKER.length));
    else if (isName(name)) entries.push(fileEntry(name, object));
    else unnamed.push(object.key);
  }
  for (const name of marked) {
    // With something below it, it is on this page or on another one as a directory already.
    if (!isName(name) || directories.has(name)) continue;
    if (!(await hasChildren(bucket, prefix + name, signal))) directories.add(name);
  }
  for (const name of directories) {
    entries.push({ name, type: 'directory', isLink: false, size: undefined, modificationTime: undefined });
  }
  return { entries, unnamed, isThere: page.objects.length + page.prefixes.length > 0 };
}

function fileEntry(name: string, { size, modificationTime }: ObjectStatus): DirectoryEntry {
  return { name, type: 'file', isLink: false, size, modificationTime };
}
