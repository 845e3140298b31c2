/**
 * Settings of Google Cloud Storage, by the names of the Hadoop connector, which Flink passes on: `fs.gs.x` and `gs.x` are
 * the same. What is not set is left to the SDK: application default credentials.
 */
import { UsageError } from '../../errors.js';
import type { FileSystemSettings } from '../settings.js';

/** Who asks. */
export type GcsCredentials =
  /** Whatever the SDK finds: variables of the environment, gcloud's own file, the metadata server. */
  | { readonly kind: 'default' }
  | { readonly kind: 'anonymous' }
  /** JSON of a service account, of a user, or of a workload identity. */
  | { readonly kind: 'key-file'; readonly path: string }
  | { readonly kind: 'service-account'; readonly email: string; readonly privateKey: string }
  | {
      readonly kind: 'user';
      readonly clientId: string;
      readonly clientSecret: string;
      readonly refreshToken: string;
    };

/** See the file comment. */
export interface GcsOptions {
  readonly credentials: GcsCredentials;
  /** Without a slash at the end; undefined: Google's. */
  readonly endpoint: string | undefined;
  /** The endpoint is an emulator, which wants no credentials. */
  readonly isEmulator: boolean;
  readonly projectId: string | undefined;
  /** Pays for requests to buckets that let the requester pay: for all of them, or only once the store has asked for it. */
  readonly userProject: { readonly id: string; readonly onlyIfAsked: boolean } | undefined;
  /** Key that the customer supplies for every object (base64), and its SHA-256 (base64). */
  readonly encryption: { readonly key: string; readonly hash: string } | undefined;
  /** Must not be shown. */
  readonly secrets: readonly string[];
}

/** Options that are set to something that is nothing to us, or a trap if they were ignored. */
const UNSUPPORTED = [
  'auth.impersonation.service.account',
  'auth.access.token.provider',
  'auth.access.token.provider.impl',
];

/**
 * The settings for one bucket.
 * @throws UsageError for what contradicts itself or is not supported
 */
export function readGcsOptions(settings: FileSystemSettings, bucket: string): GcsOptions {
  const option = optionsOf(settings.configuration);
  const { environment = {} } = settings;
  const emulator = environment.STORAGE_EMULATOR_HOST;
  const root = option('storage.root.url');
  const endpoint = root ?? (emulator === undefined || emulator === '' ? undefined : emulator);
  const isEmulator = root === undefined && endpoint !== undefined;
  refuseUnsupported(option);
  const credentials = isEmulator ? ({ kind: 'anonymous' } as const) : readCredentials(option, environment);
  const encryption = readEncryption(option);
  return {
    credentials,
    endpoint: endpoint && tidyEndpoint(endpoint, isEmulator ? 'http' : 'https'),
    isEmulator,
    projectId: option('project.id'),
    userProject: readUserProject(option, bucket),
    encryption,
    secrets: [...secretsOf(credentials), ...(encryption ? [encryption.key] : [])],
  };
}

type Option = (name: string) => string | undefined;

/** Reads an option by its name behind `fs.gs.`; of several spellings the longest wins. Empty is not set. */
function optionsOf(configuration: ReadonlyMap<string, string>): Option {
  return (name) => {
    const names = [`fs.gs.${name}`, `gs.${name}`];
    if (name.startsWith('auth.')) names.push(`google.cloud.${name}`);
    return names.map((key) => configuration.get(key)?.trim()).find((value) => value !== undefined && value !== '');
  };
}

function refuseUnsupported(option: Option): void {
  for (const name of UNSUPPORTED) {
    if (option(name) !== undefined) {
      throw new UsageError(
        `fs.gs.${name} is not supported: use application default credentials or a key file instead`,
        {
          option: `fs.gs.${name}`,
        },
      );
    }
  }
}

function readCredentials(option: Option, environment: Readonly<Record<string, string | undefined>>): GcsCredentials {
  const type = option('auth.type')?.toUpperCase();
  const keyFile = option('auth.service.account.json.keyfile');
  const fromEnvironment = environment.GOOGLE_APPLICATION_CREDENTIALS;
  const ofDefault = (): GcsCredentials =>
    fromEnvironment ? { kind: 'key-file', path: fromEnvironment } : { kind: 'default' };
  switch (type) {
    case undefined:
      break;
    case 'UNAUTHENTICATED':
      return { kind: 'anonymous' };
    case 'APPLICATION_DEFAULT':
      return ofDefault();
    case 'COMPUTE_ENGINE':
      return { kind: 'default' };
    case 'SERVICE_ACCOUNT_JSON_KEYFILE':
      return { kind: 'key-file', path: needed(keyFile, 'auth.service.account.json.keyfile', type) };
    case 'WORKLOAD_IDENTITY_FEDERATION_CREDENTIAL_CONFIG_FILE': {
      const name = 'auth.workload.identity.federation.credential.config.file';
      return { kind: 'key-file', path: needed(option(name), name, type) };
    }
    case 'USER_CREDENTIALS':
      return readUser(option, type);
    default:
      throw new UsageError(`fs.gs.auth.type: ${type} is not supported`, { option: 'fs.gs.auth.type' });
  }
  if (isTrue(option('auth.null.enable'))) return { kind: 'anonymous' };
  if (isFalse(option('auth.service.account.enable'))) {
    return option('auth.client.id') === undefined ? ofDefault() : readUser(option, 'auth.client.id');
  }
  // Flink asks the variable first, its option after it.
  if (fromEnvironment) return { kind: 'key-file', path: fromEnvironment };
  if (keyFile !== undefined) return { kind: 'key-file', path: keyFile };
  const email = option('auth.service.account.email');
  const privateKey = option('auth.service.account.private.key');
  if (email !== undefined && privateKey !== undefined) {
    return { kind: 'service-account', email, privateKey: privateKey.replaceAll('\\n', '\n') };
  }
  return { kind: 'default' };
}

function readUser(option: Option, because: string): GcsCredentials {
  return {
    kind: 'user',
    clientId: needed(option('auth.client.id'), 'auth.client.id', because),
    clientSecret: needed(option('auth.client.secret'), 'auth.client.secret', because),
    refreshToken: needed(option('auth.refresh.token'), 'auth.refresh.token', because),
  };
}

function needed(value: string | undefined, name: string, because: string): string {
  if (value !== undefined) return value;
  throw new UsageError(`fs.gs.${name} is missing, which ${because} needs`, { option: `fs.gs.${name}` });
}

function readUserProject(option: Option, bucket: string): GcsOptions['userProject'] {
  const mode = option('requester.pays.mode')?.toUpperCase() ?? 'DISABLED';
  if (mode === 'DISABLED') return undefined;
  if (mode === 'CUSTOM') {
    const buckets = option('requester.pays.buckets')?.split(',') ?? [];
    if (!buckets.some((name) => name.trim() === bucket)) return undefined;
  } else if (mode !== 'ENABLED' && mode !== 'AUTO') {
    throw new UsageError(`fs.gs.requester.pays.mode: ${mode} is none of DISABLED, AUTO, CUSTOM, ENABLED`, {
      option: 'fs.gs.requester.pays.mode',
    });
  }
  const id = needed(option('requester.pays.project.id') ?? option('project.id'), 'requester.pays.project.id', mode);
  return { id, onlyIfAsked: mode === 'AUTO' };
}

function readEncryption(option: Option): GcsOptions['encryption'] {
  const key = option('encryption.key');
  if (key === undefined) return undefined;
  return { key, hash: needed(option('encryption.key.hash'), 'encryption.key.hash', 'fs.gs.encryption.key') };
}

function secretsOf(credentials: GcsCredentials): readonly string[] {
  switch (credentials.kind) {
    case 'service-account':
      return [credentials.privateKey];
    case 'user':
      return [credentials.clientSecret, credentials.refreshToken];
    case 'default':
    case 'anonymous':
    case 'key-file':
      return [];
  }
}

function tidyEndpoint(endpoint: string, scheme: string): string {
  const url = /^https?:\/\//i.test(endpoint) ? endpoint : `${scheme}://${endpoint}`;
  if (!URL.canParse(url)) throw new UsageError('the endpoint of Google Cloud Storage is no URL', { endpoint: url });
  return url.replace(/\/+$/, '');
}

function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}

function isFalse(value: string | undefined): boolean {
  return value?.toLowerCase() === 'false';
}
