/**
 * Compares what is in the state of two checkpoints: key by key, in memory that does not grow with the state. Entries are
 * compared by hashes of what they say, so that the form in which a backend wrote them makes no difference; the few that are
 * to be shown are then read once more.
 */
import { StateNotFoundError } from '../../errors.js';
import type { ByteSource } from '../../filesystem/file-system.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { diffCheckpoints } from '../diff/diff.js';
import type { DiffedOperator, DiffResult } from '../diff/result.js';
import { hashText } from '../file-index.js';
import { Hash64 } from '../file-set.js';
import { openMetadata, type ResolvedPointer } from '../pointer.js';
import { forEachOperator, type OperatorPieces } from '../state/operators.js';
import { type ReadRequest, type ReadStateHead, readOperatorState } from '../state/read-state.js';
import type { Row } from '../state/rows.js';
import { type ComparedEntry, EntryColumns, type Side } from './entry-columns.js';
import { type Pass, passesByKeyGroups, passesBySlices } from './passes.js';
import type { ContentsDiff, EntryDifference, OperatorContentsDiff, StateDiff } from './result.js';
import { ShownEntries } from './shown-entries.js';

/** Options of {@link diffContents}. */
export interface ContentsDiffOptions {
  /** Differences of each state that are shown. */
  readonly limit: number;
  /** Name of the only state. */
  readonly state?: string | undefined;
  /** Bytes of state of one pass; for tests. */
  readonly passBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onOperator?: ((done: number, total: number) => void) | undefined;
}

const SIDES = ['old', 'new'] as const;
/** No key group at all. */
const NOTHING = { first: 0, last: -1 };

/**
 * Compares the contents of two checkpoints. Operators are paired as `diffCheckpoints` does.
 * @throws StateNotFoundError if no operator has the state that is asked for; the errors of reading metadata; the signal's
 *   reason
 */
export async function diffContents(
  fileSystems: FileSystems,
  old: ResolvedPointer,
  new_: ResolvedPointer,
  options: ContentsDiffOptions,
): Promise<ContentsDiff> {
  const structure = await diffCheckpoints(fileSystems, old, new_, { signal: options.signal });
  const sources: ByteSource[] = [];
  try {
    for (const pointer of [old, new_]) sources.push(await openMetadata(fileSystems, pointer));
    const sides = {
      old: { pointer: old, source: sources[0] as ByteSource },
      new: { pointer: new_, source: sources[1] as ByteSource },
    };
    return await new ContentsComparison(fileSystems, sides, structure, options).run();
  } finally {
    for (const source of sources) await source.close();
  }
}

interface OpenSide {
  readonly pointer: ResolvedPointer;
  readonly source: ByteSource;
}

/** An operator, with what it has on each side where it is there. */
interface Pair {
  readonly operator: DiffedOperator;
  readonly pieces: Readonly<Partial<Record<Side, OperatorPieces | undefined>>>;
}

type Lost = ContentsDiff['undecoded'][number];
type Counted = { -readonly [K in keyof StateDiff]: StateDiff[K] };

class ContentsComparison {
  private readonly operators: OperatorContentsDiff[] = [];
  private readonly differences: EntryDifference[] = [];
  private readonly undecoded = new Map<string, { -readonly [K in keyof Lost]: Lost[K] }>();
  private readonly unread = new Map<string, ContentsDiff['unread'][number]>();
  private total = 0;
  private notFound: StateNotFoundError | undefined;

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly sides: Readonly<Record<Side, OpenSide>>,
    private readonly structure: DiffResult,
    private readonly options: ContentsDiffOptions,
  ) {}

  async run(): Promise<ContentsDiff> {
    const { structure, sides, options } = this;
    const oldIds = new Map(structure.renumbered.map((pair) => [pair.new, pair.old]));
    for (const [done, operator] of structure.operators.entries()) {
      options.onOperator?.(done, structure.operators.length);
      const { operatorId, change } = operator;
      const pieces = {
        ...(change !== 'added' && { old: await this.piecesOf('old', oldIds.get(operatorId) ?? operatorId) }),
        ...(change !== 'removed' && { new: await this.piecesOf('new', operatorId) }),
      };
      await this.compare({ operator, pieces });
    }
    const { differences, operators, total } = this;
    const [undecoded, unread] = [[...this.undecoded.values()], [...this.unread.values()]];
    if (this.notFound && operators.every(({ states }) => states.length === 0)) throw this.notFound;
    return {
      same: total === 0 && undecoded.length === 0 && unread.length === 0,
      old: sides.old.pointer.directory.toString(),
      new: sides.new.pointer.directory.toString(),
      operators,
      differences,
      more: total - differences.length,
      undecoded,
      unread,
    };
  }

  private async compare(pair: Pair): Promise<void> {
    const { operator, pieces } = pair;
    const states = new StateTable();
    const bytes = Math.max(Number(operator.oldStateSize ?? 0), Number(operator.newStateSize ?? 0));
    const { passBytes } = this.options;
    const [old, now] = SIDES.map((side) => pieces[side]?.maxParallelism);
    const maxParallelism = old ?? now ?? 1;
    const keyed =
      (old ?? maxParallelism) === (now ?? maxParallelism)
        ? passesByKeyGroups(bytes, maxParallelism, passBytes)
        : passesBySlices(bytes, passBytes);
    for (const pass of keyed) await this.pass(pair, pass, { isKeyed: true }, states);
    for (const pass of passesBySlices(bytes, passBytes)) {
      await this.pass(pair, { ...pass, keyGroups: NOTHING }, { isKeyed: false }, states);
    }
    const { operatorId, uid, name, change } = operator;
    this.operators.push({
      operatorId,
      oldOperatorId: pieces.old && pieces.old.operatorId !== operatorId ? pieces.old.operatorId : null,
      uid,
      name,
      change: change === 'added' || change === 'removed' ? change : 'compared',
      states: states.list,
    });
  }

  private async pass(pair: Pair, pass: Pass, query: ReadRequest['query'], states: StateTable): Promise<void> {
    const columns = new EntryColumns();
    const value = new Hash64();
    await this.read(pair, pass, query, states, true, (side, state, identity, row) => {
      const begins = row.part !== 'middle' && row.part !== 'last';
      if (!row.entries) columns.add(side, state, identity, isElement(row) ? undefined : hashValue(value, row), begins);
      else if (row.entries.length === 0) columns.add(side, state, identity, undefined, begins);
      for (const [index, entry] of (row.entries ?? []).entries()) {
        columns.add(side, state, identity, hashText(value.start(2), JSON.stringify(entry)), begins && index === 0);
      }
    });
    const shown: ComparedEntry[] = [];
    for (const entry of columns.compared()) {
      this.total += states.count(entry);
      if (entry.change !== 'unchanged' && states.takeTurn(entry.state, this.options.limit)) shown.push(entry);
    }
    if (shown.length === 0) return;
    const entries = new ShownEntries(shown.sort((a, b) => a.state - b.state));
    await this.read(pair, pass, query, states, false, (side, _, identity, row) => entries.take(side, identity, row));
    this.differences.push(...entries.differences(pair.operator));
  }

  /** Reads both sides of a pass. */
  private async read(
    { pieces }: Pair,
    { keyGroups, slice, slices }: Pass,
    query: ReadRequest['query'],
    states: StateTable,
    isFirst: boolean,
    onRow: (side: Side, state: number, identity: Hash64, row: Row) => void,
  ): Promise<void> {
    const { signal, state: only } = this.options;
    const identity = new Hash64();
    for (const side of SIDES) {
      const operator = pieces[side];
      if (operator === undefined) continue;
      const request: ReadRequest = { state: only, query, mode: 'values', keyGroups };
      const handlers = {
        state: (head: ReadStateHead): void => void states.indexOf(head),
        rows: (rows: readonly Row[]): void => {
          for (const row of rows) {
            const state = states.indexOfRow(row);
            hashIdentity(identity, state, row);
            if (slices > 1 && (identity.low >>> 0) % slices !== slice) continue;
            onRow(side, state, identity, row);
          }
        },
      };
      const reading = readOperatorState(this.fileSystems, operator, request, handlers, signal);
      const result = await reading.catch((error: unknown) => {
        // Another operator may have it.
        if (!(error instanceof StateNotFoundError)) throw error;
        this.notFound ??= error;
        return undefined;
      });
      // All slices meet the same.
      if (!isFirst || !result || slice > 0) continue;
      for (const lost of result.undecoded) this.noteUndecoded({ ...lost, side });
      for (const lost of result.unread) this.noteUnread({ ...lost, side });
    }
  }

  /** Passes look at different key groups: what each of them loses adds up. */
  private noteUndecoded(lost: ContentsDiff['undecoded'][number]): void {
    const { side, operatorId, state, type, reason } = lost;
    const key = JSON.stringify([side, operatorId, state, type, reason]);
    const known = this.undecoded.get(key);
    if (!known) this.undecoded.set(key, { ...lost });
    else known.entries = known.entries === null || lost.entries === null ? null : known.entries + lost.entries;
  }

  /** Several passes meet the same file. */
  private noteUnread(lost: ContentsDiff['unread'][number]): void {
    this.unread.set(JSON.stringify(lost), lost);
  }

  private async piecesOf(side: Side, operatorId: string): Promise<OperatorPieces | undefined> {
    const { source, pointer } = this.sides[side];
    const input = { source, metadataPath: pointer.metadataPath, directory: pointer.directory };
    let found: OperatorPieces | undefined;
    const take = async (operator: OperatorPieces): Promise<void> => {
      found = operator;
    };
    await forEachOperator(input, operatorId, take, this.options.signal);
    return found;
  }
}

/** The states of an operator, numbered as they are met on either side. */
class StateTable {
  readonly list: Counted[] = [];
  private readonly indexes = new Map<string, number>();
  private readonly shown = new Map<number, number>();

  indexOf({ section, name, kind }: ReadStateHead): number {
    const key = `${section} ${name}`;
    const known = this.indexes.get(key);
    if (known !== undefined) return known;
    this.indexes.set(key, this.list.length);
    return this.list.push({ section, name, kind, unchanged: 0, changed: 0, added: 0, removed: 0 }) - 1;
  }

  indexOfRow({ state, kind, keyGroup }: Row): number {
    return this.indexOf({ section: keyGroup === null ? 'operator' : 'keyed', name: state, kind });
  }

  /** True as often as so many differences of a state may be shown. */
  takeTurn(state: number, limit: number): boolean {
    const shown = this.shown.get(state) ?? 0;
    if (shown >= limit) return false;
    this.shown.set(state, shown + 1);
    return true;
  }

  /** @returns how many differences it is */
  count({ state, change, old, new: now }: ComparedEntry): number {
    const counted = this.list[state];
    if (!counted) return 0;
    counted.unchanged += change === 'unchanged' || change === 'added' || change === 'removed' ? Math.min(old, now) : 0;
    if (change === 'changed') counted.changed++;
    if (change === 'added') counted.added += now - old;
    if (change === 'removed') counted.removed += old - now;
    return change === 'unchanged' ? 0 : 1;
  }
}

function isElement({ kind }: Row): boolean {
  return kind === 'split-list' || kind === 'union-list' || kind === 'timers';
}

function hashIdentity(hash: Hash64, state: number, row: Row): void {
  hash.start(state);
  if (row.kind === 'split-list' || row.kind === 'union-list') {
    hashText(hash, JSON.stringify(row.value) ?? '');
    return;
  }
  hashText(hash, JSON.stringify(row.key) ?? '');
  hashText(hash, JSON.stringify(row.namespace) ?? '');
  if (row.timestamp !== undefined) hashText(hash, String(row.timestamp));
}

function hashValue(hash: Hash64, { value }: Row): Hash64 {
  return hashText(hash.start(1), JSON.stringify(value) ?? '');
}
