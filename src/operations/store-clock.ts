/** The time by the clock that stamps the files: ages are judged by no other. */
import { CkptError } from '../errors.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';

/**
 * The clock of the stores of some paths, made of the clock of this machine. Of several stores the one that is furthest
 * behind counts, so that nothing passes for older than it is. A store that cannot be asked has the time of this machine:
 * whatever is done there fails by itself.
 * @param clock ms since the epoch
 */
export async function storeClock(
  fileSystems: FileSystems,
  paths: readonly Path[],
  clock: () => number,
  signal?: AbortSignal,
): Promise<() => number> {
  const offsets = await Promise.all(paths.map((path) => offsetAt(fileSystems, path, signal)));
  const offset = offsets.length === 0 ? 0 : Math.min(...offsets);
  return () => clock() + offset;
}

async function offsetAt(fileSystems: FileSystems, path: Path, signal: AbortSignal | undefined): Promise<number> {
  try {
    return await (await fileSystems.get(path)).clockOffset(path, signal);
  } catch (error) {
    if (!(error instanceof CkptError)) throw error;
    return 0;
  }
}
