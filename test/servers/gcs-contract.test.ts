import { afterAll, beforeAll, describe } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { describeFileSystem, readAll } from '../contract/file-system.contract.js';
import { installFakeGcs, makeGcsBucket } from '../support/cloud-servers.js';
import type { TestServer } from '../support/server-process.js';

const installed = await installFakeGcs();
const missing = 'missing' in installed ? installed.missing : undefined;
let tests = 0;

describe.skipIf(missing !== undefined)(
  `Google on fake-gcs-server${missing === undefined ? '' : `, skipped: ${missing}`}`,
  () => {
    let server: TestServer;

    beforeAll(async () => {
      if (!('start' in installed)) return;
      server = await installed.start();
      await makeGcsBucket(server.endpoint, 'contract');
    });
    afterAll(() => server.stop());

    describeFileSystem(
      'gs on fake-gcs-server',
      async () => {
        const systems = createFileSystems({
          configuration: new Map(),
          environment: { STORAGE_EMULATOR_HOST: server.endpoint },
        });
        const root = Path.parse(`gs://contract/test-${++tests}`);
        const fileSystem = await systems.get(root);
        return {
          fileSystem,
          root,
          truncate: async (path, size) => {
            const bytes = await readAll(fileSystem, path);
            const writer = await fileSystem.createAtomic(path, { overwrite: true });
            await writer.write(bytes.subarray(0, size));
            await writer.commit();
          },
          cleanUp: () => undefined,
        };
      },
      { hugeDirectory: 1100, busyDirectory: 200, racers: 20 },
    );
  },
);
