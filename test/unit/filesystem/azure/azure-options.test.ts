import { describe, expect, it } from 'vitest';
import { InvalidPathError, UsageError } from '../../../../src/errors.js';
import { parseAzureLocation } from '../../../../src/filesystem/azure/azure-location.js';
import { type AzureOptions, readAzureOptions } from '../../../../src/filesystem/azure/azure-options.js';
import { Path } from '../../../../src/filesystem/path.js';

const AUTHORITY = 'container@account.dfs.core.windows.net';

function read(
  options: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): AzureOptions {
  const location = parseAzureLocation('abfss', AUTHORITY);
  return readAzureOptions({ configuration: new Map(Object.entries(options)), environment }, location);
}

describe('parseAzureLocation', () => {
  it.each([
    [AUTHORITY, 'account', 'account.blob.core.windows.net', 'account.dfs.core.windows.net'],
    [
      'container@account.blob.core.windows.net',
      'account',
      'account.blob.core.windows.net',
      'account.dfs.core.windows.net',
    ],
    ['container@account', 'account', 'account.blob.core.windows.net', 'account.dfs.core.windows.net'],
    [
      'container@account.dfs.core.chinacloudapi.cn',
      'account',
      'account.blob.core.chinacloudapi.cn',
      'account.dfs.core.chinacloudapi.cn',
    ],
    [
      'container@onelake.dfs.fabric.microsoft.com',
      'onelake',
      'onelake.blob.fabric.microsoft.com',
      'onelake.dfs.fabric.microsoft.com',
    ],
  ])('takes %s apart', (authority, account, blobHost, dfsHost) => {
    expect(parseAzureLocation('abfss', authority)).toEqual({ container: 'container', account, blobHost, dfsHost });
  });

  it.each([
    undefined,
    '',
    'account.dfs.core.windows.net',
    '@account',
    'container@',
    'a@b@c',
    'c@-x',
    'c@a/b',
    'c@a?x=1',
  ])('refuses %s', (authority) => {
    expect(() => parseAzureLocation('abfss', authority)).toThrow(InvalidPathError);
  });

  it.each([`abfss://${AUTHORITY}/a/chk-1`, `wasbs://$root@account.blob.core.windows.net/a/chk-1`])(
    'gets what the path %s names',
    (text) => {
      const path = Path.parse(text);
      expect(path.toString()).toBe(text);
      expect(parseAzureLocation('abfss', path.authority).account).toBe('account');
      expect(path.child('_metadata').toString()).toBe(`${text}/_metadata`);
      expect(Path.parse(`${text}/../chk-2//`).toString()).toBe(text.replace('chk-1', 'chk-2'));
    },
  );
});

describe('credentials', () => {
  it('are the default ones of the account if nothing is said', () => {
    expect(read()).toEqual({
      endpoint: 'https://account.blob.core.windows.net',
      isCustomEndpoint: false,
      credentials: { kind: 'default' },
      secrets: [],
    });
  });

  it.each([
    'fs.azure.account.key.account.dfs.core.windows.net',
    'fs.azure.account.key.account.blob.core.windows.net',
    'azure.account.key.account.dfs.core.windows.net',
    'fs.azure.account.key.account',
    'fs.azure.account.key',
  ])('are the key that %s gives', (name) => {
    const { credentials, secrets } = read({ [name]: 'a2V5' }, { AZURE_STORAGE_KEY: 'other' });
    expect(credentials).toEqual({ kind: 'shared-key', account: 'account', key: 'a2V5' });
    expect(secrets).toEqual(['a2V5']);
  });

  it('are never the key of another account', () => {
    expect(read({ 'fs.azure.account.key.other.dfs.core.windows.net': 'a2V5' }).credentials.kind).toBe('default');
    const key = { AZURE_STORAGE_KEY: 'a2V5', AZURE_STORAGE_SAS_TOKEN: 'sig=x' };
    expect(read({}, { ...key, AZURE_STORAGE_ACCOUNT: 'other' }).credentials.kind).toBe('default');
    const connection = 'AccountName=other;AccountKey=a2V5;EndpointSuffix=core.windows.net';
    expect(read({}, { AZURE_STORAGE_CONNECTION_STRING: connection }).credentials.kind).toBe('default');
    const sas = 'BlobEndpoint=https://other.blob.core.windows.net;SharedAccessSignature=sv=1&sig=x';
    expect(read({}, { AZURE_STORAGE_CONNECTION_STRING: sas }).credentials.kind).toBe('default');
  });

  it('are those of the account before those of all', () => {
    const options = { 'fs.azure.account.key': 'YWxs', 'fs.azure.account.key.account.dfs.core.windows.net': 'b3du' };
    expect(read(options).credentials).toMatchObject({ key: 'b3du' });
  });

  it.each(['fs.azure.sas.container.account.blob.core.windows.net', 'fs.azure.sas.fixed.token'])(
    'are the token that %s gives, its signature a secret in every spelling',
    (name) => {
      const { credentials, secrets } = read({ [name]: '?sv=2024&sig=a%2Bb%3D' });
      expect(credentials).toEqual({ kind: 'sas', token: 'sv=2024&sig=a%2Bb%3D' });
      expect(secrets).toEqual(['sv=2024&sig=a%2Bb%3D', 'a+b=', 'a%2Bb%3D']);
    },
  );

  it('are a client with its secret', () => {
    const { credentials, secrets } = read({
      'fs.azure.account.auth.type': 'OAuth',
      'fs.azure.account.oauth.provider.type': 'org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider',
      'fs.azure.account.oauth2.client.id': 'id',
      'fs.azure.account.oauth2.client.secret.account.dfs.core.windows.net': 'secret',
      'fs.azure.account.oauth2.client.endpoint': 'https://login.microsoftonline.com/tenant/oauth2/token',
    });
    expect(credentials).toEqual({
      kind: 'client-secret',
      clientId: 'id',
      clientSecret: 'secret',
      tenant: 'tenant',
      authorityHost: 'https://login.microsoftonline.com',
    });
    expect(secrets).toEqual(['secret']);
  });

  it('are an identity that Azure gives the machine', () => {
    const oauth = { 'fs.azure.account.auth.type': 'OAuth', 'fs.azure.account.oauth2.client.id': 'id' };
    const of = (provider: string) => read({ ...oauth, 'fs.azure.account.oauth.provider.type': provider }).credentials;
    expect(of('MsiTokenProvider')).toEqual({ kind: 'managed-identity', clientId: 'id' });
    expect(of('WorkloadIdentityTokenProvider')).toMatchObject({ kind: 'workload-identity', clientId: 'id' });
  });

  it("come from Flink's provider of a variable", () => {
    const options = { 'fs.azure.account.keyprovider': 'org.apache.flink.fs.azurefs.EnvironmentVariableKeyProvider' };
    expect(read(options, { AZURE_STORAGE_KEY: 'a2V5' }).credentials).toMatchObject({ kind: 'shared-key', key: 'a2V5' });
    expect(() => read(options)).toThrow(/AZURE_STORAGE_KEY/);
  });

  it('come from the environment', () => {
    expect(read({}, { AZURE_STORAGE_KEY: 'a2V5' }).credentials).toMatchObject({ kind: 'shared-key', key: 'a2V5' });
    expect(read({}, { AZURE_STORAGE_SAS_TOKEN: '?sig=x' }).credentials).toEqual({ kind: 'sas', token: 'sig=x' });
    const connection =
      'DefaultEndpointsProtocol=http;AccountName=account;AccountKey=a2V5==;BlobEndpoint=http://127.0.0.1:1/account;';
    expect(read({}, { AZURE_STORAGE_CONNECTION_STRING: connection })).toMatchObject({
      endpoint: 'http://127.0.0.1:1/account',
      credentials: { kind: 'shared-key', key: 'a2V5==' },
    });
  });

  it.each([
    [{ 'fs.azure.account.auth.type': 'Custom' }],
    [{ 'fs.azure.account.auth.type': 'SharedKey' }],
    [{ 'fs.azure.account.auth.type': 'SAS' }],
    [{ 'fs.azure.account.auth.type': 'OAuth' }],
    [{ 'fs.azure.account.keyprovider': 'com.example.Provider' }],
    [{ 'fs.azure.account.auth.type': 'OAuth', 'fs.azure.account.oauth.provider.type': 'UserPasswordTokenProvider' }],
    [{ 'fs.azure.blob.endpoint': 'https://x/?sig=secret' }],
  ])('are refused where they cannot be followed: %o', (options) => {
    expect(() => read(options)).toThrow(UsageError);
  });

  it('know the emulator that everybody knows', () => {
    const location = parseAzureLocation('abfs', 'c@devstoreaccount1.dfs.core.windows.net');
    const environment = { AZURE_STORAGE_CONNECTION_STRING: 'UseDevelopmentStorage=true' };
    expect(readAzureOptions({ configuration: new Map(), environment }, location)).toMatchObject({
      endpoint: 'http://127.0.0.1:10000/devstoreaccount1',
      credentials: { kind: 'shared-key', account: 'devstoreaccount1' },
    });
  });
});
