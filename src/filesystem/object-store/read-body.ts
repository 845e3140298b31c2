/** The body of an answer, put where it belongs. */
import { TransientFailure } from '../requests.js';
import { ObjectStoreError } from './object-store.js';

/**
 * Puts a body of known length into a buffer.
 * @throws TransientFailure if it ends early, ObjectStoreError if there is more of it; what the body throws
 */
export async function readBody(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  target: Uint8Array,
  offset: number,
  length: number,
): Promise<void> {
  let filled = 0;
  for await (const chunk of body) {
    if (chunk.byteLength > length - filled)
      throw new ObjectStoreError('other', `the store gives more than ${length} bytes`);
    target.set(chunk, offset + filled);
    filled += chunk.byteLength;
  }
  if (filled < length) {
    throw new TransientFailure(new ObjectStoreError('other', `the answer ended after ${filled} of ${length} bytes`));
  }
}
