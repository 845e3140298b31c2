/**
 * Copying a local file without a change of the access time of the source, which the system call for copies makes. Files
 * that fit into one buffer are copied by synchronous calls as long as they are quick: a promise for each call costs several
 * times what the system takes for it.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setImmediate as breathe } from 'node:timers/promises';
import { IoError, WrongFileTypeError } from '../errors.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { toNativePath } from './local-path.js';
import type { Path } from './path.js';

/** What can only be about the place that is written to. */
const ABOUT_TARGET = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG', 'EISDIR', 'ETXTBSY']);
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const READ_QUIETLY = READ | (constants.O_NOATIME ?? 0);
const BUFFER_BYTES = 1024 * 1024;
const SMALL_BYTES = 128 * 1024;
/** Copies of small files that take longer than this on average wait for something else than this machine. */
const SLOW_MILLISECONDS = 4;
/** Weight of the newest one in the average. */
const WEIGHT = 0.05;
const SLICE_MILLISECONDS = 20;

const freeBuffers: Uint8Array[] = [];
const smallBuffer = new Uint8Array(SMALL_BYTES);
let averageMilliseconds = 0;
let sliceStart = 0;

/** See `FileSystem.copyFile`. */
export async function copyLocalFile(from: Path, to: Path, options: { readonly sync?: boolean } = {}): Promise<void> {
  const source = toNativePath(from);
  const target = toNativePath(to);
  try {
    if (options.sync !== true && isMachineQuick() && (await copyQuickly(source, target, from))) return;
    const status = await stat(source);
    if (!status.isFile()) throw new WrongFileTypeError(from.toString(), 'file');
    await copyInPieces(source, target, { size: status.size, sync: options.sync === true, from });
  } catch (error) {
    if (error instanceof WrongFileTypeError) throw error;
    throw fromErrno(error, (await isAboutTarget(error, source)) ? to : from, 'copying');
  }
}

function isMachineQuick(): boolean {
  return averageMilliseconds < SLOW_MILLISECONDS;
}

/** False, with nothing done, if the source is no small file. */
async function copyQuickly(source: string | Buffer, target: string | Buffer, from: Path): Promise<boolean> {
  // So that others get their turn, timers and signals among them.
  if (performance.now() - sliceStart > SLICE_MILLISECONDS) {
    await breathe();
    sliceStart = performance.now();
  }
  const start = performance.now();
  const size = readSmallFile(source, from);
  if (size === undefined) return false;
  const output = openSync(target, 'w');
  try {
    for (let written = 0; written < size; ) written += writeSync(output, smallBuffer, written, size - written);
  } finally {
    closeSync(output);
  }
  averageMilliseconds += WEIGHT * (performance.now() - start - averageMilliseconds);
  return true;
}

/** Reads a file into the buffer for small ones. Its size in bytes; undefined if it is larger, or no file. */
function readSmallFile(source: string | Buffer, from: Path): number | undefined {
  const input = quietly((flags) => openSync(source, flags));
  try {
    const status = fstatSync(input);
    if (!status.isFile() || status.size > SMALL_BYTES) return undefined;
    for (let length = 0; length < status.size; ) {
      const count = readSync(input, smallBuffer, length, status.size - length, length);
      if (count === 0) throw shorter(from, length);
      length += count;
    }
    return status.size;
  } finally {
    closeSync(input);
  }
}

interface Pieces {
  readonly size: number;
  readonly sync: boolean;
  readonly from: Path;
}

async function copyInPieces(
  source: string | Buffer,
  target: string | Buffer,
  { size, sync, from }: Pieces,
): Promise<void> {
  // Its open waits where this process has too many open files, of which a copy has two for each at once.
  const { default: fs } = await import('fs-extra');
  const input = await openQuietly(source);
  const buffer = freeBuffers.pop() ?? new Uint8Array(BUFFER_BYTES);
  try {
    const output = await fs.open(target, 'w');
    try {
      for (let position = 0; position < size; ) {
        const wanted = Math.min(BUFFER_BYTES, size - position);
        const { bytesRead } = await input.read(buffer, 0, wanted, position);
        if (bytesRead === 0) throw shorter(from, position);
        for (let written = 0; written < bytesRead; ) {
          written += (await fs.write(output, buffer, written, bytesRead - written)).bytesWritten;
        }
        position += bytesRead;
      }
      if (sync) await fs.fsync(output);
    } finally {
      await fs.close(output);
    }
  } finally {
    freeBuffers.push(buffer);
    await input.close();
  }
}

function quietly<T>(openWith: (flags: number) => T): T {
  try {
    return openWith(READ_QUIETLY);
  } catch (error) {
    // Only the owner of a file may keep its access time.
    if (errnoOf(error) !== 'EPERM') throw error;
    return openWith(READ);
  }
}

async function openQuietly(source: string | Buffer): Promise<FileHandle> {
  try {
    return await open(source, READ_QUIETLY);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error;
    return open(source, READ);
  }
}

function shorter(from: Path, length: number): IoError {
  return new IoError(from.toString(), 'copying', { cause: new Error(`the file ends at byte ${length} by now`) });
}

/** The system says what went wrong, not with which of the two files. */
async function isAboutTarget(error: unknown, source: string | Buffer): Promise<boolean> {
  const code = errnoOf(error);
  if (code === undefined || code === 'EIO') return false;
  if (ABOUT_TARGET.has(code)) return true;
  try {
    // Whoever can open it and failed nevertheless failed at the other one.
    await (await openQuietly(source)).close();
    return true;
  } catch {
    return false;
  }
}
