import { afterAll, beforeAll, describe } from 'vitest';
import { installFakeGcs, makeGcsBucket } from '../support/cloud-servers.js';
import type { TestServer } from '../support/server-process.js';
import { describeStoreCommands } from '../support/store-commands.js';

const installed = await installFakeGcs();
const missing = 'missing' in installed ? installed.missing : undefined;

describe.skipIf(missing !== undefined)(
  `ckpt on fake-gcs-server${missing === undefined ? '' : `, skipped: ${missing}`}`,
  () => {
    let server: TestServer;

    beforeAll(async () => {
      if (!('start' in installed)) return;
      server = await installed.start();
      await makeGcsBucket(server.endpoint, 'commands');
      await makeGcsBucket(server.endpoint, 'others');
    });
    afterAll(() => server.stop());

    describeStoreCommands('gs', () => ({
      bucket: 'gs://commands',
      otherBucket: 'gs://others',
      missingBucket: 'gs://missing',
      options: new Map(),
      environment: { STORAGE_EMULATOR_HOST: server.endpoint },
      secrets: [],
    }));
  },
);
