/** Reads the changes of a changelog into memory: of as many key groups at once as there is room for. */
import { ByteFormatError } from '../../../bytes/byte-format-error.js';
import { ByteReader } from '../../../bytes/byte-reader.js';
import { Operation, readStateRecord, type StateRecord } from '../../../format/changelog/change-record.js';
import { ChangeSetParser, type RawChange } from '../../../format/changelog/change-set-parser.js';
import { METADATA_KEY_GROUP } from '../../../model/state-handles.js';
import { parseRegion } from '../parse-region.js';
import type { ChangesSource, KeyGroups } from '../pieces.js';
import type { StateBytes } from '../state-bytes.js';
import { sourceName } from '../state-source.js';
import type { WalkContext } from '../walk-context.js';
import { withState } from '../walk-errors.js';

/** Behind the flag for compression. */
const DATA_START = 1;

/** A change of data, copied out of its file. */
export interface LoadedChange {
  readonly keyGroup: number;
  /** The record that gave its state the number it has. */
  readonly state: StateRecord;
  readonly bytes: Uint8Array;
}

/** Changes in the order in which Flink applies them. */
export interface LoadedChanges {
  /** Every state that has a record, in the order of the records; of several records for one name the last. */
  readonly states: ReadonlyMap<string, StateRecord>;
  readonly changes: readonly LoadedChange[];
  /** There were more bytes than were asked for: the changes are not all. */
  readonly isTooMuch: boolean;
}

/**
 * Loads the changes of some key groups.
 * @param sources in the order in which they are applied
 * @param maxBytes of changes in memory
 * @param mostOfEach changes of each source; the others are not read
 * @throws CorruptStateError; UnknownFormatError; the errors of reading
 */
export async function loadChanges(
  sources: readonly ChangesSource[],
  { first, last }: KeyGroups,
  maxBytes: number,
  context: Pick<WalkContext, 'fileSystems' | 'signal'>,
  mostOfEach = Number.POSITIVE_INFINITY,
): Promise<LoadedChanges> {
  const byId = new Map<number, StateRecord>();
  const states = new Map<string, StateRecord>();
  const changes: LoadedChange[] = [];
  let bytes = 0;
  const take = ({ keyGroup, buffer, start, end }: RawChange): void => {
    if (keyGroup !== METADATA_KEY_GROUP && (keyGroup < first || keyGroup > last)) return;
    const change = Uint8Array.prototype.slice.call(buffer, start, end);
    if (change[0] === Operation.Metadata) {
      const record = readStateRecord(change);
      byId.set(record.id, record);
      states.set(record.info.name, record);
      return;
    }
    if (change.length < 3) throw new ByteFormatError(start, 'a change', `${change.length} bytes`);
    const id = ByteReader.over(change.subarray(1, 3)).readI16('number of a state');
    const state = byId.get(id);
    if (!state) throw new ByteFormatError(start + 1, 'the number of a state that was described before', `${id}`);
    bytes += change.length + CHANGE_OVERHEAD;
    changes.push({ keyGroup, state, bytes: change });
  };
  for (const source of sources) {
    const before = changes.length;
    if (source.kind === 'inline') {
      for (const { keyGroup, change } of source.changes) {
        take({ keyGroup, buffer: change, start: 0, end: change.length });
      }
      continue;
    }
    const isTooMuch = await withState(context, source.source, async (opened) => {
      for await (const { entries, locate } of changeBatches(opened, source.offset)) {
        context.signal?.throwIfAborted();
        try {
          for (const entry of entries) take(entry);
        } catch (error) {
          throw error instanceof ByteFormatError ? locate(error) : error;
        }
        if (changes.length - before >= mostOfEach) break;
        if (bytes > maxBytes && last > first) return true;
      }
      return false;
    });
    if (isTooMuch) return { states, changes: [], isTooMuch };
  }
  return { states, changes, isTooMuch: false };
}

/**
 * Loads the records about states, which come first in every set, and a few changes.
 * @throws CorruptStateError; UnknownFormatError; the errors of reading
 */
export async function loadFirstChanges(
  sources: readonly ChangesSource[],
  context: Pick<WalkContext, 'fileSystems' | 'signal'>,
): Promise<LoadedChanges> {
  return loadChanges(sources, EVERY_KEY_GROUP, Number.POSITIVE_INFINITY, context, FIRST_CHANGES);
}

const EVERY_KEY_GROUP: KeyGroups = { first: 0, last: 32767 };
/** Of each set. */
const FIRST_CHANGES = 100;

/** What an object in memory costs beyond its bytes, roughly. */
const CHANGE_OVERHEAD = 200;

async function* changeBatches(bytes: StateBytes, offset: number): ReturnType<typeof parseRegion<RawChange>> {
  if (bytes.size === 0) throw new ByteFormatError(0, 'a flag for compression', 'the end of the file');
  const [flag] = await bytes.read(0, 1);
  if (flag !== 0 && flag !== 1) throw new ByteFormatError(0, 'a flag for compression (0 or 1)', `${flag}`);
  if (flag === 0) {
    const start = DATA_START + offset;
    if (offset < 0 || start > bytes.size) throw new ByteFormatError(bytes.size, `changes at byte ${start}`, 'the end');
    const region = { bytes, start, end: bytes.size, compression: 'no' } as const;
    yield* parseRegion(region, new ChangeSetParser(), { mayEndEarly: true });
  } else {
    // Nothing tells where a set is among the compressed bytes.
    const region = { bytes, start: DATA_START, end: bytes.size, compression: 'streams' } as const;
    yield* parseRegion(region, new ChangeSetParser(offset), { mayEndEarly: true });
  }
}

/** What errors call changes. */
export function changesName(source: ChangesSource): string {
  return source.kind === 'file' ? sourceName(source.source) : 'the metadata';
}
