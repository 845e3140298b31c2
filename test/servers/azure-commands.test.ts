import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AZURITE_ACCOUNT, AZURITE_KEY, installAzurite, makeContainer } from '../support/cloud-servers.js';
import { runCkpt } from '../support/run-ckpt.js';
import type { TestServer } from '../support/server-process.js';
import { describeStoreCommands } from '../support/store-commands.js';

const installed = await installAzurite();
const missing = 'missing' in installed ? installed.missing : undefined;
const HOST = `${AZURITE_ACCOUNT}.dfs.core.windows.net`;

describe.skipIf(missing !== undefined)(`ckpt on Azurite${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let server: TestServer;

  beforeAll(async () => {
    if (!('start' in installed)) return;
    server = await installed.start();
    await makeContainer(server.endpoint, 'commands');
    await makeContainer(server.endpoint, 'others');
  });
  afterAll(() => server.stop());

  describeStoreCommands('abfss', () => ({
    bucket: `abfss://commands@${HOST}`,
    otherBucket: `abfss://others@${HOST}`,
    missingBucket: `abfss://missing@${HOST}`,
    options: new Map([['fs.azure.blob.endpoint', `${server.endpoint}/${AZURITE_ACCOUNT}`]]),
    environment: { AZURE_STORAGE_ACCOUNT: AZURITE_ACCOUNT, AZURE_STORAGE_KEY: AZURITE_KEY },
    secrets: [AZURITE_KEY],
  }));

  it('takes the older schemes for the same store, a token and a connection string for a key', async () => {
    const { BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob');
    const endpoint = `${server.endpoint}/${AZURITE_ACCOUNT}`;
    const client = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(AZURITE_ACCOUNT, AZURITE_KEY));
    const container = client.getContainerClient('others');
    const { ContainerSASPermissions } = await import('@azure/storage-blob');
    const url = await container.generateSasUrl({
      permissions: ContainerSASPermissions.parse('rwdl'),
      expiresOn: new Date(Date.now() + 3_600_000),
    });
    const token = new URL(url).search.slice(1);
    const signature = new URL(url).searchParams.get('sig') ?? '';
    const wasb = `wasb://others@${AZURITE_ACCOUNT}.blob.core.windows.net/sas`;
    const endpointOption = ['-D', `fs.azure.blob.endpoint=${endpoint}`];
    const sas = ['-D', `fs.azure.sas.others.${AZURITE_ACCOUNT}.blob.core.windows.net=${token}`, ...endpointOption];
    const made = await runCkpt([
      'savepoint',
      '--job-id',
      'a'.repeat(32),
      '--target-directory',
      wasb,
      '--json',
      '--verbose',
      ...sas,
    ]);
    expect(made).toMatchObject({ exitCode: 0 });
    const connection = `AccountName=${AZURITE_ACCOUNT};AccountKey=${AZURITE_KEY};BlobEndpoint=${endpoint}`;
    const listed = await runCkpt(['list', `abfs://others@${HOST}/sas`, '--json'], {
      env: { AZURE_STORAGE_CONNECTION_STRING: connection },
    });
    expect(listed).toMatchObject({ exitCode: 0 });
    const wrong = sas.map((each) => each.replace(/sig=[^&]*/, 'sig=d3Jvbmc%3D'));
    const refused = await runCkpt(['list', wasb, '--verbose', ...wrong]);
    expect(refused).toMatchObject({ exitCode: 3, stdout: '' });
    expect(refused.stderr).toContain('permission denied');
    for (const { stdout, stderr } of [made, listed, refused]) {
      for (const secret of [AZURITE_KEY, signature, encodeURIComponent(signature), 'd3Jvbmc']) {
        expect(stdout + stderr).not.toContain(secret);
      }
    }
  });
});
