/** Walks through any piece of keyed state. A piece that cannot be read is told of, and the walk goes on with the next one. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError, CorruptStateError } from '../../errors.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { intersection, type KeyedPiece, type RawKeyedPiece } from './pieces.js';
import type { StateBytes } from './state-bytes.js';
import { openState, type StateSource, sourceName } from './state-source.js';
import type { RawBatches, WalkContext } from './walk-context.js';
import { walkIncremental } from './walk-incremental.js';
import { walkKeyGroups, walkRawKeyed } from './walk-key-groups.js';

/** The entries of a piece of managed keyed state. */
export async function* walkKeyed(piece: KeyedPiece, context: WalkContext): RawBatches {
  if (isOutside(piece, context)) return;
  switch (piece.kind) {
    case 'key-groups':
      yield* guarded(piece.source, context, (bytes) => walkKeyGroups(bytes, piece, context));
      break;
    case 'incremental':
      yield* reported(piece.meta ? sourceName(piece.meta) : '', context, () => walkIncremental(piece, context));
      break;
    case 'changelog':
      break;
  }
}

/** The timers in a piece of raw keyed state. */
export async function* walkRaw(piece: RawKeyedPiece, context: WalkContext): RawBatches {
  if (isOutside(piece, context)) return;
  yield* guarded(piece.source, context, (bytes) => walkRawKeyed(bytes, piece, context));
}

function isOutside({ range }: Pick<KeyedPiece, 'range'>, { keyGroups }: WalkContext): boolean {
  if (!keyGroups) return false;
  const { first, last } = intersection(range, keyGroups);
  return first > last;
}

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
async function* reported(path: string, context: WalkContext, walk: () => RawBatches): RawBatches {
  try {
    yield* walk();
  } catch (error) {
    context.signal?.throwIfAborted();
    context.onUnread({ path, reason: reasonOf(error) });
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
