import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { openGcsFileSystem } from '../../src/filesystem/gcs/gcs.js';
import { Path } from '../../src/filesystem/path.js';
import { FakeGcs } from '../support/fake-gcs.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { describeFileSystem } from './file-system.contract.js';

const fake = new FakeGcs();
let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer(fake.answer);
});
afterAll(() => server.close());

// What the adapter does against Google's interface as it is described; `test/servers` asks an emulator.
describeFileSystem(
  'gs, on a server of this process',
  async () => ({
    fileSystem: await openGcsFileSystem(
      { configuration: new Map(), environment: { STORAGE_EMULATOR_HOST: server.endpoint } },
      'gs',
      'bucket',
    ),
    root: Path.parse(`gs://bucket/${randomUUID()}`),
    truncate: (path, size) => {
      const key = path.path.slice(1);
      fake.write(key, fake.objects.get(key)?.bytes.subarray(0, size) ?? new Uint8Array(0));
    },
    cleanUp: () => fake.objects.clear(),
  }),
  { hugeDirectory: 1100, busyDirectory: 200, racers: 20 },
);
