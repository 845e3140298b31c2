/**
 * Walks through the state of a changelog backend: the materialized part, with the changes since applied to it, in the order
 * of the key groups of each state. Changes are held in memory, of as many key groups at once as there is room for.
 */
import { ByteFormatError } from '../../../bytes/byte-format-error.js';
import { type KeyedState, keyedState } from '../../../format/entries/named-state.js';
import type { RawEntry } from '../../../format/entries/raw-entry.js';
import type { SerializerSnapshot } from '../../../format/keyed/serializer-snapshot.js';
import { UndecodableValueError } from '../../../format/value/value-serializer.js';
import { loadHeads } from '../heads.js';
import type { Batch } from '../parse-region.js';
import { type ChangelogPiece, type KeyedPiece, type KeyGroups, wantedKeyGroups } from '../pieces.js';
import type { RawBatches, WalkContext } from '../walk-context.js';
import { located } from '../walk-errors.js';
import { ChangedGroup } from './apply-changes.js';
import { inferKeySnapshot, UNKNOWN_KEY } from './key-type.js';
import { type LoadedChange, type LoadedChanges, loadChanges } from './load-changes.js';

/** Of changes in memory. */
const MAX_BYTES = 128 * 1024 * 1024;

/** How to walk through a materialized part. */
export type WalkPiece = (piece: KeyedPiece, context: WalkContext) => RawBatches;

/** The entries of the state. @throws CorruptStateError; UnknownFormatError; the errors of reading */
export async function* walkChangelog(piece: ChangelogPiece, context: WalkContext, walkPiece: WalkPiece): RawBatches {
  const range = wantedKeyGroups(piece.range, context.keyGroups);
  if (range.first <= range.last) yield* walkRange(piece, range, context, walkPiece);
}

async function* walkRange(
  piece: ChangelogPiece,
  range: KeyGroups,
  context: WalkContext,
  walkPiece: WalkPiece,
): RawBatches {
  const loaded = await loadChanges(piece.changes, range, MAX_BYTES, context);
  if (loaded.isTooMuch) {
    const middle = Math.floor((range.first + range.last) / 2);
    yield* walkRange(piece, { first: range.first, last: middle }, context, walkPiece);
    yield* walkRange(piece, { first: middle + 1, last: range.last }, context, walkPiece);
    return;
  }
  const keySnapshot = await keySnapshotOf(piece, loaded, context);
  const states = [...loaded.states.values()].map(({ info }) => keyedState(info, keySnapshot ?? UNKNOWN_KEY));
  for (const state of states) context.onState(state);
  const merging = new Merging(states, loaded.changes, context);
  const inRange = { ...context, keyGroups: range };
  for (const part of piece.materialized) {
    for await (const batch of walkPiece(part, inRange)) yield* merging.take(batch);
  }
  yield* merging.finish();
}

/** How the keys of a changelog are written; undefined if neither a header nor the changes tell. */
async function keySnapshotOf(
  piece: ChangelogPiece,
  loaded: LoadedChanges,
  context: Pick<WalkContext, 'fileSystems' | 'signal'>,
): Promise<SerializerSnapshot | undefined> {
  const [head] = await loadHeads(context.fileSystems, piece, context.signal);
  return head?.header.keySerializer ?? inferKeySnapshot(loaded, piece.maxParallelism);
}

/** Changes by state and key group, and the key group that is being merged. */
class Merging {
  /** By the name of the state, then by key group. */
  private readonly changes = new Map<string, Map<number, Uint8Array[]>>();
  private readonly states: ReadonlyMap<string, KeyedState>;
  /** Where the materialization is; `group` only if there are changes. */
  private current:
    | { readonly name: string; readonly keyGroup: number; readonly group: ChangedGroup | undefined }
    | undefined;

  constructor(
    states: readonly KeyedState[],
    changes: readonly LoadedChange[],
    private readonly context: WalkContext,
  ) {
    this.states = new Map(states.map((state) => [state.name, state]));
    for (const { state, keyGroup, bytes } of changes) {
      const { name } = state.info;
      const groups = this.changes.get(name) ?? new Map<number, Uint8Array[]>();
      this.changes.set(name, groups);
      const list = groups.get(keyGroup) ?? [];
      groups.set(keyGroup, list);
      list.push(bytes);
    }
  }

  /** Entries of the materialization: those without changes pass, the others wait for the end of their key group. */
  *take(batch: Batch<RawEntry>): Generator<Batch<RawEntry>, void> {
    let passing: RawEntry[] = [];
    try {
      for (const entry of batch.entries) {
        const { name } = entry.state;
        const { current } = this;
        if (current?.name !== name || current.keyGroup !== entry.keyGroup) {
          const ready = [...this.endCurrent(), ...this.upTo(name, entry.keyGroup)];
          if (ready.length > 0) {
            if (passing.length > 0) yield { ...batch, entries: passing };
            passing = [];
            yield batchOf(ready);
          }
          this.begin(entry.state, entry.keyGroup);
        }
        if (!this.current?.group?.takeBase(entry)) passing.push(entry);
      }
    } catch (error) {
      throw error instanceof ByteFormatError ? batch.locate(error) : error;
    }
    if (passing.length > 0) yield { ...batch, entries: passing };
  }

  /** What is left: changes in key groups of which the materialization has nothing. */
  *finish(): Generator<Batch<RawEntry>, void> {
    const entries = this.endCurrent();
    if (entries.length > 0) yield batchOf(entries);
    for (const name of [...this.changes.keys()]) {
      const rest = this.upTo(name, Number.POSITIVE_INFINITY);
      if (rest.length > 0) yield batchOf(rest);
    }
  }

  private begin(state: KeyedState, keyGroup: number): void {
    const changes = this.takeChanges(state.name, keyGroup);
    // What a materialization has of a state is decoded by the record of the changes: Flink restores with the newer one.
    const group = changes && this.groupOf(this.states.get(state.name) ?? state, keyGroup, changes);
    this.current = { name: state.name, keyGroup, group };
  }

  /** Undefined if the keys of the changes cannot be told apart. */
  private groupOf(state: KeyedState, keyGroup: number, changes: readonly Uint8Array[]): ChangedGroup | undefined {
    if (!this.context.isWanted(state)) return undefined;
    return this.guarded(state, changes.length, () => {
      const onLost = (entries: number, reason: string): void => this.context.onLost({ state, entries, reason });
      return new ChangedGroup(state, keyGroup, changes, onLost);
    });
  }

  private guarded<T>(state: KeyedState, changes: number, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof UndecodableValueError)) throw error;
      const reason = `${changes} changes could not be applied: a part of one, of ${error.type}, has no length`;
      this.context.onLost({ state, entries: undefined, reason });
      return undefined;
    }
  }

  private endCurrent(): RawEntry[] {
    const { current } = this;
    this.current = undefined;
    const group = current?.group;
    const state = this.states.get(current?.name ?? '');
    if (!group || !state) return [];
    return this.guarded(state, 1, () => group.finish()) ?? [];
  }

  /** What changes alone make in the key groups below one. */
  private upTo(name: string, keyGroup: number): RawEntry[] {
    const groups = this.changes.get(name);
    const state = this.states.get(name);
    if (!groups || !state) return [];
    const below = [...groups.keys()].filter((group) => group < keyGroup).sort((a, b) => a - b);
    return below.flatMap((group) => {
      const changes = this.takeChanges(name, group) ?? [];
      return this.guarded(state, changes.length, () => this.groupOf(state, group, changes)?.finish()) ?? [];
    });
  }

  private takeChanges(name: string, keyGroup: number): Uint8Array[] | undefined {
    const groups = this.changes.get(name);
    const changes = groups?.get(keyGroup);
    groups?.delete(keyGroup);
    return changes;
  }
}

/** Entries that are in no file as they are. */
function batchOf(entries: readonly RawEntry[]): Batch<RawEntry> {
  return {
    entries,
    locate: (error) => located(error, { kind: 'inline', name: 'a changelog', bytes: new Uint8Array(0) }),
  };
}
