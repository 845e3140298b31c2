/**
 * The file that says that a copy is going on in a directory, so that nobody takes what is there for garbage, and that a
 * second run knows what it continues.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AlreadyExistsError, FileSystemError, NotFoundError, RefusedError, WrongFileTypeError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';

/** Name of the marker. */
export const COPY_MARKER = '.ckpt-copying';

const REFRESH_MILLISECONDS = 30_000;
/** A marker that was not refreshed this long was left by a process that is gone. */
const STALE_MILLISECONDS = 5 * 60_000;
const MAX_MARKER_BYTES = 64 * 1024;
/** Of two that take over one marker at once the last to write it has it: long enough for both to have written. */
const SETTLING_MILLISECONDS = 250;

/** Runs of this very process that hold a marker: its number alone does not tell whether one of them ended. */
const heldHere = new Set<string>();

/** What a marker says. */
export interface MarkerContents {
  /** Metadata that is being copied. */
  readonly source: string;
  readonly checkpointId: string;
  readonly metadataSize: number;
  /** What is changed on the way, in words of this program; empty for a plain copy. */
  readonly changes: string;
  /** Of the run that holds it. */
  readonly run: string;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly refreshed: string;
}

/** What identifies a copy. */
export type CopyIdentity = Pick<MarkerContents, 'source' | 'checkpointId' | 'metadataSize' | 'changes'>;

/** A marker that this process holds. */
export interface HeldMarker {
  /**
   * Looks whether it is still this run that holds it.
   * @throws RefusedError if another run has taken it over, or somebody removed it
   */
  check(): Promise<void>;
  /** Stops the refreshing; the marker stays for a second run. */
  release(): Promise<void>;
  /** Takes the marker away: the copy is complete. */
  remove(): Promise<void>;
}

/** Reads a marker; undefined if there is none. One that is not understood is treated as of another copy. */
async function readMarker(fileSystems: FileSystems, directory: Path): Promise<MarkerContents | 'unknown' | undefined> {
  const path = directory.entry(COPY_MARKER);
  try {
    const source = await (await fileSystems.get(path)).open(path);
    try {
      if (source.size > MAX_MARKER_BYTES) return 'unknown';
      return parse(new TextDecoder().decode(await source.read(0, source.size)));
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    if (error instanceof WrongFileTypeError) return 'unknown';
    throw error;
  }
}

function parse(text: string): MarkerContents | 'unknown' {
  try {
    const value = JSON.parse(text) as Partial<MarkerContents>;
    const isMarker =
      [value.source, value.changes, value.run, value.host, value.refreshed].every((part) => typeof part === 'string') &&
      typeof value.pid === 'number';
    return isMarker ? (value as MarkerContents) : 'unknown';
  } catch {
    return 'unknown';
  }
}

/**
 * Puts a marker into the directory, or takes over that of an earlier run of the same copy.
 * @throws RefusedError if another copy is going on there, or another one was begun
 */
export async function holdMarker(
  fileSystems: FileSystems,
  directory: Path,
  identity: CopyIdentity,
  now: () => number,
): Promise<HeldMarker> {
  const path = directory.entry(COPY_MARKER);
  const fileSystem = await fileSystems.get(path);
  const run = randomBytes(8).toString('hex');
  const contents = (): Uint8Array => {
    const marker: MarkerContents = {
      ...identity,
      run,
      host: hostname(),
      pid: process.pid,
      refreshed: new Date(now()).toISOString(),
    };
    return new TextEncoder().encode(`${JSON.stringify(marker)}\n`);
  };
  const check = async (): Promise<void> => {
    const marker = await readMarker(fileSystems, directory);
    if (marker !== 'unknown' && marker?.run === run) return;
    throw new RefusedError(`another run has taken over the copy to ${directory}`, { path: directory.toString() });
  };
  const write = async (): Promise<void> => {
    const writer = await fileSystem.createAtomic(path, { overwrite: true, sync: false });
    try {
      await writer.write(contents());
      await writer.commit();
    } finally {
      await writer.abort();
    }
  };
  try {
    await fileSystem.createExclusive(path, contents());
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    refuseForeign(await readMarker(fileSystems, directory), directory, identity, now());
    await write();
    await sleep(SETTLING_MILLISECONDS);
    await check();
  }
  heldHere.add(run);
  let refreshing: Promise<void> = Promise.resolve();
  const refresh = async (): Promise<void> => {
    await check();
    await write();
  };
  // A refresh that fails is no harm: the next one may not, and a stale marker only lets others continue. Whether it is still
  // ours is asked again before the metadata is written.
  const timer = setInterval(() => {
    refreshing = refreshing.then(refresh).catch(() => {});
  }, REFRESH_MILLISECONDS);
  timer.unref();
  const release = async (): Promise<void> => {
    clearInterval(timer);
    await refreshing;
    heldHere.delete(run);
  };
  return {
    check,
    release,
    async remove() {
      await release();
      await fileSystem.deleteFile(path);
    },
  };
}

/** True if this very copy was begun in a directory and nobody is at it any more. */
export async function canContinue(
  fileSystems: FileSystems,
  directory: Path,
  identity: CopyIdentity,
  now: number,
): Promise<boolean> {
  try {
    const marker = await readMarker(fileSystems, directory);
    if (marker === undefined) return false;
    refuseForeign(marker, directory, identity, now);
    return true;
  } catch (error) {
    if (error instanceof RefusedError || error instanceof FileSystemError) return false;
    throw error;
  }
}

function refuseForeign(
  marker: MarkerContents | 'unknown' | undefined,
  directory: Path,
  identity: CopyIdentity,
  now: number,
): void {
  if (marker === undefined) return;
  if (marker === 'unknown') {
    throw new RefusedError(`${directory.entry(COPY_MARKER)} is no marker of a copy that could be continued`, {
      path: directory.toString(),
    });
  }
  const same =
    marker.source === identity.source &&
    marker.checkpointId === identity.checkpointId &&
    marker.metadataSize === identity.metadataSize;
  if (same && marker.changes !== identity.changes) {
    throw new RefusedError(`a copy of ${marker.source} with other changes was begun in ${directory}`, {
      path: directory.toString(),
      changes: marker.changes,
    });
  }
  if (!same) {
    throw new RefusedError(`a copy of ${marker.source} was begun in ${directory}, not of ${identity.source}`, {
      path: directory.toString(),
      source: marker.source,
    });
  }
  if (isAlive(marker, now)) {
    throw new RefusedError(`another process (${marker.pid} on ${marker.host}) is copying to ${directory}`, {
      path: directory.toString(),
      pid: marker.pid,
      host: marker.host,
    });
  }
}

/**
 * True if the copy may be going on: its marker was refreshed lately, and if that was on this host, the process is there. A
 * number of a process alone says little: after a restart of the machine another one may have it.
 */
function isAlive(marker: MarkerContents, now: number): boolean {
  if (!(now - Date.parse(marker.refreshed) < STALE_MILLISECONDS)) return false;
  if (marker.host !== hostname()) return true;
  if (marker.pid === process.pid) return heldHere.has(marker.run);
  try {
    process.kill(marker.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * True if a copy is going on in a directory, as far as its marker tells.
 * @throws the errors of reading the marker, but not if there is none
 */
export async function isBeingCopied(fileSystems: FileSystems, directory: Path, now: number): Promise<boolean> {
  const marker = await readMarker(fileSystems, directory);
  return marker !== undefined && marker !== 'unknown' && isAlive(marker, now);
}
