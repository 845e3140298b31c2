/** The file systems of `abfs(s)://container@account.dfs.core.windows.net/…` and `wasb(s)://…`: Azure Blob Storage. */
import type { FileSystem } from '../file-system.js';
import { ObjectStoreFileSystem } from '../object-store/object-store-file-system.js';
import { requestLimit } from '../request-limit.js';
import { StoreRequests } from '../requests.js';
import type { FileSystemSettings } from '../settings.js';
import { openContainer } from './azure-client.js';
import { parseAzureLocation } from './azure-location.js';
import { readAzureOptions } from './azure-options.js';
import { AzureStore } from './azure-store.js';

/**
 * Makes the file system of one container. No request yet. Requests go to the Blob service, whatever the scheme, and over TLS
 * unless an endpoint says otherwise.
 * @throws MissingPackageError if an SDK is not installed, UsageError for options that cannot be followed, InvalidPathError
 *   for an authority that is none
 */
export async function openAzureFileSystem(
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
): Promise<FileSystem> {
  const location = parseAzureLocation(scheme, authority);
  const options = readAzureOptions(settings, location);
  const container = await openContainer(options, scheme, location.container);
  return new ObjectStoreFileSystem({
    scheme,
    authority: authority ?? '',
    store: new AzureStore(container, options.endpoint, options.secrets, options.isCustomEndpoint),
    requests: new StoreRequests({
      concurrency: requestLimit(settings, scheme),
      onRetry: settings.onRetry,
      interrupt: settings.interrupt,
    }),
    openOther: (other) => openAzureFileSystem({ ...settings, warn: undefined }, scheme, other),
    warn: settings.warn,
  });
}
