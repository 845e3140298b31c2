import { mkdtemp, realpath, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalFileSystemOptions } from '../../src/filesystem/local.js';
import { LocalFileSystem } from '../../src/filesystem/local.js';
import { Path } from '../../src/filesystem/path.js';
import type { Subject } from './file-system.contract.js';
import { describeFileSystem } from './file-system.contract.js';

async function makeLocal(options?: LocalFileSystemOptions): Promise<Subject> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'ckpt-contract-'));
  return {
    fileSystem: new LocalFileSystem(options),
    root: Path.parse(`file:${directory}`),
    truncate: (path, size) => truncate(path.path, size),
    cleanUp: () => rm(directory, { recursive: true, force: true }),
  };
}

describeFileSystem('local', () => makeLocal());
describeFileSystem('local without hard links', () => makeLocal({ hardLinks: 'avoid' }), { hugeDirectory: 3000 });
