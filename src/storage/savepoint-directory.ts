/**
 * New directories for savepoints: `savepoint-`, the first six digits of the job id, `-`, and twelve random hex digits.
 * Origin: Flink `AbstractFsCheckpointStorageAccess.initializeLocationForSavepoint`. Unlike Flink, which trusts in chance and
 * would take over a directory that exists, this counts one as a failed attempt.
 */
import { randomBytes } from 'node:crypto';
import { AlreadyExistsError, asError, SavepointDirectoryError } from '../errors.js';
import type { FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import { parseJobId } from './layout.js';

const ATTEMPTS = 10;
const RANDOM_BYTES = 6;

/** Options of {@link createSavepointDirectory}. */
export interface SavepointDirectoryOptions {
  /** That many random bytes; default `node:crypto`. */
  readonly random?: (size: number) => Uint8Array;
  /** How many names are tried, at least 1; default 10. */
  readonly attempts?: number;
}

/** A directory that {@link createSavepointDirectory} has made. */
export interface SavepointDirectory {
  /** Qualified; empty, and nobody else's. */
  readonly directory: Path;
  /** How many names were tried, the last one included. */
  readonly attempts: number;
}

/**
 * Makes a new directory for a savepoint, and the base directory if it is missing. Any number of calls at once, in any number
 * of processes, get as many directories.
 * @param base qualified or not
 * @param jobId 32 hex digits
 * @throws UsageError for another job id; InvalidPathError; SavepointDirectoryError when all attempts have failed, with the
 *   latest failure as its cause and the others as its suppressed ones
 * @example
 * const { directory } = await createSavepointDirectory(new LocalFileSystem(), Path.parse('/savepoints'), jobId);
 */
export async function createSavepointDirectory(
  fileSystem: FileSystem,
  base: Path,
  jobId: string,
  options: SavepointDirectoryOptions = {},
): Promise<SavepointDirectory> {
  const { random = randomBytes, attempts = ATTEMPTS } = options;
  if (!(attempts >= 1)) throw new RangeError(`${attempts} attempts cannot make a directory`);
  const prefix = `savepoint-${parseJobId(jobId).slice(0, 6)}-`;
  const parent = fileSystem.qualify(base);
  const failures: Error[] = [];
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const directory = parent.child(prefix + Buffer.from(random(RANDOM_BYTES)).toString('hex'));
    try {
      if (await fileSystem.makeDirectory(directory)) return { directory, attempts: attempt };
      failures.push(new AlreadyExistsError(directory.toString()));
    } catch (error) {
      failures.push(asError(error));
    }
  }
  const error = new SavepointDirectoryError(parent.toString(), attempts, { cause: failures.pop() });
  error.suppressed.push(...failures);
  throw error;
}
