import { MemoryFileSystem } from '../../src/filesystem/memory.js';
import { Path } from '../../src/filesystem/path.js';
import type { Subject } from './file-system.contract.js';
import { describeFileSystem } from './file-system.contract.js';

function subjectOf(fileSystem: MemoryFileSystem, root: string): Subject {
  return {
    fileSystem,
    root: Path.parse(root),
    truncate: (path, size) => fileSystem.truncate(path, size),
    cleanUp: () => undefined,
  };
}

describeFileSystem('memory', async () => subjectOf(new MemoryFileSystem(), 'memory:/'));
describeFileSystem('memory, with an authority', async () => subjectOf(new MemoryFileSystem(), 'memory://bucket/'));
describeFileSystem('memory as an object store', async () =>
  subjectOf(new MemoryFileSystem({ kind: 'object-store', scheme: 's3' }), 's3://bucket/deep/prefix'),
);
