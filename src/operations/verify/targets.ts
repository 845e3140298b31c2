/** What the arguments of a verification mean: single checkpoints, and directories above some. */
import { CkptError, NoCheckpointError, NotFoundError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import { Path as FlinkPath } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type AreaScan, scanArea } from '../area/scan.js';
import { checkpointNumber, METADATA_FILE, savepointJobIdPrefix, TOMBSTONE_FILE } from '../layout.js';
import { resolvePointer } from '../pointer.js';

/** The metadata of a checkpoint that is to be verified. */
export interface Target {
  readonly directory: Path;
  readonly metadataPath: Path;
  /** The root below which it was found; null for a pointer. */
  readonly root: string | null;
}

/** What was found below a root. */
export interface RootScan {
  readonly root: Path;
  readonly targets: readonly Target[];
  /** Named like checkpoints, without metadata: in progress, aborted, or being discarded. */
  readonly incomplete: readonly Path[];
  readonly unlistable: AreaScan['unlistable'];
}

/** What one argument means. */
export type Argument =
  | { readonly kind: 'pointer'; readonly target: Target }
  | { readonly kind: 'root'; readonly scan: RootScan };

const byNumber = new Intl.Collator('en', { numeric: true });

/** Orders paths with numbers by their values: chk-9 before chk-10. */
export function comparePaths(a: string, b: string): number {
  return byNumber.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/**
 * Finds out what an argument means: a directory without metadata that is not named like a checkpoint is a root.
 * @param onFound told how many checkpoints were found so far
 * @throws the errors of `resolvePointer`; NoCheckpointError for a root without any; the error of a root that cannot be listed
 */
export async function readArgument(
  fileSystems: FileSystems,
  given: string,
  options: { readonly signal?: AbortSignal | undefined; readonly onFound?: (count: number) => void } = {},
): Promise<Argument> {
  const path = fileSystems.nameOf(FlinkPath.parse(given));
  if (!(await isRoot(fileSystems, path))) {
    const { directory, metadataPath } = await resolvePointer(fileSystems, given, { signal: options.signal });
    return { kind: 'pointer', target: { directory, metadataPath, root: null } };
  }
  const scan = await scanRoot(fileSystems, path, options);
  if (scan.targets.length > 0 || scan.unlistable.length > 0) return { kind: 'root', scan };
  const { length } = scan.incomplete;
  const but = length === 0 ? '' : `; ${length === 1 ? 'one directory' : `${length} directories`} without metadata`;
  throw new NoCheckpointError(path.toString(), `no complete checkpoint or savepoint in or below this directory${but}`);
}

async function isRoot(fileSystems: FileSystems, path: Path): Promise<boolean> {
  if (checkpointNumber(path.name) !== undefined || savepointJobIdPrefix(path.name) !== undefined) return false;
  try {
    const fileSystem = await fileSystems.get(path);
    if ((await fileSystem.getFileStatus(path)).type !== 'directory') return false;
    const [metadata, tombstone] = await fileSystem.getFileStatuses(path, [METADATA_FILE, TOMBSTONE_FILE]);
    return metadata === undefined && tombstone === undefined;
  } catch (error) {
    // What is wrong with it is told by the one who resolves pointers.
    if (error instanceof CkptError) return false;
    throw error;
  }
}

async function scanRoot(
  fileSystems: FileSystems,
  root: Path,
  options: { readonly signal?: AbortSignal | undefined; readonly onFound?: (count: number) => void },
): Promise<RootScan> {
  let found = 0;
  const { checkpoints, unlistable } = await scanArea(fileSystems, [root], {
    signal: options.signal,
    onCheckpoint: ({ hasMetadata }) => {
      if (hasMetadata) options.onFound?.(++found);
    },
  });
  const ofRoot = unlistable.find(({ path }) => path.equals(root));
  if (ofRoot) throw ofRoot.error;
  const targets = checkpoints
    .filter(({ hasMetadata }) => hasMetadata)
    .map(({ directory }) => ({ directory, metadataPath: directory.child(METADATA_FILE), root: root.toString() }))
    .sort((a, b) => comparePaths(a.directory.toString(), b.directory.toString()));
  return {
    root,
    targets,
    incomplete: checkpoints.filter(({ hasMetadata }) => !hasMetadata).map(({ directory }) => directory),
    // A directory that vanished meanwhile has nothing to tell.
    unlistable: unlistable.filter(({ error }) => !(error instanceof NotFoundError)),
  };
}
