/** Deletions of many blobs with one request. */
import { ObjectStoreError } from '../object-store/object-store.js';
import { TransientFailure } from '../requests.js';
import type { AzureContainer } from './azure-client.js';
import { isMissing, toAzureError, toRefusalError } from './azure-errors.js';

/**
 * Deletes up to 256 blobs.
 * @returns in the order of the keys: undefined where it is gone, else why not
 * @throws ObjectStoreError `unsupported` if the batch as such is refused: a token for some blobs only, another kind of account
 */
export async function deleteBatch(
  { client, newBatch }: AzureContainer,
  keys: readonly string[],
  secrets: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (Error | undefined)[]> {
  const batch = newBatch();
  for (const key of keys) await batch.deleteBlob(client.getBlobClient(key));
  const { subResponses } = await client
    .getBlobBatchClient()
    .submitBatch(batch, { ...(signal && { abortSignal: signal }) })
    .catch((error: unknown) => {
      const failure = toAzureError(error, secrets, signal);
      if (failure instanceof TransientFailure || isMissing(failure)) throw failure;
      throw new ObjectStoreError('unsupported', `batch refused: ${failure.message}`);
    });
  return keys.map((_, index) => {
    const answer = subResponses[index];
    if (answer === undefined)
      return new TransientFailure(new ObjectStoreError('other', 'the batch has no answer for it'));
    const { status, errorCode = '', statusMessage } = answer;
    if (status >= 200 && status < 300) return undefined;
    const failure = toRefusalError({ status, code: errorCode, message: statusMessage }, secrets);
    return isMissing(failure) ? undefined : failure;
  });
}
