/**
 * Where Flink puts what: the names of directories and files that a checkpoint storage makes.
 * Origin: Flink `AbstractFsCheckpointStorageAccess`.
 */
import { UsageError } from '../errors.js';
import type { Path } from '../filesystem/path.js';

/** In front of the number of a checkpoint in the name of its directory. */
export const CHECKPOINT_DIRECTORY_PREFIX = 'chk-';
/** The directory of files that several checkpoints of a job may use. */
export const SHARED_STATE_DIRECTORY = 'shared';
/** The directory of files that task managers own. */
export const TASK_OWNED_STATE_DIRECTORY = 'taskowned';
/** The metadata file of a checkpoint or savepoint. */
export const METADATA_FILE_NAME = '_metadata';

const JOB_ID = /^[0-9a-f]{32}$/i;

/**
 * Checks a job id.
 * @returns it in lower case, as it stands in names of directories
 * @throws UsageError unless it is 32 hex digits
 */
export function parseJobId(text: string): string {
  if (!JOB_ID.test(text)) throw new UsageError(`"${text}" is no job id: 32 hex digits are one`, { jobId: text });
  return text.toLowerCase();
}

/** The directory of a job below the directory of all checkpoints. */
export function checkpointDirectoryForJob(base: Path, jobId: string): Path {
  return base.child(parseJobId(jobId));
}

/** The directory of the files that only one checkpoint uses, below that of its job. */
export function exclusiveDirectoryOf(jobDirectory: Path, checkpointId: bigint): Path {
  return jobDirectory.child(`${CHECKPOINT_DIRECTORY_PREFIX}${checkpointId}`);
}
