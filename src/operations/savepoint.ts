/** A new, empty directory for a savepoint. */
import { UsageError } from '../errors.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { createSavepointDirectory, type SavepointDirectoryOptions } from '../storage/savepoint-directory.js';

/** What `ckpt savepoint` gives. */
export interface SavepointResult {
  /** Qualified. */
  readonly savepointDirectory: string;
  /** How many names were tried. */
  readonly attempts: number;
}

/**
 * Makes a directory for a savepoint of a job, and the directory above it if it is missing.
 * @param target the directory above; undefined if nobody has named one
 * @throws UsageError without a target, or for a job id that is none; SavepointDirectoryError; UnknownSchemeError
 */
export async function createSavepoint(
  fileSystems: FileSystems,
  target: Path | undefined,
  jobId: string,
  options: SavepointDirectoryOptions = {},
): Promise<SavepointResult> {
  if (target === undefined) {
    throw new UsageError(
      'no directory for savepoints: give --target-directory, or configure execution.checkpointing.savepoint-dir',
    );
  }
  const base = fileSystems.nameOf(target);
  const { directory, attempts } = await createSavepointDirectory(await fileSystems.get(base), base, jobId, options);
  return { savepointDirectory: directory.toString(), attempts };
}
