import { afterAll, beforeAll, describe } from 'vitest';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { openWebHdfs } from '../../../src/filesystem/webhdfs/open-web-hdfs.js';
import { describeFileSystem } from '../../contract/file-system.contract.js';
import { MiniDfs, whyNoMiniDfs } from '../../support/minidfs.js';

const reason = whyNoMiniDfs();

describe.skipIf(reason !== undefined)(`HDFS by MiniDFSCluster${reason === undefined ? '' : ` (${reason})`}`, () => {
  let server: MiniDfs;
  let fileSystem: FileSystem;
  let count = 0;

  beforeAll(async () => {
    server = await MiniDfs.start();
    fileSystem = await openWebHdfs(
      {
        configuration: new Map([
          ['ckpt.hdfs.http-address', server.http()],
          ['ckpt.hdfs.user', 'flink'],
        ]),
      },
      'hdfs',
      server.rpc(),
    );
  }, 600_000);
  afterAll(() => server?.stop());

  describeFileSystem(
    'HDFS',
    async () => {
      const root = Path.parse(`hdfs://${server.rpc()}/contract-${++count}`);
      await fileSystem.makeDirectory(root);
      return {
        fileSystem,
        root,
        truncate: async (path, size) => {
          await server.command('truncate', path.path, size);
        },
        cleanUp: async () => {
          await server.command('remove', root.path);
        },
      };
    },
    { hugeDirectory: 2200, busyDirectory: 1200, unnameable: (name) => name.includes(':') },
  );
});
