/** Markers of copies in the directories of checkpoints that are to go: `ckpt copy` has put them there, so they go as well. */
import { RefusedError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { FileKeys } from '../area/file-keys.js';
import { COPY_MARKER, isBeingCopied } from '../copy/marker.js';
import type { AreaView } from './area-view.js';
import type { ReadTargets } from './target-files.js';

/**
 * Adds the markers that a copy has left which was killed when its metadata stood.
 * @param now by the clock of the store, ms since the epoch
 * @throws RefusedError if a copy is going on in one of the directories
 */
export async function addCopyMarkers(
  fileSystems: FileSystems,
  view: AreaView,
  keys: FileKeys,
  { readable, files }: ReadTargets,
  now: number,
): Promise<void> {
  for (const [number, target] of readable.entries()) {
    const { directory } = target;
    if (!(await view.entriesOf(target)).some(({ name, type }) => name === COPY_MARKER && type === 'file')) continue;
    if (await isBeingCopied(fileSystems, directory, now)) {
      throw new RefusedError(`${directory}: a copy to this directory is going on; nothing was changed`, {
        pointer: directory.toString(),
        reason: 'copying',
      });
    }
    const { key } = await keys.directory(directory.toString());
    files.add(key, directory.toString(), COPY_MARKER, number);
  }
}
