/** The operations of WebHDFS, one by one, with what each of them means when its answer was lost. */
import type { Path } from '../path.js';
import { TransientFailure } from '../requests.js';
import type { Parameters, WebHdfsClient } from './client.js';
import type { RequestBody } from './http.js';
import { ConnectionFailure, RemoteFailure } from './remote-failure.js';
import type { RemotePage, RemoteStatus } from './status.js';
import { parseBoolean, parseListing, parsePage, parseStatus } from './status.js';

/** What every file or directory is made with. */
export interface CreationDefaults {
  /** Permission of new files and directories, as octal digits; undefined: what the server does. */
  readonly filePermission?: string | undefined;
  readonly directoryPermission?: string | undefined;
  readonly replication?: string | undefined;
  readonly blockSize?: string | undefined;
}

/** What a rename does if the new name is taken. */
export type RenameMode = 'NONE' | 'OVERWRITE';

/** By what a file is known again: its identity, else how it looks. */
export type KnownFile = Pick<RemoteStatus, 'type' | 'size' | 'identity'> & {
  readonly modificationTime: number | undefined;
};

/** How a rename went: by the call of today, by `FileSystem.rename` of old (a gateway), or not, without a reason. */
export type RenameOutcome = 'renamed' | 'renamed-the-old-way' | 'refused';

/** See the file comment. Failures are those of {@link WebHdfsClient}. */
export class HdfsStore {
  /** False once the server has shown that it does not know listings in pages (Hadoop before 2.8, old gateways). */
  #hasPages = true;
  #hasOldRename = false;

  constructor(
    readonly client: WebHdfsClient,
    private readonly defaults: CreationDefaults = {},
  ) {}

  /** True once the server has shown that it does not know the rename that never replaces (a gateway). */
  get hasOldRename(): boolean {
    return this.#hasOldRename;
  }

  /** @throws RemoteFailure, `isMissing` if nothing is there */
  async status(path: Path, signal?: AbortSignal): Promise<RemoteStatus> {
    return parseStatus(await this.client.query({ method: 'GET', op: 'GETFILESTATUS', path, signal }));
  }

  /** The status, or undefined if nothing is there. */
  async find(path: Path, signal?: AbortSignal): Promise<RemoteStatus | undefined> {
    return missingIsUndefined(this.status(path, signal));
  }

  /** Like {@link find}, within an attempt of another request. */
  async findOnce(path: Path): Promise<RemoteStatus | undefined> {
    const answer = this.client.once({ method: 'GET', op: 'GETFILESTATUS', path });
    return missingIsUndefined(answer.then(parseStatus));
  }

  /**
   * The bytes of a file from its start, in one attempt.
   * @throws ConnectionFailure if it has fewer than `status` says, TransientFailure if only the answer was cut
   */
  async *readWhole(path: Path, status: RemoteStatus): AsyncGenerator<Uint8Array, void> {
    let read = 0;
    if (status.size === 0) return;
    for await (const piece of this.client.read(path, 0, status.size)) {
      read += piece.byteLength;
      yield piece;
    }
    if (read === status.size) return;
    const now = await this.findOnce(path);
    const failure = new ConnectionFailure(`the file ends at byte ${read} by now`, true);
    throw now !== undefined && isSame(status, now) && now.size >= status.size ? new TransientFailure(failure) : failure;
  }

  /**
   * The entries behind `after` by their names' UTF-8 bytes, as many as the server gives at once. A file has one entry, without
   * a name.
   */
  async page(path: Path, after: string, signal?: AbortSignal): Promise<RemotePage> {
    if (this.#hasPages) {
      try {
        const parameters = { startAfter: after };
        return parsePage(await this.client.query({ method: 'GET', op: 'LISTSTATUS_BATCH', path, parameters, signal }));
      } catch (error) {
        if (!isUnknownOperation(error)) throw error;
        this.#hasPages = false;
      }
    }
    const entries = parseListing(await this.client.query({ method: 'GET', op: 'LISTSTATUS', path, signal }));
    return { entries, isLast: true };
  }

  /** Makes a directory with its parents; one that is there is as good. */
  async makeDirectories(path: Path): Promise<void> {
    const parameters = { permission: this.defaults.directoryPermission };
    const answer = await this.client.query({ method: 'PUT', op: 'MKDIRS', path, parameters });
    if (parseBoolean(answer) === false) throw new RemoteFailure('IOException', 'the directory could not be made', 200);
  }

  /**
   * Creates a file in one attempt, over what is there.
   * @param options `sync`: each block is on disk when this resolves; `parents`: whether missing directories are made
   */
  create(
    path: Path,
    body: () => RequestBody | Promise<RequestBody>,
    options: { readonly sync: boolean; readonly parents: boolean; readonly permission?: string | undefined },
  ): Promise<void> {
    const { filePermission, replication, blockSize } = this.defaults;
    const parameters: Parameters = {
      overwrite: true,
      permission: options.permission ?? filePermission,
      replication,
      blocksize: blockSize,
      // Origin: Hadoop CreateFlag.SYNC_BLOCK. Servers that do not know the parameter do without.
      createflag: options.sync ? 'CREATE,OVERWRITE,SYNC_BLOCK' : undefined,
      createparent: options.parents ? undefined : false,
    };
    return this.client.create(path, parameters, body);
  }

  /**
   * Renames a file.
   * @param source what is known of it
   */
  rename(from: Path, to: Path, source: KnownFile, mode: RenameMode): Promise<RenameOutcome> {
    return this.client.change<RenameOutcome>(
      { op: 'RENAME', path: from },
      async () => {
        const parameters = { destination: to.path, renameoptions: mode };
        const answer = await this.client.once({ method: 'PUT', op: 'RENAME', path: from, parameters });
        const isDone = parseBoolean(answer);
        if (isDone === undefined) return 'renamed';
        this.#hasOldRename = true;
        return isDone ? 'renamed-the-old-way' : 'refused';
      },
      async () => {
        const [left, arrived] = [await this.findOnce(from), await this.findOnce(to)];
        return left === undefined && arrived !== undefined && isSame(source, arrived) ? 'renamed' : undefined;
      },
    );
  }

  /**
   * Deletes a file, a link or an empty directory.
   * @param status of what is to go; undefined: whatever has this name
   * @returns false if nothing was there
   */
  remove(path: Path, status: KnownFile | undefined): Promise<boolean> {
    return this.client.change(
      { op: 'DELETE', path },
      async () => {
        const parameters = { recursive: false };
        const answer = await this.client.once({ method: 'DELETE', op: 'DELETE', path, parameters });
        return parseBoolean(answer) ?? true;
      },
      async () => {
        const found = await this.findOnce(path);
        // Another file of this name is none of ours to delete.
        return found === undefined || (status !== undefined && !isSame(status, found)) ? true : undefined;
      },
    );
  }
}

/** Whether two looks have met the same file. Without identities it has to be one that looks the same. */
function isSame(before: KnownFile, now: RemoteStatus): boolean {
  if (before.identity !== undefined && now.identity !== undefined) return before.identity === now.identity;
  if (before.type !== now.type || before.size !== now.size) return false;
  return before.modificationTime === undefined || before.modificationTime === now.modificationTime;
}

async function missingIsUndefined(work: Promise<RemoteStatus>): Promise<RemoteStatus | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RemoteFailure && error.isMissing) return undefined;
    throw error;
  }
}

function isUnknownOperation(error: unknown): boolean {
  return (
    error instanceof RemoteFailure &&
    (error.exception === 'IllegalArgumentException' ||
      error.exception === 'QueryParamException' ||
      error.status === 400) &&
    /LISTSTATUS_BATCH|"op"/.test(error.message)
  );
}
