import { afterAll, beforeAll, describe } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { describeFileSystem, readAll } from '../contract/file-system.contract.js';
import { AZURITE_ACCOUNT, azuriteOptions, installAzurite, makeContainer } from '../support/cloud-servers.js';
import type { TestServer } from '../support/server-process.js';

const installed = await installAzurite();
const missing = 'missing' in installed ? installed.missing : undefined;
let tests = 0;

describe.skipIf(missing !== undefined)(
  `Azure on Azurite${missing === undefined ? '' : `, skipped: ${missing}`}`,
  () => {
    let server: TestServer;

    beforeAll(async () => {
      if (!('start' in installed)) return;
      server = await installed.start();
      await makeContainer(server.endpoint, 'contract');
    });
    afterAll(() => server.stop());

    describeFileSystem(
      'abfss on Azurite',
      async () => {
        const systems = createFileSystems({ configuration: azuriteOptions(server.endpoint) });
        const root = Path.parse(`abfss://contract@${AZURITE_ACCOUNT}.dfs.core.windows.net/test-${++tests}`);
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
      // Azure takes a backslash for a slash.
      { hugeDirectory: 1100, busyDirectory: 200, racers: 20, withoutNames: ['a\\b'] },
    );
  },
);
