/**
 * Where Flink puts things, by the names of directories. Only what lies in such a place can be garbage; anything else below
 * a root is somebody else's.
 */
import type { Path } from '../../filesystem/path.js';
import {
  checkpointNumber,
  isJobId,
  METADATA_FILE,
  SHARED_DIRECTORY,
  savepointJobIdPrefix,
  TASK_OWNED_DIRECTORY,
} from '../layout.js';
import { isUuid } from './name-table.js';

/** Directory of the changelog below that of its job. */
export const CHANGELOG_DIRECTORY = 'dstl';

const MANAGED = /^job_/;
const WORKING = /^op_.*_attempt_\d+$/;
/** What Flink calls a file until it is finished: local and HDFS, then S3. */
const FLINK_TEMPORARY = [/^\.(.+)\.inprogress\.([0-9a-f-]{36})$/, /^_(.+)_tmp_([0-9a-f-]{36})$/];

/**
 * What a directory is for. `managed`: of file merging. `working`: of a running ForSt backend. `job`: the directory of a job
 * itself. `outside`: nothing of Flink's, or not told by its name.
 */
export type PlaceKind =
  | 'shared'
  | 'taskowned'
  | 'managed'
  | 'working'
  | 'changelog'
  | 'flat-changelog'
  | 'checkpoint'
  | 'savepoint'
  | 'job'
  | 'outside';

/** What {@link placeOf} finds. */
export interface Place {
  readonly kind: PlaceKind;
  /** The directory that is judged as a whole: of a checkpoint, of file merging, of a backend. Else the place itself. */
  readonly unit: string;
  /** True if the directory is the unit itself, not one below it. */
  readonly isUnit: boolean;
  /** The directory that `shared`, `taskowned`, `chk-N` or `dstl` is in. */
  readonly base: string;
  /** The job id that the base is named by; null if it is not. */
  readonly jobId: string | null;
  /**
   * What the place is called wherever it lies: `<job id>/shared`. Null where no job id is in the name: the place of a job
   * that was told to make no directory of its own.
   */
  readonly mark: string | null;
}

/** What tells of a directory above that Flink writes its checkpoints into it: what else is in it. */
export interface BaseFlags {
  checkpoint: boolean;
  shared: boolean;
  taskOwned: boolean;
}

const NONE: Omit<Place, 'unit'> = { kind: 'outside', isUnit: true, base: '', jobId: null, mark: null };

/** Names of one path, without empty ones. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
}

/**
 * The place that a directory is, or lies in.
 * @param depth how many names of the path belong to the root; those above the root's own are asked for job ids only
 */
export function placeOf(directory: Path, depth: number): Place {
  const names = namesOf(directory.path);
  const front = prefixOf(directory);
  const pathTo = (count: number): string => `${front}/${names.slice(0, count).join('/')}`;
  let unsure: Place | undefined;
  for (let i = Math.max(depth - 1, 0); i < names.length; i++) {
    const place = placeAt(names, i, pathTo);
    if (!place) continue;
    if (place.jobId !== null || place.kind === 'checkpoint' || place.kind === 'savepoint') return place;
    if (i >= depth) unsure ??= place;
  }
  if (unsure) return unsure;
  if (isJobId(directory.name)) return { ...NONE, kind: 'job', unit: directory.toString(), jobId: directory.name };
  return { ...NONE, unit: directory.toString() };
}

function prefixOf({ scheme, authority }: Path): string {
  const front = scheme === undefined ? '' : `${scheme}:`;
  return authority === undefined ? front : `${front}//${authority}`;
}

function placeAt(names: readonly string[], i: number, pathTo: (count: number) => string): Place | undefined {
  const name = names[i] ?? '';
  const above = names[i - 1] ?? '';
  const jobId = isJobId(above) ? above : null;
  const mark = jobId === null ? null : `${jobId}/${name}`;
  const isUnit = i === names.length - 1;
  const common = { unit: pathTo(i + 1), isUnit, base: pathTo(i), jobId, mark };
  const inner = names[i + 1];
  const within = { ...common, unit: pathTo(i + 2), isUnit: i + 2 === names.length };
  if (name === SHARED_DIRECTORY) {
    if (inner !== undefined && MANAGED.test(inner)) return { kind: 'managed', ...within };
    if (inner !== undefined && WORKING.test(inner)) return { kind: 'working', ...within };
    return { kind: 'shared', ...common };
  }
  if (name === TASK_OWNED_DIRECTORY) {
    return inner !== undefined && MANAGED.test(inner)
      ? { kind: 'managed', ...within }
      : { kind: 'taskowned', ...common };
  }
  if (name === CHANGELOG_DIRECTORY && jobId !== null) return { kind: 'changelog', ...common };
  if (checkpointNumber(name) !== undefined) return { kind: 'checkpoint', ...common };
  // Random by itself.
  if (savepointJobIdPrefix(name) !== undefined) return { kind: 'savepoint', ...common, mark: name };
  return undefined;
}

/**
 * The marks of all places that a directory could lie in, whatever is above them, and whether it could be in a place of a
 * job without a directory of its own. For paths of metadata, of which nobody knows where they begin.
 */
export function marksIn(directory: string): { readonly marks: readonly string[]; readonly isBare: boolean } {
  const names = namesOf(directory);
  const marks: string[] = [];
  let isBare = false;
  for (let i = 0; i < names.length; i++) {
    const place = placeAt(names, i, () => '');
    if (place?.mark) marks.push(place.mark);
    else if (place) isBare = true;
  }
  return { marks, isBare };
}

/**
 * The directory above a job's that a root lies in: what else may refer to the root is there.
 * @returns undefined for a root that is, by its name, above the directories of jobs
 */
export function readAlongWith(root: Path): Path | undefined {
  let above: Path | undefined;
  let inner = '';
  for (let path: Path | undefined = root; path; path = path.parent) {
    const { name } = path;
    const parent: Path | undefined = path.parent;
    if (!parent || parent.equals(path)) break;
    if (isJobId(name) && (inner === '' || isOfJob(inner))) return parent;
    if (isOfJob(name) && above === undefined) above = parent;
    inner = name;
  }
  return above;
}

function isOfJob(name: string): boolean {
  return (
    name === SHARED_DIRECTORY ||
    name === TASK_OWNED_DIRECTORY ||
    name === CHANGELOG_DIRECTORY ||
    checkpointNumber(name) !== undefined
  );
}

/** True for the name of a file that Flink has not finished, which it gives its metadata and state until then. */
export function isUnfinishedOfFlink(name: string): boolean {
  return FLINK_TEMPORARY.some((form) => {
    const match = form.exec(name);
    const of = match?.[1] ?? '';
    return match !== null && isUuid(match[2] ?? '') && (of === METADATA_FILE || isUuid(of));
  });
}
