/** Which keyed states a piece has, and how its keys are written, from as little of it as will do. */
import type { FileSystems } from '../../filesystem/registry.js';
import { type KeyedState, keyedState } from '../../format/entries/named-state.js';
import type { SerializerSnapshot } from '../../format/keyed/serializer-snapshot.js';
import { inferKeySnapshot, UNKNOWN_KEY } from './changelog/key-type.js';
import { loadFirstChanges } from './changelog/load-changes.js';
import { loadHeads, statesOf } from './heads.js';
import type { KeyedPiece } from './pieces.js';

/** What {@link loadKeyedStates} finds. */
export interface KeyedStates {
  /** Undefined if nothing tells. */
  readonly keySnapshot: SerializerSnapshot | undefined;
  /** Each once: of a changelog those of its materialized parts and those that came since. */
  readonly states: readonly KeyedState[];
}

/**
 * Reads headers, and of a changelog the first records of each set of changes.
 * @throws CorruptStateError; UnknownFormatError; the errors of reading
 */
export async function loadKeyedStates(
  fileSystems: FileSystems,
  piece: KeyedPiece,
  signal?: AbortSignal,
): Promise<KeyedStates> {
  const states = new Map<string, KeyedState>();
  let keySnapshot: SerializerSnapshot | undefined;
  for (const { header } of await loadHeads(fileSystems, piece, signal)) {
    for (const state of statesOf(header)) states.set(state.name, state);
    keySnapshot ??= header.keySerializer;
  }
  if (piece.kind === 'changelog') {
    const loaded = await loadFirstChanges(piece.changes, { fileSystems, signal });
    keySnapshot ??= inferKeySnapshot(loaded, piece.maxParallelism);
    for (const { info } of loaded.states.values()) {
      states.set(info.name, keyedState(info, keySnapshot ?? UNKNOWN_KEY));
    }
  }
  return { keySnapshot, states: [...states.values()] };
}
