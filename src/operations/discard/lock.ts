/**
 * The advisory lock of everything that deletes: a file in each root of an area, so that two runs do not work on one area at
 * once. It says who holds it, since when, and what for. Readers never look at it.
 */
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  AlreadyExistsError,
  CkptError,
  FileSystemError,
  NotFoundError,
  PermissionError,
  RefusedError,
  UnsupportedOperationError,
} from '../../errors.js';
import type { FileSystem } from '../../filesystem/file-system.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';

/** The name of the lock file. */
export const LOCK_FILE = '.ckpt-lock';

/** True for the lock of a run that deletes, also while it is taken over: no part of a tree, and no change of one. */
export function isLockName(name: string): boolean {
  return name === LOCK_FILE || name.startsWith(`${LOCK_FILE}.`);
}
const MAX_LOCK_BYTES = 16 * 1024 * 1024;
/** Locks of this process: any other one with its id was left by a process that had it before. */
const ownTokens = new Set<string>();

/** What a lock file says. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly time: string;
  /** What is done under it, e.g. `discard`. */
  readonly command: string;
  /** External pointers of the checkpoints that are being discarded. */
  readonly pointers: readonly string[];
  /** Where the process id counts: two containers of one host name do not see each other's processes. */
  readonly processes: string | null;
  /** Tells two locks of one process apart. */
  readonly token: string;
}

/** Options of {@link withLock}. */
export interface LockOptions {
  /** What is done under it. */
  readonly command: string;
  /** Default none. */
  readonly pointers?: readonly string[] | undefined;
  /** `break` takes over a lock whoever holds it; default `refuse`. A lock of a process that has died is always taken over. */
  readonly ifHeld?: 'refuse' | 'break' | undefined;
  /** Told of what the user should know: a lock that was taken over, a directory that has none. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * Runs `work` while holding the locks of all roots; they are given back whatever happens. In a root where no file can be
 * created the work goes on without a lock, with a warning.
 * @throws RefusedError if somebody else holds a lock of a root or of a directory above one; what `work` throws
 */
export async function withLock<T>(
  fileSystems: FileSystems,
  roots: readonly Path[],
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const holder: LockHolder = {
    host: hostname(),
    pid: process.pid,
    time: new Date().toISOString(),
    command: options.command,
    pointers: options.pointers ?? [],
    processes: processNamespace(),
    token: randomUUID(),
  };
  const held: Path[] = [];
  ownTokens.add(holder.token);
  try {
    for (const root of [...roots].sort((a, b) => (a.toString() < b.toString() ? -1 : 1))) {
      await refuseLocksAbove(fileSystems, root, options);
      if (await acquire(fileSystems, root, holder, options)) held.push(root);
    }
    return await work();
  } finally {
    for (const root of held.reverse()) await release(fileSystems, root, holder, options);
    ownTokens.delete(holder.token);
  }
}

/** What the lock of a directory says; undefined if there is none, or if it says nothing that makes sense. */
export async function readLock(fileSystems: FileSystems, root: Path): Promise<LockHolder | undefined> {
  return parseLock(await readLockText(fileSystems, root.child(LOCK_FILE)));
}

/**
 * Refuses to work on a directory whose lock is held.
 * @throws RefusedError
 */
export async function refuseIfLocked(fileSystems: FileSystems, directory: Path, options: LockOptions): Promise<void> {
  if (options.ifHeld === 'break') return;
  const text = await readLockText(fileSystems, directory.child(LOCK_FILE)).catch(() => undefined);
  const holder = parseLock(text);
  if (text !== undefined && !(holder && isDead(holder))) throw heldError(directory, holder);
}

async function refuseLocksAbove(fileSystems: FileSystems, root: Path, options: LockOptions): Promise<void> {
  for (let above = root.parent; above !== undefined; above = above.parent) {
    await refuseIfLocked(fileSystems, above, options);
    if (above.parent?.equals(above)) return;
  }
}

async function acquire(
  fileSystems: FileSystems,
  root: Path,
  holder: LockHolder,
  options: LockOptions,
): Promise<boolean> {
  const path = root.child(LOCK_FILE);
  const fileSystem = await fileSystems.get(path);
  const contents = new TextEncoder().encode(`${JSON.stringify(holder)}\n`);
  for (let attempt = 0; ; attempt++) {
    try {
      await create(fileSystem, path, contents);
      return true;
    } catch (error) {
      if (error instanceof PermissionError || error instanceof UnsupportedOperationError) {
        options.warn?.(`${root}: no lock can be made here, so other runs are not kept out: ${error.message}`);
        return false;
      }
      if (!(error instanceof AlreadyExistsError) || attempt === 3) throw error;
    }
    const text = await readLockText(fileSystems, path);
    if (text === undefined) continue;
    const other = parseLock(text);
    const isStale = other !== undefined && isDead(other);
    if (!isStale && options.ifHeld !== 'break') throw heldError(root, other);
    await remove(fileSystems, path, text, root, other);
    const reason = isStale ? 'that process does not run any more' : 'as asked for';
    options.warn?.(`${root}: took over the lock of ${describeHolder(other)}: ${reason}`);
  }
}

/** Like `createExclusive`, but a lock need not survive a loss of power: who held it does not either. */
async function create(fileSystem: FileSystem, path: Path, contents: Uint8Array): Promise<void> {
  const writer = await fileSystem.createAtomic(path, { sync: false });
  try {
    await writer.write(contents);
  } catch (error) {
    await writer.abort();
    throw error;
  }
  await writer.commit();
}

/** Takes a lock away, if it is the one that was read: somebody may have taken it over a moment ago. */
async function remove(
  fileSystems: FileSystems,
  path: Path,
  text: string,
  root: Path,
  holder: LockHolder | undefined,
): Promise<void> {
  const fileSystem = await fileSystems.get(path);
  if (fileSystem.kind === 'object-store') {
    await fileSystem.deleteFile(path);
    return;
  }
  const aside = root.entry(`${LOCK_FILE}.${randomUUID()}`);
  try {
    await fileSystem.rename(path, aside);
  } catch (error) {
    if (error instanceof NotFoundError) return;
    throw error;
  }
  if ((await readLockText(fileSystems, aside)) !== text) {
    await fileSystem.rename(aside, path);
    throw heldError(root, holder);
  }
  await fileSystem.deleteFile(aside);
}

async function release(fileSystems: FileSystems, root: Path, holder: LockHolder, options: LockOptions): Promise<void> {
  const path = root.child(LOCK_FILE);
  try {
    const other = parseLock(await readLockText(fileSystems, path));
    if (other?.token === holder.token) await (await fileSystems.get(path)).deleteFile(path);
  } catch (error) {
    if (!(error instanceof CkptError)) throw error;
    options.warn?.(`the lock could not be removed: ${error.message}`);
  }
}

async function readLockText(fileSystems: FileSystems, path: Path): Promise<string | undefined> {
  try {
    const source = await (await fileSystems.get(path)).open(path);
    try {
      const bytes = await source.read(0, Math.min(source.size, MAX_LOCK_BYTES));
      return new TextDecoder().decode(bytes);
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    // Something is there, whatever it is.
    if (error instanceof FileSystemError) return '';
    throw error;
  }
}

function parseLock(text: string | undefined): LockHolder | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { host, pid, time, command, pointers, processes, token } = value as Record<string, unknown>;
    if (typeof host !== 'string' || typeof pid !== 'number' || typeof time !== 'string') return undefined;
    return {
      host,
      pid,
      time,
      command: typeof command === 'string' ? command : '',
      pointers: Array.isArray(pointers) ? pointers.filter((pointer) => typeof pointer === 'string') : [],
      processes: typeof processes === 'string' ? processes : null,
      token: typeof token === 'string' ? token : '',
    };
  } catch {
    return undefined;
  }
}

/** True only if it is certain: a process of this very machine that is not there. */
function isDead({ host, pid, processes, token }: LockHolder): boolean {
  if (host !== hostname() || processes !== processNamespace() || !Number.isSafeInteger(pid) || pid <= 0) return false;
  // In a container every run may have the same id.
  if (pid === process.pid) return !ownTokens.has(token);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function processNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

function heldError(root: Path, holder: LockHolder | undefined): RefusedError {
  const path = root.child(LOCK_FILE).toString();
  return new RefusedError(
    `${path}: another run works on this directory (${describeHolder(holder)}); --break-lock if it does not any more, nothing was changed`,
    { reason: 'locked', path, ...(holder && { host: holder.host, pid: holder.pid, time: holder.time }) },
  );
}

function describeHolder(holder: LockHolder | undefined): string {
  if (holder === undefined) return 'somebody who left no name';
  const what = holder.command === '' ? '' : `${holder.command}, `;
  return `${what}process ${holder.pid} on ${holder.host}, since ${holder.time}`;
}
