import { afterAll, beforeAll, describe } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import { describeFileSystem, readAll, type Subject } from '../contract/file-system.contract.js';
import { makeBucket, missingFor, optionsFor, startMoto, startVersitygw } from '../support/s3-servers.js';
import type { TestServer } from '../support/server-process.js';

const INSTALL_MILLISECONDS = 600_000;
let tests = 0;

for (const [name, start] of [
  ['moto', startMoto],
  ['versitygw', startVersitygw],
] as const) {
  const missing = await missingFor(name);
  describe.skipIf(missing !== undefined)(`S3 on ${name}${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await start();
      await makeBucket(server.endpoint, 'contract');
    }, INSTALL_MILLISECONDS);
    afterAll(() => server.stop());

    const make = async (): Promise<Subject> => {
      const systems = createFileSystems({ configuration: optionsFor(server.endpoint) });
      const root = Path.parse(`s3://contract/test-${++tests}`);
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
    };
    describeFileSystem(name, make, {
      hugeDirectory: 1050,
      busyDirectory: 300,
      racers: 20,
      // The web framework of moto matches keys up to the end of a line.
      withoutNames: name === 'moto' ? ['line\nbreak'] : [],
    });
  });
}
