import { describe, expect, it } from 'vitest';
import { InvalidPathError, UsageError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { readOssOptions } from '../../../src/filesystem/s3/oss-options.js';
import { readS3Options } from '../../../src/filesystem/s3/s3-options.js';

const read = (options: Record<string, string>, environment: Record<string, string> = {}) =>
  readS3Options(new Map(Object.entries(options)), environment, 'bucket');

describe('options of S3', () => {
  it('have nothing of their own where nothing is set', () => {
    expect(read({})).toEqual({
      endpoint: undefined,
      region: undefined,
      credentials: undefined,
      profile: undefined,
      isPathStyle: false,
      isRequesterPays: false,
      encryption: undefined,
      certificates: undefined,
      skipsVerification: false,
      connections: undefined,
      timeout: 60_000,
      ignored: [],
    });
  });

  it.each([
    [{ 's3.access-key': 'A', 's3.secret-key': 'S' }],
    [{ 's3.access.key': 'A', 's3.secret.key': 'S' }],
    [{ 'fs.s3a.access.key': 'A', 'fs.s3a.secret.key': 'S' }],
    [{ 's3a.access-key': 'A', 'presto.s3.secret-key': 'S' }],
    [
      {
        's3.access-key': 'x',
        's3.secret-key': 'y',
        'fs.s3a.bucket.bucket.access.key': 'A',
        's3.bucket.bucket.secret-key': 'S',
      },
    ],
  ])('take credentials by every name: %j', (options) => {
    expect(read(options).credentials).toEqual({ accessKeyId: 'A', secretAccessKey: 'S', sessionToken: undefined });
  });

  it('take a token, no credentials at all, a region, a profile', () => {
    const keys = { 's3.access-key': 'A', 's3.secret-key': 'S' };
    expect(read({ ...keys, 'fs.s3a.session.token': 'T' }).credentials).toMatchObject({ sessionToken: 'T' });
    const provider = 'org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider';
    expect(read({ ...keys, 'fs.s3a.aws.credentials.provider': provider }).credentials).toBe('anonymous');
    expect(read({ 's3.endpoint.region': 'eu-west-1' }, { AWS_REGION: 'x' }).region).toBe('eu-west-1');
    expect(read({}, { AWS_DEFAULT_REGION: 'eu-west-2' }).region).toBe('eu-west-2');
    expect(read({ 'fs.s3a.auth.profile.name': 'p' }).profile).toBe('p');
  });

  it('say how a bucket is addressed', () => {
    expect(read({ 's3.endpoint': 'minio:9000' })).toMatchObject({ endpoint: 'https://minio:9000', isPathStyle: true });
    expect(read({ 's3.endpoint': 'minio:9000', 'fs.s3a.connection.ssl.enabled': 'false' }).endpoint).toBe(
      'http://minio:9000',
    );
    expect(read({ 's3.endpoint': 'http://127.0.0.1:9000' }).isPathStyle).toBe(true);
    expect(read({ 's3.endpoint': 'https://s3.example.com' }).isPathStyle).toBe(false);
    for (const key of ['s3.path.style.access', 's3.path-style-access', 'fs.s3a.path.style.access']) {
      expect(read({ 's3.endpoint': 'https://s3.example.com', [key]: 'true' }).isPathStyle).toBe(true);
    }
    expect(read({ 's3.endpoint': 'http://127.0.0.1:9', 's3.path.style.access': 'false' }).isPathStyle).toBe(false);
  });

  it('say how objects are encrypted', () => {
    expect(read({ 'fs.s3a.encryption.algorithm': 'AES256' }).encryption).toEqual({ algorithm: 'AES256' });
    expect(
      read({ 's3.server-side-encryption-algorithm': 'SSE-KMS', 's3.server-side-encryption.key': 'arn' }).encryption,
    ).toEqual({ algorithm: 'aws:kms', keyId: 'arn' });
    expect(
      read({ 'presto.s3.sse.enabled': 'true', 'presto.s3.sse.type': 'KMS', 'presto.s3.sse.kms-key-id': 'k' })
        .encryption,
    ).toEqual({ algorithm: 'aws:kms', keyId: 'k' });
    expect(() => read({ 's3.encryption.algorithm': 'SSE-C' })).toThrow('not one of AES256, SSE-KMS, DSSE-KMS');
  });

  it('keep the certificates checked unless somebody asks for less', () => {
    expect(read({ 's3.connection.ssl.verify': 'false' }).skipsVerification).toBe(true);
    expect(read({ 's3.connection.ssl.verify': 'true' }).skipsVerification).toBe(false);
    expect(read({}, { AWS_CA_BUNDLE: '/ca.pem' }).certificates).toBe('/ca.pem');
  });

  it('count connections and times', () => {
    expect(read({ 's3.connection.maximum': '7', 's3.connection.timeout': '5 s' })).toMatchObject({
      connections: 7,
      timeout: 5000,
    });
    expect(read({ 'fs.s3a.connection.timeout': '200000' }).timeout).toBe(200_000);
    expect(() => read({ 's3.connection.maximum': 'many' })).toThrow('connection.maximum is no count');
    expect(() => read({ 's3.connection.timeout': 'long' })).toThrow('connection.timeout is no duration');
  });

  it('say what of them cannot be done, and show no value in an error', () => {
    expect(read({ 's3.iam-role': 'arn', 'fs.s3a.proxy.host': 'h' }).ignored.length).toBe(2);
    expect(() => read({ 's3.secret-key': 'very-secret' })).toThrow(
      /^the options have s3.secret-key but no s3.access-key$/,
    );
    expect(() => read({ 's3.endpoint': 'http://a b' })).toThrow('the endpoint in the options is no address');
  });
});

describe('options of OSS', () => {
  const keys = { 'fs.oss.accessKeyId': 'A', 'fs.oss.accessKeySecret': 'S' };
  const readOss = (options: Record<string, string>, environment: Record<string, string> = {}) =>
    readOssOptions(new Map(Object.entries(options)), environment, 'bucket');

  it('lead to the endpoint of a region that speaks the language of S3', () => {
    expect(readOss({ ...keys, 'fs.oss.endpoint': 'oss-cn-hangzhou.aliyuncs.com' })).toMatchObject({
      endpoint: 'https://s3.oss-cn-hangzhou.aliyuncs.com',
      region: 'cn-hangzhou',
      isPathStyle: false,
      credentials: { accessKeyId: 'A', secretAccessKey: 'S' },
    });
    expect(readOss({ ...keys, 'fs.oss.endpoint': 'http://oss-eu-west-1-internal.aliyuncs.com' })).toMatchObject({
      endpoint: 'http://s3.oss-eu-west-1-internal.aliyuncs.com',
      region: 'eu-west-1',
    });
    expect(readOss({ 'fs.oss.endpoint': 'http://127.0.0.1:9000' })).toMatchObject({
      endpoint: 'http://127.0.0.1:9000',
      isPathStyle: true,
      credentials: 'anonymous',
    });
  });

  it('come from the environment too', () => {
    const environment = {
      OSS_ENDPOINT: 'oss-cn-shanghai.aliyuncs.com',
      OSS_ACCESS_KEY_ID: 'E',
      OSS_ACCESS_KEY_SECRET: 'F',
      OSS_SESSION_TOKEN: 'T',
    };
    expect(readOss({}, environment)).toMatchObject({
      region: 'cn-shanghai',
      credentials: { accessKeyId: 'E', secretAccessKey: 'F', sessionToken: 'T' },
    });
    expect(() => readOss({})).toThrow('fs.oss.endpoint is not set');
    expect(() => readOss({ 'fs.oss.endpoint': 'x', 'fs.oss.accessKeyId': 'A' })).toThrow('only one is set');
  });
});

describe('the file systems of S3', () => {
  it('are made for a bucket and sensible options', async () => {
    const systems = createFileSystems({ configuration: new Map([['s3.access-key', 'A']]) });
    await expect(systems.get(Path.parse('s3://bucket/x'))).rejects.toThrow(UsageError);
    await expect(systems.get(Path.parse('s3:/x'))).rejects.toThrow(InvalidPathError);
    expect(systems.schemes).toEqual(expect.arrayContaining(['oss', 's3', 's3a', 's3n', 's3p']));
    const warnings: string[] = [];
    const made = createFileSystems({
      configuration: new Map([
        ['s3.iam-role', 'arn'],
        ['s3.connection.ssl.verify', 'false'],
        ['s3.region', 'us-east-1'],
        ['fs.s3a.limit.total', '5'],
      ]),
      warn: (message) => warnings.push(message),
    });
    const path = Path.parse('s3a://bucket/x');
    expect(await made.get(path)).toMatchObject({ kind: 'object-store', scheme: 's3a' });
    expect(warnings).toEqual([
      expect.stringMatching(/^s3a:\/\/bucket: the role/),
      's3a://bucket: certificates are not checked, as asked for',
    ]);
  });

  it('take the marker of entropy out of the paths of S3, and of no others', () => {
    const systems = createFileSystems({ configuration: new Map([['s3.entropy.key', '_entropy_']]) });
    for (const [path, expected] of [
      ['s3://b/_entropy_/cp/chk-1', 's3://b/cp/chk-1'],
      ['s3a://b/x/_entropy_/cp', 's3a://b/x/cp'],
      ['s3://b/cp/_entropy_', 's3://b/cp'],
      ['s3p://b/_entropy_', 's3p://b/'],
      ['s3://b/a_entropy_b', 's3://b/ab'],
      ['s3://b/_entropy_/_entropy_/x', 's3://b/_entropy_/x'],
      ['hdfs://b/_entropy_/cp', 'hdfs://b/_entropy_/cp'],
      ['file:/_entropy_/cp', 'file:/_entropy_/cp'],
    ] as const) {
      expect(systems.qualify(Path.parse(path)).toString()).toBe(expected);
    }
  });
});
