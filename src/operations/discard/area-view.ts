/** One look at the area: which checkpoints lie in it, and what is in the directories of those that are to go. */
import type { DirectoryEntry } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { FileKeys } from '../area/file-keys.js';
import { type AreaScan, type CheckpointDirectory, scanArea } from '../area/scan.js';
import { isLockName } from './lock.js';
import type { DiscardTarget } from './types.js';

/** See the file comment. */
export interface AreaView extends AreaScan {
  readonly keys: FileKeys;
  /** Directories below the roots that have a lock of their own. */
  readonly locked: readonly Path[];
  /** Whether a checkpoint directory is that of a target, under whatever name it was found. */
  isTarget(checkpoint: CheckpointDirectory, target: DiscardTarget): boolean;
  /** Key of a target's directory. */
  keyOf(target: DiscardTarget): string;
  /** Everything in the directory of a target. */
  entriesOf(target: DiscardTarget): Promise<readonly DirectoryEntry[]>;
}

/**
 * Scans the area.
 * @throws the signal's reason
 */
export async function viewArea(
  fileSystems: FileSystems,
  roots: readonly Path[],
  targets: readonly DiscardTarget[],
  options: { readonly signal?: AbortSignal | undefined; readonly onCheckpoint?: ((found: number) => void) | undefined },
): Promise<AreaView> {
  const keys = new FileKeys(fileSystems);
  const own = new Map<string, DirectoryEntry[]>(targets.map(({ directory }) => [directory.toString(), []]));
  const listed = new Set<string>();
  const rootNames = new Set(roots.map(String));
  const links = new Map<string, string[]>();
  const locked: Path[] = [];
  let found = 0;
  const scan = await scanArea(fileSystems, roots, {
    signal: options.signal,
    onEntries(directory, entries) {
      const name = directory.toString();
      own.get(name)?.push(...entries);
      for (const entry of entries) {
        if (entry.isLink && entry.type === 'file') links.set(name, [...(links.get(name) ?? []), entry.name]);
        if (isLockName(entry.name) && !rootNames.has(name)) locked.push(directory);
      }
    },
    onDirectory(directory) {
      const name = directory.toString();
      keys.learn(name, links.get(name) ?? []);
      links.delete(name);
      if (own.has(name)) listed.add(name);
    },
    onCheckpoint: () => options.onCheckpoint?.(++found),
  });
  const keysByName = new Map<string, string>();
  await forEachConcurrently([...scan.checkpoints, ...targets], async ({ directory }) => {
    const name = directory.toString();
    keysByName.set(name, (await keys.directory(name)).key);
  });
  const keyOf = (directory: Path): string => keysByName.get(directory.toString()) ?? '';
  return {
    ...scan,
    keys,
    locked,
    keyOf: ({ directory }) => keyOf(directory),
    isTarget: (checkpoint, target) => keyOf(checkpoint.directory) === keyOf(target.directory),
    async entriesOf({ directory }) {
      const name = directory.toString();
      if (listed.has(name)) return own.get(name) ?? [];
      // It was found under another name, or not listed to its end.
      const entries: DirectoryEntry[] = [];
      const fileSystem = await fileSystems.get(directory);
      for await (const batch of fileSystem.list(directory, options.signal)) entries.push(...batch);
      return entries;
    },
  };
}
