/** Where a container is: what an authority like `container@account.dfs.core.windows.net` says. */
import { InvalidPathError } from '../../errors.js';

/** See the file comment. */
export interface AzureLocation {
  readonly container: string;
  /** Name of the storage account. */
  readonly account: string;
  /** Host of the Blob service, which serves accounts with and without a hierarchical namespace. */
  readonly blobHost: string;
  /** Host of the Data Lake service, by whose name options may be set. */
  readonly dfsHost: string;
}

const DEFAULT_DOMAIN = 'core.windows.net';
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d+)?$/i;

/**
 * Takes an authority apart. A host without a domain is an account of the public cloud.
 * @throws InvalidPathError if there is no container or no account in it
 */
export function parseAzureLocation(scheme: string, authority: string | undefined): AzureLocation {
  const [container = '', host = '', ...more] = (authority ?? '').split('@');
  if (container === '' || !HOST.test(host) || more.length > 0) {
    throw new InvalidPathError(
      `${scheme}://${authority ?? ''}`,
      `it must begin like ${scheme}://container@account.dfs.${DEFAULT_DOMAIN}/`,
    );
  }
  const [account = ''] = host.split('.');
  const full = host.includes('.') ? host : `${host}.blob.${DEFAULT_DOMAIN}`;
  return {
    container,
    account,
    blobHost: full.replace('.dfs.', '.blob.'),
    dfsHost: full.replace('.blob.', '.dfs.'),
  };
}
