import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { storeClock } from '../operations/store-clock.js';
import type { Context } from './context.js';

/** The clock by which the files at these paths are young or old, ms since the epoch. */
export function storeTime(context: Context, fileSystems: FileSystems, paths: readonly Path[]): Promise<() => number> {
  return storeClock(fileSystems, paths, () => context.clock.now(), context.signal);
}
