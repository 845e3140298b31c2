/** The file system of `gs://bucket/…`: Google Cloud Storage. */
import { InvalidPathError } from '../../errors.js';
import type { FileSystem } from '../file-system.js';
import { ObjectStoreFileSystem } from '../object-store/object-store-file-system.js';
import { requestLimit } from '../request-limit.js';
import { StoreRequests } from '../requests.js';
import type { FileSystemSettings } from '../settings.js';
import { openGcs } from './gcs-access.js';
import { GcsApi } from './gcs-api.js';
import { readGcsOptions } from './gcs-options.js';
import { GcsStore } from './gcs-store.js';

/**
 * Makes the file system of one bucket. No request yet.
 * @throws MissingPackageError if the SDK is not installed, UsageError for options that cannot be followed, InvalidPathError
 *   without a bucket
 */
export async function openGcsFileSystem(
  settings: FileSystemSettings,
  scheme: string,
  bucket: string | undefined,
): Promise<FileSystem> {
  if (bucket === undefined) throw new InvalidPathError(`${scheme}:/`, 'it names no bucket');
  const options = readGcsOptions(settings, bucket);
  const store = new GcsStore(new GcsApi(await openGcs(options), options), bucket, options.endpoint !== undefined);
  const requests = new StoreRequests({
    concurrency: requestLimit(settings, scheme),
    onRetry: settings.onRetry,
    interrupt: settings.interrupt,
  });
  return new ObjectStoreFileSystem({
    scheme,
    authority: bucket,
    store,
    requests,
    openOther: (other) => openGcsFileSystem({ ...settings, warn: undefined }, scheme, other),
    warn: settings.warn,
  });
}
