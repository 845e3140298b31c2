/** The `FileStatus` of an answer, and its listings. */
import type { DirectoryEntry, EntryStatus, FileStatus, FileType } from '../file-system.js';
import type { Path } from '../path.js';
import { ConnectionFailure } from './remote-failure.js';

/** What a name node tells of a file or directory. */
export interface RemoteStatus {
  /** Its name in a listing; empty for the path itself. */
  readonly name: string;
  readonly type: FileType | 'link';
  /** Bytes of a file, else 0. */
  readonly size: number;
  /** Milliseconds since the epoch by the clock of the name node. */
  readonly modificationTime: number;
  /** Of the inode; undefined if the server (an old one, or a gateway) does not tell. */
  readonly identity: string | undefined;
  /** Octal digits, as `644`. */
  readonly permission: string | undefined;
}

/** One page of a listing. */
export interface RemotePage {
  readonly entries: readonly RemoteStatus[];
  readonly isLast: boolean;
}

const TYPES: ReadonlyMap<unknown, FileType | 'link'> = new Map([
  ['FILE', 'file'],
  ['DIRECTORY', 'directory'],
  ['SYMLINK', 'link'],
]);

/** The answer to GETFILESTATUS. @throws ConnectionFailure if it is none */
export function parseStatus(answer: unknown): RemoteStatus {
  return statusOf(member(answer, 'FileStatus'));
}

/** The answer to LISTSTATUS. @throws ConnectionFailure if it is none */
export function parseListing(answer: unknown): readonly RemoteStatus[] {
  const statuses = member(member(answer, 'FileStatuses'), 'FileStatus');
  if (!Array.isArray(statuses)) throw strange();
  return statuses.map(statusOf);
}

/** The answer to LISTSTATUS_BATCH. @throws ConnectionFailure if it is none */
export function parsePage(answer: unknown): RemotePage {
  const listing = member(answer, 'DirectoryListing');
  const remaining = member(listing, 'remainingEntries');
  const entries = parseListing(member(listing, 'partialListing'));
  if (typeof remaining !== 'number') throw strange();
  // A page without entries but with more to come would be asked for again and again.
  if (remaining > 0 && entries.length === 0) throw strange();
  return { entries, isLast: remaining <= 0 };
}

/** The `boolean` of an answer; undefined if there is none. */
export function parseBoolean(answer: unknown): boolean | undefined {
  const value = member(answer, 'boolean');
  return typeof value === 'boolean' ? value : undefined;
}

/** As {@link FileStatus}. Links do not occur on a server of today, and are not followed by it. */
export function toFileStatus(path: Path, status: RemoteStatus): FileStatus {
  const { size, modificationTime, identity } = status;
  return {
    path,
    type: status.type === 'link' ? 'other' : status.type,
    isLink: status.type === 'link',
    size,
    modificationTime,
    // The access time is no change, and the name node keeps no other one.
    newestTime: modificationTime,
    linkCount: 1,
    identity,
  };
}

/** As {@link EntryStatus}. */
export function toEntryStatus({ type, size, modificationTime }: RemoteStatus): EntryStatus {
  return { type, size, modificationTime, newestTime: modificationTime, linkCount: 1 };
}

/** As {@link DirectoryEntry}. */
export function toDirectoryEntry({ name, type, size, modificationTime }: RemoteStatus): DirectoryEntry {
  return { name, type: type === 'link' ? 'other' : type, isLink: type === 'link', size, modificationTime };
}

function statusOf(value: unknown): RemoteStatus {
  const name = member(value, 'pathSuffix');
  const type = TYPES.get(member(value, 'type'));
  const length = member(value, 'length');
  const time = member(value, 'modificationTime');
  const id = member(value, 'fileId');
  const permission = member(value, 'permission');
  if (typeof name !== 'string' || type === undefined || !isSize(length) || typeof time !== 'number') throw strange();
  return {
    name,
    type,
    size: type === 'file' ? length : 0,
    modificationTime: time,
    identity: isSize(id) && id > 0 ? String(id) : undefined,
    permission: typeof permission === 'string' && /^[0-7]{3,4}$/.test(permission) ? permission : undefined,
  };
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function strange(): ConnectionFailure {
  return new ConnectionFailure('the answer is not one of WebHDFS', true);
}
