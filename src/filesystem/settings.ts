/** What a file system is made with. */
import type { FileSystem } from './file-system.js';
import type { RetriedRequest } from './requests.js';

/** What file systems are made with. */
export interface FileSystemSettings {
  /** Flink's options (`s3.endpoint`, …), as given; each file system picks its own. */
  readonly configuration: ReadonlyMap<string, string>;
  /** Where relative paths start, absolute and with slashes; default: the working directory of the process. */
  readonly workingDirectory?: string;
  /** Variables of the environment (`HADOOP_CONF_DIR`, …); default: none. A SDK may look for its own in the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Requests at once to each remote store; default: what suits it. */
  readonly requests?: number | undefined;
  /**
   * Ends every request to a remote store at once, answered or not. For those who only read: whoever changes something must
   * know what came of it.
   */
  readonly interrupt?: AbortSignal | undefined;
  /** Told of each request to a remote store that is made again. */
  readonly onRetry?: ((retried: RetriedRequest) => void) | undefined;
  /** Takes what a user should know of a store, a line each: what it cannot promise, what was ignored. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * Makes the file system for all paths of one scheme and authority.
 * @param authority bucket, or host and port; undefined if the paths have none
 */
export type FileSystemLoader = (
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
) => Promise<FileSystem>;
