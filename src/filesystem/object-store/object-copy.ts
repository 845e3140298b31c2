/** Copies by the store itself. */
import { forEachConcurrently } from '../limit.js';
import type { ObjectBucket } from './object-bucket.js';
import type { ObjectStatus } from './object-store.js';

/** A part of a copy: large ones cost the store no more than small ones. */
const PART_BYTES = 256 * 1024 * 1024;
const PARTS_AT_ONCE = 8;

/** Copies an object within the bucket: in parts if it is larger than the store copies at once. */
export async function copyObject(bucket: ObjectBucket, from: ObjectStatus, to: string): Promise<void> {
  const { store } = bucket;
  const { limits } = store;
  if (from.size <= limits.copy || !store.startCopy) return bucket.run('COPY', to, () => store.copy(from, to));
  const upload = await bucket.run('POST', to, async () => store.startCopy?.(from, to));
  if (upload === undefined) return;
  const bytes = Math.min(limits.mostPart, Math.max(PART_BYTES, limits.leastPart, Math.ceil(from.size / limits.parts)));
  const parts = Array.from({ length: Math.ceil(from.size / bytes) }, (_, index) => index + 1);
  try {
    await forEachConcurrently(
      parts,
      (number) => {
        const range = { start: (number - 1) * bytes, end: Math.min(number * bytes, from.size) };
        return bucket.run('COPY', `${to} (part ${number})`, async () => upload.copyPart?.(number, range));
      },
      { concurrency: PARTS_AT_ONCE },
    );
    await bucket.run('POST', to, () => upload.complete(parts.length));
  } catch (error) {
    await bucket.run('DELETE', `${to} (upload)`, () => upload.abort()).catch(() => undefined);
    throw error;
  }
}
