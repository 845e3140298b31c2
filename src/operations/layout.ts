/** What the names of directories tell, by Flink's conventions. Names decide nothing that bytes can. */
import type { DirectoryEntry } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import { Path as FlinkPath } from '../filesystem/path.js';
import { METADATA_FILE_NAME, SHARED_STATE_DIRECTORY, TASK_OWNED_STATE_DIRECTORY } from '../storage/layout.js';
import type { DirectoryRole } from './inspect-result.js';

export {
  METADATA_FILE_NAME as METADATA_FILE,
  SHARED_STATE_DIRECTORY as SHARED_DIRECTORY,
  TASK_OWNED_STATE_DIRECTORY as TASK_OWNED_DIRECTORY,
} from '../storage/layout.js';

/** What a metadata file is called while its checkpoint is being discarded by `ckpt`. */
export const TOMBSTONE_FILE = '_metadata.discarding';

const JOB_ID = /^[0-9a-f]{32}$/;
const CHECKPOINT = /^chk-(0|[1-9][0-9]*)$/;
const SAVEPOINT = /^savepoint-([0-9a-f]{6})-([0-9a-f]{12})$/;

/** What the entry is that bears the name of a metadata file and is no file. */
export function misnamedReason({ type, isLink }: Pick<DirectoryEntry, 'type' | 'isLink'>): string {
  if (type === 'directory') return `${METADATA_FILE_NAME} in it is a directory, not a file`;
  return isLink
    ? `${METADATA_FILE_NAME} in it is a link that leads nowhere`
    : `${METADATA_FILE_NAME} in it is no regular file`;
}

/** True for 32 lower-case hex digits. */
export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

/** The number of a directory `chk-<n>`; undefined for any other name. */
export function checkpointNumber(name: string): bigint | undefined {
  const match = CHECKPOINT.exec(name);
  return match?.[1] === undefined ? undefined : BigInt(match[1]);
}

/** The first six digits of the job id in the name of a savepoint directory; undefined for any other name. */
export function savepointJobIdPrefix(name: string): string | undefined {
  return SAVEPOINT.exec(name)?.[1];
}

/** The job whose checkpoint a directory is, by the name of its parent; null if that is no job id, or a savepoint's. */
export function jobIdOf(directory: Path): string | null {
  if (checkpointNumber(directory.name) === undefined) return null;
  const parent = directory.parent;
  return parent && isJobId(parent.name) ? parent.name : null;
}

/**
 * What a directory is for the checkpoint in `own`.
 * @param changelog true if changelog handles name files in it
 */
export function roleOf(directory: string, own: Path, changelog: boolean): DirectoryRole {
  if (isWithin(directory, own)) return 'exclusive';
  if (changelog) return 'changelog';
  const job = own.parent;
  const path = parsed(directory);
  if (!path || !job) return 'foreign';
  if (path.startsWith(job.child(SHARED_STATE_DIRECTORY))) return 'shared';
  if (path.startsWith(job.child(TASK_OWNED_STATE_DIRECTORY))) return 'taskowned';
  return 'foreign';
}

/** True if a directory, as metadata names it, is `own` or lies in it. */
export function isWithin(directory: string, own: Path): boolean {
  // A root may stand there without its slash.
  return (
    directory === own.toString() || `${directory}/` === own.toString() || parsed(directory)?.startsWith(own) === true
  );
}

function parsed(directory: string): Path | undefined {
  try {
    return FlinkPath.parse(directory);
  } catch {
    return undefined;
  }
}
