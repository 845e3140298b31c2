/** What is at a name: an object, a directory, both or nothing. */
import type { ObjectBucket } from './object-bucket.js';
import { LEGACY_MARKER, prefixOf } from './object-keys.js';
import type { ObjectPage, ObjectStatus } from './object-store.js';

/** See the file comment. */
export interface Found {
  /** The object of this key, unless it is the marker of a directory. */
  readonly object: ObjectStatus | undefined;
  /** Something is below the name, or a marker says that it is a directory. */
  readonly isDirectory: boolean;
}

const NOTHING: Found = { object: undefined, isDirectory: false };

/** Looks an object up first: one request if it is there, two or more if not. */
export async function lookUp(bucket: ObjectBucket, key: string, signal?: AbortSignal): Promise<Found> {
  if (key === '') return lookUpRoot(bucket, signal);
  const object = await bucket.head(key, signal);
  if (object?.isDirectory) return { object: undefined, isDirectory: true };
  return object ? { object, isDirectory: false } : lookUpByListing(bucket, key, signal);
}

/** Looks for both, with one request where not very many names begin like this one. */
export async function lookUpByListing(bucket: ObjectBucket, key: string, signal?: AbortSignal): Promise<Found> {
  if (key === '') return lookUpRoot(bucket, signal);
  const page = await bucket.page(key, { delimiter: '/' }, signal);
  const own = page.objects.find((object) => object.key === key);
  const object = own?.isDirectory ? undefined : own;
  if (own?.isDirectory || hasDirectory(page, key)) return { object, isDirectory: true };
  if (page.token === undefined) return object ? { object, isDirectory: false } : NOTHING;
  // Too many neighbours (chk-1, chk-10, …) to have seen all.
  return {
    object: object ?? (await plainObject(bucket, key, signal)),
    isDirectory: await isDirectory(bucket, key, signal),
  };
}

/** True if something is below this key, or a marker says so: asked for exactly. */
export async function isDirectory(bucket: ObjectBucket, key: string, signal?: AbortSignal): Promise<boolean> {
  return (await hasChildren(bucket, key, signal)) || isMarker(await bucket.head(key + LEGACY_MARKER, signal));
}

/** True if there is an object, be it the marker itself, whose key begins with this one and a slash. */
export async function hasChildren(bucket: ObjectBucket, key: string, signal?: AbortSignal): Promise<boolean> {
  for await (const { objects } of bucket.pages(prefixOf(key), { limit: 1 }, signal))
    if (objects.length > 0) return true;
  return false;
}

/** True if this is an object without contents. */
export function isMarker(object: ObjectStatus | undefined): boolean {
  return object?.size === 0;
}

async function plainObject(
  bucket: ObjectBucket,
  key: string,
  signal: AbortSignal | undefined,
): Promise<ObjectStatus | undefined> {
  const object = await bucket.head(key, signal);
  return object?.isDirectory ? undefined : object;
}

function hasDirectory({ objects, prefixes }: ObjectPage, key: string): boolean {
  const legacy = objects.find((object) => object.key === key + LEGACY_MARKER);
  return prefixes.includes(`${key}/`) || isMarker(legacy);
}

/** A bucket is there even if it is empty. */
async function lookUpRoot(bucket: ObjectBucket, signal: AbortSignal | undefined): Promise<Found> {
  await bucket.page('', { limit: 1, delimiter: '/' }, signal);
  return { object: undefined, isDirectory: true };
}
