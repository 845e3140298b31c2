/** What becomes of failures on a walk: they are told of, with the file that they are in. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError, CorruptStateError } from '../../errors.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import type { UndecodableValueError } from '../../format/value/value-serializer.js';
import type { StateBytes } from './state-bytes.js';
import { openState, type StateSource, sourceName } from './state-source.js';
import type { RawBatches, WalkContext } from './walk-context.js';

/** Opens a piece for a walk, and tells of what fails in it. */
export async function* guarded(
  source: StateSource,
  context: WalkContext,
  walk: (bytes: StateBytes) => RawBatches,
): RawBatches {
  try {
    const { bytes, close } = await openState(context.fileSystems, source, context.signal);
    try {
      for await (const batch of walk(bytes)) {
        yield { entries: batch.entries, locate: (error) => located(batch.locate(error), source) };
      }
    } finally {
      await close();
    }
  } catch (error) {
    context.signal?.throwIfAborted();
    context.onUnread({ path: sourceName(source), reason: reasonOf(located(error, source)) });
  }
}

/** Tells of what fails in a walk that names its files itself. */
export async function* reported(path: string, context: WalkContext, walk: () => RawBatches): RawBatches {
  try {
    yield* walk();
  } catch (error) {
    context.signal?.throwIfAborted();
    context.onUnread({ path, reason: reasonOf(error) });
  }
}

/**
 * Opens a piece, hands its bytes to `work`, and closes it.
 * @throws CorruptStateError for what is wrong with the bytes; the errors of reading
 */
export async function withState<T>(
  { fileSystems, signal }: Pick<WalkContext, 'fileSystems' | 'signal'>,
  source: StateSource,
  work: (bytes: StateBytes) => Promise<T>,
): Promise<T> {
  try {
    const { bytes, close } = await openState(fileSystems, source, signal);
    try {
      return await work(bytes);
    } finally {
      await close();
    }
  } catch (error) {
    throw located(error, source);
  }
}

/** A failure in the bytes of a piece as one of its file; in a merged file offsets count from the start of the segment. */
export function located(error: unknown, source: StateSource): Error {
  if (!(error instanceof ByteFormatError)) return error instanceof Error ? error : new Error(String(error));
  const { offset, reading: expected, found } = error;
  return new CorruptStateError({ location: sourceName(source), offset, expected, found }, { cause: error });
}

/**
 * What to say of an expected failure.
 * @throws the error itself if it is none: a bug
 */
export function reasonOf(error: unknown): string {
  if (error instanceof CkptError || error instanceof UnknownFormatError) return error.message;
  throw error;
}

/** Why a key cannot be taken apart. */
export function unsplitReason({ type }: UndecodableValueError): string {
  return `a key, or a part of it, of ${type} has no length, and only its class can tell where it ends`;
}
