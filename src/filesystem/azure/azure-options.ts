/**
 * Settings of Azure Blob Storage, by the names of Hadoop's `abfs` and `wasb`, which Flink passes on: `fs.azure.x` and
 * `azure.x` are the same. Variables of the environment come after them, by the names of Azure's own tools.
 */
import { UsageError } from '../../errors.js';
import type { FileSystemSettings } from '../settings.js';
import type { AzureLocation } from './azure-location.js';

/** Who asks. */
export type AzureCredentials =
  | { readonly kind: 'shared-key'; readonly account: string; readonly key: string }
  /** Without a question mark in front. */
  | { readonly kind: 'sas'; readonly token: string }
  | {
      readonly kind: 'client-secret';
      readonly tenant: string;
      readonly clientId: string;
      readonly clientSecret: string;
      /** Origin of the authority that gives tokens. */
      readonly authorityHost: string;
    }
  | { readonly kind: 'managed-identity'; readonly clientId: string | undefined }
  | {
      readonly kind: 'workload-identity';
      readonly tenant: string | undefined;
      readonly clientId: string | undefined;
      readonly tokenFile: string | undefined;
    }
  /** Whatever `@azure/identity` finds: variables of the environment, a workload or managed identity, the Azure CLI. */
  | { readonly kind: 'default' }
  | { readonly kind: 'anonymous' };

/** See the file comment. */
export interface AzureOptions {
  /** URL of the Blob service of the account, without a slash at the end. */
  readonly endpoint: string;
  /** It was given, and may be anything. */
  readonly isCustomEndpoint: boolean;
  readonly credentials: AzureCredentials;
  /** Must not be shown. */
  readonly secrets: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What Microsoft gives as account and key of the storage emulator, for everybody to know. */
const EMULATOR = {
  account: 'devstoreaccount1',
  key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
  endpoint: 'http://127.0.0.1:10000/devstoreaccount1',
};

/**
 * The settings for one container.
 * @throws UsageError for what contradicts itself or is not supported
 */
export function readAzureOptions(settings: FileSystemSettings, location: AzureLocation): AzureOptions {
  const option = optionsOf(settings.configuration, location);
  const { environment = {} } = settings;
  const connection = connectionOf(environment, location);
  const credentials =
    readConfigured(option, location, environment) ?? readEnvironment(connection, location, environment);
  const given =
    option('blob.endpoint') ??
    connection.get('blobendpoint') ??
    (isOwnAccount(environment, location) ? environment.AZURE_STORAGE_BLOB_ENDPOINT || undefined : undefined);
  return {
    endpoint: tidyEndpoint(given ?? `https://${location.blobHost}`),
    isCustomEndpoint: given !== undefined,
    credentials,
    secrets: secretsOf(credentials),
  };
}

type Option = (name: string) => string | undefined;

/**
 * Reads an option by its name behind `fs.azure.`. One for this account (`….account.dfs.core.windows.net`, `….account`) comes
 * before the one for all. Empty is not set.
 */
function optionsOf(configuration: ReadonlyMap<string, string>, { account, blobHost, dfsHost }: AzureLocation): Option {
  return (name) => {
    for (const suffix of [`.${dfsHost}`, `.${blobHost}`, `.${account}`, '']) {
      for (const prefix of ['fs.azure.', 'azure.']) {
        const value = configuration.get(`${prefix}${name}${suffix}`)?.trim();
        if (value !== undefined && value !== '') return value;
      }
    }
    return undefined;
  };
}

/** What the options say; undefined if they say nothing. */
function readConfigured(
  option: Option,
  location: AzureLocation,
  environment: Environment,
): AzureCredentials | undefined {
  const type = option('account.auth.type');
  const key = readKey(option, environment);
  const sas = option('sas.fixed.token') ?? option(`sas.${location.container}`);
  switch (type?.toLowerCase()) {
    case undefined:
      if (key !== undefined) return { kind: 'shared-key', account: location.account, key };
      if (sas !== undefined) return { kind: 'sas', token: tidySas(sas) };
      return option('account.oauth2.client.id') === undefined ? undefined : readOAuth(option);
    case 'sharedkey':
      return { kind: 'shared-key', account: location.account, key: needed(key, 'account.key', 'SharedKey') };
    case 'sas':
      return { kind: 'sas', token: tidySas(needed(sas, 'sas.fixed.token', 'SAS')) };
    case 'oauth':
      return readOAuth(option);
    case 'anonymous':
      return { kind: 'anonymous' };
    default:
      throw new UsageError(`fs.azure.account.auth.type: ${type} is not supported`, {
        option: 'fs.azure.account.auth.type',
      });
  }
}

/** The key of the account, or the one that Flink's `EnvironmentVariableKeyProvider` gives. */
function readKey(option: Option, environment: Environment): string | undefined {
  const provider = option('account.keyprovider')?.split('.').at(-1);
  if (provider === undefined || provider === 'SimpleKeyProvider') return option('account.key');
  if (provider !== 'EnvironmentVariableKeyProvider') {
    throw new UsageError(`fs.azure.account.keyprovider: ${provider} is not supported`, {
      option: 'fs.azure.account.keyprovider',
    });
  }
  const key = environment.AZURE_STORAGE_KEY;
  if (key) return key;
  throw new UsageError('fs.azure.account.keyprovider: the variable AZURE_STORAGE_KEY is not set', {
    option: 'fs.azure.account.keyprovider',
  });
}

function readOAuth(option: Option): AzureCredentials {
  const provider = option('account.oauth.provider.type')?.split('.').at(-1) ?? 'ClientCredsTokenProvider';
  const clientId = option('account.oauth2.client.id');
  switch (provider) {
    case 'ClientCredsTokenProvider':
      return {
        kind: 'client-secret',
        clientId: needed(clientId, 'account.oauth2.client.id', provider),
        clientSecret: needed(option('account.oauth2.client.secret'), 'account.oauth2.client.secret', provider),
        ...parseTokenEndpoint(
          needed(option('account.oauth2.client.endpoint'), 'account.oauth2.client.endpoint', provider),
        ),
      };
    case 'MsiTokenProvider':
      return { kind: 'managed-identity', clientId };
    case 'WorkloadIdentityTokenProvider':
      return {
        kind: 'workload-identity',
        clientId,
        tenant: option('account.oauth2.msi.tenant'),
        tokenFile: option('account.oauth2.token.file'),
      };
    default:
      throw new UsageError(`fs.azure.account.oauth.provider.type: ${provider} is not supported`, {
        option: 'fs.azure.account.oauth.provider.type',
      });
  }
}

/** `https://login.microsoftonline.com/TENANT/oauth2/token`, or its later form. */
function parseTokenEndpoint(endpoint: string): { readonly tenant: string; readonly authorityHost: string } {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const tenant = url?.pathname.split('/')[1];
  if (url && tenant) return { tenant, authorityHost: url.origin };
  const option = 'fs.azure.account.oauth2.client.endpoint';
  throw new UsageError(`${option} must look like https://login.microsoftonline.com/TENANT/oauth2/token`, { option });
}

function readEnvironment(
  connection: ReadonlyMap<string, string>,
  location: AzureLocation,
  environment: Environment,
): AzureCredentials {
  const { account } = location;
  const connectionKey = connection.get('accountkey');
  const connectionSas = connection.get('sharedaccesssignature');
  if (connectionKey) return { kind: 'shared-key', account, key: connectionKey };
  if (connectionSas) return { kind: 'sas', token: tidySas(connectionSas) };
  // A key is for one account: it is never shown to another one.
  if (isOwnAccount(environment, location)) {
    if (environment.AZURE_STORAGE_KEY) return { kind: 'shared-key', account, key: environment.AZURE_STORAGE_KEY };
    if (environment.AZURE_STORAGE_SAS_TOKEN) {
      return { kind: 'sas', token: tidySas(environment.AZURE_STORAGE_SAS_TOKEN) };
    }
  }
  return { kind: 'default' };
}

/** True unless the variables of the environment name another account. */
function isOwnAccount(environment: Environment, { account }: AzureLocation): boolean {
  return (environment.AZURE_STORAGE_ACCOUNT || account) === account;
}

/** The connection string of the environment, its names in lower case; empty if it is for another account. */
function connectionOf(environment: Environment, location: AzureLocation): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  for (const part of (environment.AZURE_STORAGE_CONNECTION_STRING ?? '').split(';')) {
    const [, name, value] = /^\s*([^=]+)=(.*?)\s*$/.exec(part) ?? [];
    if (name !== undefined && value) parts.set(name.toLowerCase(), value);
  }
  if (parts.get('usedevelopmentstorage') === 'true') {
    parts.set('accountname', EMULATOR.account).set('accountkey', EMULATOR.key).set('blobendpoint', EMULATOR.endpoint);
  }
  const endpoint = parts.get('blobendpoint');
  const named = parts.get('accountname') ?? (endpoint === undefined ? undefined : accountOf(endpoint));
  return named === location.account ? parts : new Map();
}

/** The account of an endpoint: the first name of its host, or of its path where the host is an address. */
function accountOf(endpoint: string): string | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const { hostname, pathname } = new URL(endpoint);
  const isHost = hostname.includes('.') && !/^[\d.]+$/.test(hostname);
  return isHost ? hostname.split('.')[0] : pathname.split('/')[1];
}

function tidyEndpoint(endpoint: string): string {
  const url = /^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`;
  if (!URL.canParse(url) || new URL(url).search !== '') {
    throw new UsageError('fs.azure.blob.endpoint must be a URL without a query', { option: 'fs.azure.blob.endpoint' });
  }
  return url.replace(/\/+$/, '');
}

function tidySas(token: string): string {
  return token.replace(/^\?/, '');
}

function needed(value: string | undefined, name: string, because: string): string {
  if (value !== undefined) return value;
  throw new UsageError(`fs.azure.${name} is missing, which ${because} needs`, { option: `fs.azure.${name}` });
}

function secretsOf(credentials: AzureCredentials): readonly string[] {
  switch (credentials.kind) {
    case 'shared-key':
      return [credentials.key];
    case 'sas': {
      const signature = new URLSearchParams(credentials.token).get('sig');
      return [credentials.token, ...(signature ? [signature, encodeURIComponent(signature)] : [])];
    }
    case 'client-secret':
      return [credentials.clientSecret];
    case 'managed-identity':
    case 'workload-identity':
    case 'default':
    case 'anonymous':
      return [];
  }
}
