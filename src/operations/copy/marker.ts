/**
 * The file that says that a copy is going on in a directory, so that nobody takes what is there for garbage, and that a
 * second run knows what it continues.
 */
import { hostname } from 'node:os';
import { AlreadyExistsError, NotFoundError, RefusedError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';

/** Name of the marker. */
export const COPY_MARKER = '.ckpt-copying';

const REFRESH_MILLISECONDS = 30_000;
/** A marker that was not refreshed this long was left by a process that is gone. */
const STALE_MILLISECONDS = 5 * 60_000;
const MAX_MARKER_BYTES = 64 * 1024;

/** What a marker says. */
export interface MarkerContents {
  /** Metadata that is being copied. */
  readonly source: string;
  readonly checkpointId: string;
  readonly metadataSize: number;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly refreshed: string;
}

/** What identifies a copy. */
export type CopyIdentity = Pick<MarkerContents, 'source' | 'checkpointId' | 'metadataSize'>;

/** A marker that this process holds. */
export interface HeldMarker {
  /** Stops the refreshing; the marker stays for a second run. */
  release(): Promise<void>;
  /** Takes the marker away: the copy is complete. */
  remove(): Promise<void>;
}

/** Reads a marker; undefined if there is none. One that is not understood is treated as of another copy. */
export async function readMarker(
  fileSystems: FileSystems,
  directory: Path,
): Promise<MarkerContents | 'unknown' | undefined> {
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
    throw error;
  }
}

function parse(text: string): MarkerContents | 'unknown' {
  try {
    const value = JSON.parse(text) as Partial<MarkerContents>;
    const isMarker =
      typeof value.source === 'string' && typeof value.refreshed === 'string' && typeof value.pid === 'number';
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
  const contents = (): Uint8Array =>
    new TextEncoder().encode(
      `${JSON.stringify({ ...identity, host: hostname(), pid: process.pid, refreshed: new Date(now()).toISOString() })}\n`,
    );
  try {
    await fileSystem.createExclusive(path, contents());
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    refuseForeign(await readMarker(fileSystems, directory), directory, identity, now());
  }
  const write = async (): Promise<void> => {
    const writer = await fileSystem.createAtomic(path, { overwrite: true, sync: false });
    try {
      await writer.write(contents());
      await writer.commit();
    } finally {
      await writer.abort();
    }
  };
  await write();
  let refreshing: Promise<void> = Promise.resolve();
  // A refresh that fails is no harm: the next one may not, and a stale marker only lets others continue.
  const timer = setInterval(() => {
    refreshing = refreshing.then(write).catch(() => {});
  }, REFRESH_MILLISECONDS);
  timer.unref();
  const release = async (): Promise<void> => {
    clearInterval(timer);
    await refreshing;
  };
  return {
    release,
    async remove() {
      await release();
      await fileSystem.deleteFile(path);
    },
  };
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
  if (!same) {
    throw new RefusedError(`a copy of ${marker.source} was begun in ${directory}, not of ${identity.source}`, {
      path: directory.toString(),
      source: marker.source,
    });
  }
  const isOurs = marker.host === hostname() && marker.pid === process.pid;
  if (!isOurs && isAlive(marker, now)) {
    throw new RefusedError(`another process (${marker.pid} on ${marker.host}) is copying to ${directory}`, {
      path: directory.toString(),
      pid: marker.pid,
      host: marker.host,
    });
  }
}

/** On this host the process itself tells; elsewhere the age of the marker. */
export function isAlive(marker: MarkerContents, now: number): boolean {
  if (marker.host !== hostname()) return now - Date.parse(marker.refreshed) < STALE_MILLISECONDS;
  try {
    process.kill(marker.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
