/**
 * Discards a checkpoint and kills this very process when so many changes have been made: `node --import tsx <this> <pointer>
 * <changes>`. The count `rename` kills between the two steps of the first rename.
 */
import { linkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AtomicOptions, AtomicWriter, BulkDeletionOptions, FileSystem } from '../../src/filesystem/file-system.js';
import { LocalFileSystem } from '../../src/filesystem/local.js';
import type { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { executePlan } from '../../src/operations/discard/execute.js';
import { withLock } from '../../src/operations/discard/lock.js';
import { planDiscard } from '../../src/operations/discard/plan.js';
import { resolveTargets } from '../../src/operations/discard/targets.js';
import type { DiscardResult } from '../../src/operations/discard/types.js';

/** The whole discard of a checkpoint. @returns undefined if the pointer leads nowhere (any more) */
export async function discardUnderLock(fileSystems: FileSystems, pointer: string): Promise<DiscardResult | undefined> {
  const targets = await resolveTargets(fileSystems, [pointer]);
  if (targets.failed.length > 0) return undefined;
  const pointers = targets.targets.map(({ directory }) => directory.toString());
  return withLock(fileSystems, targets.area.roots, { command: 'discard', pointers }, async () =>
    executePlan(fileSystems, await planDiscard(fileSystems, targets, { job: 'stopped' })),
  );
}

/** A local file system in which each change is a call of `onChange`, before it is made. */
class WatchedFileSystem extends LocalFileSystem {
  constructor(private readonly onChange: (change: string, from?: Path, to?: Path) => void) {
    super();
  }

  override async createAtomic(path: Path, options?: AtomicOptions): Promise<AtomicWriter> {
    this.onChange('create');
    return super.createAtomic(path, options);
  }

  override async rename(from: Path, to: Path): Promise<void> {
    this.onChange('rename', from, to);
    return super.rename(from, to);
  }

  override async deleteFile(path: Path): Promise<boolean> {
    this.onChange('delete');
    return super.deleteFile(path);
  }

  override async deleteFiles(directory: Path, names: readonly string[], options: BulkDeletionOptions = {}) {
    const results = [];
    for (const name of names) {
      this.onChange('delete');
      results.push(...(await super.deleteFiles(directory, [name], options)));
    }
    return results;
  }

  override async deleteDirectory(path: Path): Promise<boolean> {
    this.onChange('remove');
    return super.deleteDirectory(path);
  }
}

function killAfter(changes: string): (change: string, from?: Path, to?: Path) => void {
  let left = Number(changes);
  return (change, from, to) => {
    if (changes === 'rename' && change === 'rename' && from && to) {
      linkSync(from.path, to.path);
      process.kill(process.pid, 'SIGKILL');
    }
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , pointer = '', changes = ''] = process.argv;
  const watched: FileSystem = new WatchedFileSystem(killAfter(changes));
  const fileSystems = createFileSystems({ configuration: new Map() }, new Map([['file', async () => watched]]));
  await discardUnderLock(fileSystems, pointer);
}
