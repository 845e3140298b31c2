/** Walks through files with key groups: the heap backend's form, the unified one, and timers in raw keyed state. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { HeapParser } from '../../format/entries/heap-parser.js';
import type { KeyedState } from '../../format/entries/named-state.js';
import type { EntryParser, RawEntry } from '../../format/entries/raw-entry.js';
import { RAW_TIMERS_MAGIC, RawTimerStates, RawTimersParser } from '../../format/entries/raw-timers-parser.js';
import { UnifiedParser } from '../../format/entries/unified-parser.js';
import { keyGroupRegions } from '../../format/keyed/key-group-regions.js';
import { keyGroupPrefixBytes } from '../../format/keyed/unified-key-group.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { statesOf } from './heads.js';
import { type KeyedBody, openKeyedFile } from './keyed-file.js';
import { parseRegion } from './parse-region.js';
import { type KeyGroupsPiece, type RawKeyedPiece, wantedKeyGroups } from './pieces.js';
import type { Region } from './region.js';
import type { StateBytes } from './state-bytes.js';
import type { RawBatches, WalkContext } from './walk-context.js';
import { unsplitReason } from './walk-errors.js';

/**
 * The entries of a file of key groups.
 * @throws ByteFormatError with offsets in the piece; UnknownFormatError; the errors of reading
 */
export async function* walkKeyGroups(bytes: StateBytes, piece: KeyGroupsPiece, context: OpenContext): RawBatches {
  const file = await openKeyedFile(bytes, piece);
  if (!file) throw new UnknownFormatError(0, 'a header of more than 32 MiB');
  const states = statesOf(file.header);
  for (const state of states) context.onState(state);
  const body = file.body === 'unsure' ? await tellBody(bytes, piece, states, file.header.compressed) : file.body;
  const walk: BodyWalk = { bytes, piece, states, body, compressed: file.header.compressed };
  const wanted = new Set(states.filter((state) => context.isWanted(state)));
  if (wanted.size > 0) yield* walkBody(walk, wanted, context);
}

/** Of a piece whose bytes are at hand. */
type OpenContext = Omit<WalkContext, 'fileSystems' | 'onUnread'>;

interface BodyWalk {
  readonly bytes: StateBytes;
  readonly piece: KeyGroupsPiece;
  readonly states: readonly KeyedState[];
  readonly body: KeyedBody;
  readonly compressed: boolean;
}

async function* walkBody(walk: BodyWalk, wanted: ReadonlySet<KeyedState>, context: OpenContext): RawBatches {
  const { bytes, piece, states, body, compressed } = walk;
  const { first, last } = wantedKeyGroups(piece.range, context.keyGroups);
  const input = { ...piece, size: bytes.size, ...(body === 'unified' && { absent: 0 }) };
  for (const { keyGroup, start, end } of keyGroupRegions(input)) {
    if (keyGroup < first || keyGroup > last) continue;
    context.signal?.throwIfAborted();
    if (body === 'unified') {
      const region: Region = { bytes, start, end, compression: compressed ? 'streams' : 'no' };
      const parser = new UnifiedParser(keyGroup, keyGroupPrefixBytes(piece.maxParallelism), states, {
        wanted,
        onUnsplit: (state, error) => context.onLost({ state, entries: 1, reason: unsplitReason(error) }),
      });
      yield* parseRegion(region, parser);
    } else {
      const region: Region = { bytes, start, end, compression: compressed ? 'heap' : 'no' };
      yield* walkHeapKeyGroup(region, keyGroup, states, wanted, context);
    }
  }
}

async function* walkHeapKeyGroup(
  region: Region,
  keyGroup: number,
  states: readonly KeyedState[],
  wanted: ReadonlySet<KeyedState>,
  context: OpenContext,
): RawBatches {
  const parser = new HeapParser(keyGroup, states);
  const batches = parseRegion<RawEntry>(region, parser, {
    onUndecodable: ({ type }) => {
      const { state, left } = parser;
      const reason = `a value of ${type} has no length, and only its class can tell where it ends`;
      if (state && wanted.has(state)) context.onLost({ state, entries: left, reason });
      parser.skipState();
      if (region.compression === 'heap') return !parser.isDone;
      // What follows in this key group is out of reach as well.
      for (const other of parser.unreached()) {
        const behind = `it comes behind state ${state?.name} in its key group: ${reason}`;
        if (wanted.has(other)) context.onLost({ state: other, entries: undefined, reason: behind });
      }
      return false;
    },
  });
  for await (const batch of batches) {
    const entries =
      wanted.size === states.length ? batch.entries : batch.entries.filter(({ state }) => wanted.has(state));
    if (entries.length > 0) yield { ...batch, entries };
  }
}

/** The form of a body that has data in key group 0 alone: whichever it can be read as. */
async function tellBody(
  bytes: StateBytes,
  piece: KeyGroupsPiece,
  states: readonly KeyedState[],
  compressed: boolean,
): Promise<KeyedBody> {
  const [region] = keyGroupRegions({ ...piece, size: bytes.size });
  if (!region) return 'heap';
  const { start, end } = region;
  try {
    const compression = compressed ? 'streams' : 'no';
    const parser = new UnifiedParser(region.keyGroup, keyGroupPrefixBytes(piece.maxParallelism), states, {});
    for await (const _ of parseRegion({ bytes, start, end, compression }, parser));
    return 'unified';
  } catch (error) {
    if (!(error instanceof ByteFormatError)) throw error;
    return 'heap';
  }
}

/**
 * The timers in a piece of raw keyed state; none if it is in a form of its own. A service without timers is no state.
 * @throws ByteFormatError with offsets in the piece; the errors of reading
 */
export async function* walkRawKeyed(
  bytes: StateBytes,
  piece: RawKeyedPiece,
  context: OpenContext,
  states: RawTimerStates = new RawTimerStates(),
): RawBatches {
  const { first, last } = wantedKeyGroups(piece.range, context.keyGroups);
  const regions = keyGroupRegions({ ...piece, absent: -1, size: bytes.size });
  for (const { keyGroup, start, end } of regions) {
    if (keyGroup < first || keyGroup > last || !(await isRawTimers(bytes, start, end))) continue;
    context.signal?.throwIfAborted();
    const parser: EntryParser<RawEntry> = new RawTimersParser(keyGroup, states);
    const batches = parseRegion({ bytes, start, end, compression: 'no' }, parser, {
      onUndecodable: ({ type }) => {
        const reason = `a part of a timer, of ${type}, has no length`;
        for (const state of states.states) context.onLost({ state, entries: undefined, reason });
        return false;
      },
    });
    for await (const batch of batches) {
      const entries = batch.entries.filter(({ state }) => context.isWanted(state));
      if (entries.length > 0) yield { ...batch, entries };
    }
  }
}

async function isRawTimers(bytes: StateBytes, start: number, end: number): Promise<boolean> {
  if (end - start < 4) return false;
  const head = await bytes.read(start, start + 4);
  return new DataView(head.buffer, head.byteOffset, 4).getInt32(0) === RAW_TIMERS_MAGIC;
}
