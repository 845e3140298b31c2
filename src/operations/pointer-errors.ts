/** Why a pointer leads to no metadata: what is there instead, and what stands nearby that may have been meant. */
import {
  type CkptError,
  IoError,
  NoMetadataError,
  NotFoundError,
  PermissionError,
  PointerNotFoundError,
} from '../errors.js';
import type { DirectoryEntry } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { LatestResult } from './latest.js';
import {
  checkpointNumber,
  METADATA_FILE,
  misnamedReason,
  SHARED_DIRECTORY,
  savepointJobIdPrefix,
  TASK_OWNED_DIRECTORY,
  TOMBSTONE_FILE,
} from './layout.js';
import { nearbyCheckpoints, surroundingsOf } from './nearby.js';

/** Flink's pointer of checkpoints that are kept in the memory of the job manager. */
const NOT_ADDRESSABLE = '<checkpoint-not-externally-addressable>';
/** `${VAR}`, `{{ x }}`, `<path>`: what a script leaves when nobody fills it in. */
const PLACEHOLDER = /^(?:<[^/]*>|\$\{.*\}|\{\{.*\}\}|\$[A-Z_]+)$/;
/** An error must not take longer than people wait for one. */
const SEARCH_MILLISECONDS = 10_000;

/** Options of {@link explainNoMetadata}. */
export interface ExplainOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to look for checkpoints below a directory that is none; default ten seconds. */
  readonly searchMilliseconds?: number | undefined;
}

/** True for the errors that mean that nothing has this name: a circle of links and a name too long to exist are such. */
export function isNoSuchName(error: unknown): boolean {
  if (error instanceof NotFoundError) return true;
  const cause = error instanceof IoError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && (cause.code === 'ELOOP' || cause.code === 'ENAMETOOLONG');
}

/** The error for a pointer at which nothing is. Never throws but for bugs. */
export async function explainMissing(fileSystems: FileSystems, path: Path, pointer: string): Promise<CkptError> {
  const name = pointer.trim();
  if (name === NOT_ADDRESSABLE) {
    const reason =
      "this is Flink's marker for a checkpoint that exists in the memory of the job manager only; there is no file";
    return new PointerNotFoundError(pointer, reason, []);
  }
  if (PLACEHOLDER.test(name)) {
    return new PointerNotFoundError(pointer, 'this looks like a placeholder that nobody has filled in', []);
  }
  const { isLink, missing, blocking, nearby, alike } = await surroundingsOf(fileSystems, path);
  const reasons = [`${isLink ? 'this link leads nowhere' : 'no such file or directory'}${lookedUp(fileSystems, path)}`];
  if (blocking) reasons.push(`${blocking} is a file, not a directory`);
  if (missing) reasons.push(`${missing} does not exist either`);
  const odd = oddityOf(path.name);
  if (odd !== undefined) reasons.push(odd);
  if (nearby.length > 0) {
    const shown = missing ? nearby.map(String) : nearby.map((sibling) => sibling.name);
    reasons.push(`${missing ? 'there is' : 'beside it:'} ${shown.join(', ')}`);
  } else if (alike.length > 0) {
    reasons.push(`there is ${alike.join(', ')}`);
  }
  const place = fileSystems.lookUp(path);
  return new PointerNotFoundError(path.toString(), reasons.join('; '), nearby.map(String), {
    ...(!place.equals(path) && { lookedUpAt: place.toString() }),
  });
}

/** What is easily overlooked in a name. */
function oddityOf(name: string): string | undefined {
  if (name !== name.trim()) return 'its name begins or ends with a blank';
  return /%[0-9a-f]{2}/i.test(name) ? 'percent signs in its name are taken as they are' : undefined;
}

function lookedUp(fileSystems: FileSystems, path: Path): string {
  const place = fileSystems.lookUp(path);
  return place.equals(path) ? '' : ` (looked up at ${place})`;
}

/**
 * The error for a directory that has no metadata file. Searches below it.
 * @throws the signal's reason
 */
export async function explainNoMetadata(
  fileSystems: FileSystems,
  directory: Path,
  options: ExplainOptions = {},
): Promise<CkptError> {
  const pointer = directory.toString();
  const entries: DirectoryEntry[] = [];
  try {
    for await (const batch of (await fileSystems.get(directory)).list(directory, options.signal))
      entries.push(...batch);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof PermissionError) return error;
  }
  const misnamed = entries.find(({ name }) => name === METADATA_FILE);
  if (misnamed) return new NoMetadataError(pointer, misnamedReason(misnamed));
  if (entries.some(({ name }) => name === TOMBSTONE_FILE)) {
    const reason = 'this checkpoint is being discarded, or its discard was interrupted; "ckpt discard" finishes it';
    return new NoMetadataError(pointer, reason, { halfDiscarded: true });
  }
  if (checkpointNumber(directory.name) !== undefined || savepointJobIdPrefix(directory.name) !== undefined) {
    const nearby = await nearbyCheckpoints(fileSystems, directory);
    const reason = `no ${METADATA_FILE} in this directory${lookedUp(fileSystems, directory)} (${contents(entries)}): the checkpoint is still being written, never completed, or was discarded by Flink`;
    return withNearby(pointer, reason, nearby, 'complete beside it:');
  }
  return explainRoot(fileSystems, directory, options);
}

function contents(entries: readonly DirectoryEntry[]): string {
  if (entries.length === 0) return 'it is empty';
  return entries.length === 1 ? '1 entry is there without it' : `${entries.length} entries are there without it`;
}

function withNearby(pointer: string, reason: string, nearby: readonly Path[], lead: string): NoMetadataError {
  const hint = nearby.length > 0 ? `; ${lead} ${nearby.map(({ name }) => name).join(', ')}` : '';
  return new NoMetadataError(pointer, reason + hint, { nearby: nearby.map(String) });
}

/** A directory that is not even named like a checkpoint: probably one above checkpoints. */
async function explainRoot(fileSystems: FileSystems, directory: Path, options: ExplainOptions): Promise<CkptError> {
  const pointer = directory.toString();
  const place = lookedUp(fileSystems, directory);
  const found = await searchBelow(fileSystems, directory, options);
  if (found === 'gave up') {
    const reason = `no ${METADATA_FILE} in this directory${place}; a look at what is below it took too long (--latest searches to the end)`;
    return new NoMetadataError(pointer, reason);
  }
  const { newest, unreadable } = found;
  if (newest) {
    const readable = unreadable.length > 0 ? ' that can be read' : '';
    const reason = `this is a directory above checkpoints${place}, not one of them; the newest complete one${readable} is ${newest.pointer} (--latest takes it)`;
    return new NoMetadataError(pointer, reason, { nearby: [newest.pointer.toString()] });
  }
  if (directory.name === SHARED_DIRECTORY || directory.name === TASK_OWNED_DIRECTORY) {
    const reason = `no ${METADATA_FILE} in this directory${place}: it holds state files of a job's checkpoints`;
    return withNearby(pointer, reason, await nearbyCheckpoints(fileSystems, directory), 'complete beside it:');
  }
  const [first] = unreadable;
  if (first) {
    const why = first.error instanceof Error ? first.error.message : String(first.error);
    const reason = `no ${METADATA_FILE} in this directory${place}, and none below it that can be read (${unreadable.length} cannot, the first: ${why})`;
    return new NoMetadataError(pointer, reason);
  }
  const reason = `no ${METADATA_FILE} in this directory${place}, nor below it; a metadata file of another name can be given itself`;
  return new NoMetadataError(pointer, reason);
}

async function searchBelow(
  fileSystems: FileSystems,
  directory: Path,
  { signal, searchMilliseconds = SEARCH_MILLISECONDS }: ExplainOptions,
): Promise<LatestResult | 'gave up'> {
  const { findLatest } = await import('./latest.js');
  const search = new AbortController();
  const stop = (): void => search.abort(signal?.reason);
  const timer = setTimeout(() => search.abort('gave up'), searchMilliseconds);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await findLatest(fileSystems, directory, { signal: search.signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (search.signal.aborted) return 'gave up';
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
