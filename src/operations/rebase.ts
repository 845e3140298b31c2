/** Files were moved by other means: changes the paths in the metadata, and nothing else. */
import { RefusedError } from '../errors.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { mapSubtaskHandles } from '../model/map-handles.js';
import type { ChangeResult } from './change-result.js';
import { leftBackup, type MetadataTarget, targetPath, writeMetadataTarget } from './metadata-target.js';
import { PrefixChanges } from './path-prefixes.js';
import { openMetadata, type ResolvedPointer } from './pointer.js';
import { rewriteMetadata } from './rewrite.js';

/** What to change and where to write. */
export interface RebaseOptions {
  readonly prefixes: readonly { readonly old: Path; readonly new: Path }[];
  readonly target: MetadataTarget;
  /** Write into another directory although relative handles will mean files of that one. */
  readonly detached?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What was done. */
export interface RebaseResult extends ChangeResult {
  /** Absolute paths that no prefix fitted. */
  readonly unmatchedPaths: number;
  /** Handles relative to the directory: no prefix changes them. */
  readonly relativeHandles: number;
  /**
   * False if nothing was written: there are absolute paths, and none begins with a given prefix; or no path would change in
   * place.
   */
  readonly written: boolean;
  /** The metadata as it was before an earlier run, which was killed when its work was done: nobody needs it. Null if none is left. */
  readonly leftBackup: string | null;
}

/** Ends the writing of a file that is not wanted after all. */
class NothingMatched extends Error {}

/**
 * Rewrites the path prefixes of a metadata file, streamed.
 * @throws RefusedError if relative handles would end up in another directory; UnwritableMetadataError if a path gets too
 *   long; AlreadyExistsError; the errors of reading metadata. The target is untouched then.
 */
export async function rebaseCheckpoint(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  options: RebaseOptions,
): Promise<RebaseResult> {
  const changes = new PrefixChanges(options.prefixes);
  const target = targetPath(pointer, options.target);
  const source = await openMetadata(fileSystems, pointer);
  let bytes = 0;
  let written = true;
  let backup: Path | undefined;
  try {
    ({ bytes } = await writeMetadataTarget(fileSystems, pointer, options.target, async (writer) => {
      const result = await rewriteMetadata(
        source,
        pointer.metadataPath.toString(),
        writer,
        { subtask: (entry) => mapSubtaskHandles(entry, changes) },
        options.signal,
      );
      checkRelative(pointer, target, changes, options);
      const isUseless = changes.unmatched > 0 || options.target.kind === 'in-place';
      if (changes.handles === 0 && isUseless) throw new NothingMatched();
      return result;
    }));
  } catch (error) {
    if (!(error instanceof NothingMatched)) throw error;
    written = false;
    if (options.target.kind === 'in-place') backup = await leftBackup(fileSystems, pointer);
  } finally {
    await source.close();
  }
  return {
    source: pointer.directory.toString(),
    target: target.toString(),
    files: written ? 1 : 0,
    bytes,
    rewrittenHandles: changes.handles,
    prefixes: changes.changes.map((change) => ({
      old: change.old.toString(),
      new: change.new.toString(),
      handles: change.handles,
    })),
    verified: null,
    unmatchedPaths: changes.unmatched,
    relativeHandles: changes.relative,
    written,
    leftBackup: backup?.toString() ?? null,
  };
}

function checkRelative(pointer: ResolvedPointer, target: Path, changes: PrefixChanges, options: RebaseOptions): void {
  if (options.detached || changes.relative === 0 || target.parent?.equals(pointer.directory)) return;
  throw new RefusedError(
    `${changes.relative} handles are relative to ${pointer.directory}: written to another directory they would mean files there (--detached if they are there, or will be)`,
    { relativeHandles: changes.relative, target: target.toString() },
  );
}
