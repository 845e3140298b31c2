import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/errors.js';
import { type GcsOptions, readGcsOptions } from '../../../../src/filesystem/gcs/gcs-options.js';

function read(
  options: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): GcsOptions {
  return readGcsOptions({ configuration: new Map(Object.entries(options)), environment }, 'bucket');
}

describe('credentials', () => {
  it('are the default ones if nothing is said', () => {
    expect(read()).toEqual({
      credentials: { kind: 'default' },
      endpoint: undefined,
      isEmulator: false,
      projectId: undefined,
      userProject: undefined,
      encryption: undefined,
      secrets: [],
    });
  });

  it.each([
    'google.cloud.auth.service.account.json.keyfile',
    'fs.gs.auth.service.account.json.keyfile',
    'gs.auth.service.account.json.keyfile',
  ])('come from the file that %s names, unless a variable does', (name) => {
    expect(read({ [name]: '/key.json' }).credentials).toEqual({ kind: 'key-file', path: '/key.json' });
    expect(read({ [name]: '/key.json' }, { GOOGLE_APPLICATION_CREDENTIALS: '/env.json' }).credentials).toEqual({
      kind: 'key-file',
      path: '/env.json',
    });
  });

  it('may be none', () => {
    expect(read({ 'fs.gs.auth.type': 'UNAUTHENTICATED' }).credentials.kind).toBe('anonymous');
    expect(read({ 'fs.gs.auth.null.enable': 'true' }).credentials.kind).toBe('anonymous');
  });

  it('may be a service account in options', () => {
    const { credentials, secrets } = read({
      'fs.gs.auth.service.account.email': 'a@b',
      'fs.gs.auth.service.account.private.key': 'one\\ntwo',
    });
    expect(credentials).toEqual({ kind: 'service-account', email: 'a@b', privateKey: 'one\ntwo' });
    expect(secrets).toEqual(['one\ntwo']);
  });

  it('may be a user', () => {
    const { credentials, secrets } = read({
      'fs.gs.auth.type': 'USER_CREDENTIALS',
      'fs.gs.auth.client.id': 'id',
      'fs.gs.auth.client.secret': 'secret',
      'fs.gs.auth.refresh.token': 'refresh',
    });
    expect(credentials).toEqual({ kind: 'user', clientId: 'id', clientSecret: 'secret', refreshToken: 'refresh' });
    expect(secrets).toEqual(['secret', 'refresh']);
  });

  it('leave the service account alone where it is switched off', () => {
    const off = {
      'google.cloud.auth.service.account.enable': 'false',
      'fs.gs.auth.service.account.json.keyfile': '/k',
    };
    expect(read(off).credentials).toEqual({ kind: 'default' });
  });

  it.each([
    [{ 'fs.gs.auth.type': 'ACCESS_TOKEN_PROVIDER' }],
    [{ 'fs.gs.auth.type': 'SERVICE_ACCOUNT_JSON_KEYFILE' }],
    [{ 'fs.gs.auth.impersonation.service.account': 'a@b' }],
    [{ 'fs.gs.auth.access.token.provider': 'com.example.Provider' }],
    [{ 'fs.gs.requester.pays.mode': 'SOMETIMES' }],
    [{ 'fs.gs.requester.pays.mode': 'ENABLED' }],
    [{ 'fs.gs.encryption.key': 'a2V5' }],
    [{ 'fs.gs.storage.root.url': 'http://' }],
  ])('are refused where they cannot be followed: %o', (options) => {
    expect(() => read(options)).toThrow(UsageError);
  });
});

describe('endpoint', () => {
  it('is that of an emulator, which wants no credentials', () => {
    expect(read({}, { STORAGE_EMULATOR_HOST: '127.0.0.1:9023' })).toMatchObject({
      endpoint: 'http://127.0.0.1:9023',
      isEmulator: true,
      credentials: { kind: 'anonymous' },
    });
  });

  it('is what the option says before that, with credentials', () => {
    expect(
      read({ 'fs.gs.storage.root.url': 'https://storage.example/' }, { STORAGE_EMULATOR_HOST: '127.0.0.1:9023' }),
    ).toMatchObject({ endpoint: 'https://storage.example', isEmulator: false, credentials: { kind: 'default' } });
  });
});

describe('the project that pays', () => {
  const paying = { 'fs.gs.requester.pays.project.id': 'payer', 'fs.gs.project.id': 'project' };

  it('is named by mode', () => {
    expect(read(paying).userProject).toBeUndefined();
    expect(read({ ...paying, 'fs.gs.requester.pays.mode': 'enabled' }).userProject).toEqual({
      id: 'payer',
      onlyIfAsked: false,
    });
    expect(read({ ...paying, 'fs.gs.requester.pays.mode': 'AUTO' }).userProject).toEqual({
      id: 'payer',
      onlyIfAsked: true,
    });
  });

  it('is named for some buckets', () => {
    const custom = { ...paying, 'fs.gs.requester.pays.mode': 'CUSTOM' };
    expect(read({ ...custom, 'fs.gs.requester.pays.buckets': 'a, bucket' }).userProject?.id).toBe('payer');
    expect(read({ ...custom, 'fs.gs.requester.pays.buckets': 'a,b' }).userProject).toBeUndefined();
  });

  it('is the one of everything if it has no name of its own', () => {
    expect(read({ 'gs.project.id': 'project', 'gs.requester.pays.mode': 'ENABLED' }).userProject?.id).toBe('project');
  });
});
