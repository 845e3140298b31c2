/** Endpoint and credentials of Google Cloud Storage, by its SDK. */
import type * as Sdk from '@google-cloud/storage';
import { loadOptional } from '../object-store/optional-package.js';
import type { GcsAccess } from './gcs-api.js';
import type { GcsOptions } from './gcs-options.js';

const PACKAGE = { scheme: 'gs', name: '@google-cloud/storage', toInstall: '@google-cloud/storage@7' };

/**
 * Loads the SDK and lets it find what the options leave to it. No request yet.
 * @param load imports the SDK; for tests
 * @throws MissingPackageError if the SDK is not installed
 */
export async function openGcs(
  options: GcsOptions,
  load: () => Promise<typeof Sdk> = () => import('@google-cloud/storage'),
): Promise<GcsAccess> {
  const { Storage } = await loadOptional(PACKAGE, load);
  const storage = new Storage(toStorageOptions(options));
  const isAnonymous = options.credentials.kind === 'anonymous';
  return {
    endpoint: storage.apiEndpoint.replace(/\/+$/, ''),
    authorize: async () => (isAnonymous ? {} : storage.authClient.getRequestHeaders()),
  };
}

function toStorageOptions({ credentials, endpoint, projectId }: GcsOptions): Sdk.StorageOptions {
  return {
    ...(endpoint !== undefined && { apiEndpoint: endpoint }),
    ...(projectId !== undefined && { projectId }),
    ...toAuthOptions(credentials),
    retryOptions: { autoRetry: false, maxRetries: 0 },
  };
}

function toAuthOptions(credentials: GcsOptions['credentials']): Sdk.StorageOptions {
  switch (credentials.kind) {
    case 'default':
    case 'anonymous':
      return {};
    case 'key-file':
      return { keyFilename: credentials.path };
    case 'service-account':
      return { credentials: { client_email: credentials.email, private_key: credentials.privateKey } };
    case 'user':
      return {
        credentials: {
          type: 'authorized_user',
          client_id: credentials.clientId,
          client_secret: credentials.clientSecret,
          refresh_token: credentials.refreshToken,
        },
      };
  }
}
