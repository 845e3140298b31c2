/** Copies of a blob by the store itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlobClient } from '@azure/storage-blob';
import { ObjectStoreError } from '../object-store/object-store.js';

const FIRST_PAUSE_MILLISECONDS = 50;
const LONGEST_PAUSE_MILLISECONDS = 2_000;

/**
 * Copies a blob within its account with the operation that may go on after its answer, and waits for the end. Within an
 * account it is over at once nearly always, and unlike the one that answers at the end it needs no signed source.
 * @param from URL of the source
 * @param version ETag that the source must have
 */
export async function copyBlob(
  from: string,
  to: BlobClient,
  version: string | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const poller = await to.beginCopyFromURL(from, {
    ...(version !== undefined && { sourceConditions: { ifMatch: version } }),
    ...(signal && { abortSignal: signal }),
  });
  const { isCompleted, error } = poller.getOperationState();
  if (error !== undefined) throw new ObjectStoreError('other', error.message);
  if (isCompleted !== true) await waitForCopy(to, signal);
}

/** The poller of the SDK would wait for ever for a copy that somebody has aborted. */
async function waitForCopy(to: BlobClient, signal: AbortSignal | undefined): Promise<void> {
  let id: string | undefined;
  try {
    for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MILLISECONDS)) {
      const { copyId, copyStatus, copyStatusDescription } = await to.getProperties();
      id ??= copyId;
      if (copyId !== id) throw new ObjectStoreError('precondition', 'another copy came between');
      if (copyStatus === 'success') return;
      if (copyStatus !== 'pending') {
        throw new ObjectStoreError('other', `the copy has ${copyStatus}: ${copyStatusDescription ?? ''}`);
      }
      await sleep(pause, undefined, { ...(signal && { signal }) });
    }
  } catch (failure) {
    // Nobody will ask for it any more.
    if (signal?.aborted && id !== undefined) await to.abortCopyFromURL(id).catch(() => undefined);
    throw failure;
  }
}
