/** What the options of Flink and the environment do to the requests, seen by a proxy before moto. */
import { writeFile as writeLocalFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { collect, pattern, readAll } from '../contract/file-system.contract.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { runCkpt } from '../support/run-ckpt.js';
import { plainClient } from '../support/s3-cases.js';
import { makeBucket, missingFor, optionsFor, startMoto } from '../support/s3-servers.js';
import type { TestServer } from '../support/server-process.js';
import { tempDirectory } from '../support/temp.js';

const INSTALL_MILLISECONDS = 600_000;
const missing = await missingFor('moto');

describe.skipIf(missing !== undefined)(`settings of S3${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let client: S3Client;
  const warnings: string[] = [];
  const at = (name: string, scheme = 's3') => Path.parse(`${scheme}://settings/${name}`);
  const open = (more: Record<string, string>, scheme = 's3') =>
    createFileSystems({
      configuration: new Map([...optionsFor(proxy.endpoint), ...Object.entries(more)]),
      warn: (message) => warnings.push(message),
    }).get(at('', scheme));
  const head = (Key: string) => client.send(new HeadObjectCommand({ Bucket: 'settings', Key }));

  beforeAll(async () => {
    server = await startMoto();
    proxy = await startFaultProxy(server.endpoint);
    client = await plainClient(server.endpoint);
    await makeBucket(server.endpoint, 'settings');
  }, INSTALL_MILLISECONDS);
  afterAll(async () => {
    client.destroy();
    await proxy.stop();
    await server.stop();
  });
  beforeEach(() => {
    proxy.requests.length = 0;
    warnings.length = 0;
  });

  it('encrypt what is written, small or large, and keep the key of a copy', async () => {
    const encrypting = await open({ 's3.encryption.algorithm': 'SSE-KMS', 's3.encryption.key': 'the-key' });
    await encrypting.createExclusive(at('small'), pattern(10));
    await encrypting.createExclusive(at('large'), pattern(9 * 1024 * 1024));
    await (await open({})).copyFile(at('small'), at('copy'));
    for (const key of ['small', 'large', 'copy']) {
      const { ServerSideEncryption, SSEKMSKeyId } = await head(key);
      expect({ key, ServerSideEncryption, SSEKMSKeyId }).toEqual({
        key,
        ServerSideEncryption: 'aws:kms',
        SSEKMSKeyId: 'the-key',
      });
    }
    const other = await open({ 's3.server-side-encryption-algorithm': 'AES256' });
    await other.copyFile(at('small'), at('other'));
    expect((await head('other')).ServerSideEncryption).toBe('AES256');
    await (await open({})).createExclusive(at('plain'), pattern(1));
    expect((await head('plain')).SSEKMSKeyId).toBeUndefined();
  });

  it('say that the requester pays, with every request', async () => {
    const fs = await open({ 'fs.s3a.requester.pays.enabled': 'true' });
    await fs.createExclusive(at('paid'), pattern(10));
    expect(await readAll(fs, at('paid'))).toEqual(pattern(10));
    await collect(fs.list(at('')));
    await fs.deleteFiles(at(''), ['paid']);
    expect(proxy.requests.length).toBeGreaterThan(5);
    for (const { headers } of proxy.requests) expect(headers['x-amz-request-payer']).toBe('requester');
  });

  it('sign with a session token, or not at all', async () => {
    await collect((await open({ 's3.session-token': 'the-token' })).list(at('')));
    expect(proxy.requests.at(-1)?.headers['x-amz-security-token']).toBe('the-token');
    const provider = 'org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider';
    await collect((await open({ 's3.aws.credentials.provider': provider })).list(at('')));
    expect(proxy.requests.at(-1)?.headers.authorization).toBeUndefined();
    expect(proxy.requests.at(-2)?.headers.authorization).toContain('Credential=CKPTTESTKEY/');
  });

  it('take credentials, region and endpoint of a profile', async () => {
    const directory = await tempDirectory();
    const credentials = join(directory, 'credentials');
    const config = join(directory, 'config');
    await writeLocalFile(
      credentials,
      '[mine]\naws_access_key_id = PROFILEKEY\naws_secret_access_key = profile-secret\n',
    );
    await writeLocalFile(config, `[profile mine]\nregion = eu-north-1\nendpoint_url = ${proxy.endpoint}\n`);
    const env = {
      AWS_PROFILE: 'mine',
      AWS_SHARED_CREDENTIALS_FILE: credentials,
      AWS_CONFIG_FILE: config,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_REGION: undefined,
      AWS_DEFAULT_REGION: undefined,
      AWS_ACCESS_KEY_ID: undefined,
    };
    const { exitCode, stderr } = await runCkpt(['list', 's3://settings', '-D', 's3.path.style.access=true'], { env });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(proxy.requests[0]?.headers.authorization).toMatch(/Credential=PROFILEKEY\/\d+\/eu-north-1\/s3\//);
    const none = { ...env, AWS_PROFILE: undefined, AWS_SHARED_CREDENTIALS_FILE: config };
    const refused = await runCkpt(['list', 's3://settings', '-D', `s3.endpoint=${proxy.endpoint}`], { env: none });
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain('no usable credentials were found');
    expect(refused.stderr).not.toContain('profile-secret');
  });

  it('bound the requests at once', async () => {
    for (let index = 0; index < 12; index++) await (await open({})).createExclusive(at(`n/f${index}`), pattern(1));
    const fs = await open({ 'fs.s3.limit.total': '2', 's3.connection.timeout': '2s' });
    proxy.requests.length = 0;
    proxy.fault = () => ({ kind: 'silence' });
    const reads = Promise.all(Array.from({ length: 12 }, (_, index) => readAll(fs, at(`n/f${index}`))));
    await vi.waitFor(() => expect(proxy.requests.length).toBe(2));
    await sleep(300);
    expect(proxy.requests.length).toBe(2);
    proxy.fault = () => undefined;
    expect((await reads).length).toBe(12);
  });

  it('speak to OSS with its own word for a new file, and find out that moto does not know it', async () => {
    const oss = { 'fs.oss.endpoint': proxy.endpoint, 'fs.oss.accessKeyId': 'OSSKEY', 'fs.oss.accessKeySecret': 'x' };
    const fs = await open(oss, 'oss');
    await fs.createExclusive(at('oss/file', 'oss'), pattern(10));
    const puts = proxy.requests.filter(({ method }) => method === 'PUT');
    expect(puts.length).toBe(2);
    for (const { headers } of puts) {
      expect(headers['x-oss-forbid-overwrite']).toBe('true');
      expect(headers['if-none-match']).toBeUndefined();
      expect(headers.authorization).toMatch(/SignedHeaders=[^,]*x-oss-forbid-overwrite/);
    }
    expect(warnings).toEqual([expect.stringMatching(/^oss:\/\/settings: this store takes no conditional writes/)]);
    await expect(fs.createExclusive(at('oss/file', 'oss'), pattern(10))).rejects.toThrow('already exists');
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`);
    for (const name of names) await fs.createExclusive(at(`oss/${name}`, 'oss'), pattern(1));
    expect(await fs.deleteFiles(at('oss', 'oss'), names)).toEqual(names.map(() => true));
    const batch = proxy.requests.find(({ method, url }) => method === 'POST' && url.includes('?delete'));
    expect(batch?.headers['content-md5']).toMatch(/^[A-Za-z0-9+/]{22}==$/);
    expect(Object.keys(batch?.headers ?? {}).filter((header) => header.includes('checksum'))).toEqual([]);
  });
});
