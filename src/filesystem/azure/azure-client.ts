/** The client of a container, by Azure's SDK. */
import type * as IdentitySdk from '@azure/identity';
import type * as StorageSdk from '@azure/storage-blob';
import { loadOptional } from '../object-store/optional-package.js';
import type { AzureCredentials, AzureOptions } from './azure-options.js';

type Storage = typeof StorageSdk;
type Identity = typeof IdentitySdk;

/** What is loaded when it is needed; for tests. */
export interface AzurePackages {
  readonly storage: () => Promise<Storage>;
  readonly identity: () => Promise<Identity>;
}

const PACKAGES: AzurePackages = {
  storage: () => import('@azure/storage-blob'),
  identity: () => import('@azure/identity'),
};

/** A container, and what goes into it. */
export interface AzureContainer {
  readonly client: StorageSdk.ContainerClient;
  /** URL of a blob of a container of the same account, with the token if there is one. */
  readonly urlOf: (container: string, key: string) => string;
  readonly newBatch: () => InstanceType<Storage['BlobBatch']>;
}

/**
 * Loads the SDK and makes a client that makes no request again by itself. No request yet.
 * @throws MissingPackageError if a package is not installed
 */
export async function openContainer(
  options: AzureOptions,
  scheme: string,
  container: string,
  packages: AzurePackages = PACKAGES,
): Promise<AzureContainer> {
  const storage = await loadOptional(
    { scheme, name: '@azure/storage-blob', toInstall: '@azure/storage-blob@12.32' },
    packages.storage,
  );
  const { credentials } = options;
  const query = credentials.kind === 'sas' ? `?${credentials.token}` : '';
  const credential = await openCredential(storage, credentials, scheme, packages);
  const open = (name: string) =>
    new storage.ContainerClient(`${options.endpoint}/${encodeURIComponent(name)}${query}`, credential, {
      retryOptions: { maxTries: 1 },
      userAgentOptions: { userAgentPrefix: 'flink-ckpt' },
    });
  return {
    client: open(container),
    urlOf: (other, key) => open(other).getBlobClient(key).url,
    newBatch: () => new storage.BlobBatch(),
  };
}

async function openCredential(
  storage: Storage,
  credentials: AzureCredentials,
  scheme: string,
  packages: AzurePackages,
) {
  switch (credentials.kind) {
    case 'shared-key':
      return new storage.StorageSharedKeyCredential(credentials.account, credentials.key);
    case 'sas':
    case 'anonymous':
      return new storage.AnonymousCredential();
    case 'client-secret':
    case 'managed-identity':
    case 'workload-identity':
    case 'default': {
      const identity = await loadOptional(
        { scheme, name: '@azure/identity', toInstall: '@azure/identity@4.12' },
        packages.identity,
      );
      return openToken(identity, credentials);
    }
  }
}

type TokenCredentials = Exclude<AzureCredentials, { readonly kind: 'shared-key' | 'sas' | 'anonymous' }>;

function openToken(identity: Identity, credentials: TokenCredentials): IdentitySdk.TokenCredential {
  switch (credentials.kind) {
    case 'client-secret': {
      const { tenant, clientId, clientSecret, authorityHost } = credentials;
      return new identity.ClientSecretCredential(tenant, clientId, clientSecret, { authorityHost });
    }
    case 'managed-identity':
      return new identity.ManagedIdentityCredential({
        ...(credentials.clientId !== undefined && { clientId: credentials.clientId }),
      });
    case 'workload-identity':
      return new identity.WorkloadIdentityCredential({
        ...(credentials.tenant !== undefined && { tenantId: credentials.tenant }),
        ...(credentials.clientId !== undefined && { clientId: credentials.clientId }),
        ...(credentials.tokenFile !== undefined && { tokenFilePath: credentials.tokenFile }),
      });
    case 'default':
      return new identity.DefaultAzureCredential();
  }
}
