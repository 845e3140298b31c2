import { ObjectStoreFileSystem } from '../../src/filesystem/object-store/object-store-file-system.js';
import { Path } from '../../src/filesystem/path.js';
import { StoreRequests } from '../../src/filesystem/requests.js';
import { MemoryObjectStore, type MemoryObjectStoreOptions } from '../support/memory-object-store.js';
import type { Subject } from './file-system.contract.js';
import { describeFileSystem } from './file-system.contract.js';

function subjectOf(options: MemoryObjectStoreOptions, root: string): Subject {
  const store = new MemoryObjectStore(options);
  const path = Path.parse(root);
  return {
    fileSystem: new ObjectStoreFileSystem({
      scheme: 's3',
      authority: 'bucket',
      store,
      requests: new StoreRequests({ firstPause: 1 }),
    }),
    root: path,
    truncate: (file, size) => {
      const key = file.path.slice(1);
      store.set(key, (store.objects.get(key)?.bytes ?? new Uint8Array()).slice(0, size));
    },
    cleanUp: () => undefined,
  };
}

const extent = { hugeDirectory: 5000 };
describeFileSystem('object store', async () => subjectOf({}, 's3://bucket/deep/prefix'), extent);
describeFileSystem('object store, at its root', async () => subjectOf({}, 's3://bucket/'), extent);
describeFileSystem(
  'object store of small pages, without batches and tags',
  async () => subjectOf({ pageSize: 3, refusesBatches: true, forgetsTags: true }, 's3://bucket/deep/prefix'),
  { hugeDirectory: 500 },
);
describeFileSystem(
  'object store without versions and order',
  async () => subjectOf({ isPlain: true, deleteBatch: 1 }, 's3://bucket/deep/prefix'),
  { hugeDirectory: 1200 },
);
