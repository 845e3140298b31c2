/** Sending the bytes of a file. */
import type { Path } from '../path.js';
import { TransientFailure } from '../requests.js';
import type { RequestBody } from './http.js';
import { ConnectionFailure } from './remote-failure.js';
import type { HdfsStore } from './store.js';

/** As in `HdfsStore.create`. */
export type UploadOptions = Parameters<HdfsStore['create']>[2];

/**
 * Creates a file in one attempt. A data node that refuses may close the connection while the bytes still come, so that its
 * reason is lost: then it is asked again, for an empty file.
 */
export async function send(
  store: HdfsStore,
  path: Path,
  body: () => RequestBody | Promise<RequestBody>,
  options: UploadOptions,
): Promise<void> {
  try {
    await store.create(path, body, options);
  } catch (error) {
    const failure = error instanceof TransientFailure ? error.cause : error;
    if (failure instanceof ConnectionFailure && failure.wasSent) {
      await store
        .create(path, () => new Uint8Array(0), options)
        .catch((reason: unknown) => {
          if (!(reason instanceof TransientFailure)) throw reason;
        });
    }
    throw error;
  }
}

/** Removes a temporary file, whose name nobody else knows. */
export async function removeQuietly(store: HdfsStore, path: Path): Promise<void> {
  await store.remove(path, undefined).catch(() => undefined);
}
