/** Walks through any piece of keyed state. A piece that cannot be read is told of, and the walk goes on with the next one. */
import { changesName } from './changelog/load-changes.js';
import { walkChangelog } from './changelog/walk-changelog.js';
import { type ChangelogPiece, intersection, type KeyedPiece, type RawKeyedPiece } from './pieces.js';
import { sourceName } from './state-source.js';
import type { RawBatches, WalkContext } from './walk-context.js';
import { guarded, reported } from './walk-errors.js';
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
      yield* reported(changelogName(piece), context, () => walkChangelog(piece, context, walkKeyed));
      break;
  }
}

function changelogName({ changes }: ChangelogPiece): string {
  return changes[0] ? changesName(changes[0]) : '';
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
