/** Walks through the files of a RocksDB or ForSt instance: the states that its header names, one column family after the other. */
import { ByteReader } from '../../bytes/byte-reader.js';
import { backendEntry } from '../../format/entries/backend-entry.js';
import type { KeyedState } from '../../format/entries/named-state.js';
import type { RawEntry } from '../../format/entries/raw-entry.js';
import { keyGroupPrefixBytes } from '../../format/keyed/unified-key-group.js';
import type { EntryBatch } from '../../format/sst/entry-batch.js';
import { UndecodableValueError } from '../../format/value/value-serializer.js';
import { RocksDatabase } from '../rocksdb/database.js';
import { keysOfKeyGroups } from '../rocksdb/key-groups.js';
import { loadHeads, statesOf } from './heads.js';
import type { Batch } from './parse-region.js';
import { type IncrementalPiece, wantedKeyGroups } from './pieces.js';
import { sourceName } from './state-source.js';
import type { RawBatches, WalkContext } from './walk-context.js';
import { located, reasonOf, unsplitReason } from './walk-errors.js';

/** The entries of an instance, state by state. What cannot be read is told of, and the walk goes on with the next state. */
export async function* walkIncremental(piece: IncrementalPiece, context: WalkContext): RawBatches {
  const [head] = await loadHeads(context.fileSystems, piece, context.signal);
  if (!head || !piece.meta) return;
  const states = statesOf(head.header);
  for (const state of states) context.onState(state);
  const wanted = states.filter((state) => context.isWanted(state));
  if (wanted.length === 0) return;
  const { fileSystems, signal } = context;
  const database = await RocksDatabase.open(piece.files, { fileSystems, signal });
  try {
    const families = new Set(database.families.map(({ name }) => name));
    for (const state of wanted) {
      // A state that never had an entry need not have a family.
      if (families.has(state.name)) yield* walkFamily(database, state, piece, context);
    }
  } finally {
    await database.close();
  }
}

async function* walkFamily(
  database: RocksDatabase,
  state: KeyedState,
  piece: IncrementalPiece,
  context: WalkContext,
): RawBatches {
  const { first, last } = wantedKeyGroups(piece.range, context.keyGroups);
  if (first > last) return;
  const range = keysOfKeyGroups(first, last, piece.maxParallelism);
  try {
    for await (const batch of database.entries(state.name, { ...range, signal: context.signal })) {
      yield rawBatch(batch, state, piece, context);
    }
  } catch (error) {
    context.signal?.throwIfAborted();
    const path = piece.meta ? sourceName(piece.meta) : '';
    context.onUnread({ path: pathOf(error) ?? path, reason: `state ${state.name}: ${reasonOf(error)}` });
  }
}

function pathOf(error: unknown): string | undefined {
  const data: unknown = error instanceof Error && 'data' in error ? error.data : undefined;
  if (typeof data !== 'object' || data === null) return undefined;
  const { location, path } = data as { location?: unknown; path?: unknown };
  return typeof location === 'string' ? location : typeof path === 'string' ? path : undefined;
}

function rawBatch(
  batch: EntryBatch,
  state: KeyedState,
  { maxParallelism, meta }: IncrementalPiece,
  context: WalkContext,
): Batch<RawEntry> {
  const prefixBytes = keyGroupPrefixBytes(maxParallelism);
  const entries: RawEntry[] = [];
  const { bytes } = batch;
  const reader = ByteReader.over(bytes);
  for (let i = 0; i < batch.length; i++) {
    reader.position = batch.keyStart(i);
    const keyGroup = prefixBytes === 1 ? reader.readU8('key group') : reader.readU16('key group');
    const end = batch.keyEnd(i);
    const value = { buffer: bytes, start: end, end: batch.valueEnd(i) };
    try {
      entries.push(backendEntry(state, keyGroup, reader, { start: reader.position, end }, value));
    } catch (error) {
      if (!(error instanceof UndecodableValueError)) throw error;
      context.onLost({ state, entries: 1, reason: unsplitReason(error) });
    }
  }
  return {
    entries,
    // Which of the tables an entry came from is not known any more.
    locate: (error) => (meta ? located(error, meta) : error),
  };
}
