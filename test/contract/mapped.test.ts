import { mkdtemp, realpath, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mapFileSystems } from '../../src/filesystem/map.js';
import { MemoryFileSystem } from '../../src/filesystem/memory.js';
import { Path } from '../../src/filesystem/path.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import type { Subject } from './file-system.contract.js';
import { describeFileSystem } from './file-system.contract.js';

async function mapped(memory: MemoryFileSystem, old: string, replacement: string): Promise<Subject> {
  const loaders = new Map([[memory.scheme, async () => memory]]);
  const systems = createFileSystems({ configuration: new Map() }, loaders);
  const mapping = PathMapping.parse([`${old}=${replacement}`], (path) => systems.qualify(path));
  const root = systems.qualify(Path.parse(old));
  return {
    fileSystem: await mapFileSystems(systems, mapping).get(root),
    root,
    truncate: (path, size) => memory.truncate(mapping.toReal(path), size),
    cleanUp: () => undefined,
  };
}

async function mappedToLocal(old: string): Promise<Subject> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'ckpt-contract-'));
  const subject = await mapped(new MemoryFileSystem(), old, directory);
  return {
    ...subject,
    truncate: (path, size) => truncate(`${directory}/${path.relativeTo(subject.root)}`, size),
    cleanUp: () => rm(directory, { recursive: true, force: true }),
  };
}

describeFileSystem('mapped: a bucket to a local directory', () => mappedToLocal('s3://bucket/flink'), {
  hugeDirectory: 3000,
});
describeFileSystem('mapped: a whole bucket to a local directory', () => mappedToLocal('s3://bucket/'), {
  hugeDirectory: 3000,
});
describeFileSystem('mapped: a local directory that is not there to memory', () =>
  mapped(new MemoryFileSystem(), '/no/such/directory', 'memory:/new/place'),
);
describeFileSystem('mapped: to an object store', () =>
  mapped(new MemoryFileSystem({ kind: 'object-store', scheme: 'gs' }), 'hdfs://nn:8020/flink', 'gs://bucket'),
);
