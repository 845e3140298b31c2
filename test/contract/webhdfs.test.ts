import { Path } from '../../src/filesystem/path.js';
import { StoreRequests } from '../../src/filesystem/requests.js';
import { WebHdfsClient } from '../../src/filesystem/webhdfs/client.js';
import { NameNodes } from '../../src/filesystem/webhdfs/name-nodes.js';
import { HdfsStore } from '../../src/filesystem/webhdfs/store.js';
import { WebHdfsFileSystem } from '../../src/filesystem/webhdfs/web-hdfs.js';
import { type FakeOptions, FakeWebHdfs, type Fault } from '../support/fake-web-hdfs.js';
import { describeFileSystem, type Subject } from './file-system.contract.js';

async function make(options: FakeOptions = {}): Promise<Subject> {
  const server = await FakeWebHdfs.start(options);
  const client = new WebHdfsClient({
    nameNodes: new NameNodes([`http://${server.address}/webhdfs/v1`]),
    identity: { parameters: { 'user.name': 'flink' }, headers: {}, secrets: [] },
    // Each work is of several requests, and a fifth of all fails.
    requests: new StoreRequests({ firstPause: 0.1, attempts: 14 }),
  });
  const fileSystem = new WebHdfsFileSystem(new HdfsStore(client), { scheme: 'hdfs', authority: 'ns', user: 'flink' });
  const root = Path.parse('hdfs://ns/contract');
  await fileSystem.makeDirectory(root);
  return {
    fileSystem,
    root,
    truncate: (path, size) => server.truncate(path.path, size),
    cleanUp: () => server.close(),
  };
}

/** Every few requests one that goes wrong, in one way after the other. Every run has the same order of them. */
function trouble(): (request: unknown) => Fault | undefined {
  const faults: readonly Fault[] = [
    { kind: 'reset' },
    { kind: 'lost' },
    { kind: 'answer', status: 503 },
    { kind: 'lost' },
    { kind: 'cut', bytes: 3 },
    { kind: 'answer', status: 403, exception: 'RetriableException', message: 'NameNode still not started' },
  ];
  let count = 0;
  return () => {
    count += 1;
    return count % 5 === 0 ? faults[(count / 5) % faults.length] : undefined;
  };
}

const extent = { hugeDirectory: 500, busyDirectory: 500, racers: 20, unnameable: (name: string) => name.includes(':') };
describeFileSystem('HDFS', () => make(), extent);
describeFileSystem('HDFS through a gateway', () => make({ gateway: true }), extent);
describeFileSystem('HDFS, every fifth request going wrong', () => make({ fault: trouble() }), extent);
