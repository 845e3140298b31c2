/** From what a command line names to one metadata file: a pointer, or with `latest` the newest below a directory. */
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { JobCheckpoints, LatestResult } from './latest.js';
import { type ResolvedPointer, resolvePointer } from './pointer.js';

/** How to take a pointer. */
export interface LocateOptions {
  /** The pointer is a directory above checkpoints: take the newest complete one. */
  readonly latest?: boolean | undefined;
  /** With `latest`: only checkpoints of this job. */
  readonly job?: string | undefined;
  /** With `latest`: only one that this accepts, tried from the newest on. */
  readonly accept?: ((pointer: ResolvedPointer) => Promise<boolean>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** With `latest`: told how much has been listed, and how many checkpoints were seen. */
  readonly onProgress?: ((listed: number, found: number) => void) | undefined;
}

/** What was found, and with `latest` what else there is. */
export interface Located {
  readonly pointer: ResolvedPointer;
  /** The other jobs below the directory, the newest first. */
  readonly otherJobs: readonly JobCheckpoints[];
  readonly unreadable: LatestResult['unreadable'];
}

/**
 * Finds the metadata that is meant.
 * @throws the errors of `resolvePointer`, or NoCheckpointError with `latest`
 */
export async function locate(fileSystems: FileSystems, given: string, options: LocateOptions = {}): Promise<Located> {
  if (!options.latest) {
    const pointer = await resolvePointer(fileSystems, given, { signal: options.signal });
    return { pointer, otherJobs: [], unreadable: [] };
  }
  const { latestCheckpoint } = await import('./latest.js');
  const root = fileSystems.nameOf(Path.parse(given));
  const { accept, ...search } = options;
  const result = await latestCheckpoint(fileSystems, root, {
    ...search,
    ...(accept && { accept: (found) => accept(asPointer(given, found)) }),
  });
  const { newest } = result;
  const otherJobs = result.jobs.filter(({ checkpoints }) => !checkpoints.includes(newest));
  return { pointer: asPointer(given, newest), otherJobs, unreadable: result.unreadable };
}

function asPointer(given: string, found: LatestResult['newest'] & object): ResolvedPointer {
  return { given, directory: found.pointer, metadataPath: found.metadataPath, metadata: found.metadata };
}
