/** `ckpt read`: every entry of the state of a checkpoint, one operator after the other, with bounded memory. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError, StateNotFoundError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { KeyedState, KeyedStateKind, OperatorStateKind } from '../../format/entries/named-state.js';
import type { RawEntry } from '../../format/entries/raw-entry.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { type KeyQuery, type KeyQueryResult, resolveKeyQuery } from './key-query.js';
import { type KeyRow, KeyRows } from './key-rows.js';
import { keyedRows } from './keyed-rows.js';
import { forEachOperator, type MetadataInput, type OperatorPieces } from './operators.js';
import { intersection, type KeyGroups, type SubtaskPieces } from './pieces.js';
import type { Row } from './rows.js';
import { openState, sourceName } from './state-source.js';
import type { Unread, WalkContext } from './walk-context.js';
import { located, reasonOf } from './walk-errors.js';
import { walkKeyed, walkRaw } from './walk-keyed.js';
import { OperatorWalk, openOperatorFile } from './walk-operator.js';

/** What is wanted of the state. */
export interface ReadRequest {
  /** Id, unique beginning of an id, uid or name of the only operator. */
  readonly operator?: string | undefined;
  /** Name of the only state. */
  readonly state?: string | undefined;
  /** Which keys and namespaces. With any, operator state is left out. */
  readonly query: KeyQuery;
  /** `count`: entries are counted, and no rows come. */
  readonly mode: 'values' | 'keys' | 'count';
  /** Only these key groups. */
  readonly keyGroups?: KeyGroups | undefined;
  /** One row for each key, in place of one for each entry. Operator state is left out. */
  readonly byKey?: boolean | undefined;
  /** Rows up to this many; the others are counted. */
  readonly limit?: number | undefined;
}

/** A state of an operator. */
export interface ReadStateHead {
  readonly section: 'keyed' | 'operator';
  readonly name: string;
  readonly kind: KeyedStateKind | OperatorStateKind;
}

/** Entries of a state that are not among the rows. */
export interface Undecoded {
  readonly operatorId: string;
  readonly state: string;
  readonly type: string;
  /** Null if nobody knows how many. */
  readonly entries: number | null;
  readonly reason: string;
}

/** A file that could not be read to its end. */
export interface UnreadPiece extends Unread {
  readonly operatorId: string;
  readonly subtask: number;
}

/** Who gets the rows. All are awaited: that is the backpressure. */
export interface ReadHandlers {
  beginOperator?(operator: OperatorPieces): Promise<void> | void;
  /** A state that is wanted; once for each operator, before its first row. */
  state?(head: ReadStateHead): Promise<void> | void;
  /** A subtask has a list of operator state, perhaps an empty one. */
  list?(state: string, subtask: number): Promise<void> | void;
  rows?(rows: readonly Row[], operator: OperatorPieces): Promise<void> | void;
  /** In place of `rows`, if they were asked for by key. */
  keys?(rows: readonly KeyRow[], operator: OperatorPieces): Promise<void> | void;
  endOperator?(operator: OperatorPieces): Promise<void> | void;
}

/** How many entries a state has. */
export interface StateCount extends ReadStateHead {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly operatorName: string | null;
  /** Keys with a value, timers, elements of lists, entries of broadcast states. */
  readonly entries: number;
}

/** What there is to say when all was read. */
export interface ReadResult {
  readonly counts: readonly StateCount[];
  /** Entries that fit. */
  readonly entries: number;
  /** Rows beyond the limit: entries, or keys. */
  readonly more: number;
  readonly undecoded: readonly Undecoded[];
  readonly unread: readonly UnreadPiece[];
  /** Why all key groups had to be read for a key, for each operator where it was so. */
  readonly scanned: readonly { readonly operatorId: string; readonly reason: string }[];
  readonly operators: number;
}

/**
 * Reads state.
 * @throws OperatorNotFoundError; StateNotFoundError; the errors of reading metadata
 */
export async function readState(
  fileSystems: FileSystems,
  input: MetadataInput,
  request: ReadRequest,
  handlers: ReadHandlers,
  signal?: AbortSignal,
): Promise<ReadResult> {
  const reading = new Reading(fileSystems, request, handlers, signal);
  await forEachOperator(input, request.operator, (operator) => reading.operator(operator), signal);
  return reading.result();
}

/**
 * Reads the state of one operator whose pieces are known: for those who read it several times. `request.operator` is ignored.
 * @throws StateNotFoundError; the errors of reading
 */
export async function readOperatorState(
  fileSystems: FileSystems,
  operator: OperatorPieces,
  request: ReadRequest,
  handlers: ReadHandlers,
  signal?: AbortSignal,
): Promise<ReadResult> {
  const reading = new Reading(fileSystems, request, handlers, signal);
  await reading.operator(operator);
  return reading.result();
}

class Reading {
  private readonly undecoded = new Map<string, { -readonly [K in keyof Undecoded]: Undecoded[K] }>();
  private readonly unread: UnreadPiece[] = [];
  private readonly scanned: { operatorId: string; reason: string }[] = [];
  private readonly counts: { -readonly [K in keyof StateCount]: StateCount[K] }[] = [];
  private operators = 0;
  private entries = 0;
  private shown = 0;
  private moreKeys = 0;
  /** Names of all states that there are, wanted or not. */
  private readonly names = new Set<string>();
  /** Of the operator that is being read. */
  private heads = new Map<string, { -readonly [K in keyof StateCount]: StateCount[K] }>();
  private pending: ReadStateHead[] = [];

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly request: ReadRequest,
    private readonly handlers: ReadHandlers,
    private readonly signal: AbortSignal | undefined,
  ) {}

  result(): ReadResult {
    const { state } = this.request;
    if (state !== undefined && this.counts.length === 0 && this.names.size > 0 && this.unread.length === 0) {
      throw new StateNotFoundError(state, [...this.names]);
    }
    const { counts, entries, unread, scanned, operators } = this;
    const { mode, byKey } = this.request;
    return {
      counts,
      entries,
      more: mode === 'count' ? 0 : byKey ? this.moreKeys : entries - this.shown,
      undecoded: [...this.undecoded.values()],
      unread,
      scanned,
      operators,
    };
  }

  async operator(operator: OperatorPieces): Promise<void> {
    this.heads = new Map();
    this.pending = [];
    this.operators++;
    await this.handlers.beginOperator?.(operator);
    await this.keyed(operator);
    await this.operatorState(operator);
    await this.handlers.endOperator?.(operator);
  }

  // ---------------------------------------------------------------- keyed state

  private async keyed(operator: OperatorPieces): Promise<void> {
    const { query } = this.request;
    let resolved: KeyQueryResult;
    try {
      resolved = await resolveKeyQuery(operator, query, this.context(operator, -1));
    } catch (error) {
      // Which key it is cannot be found out where no header can be read; the walk tells of that.
      if (!(error instanceof UnknownFormatError || error instanceof ByteFormatError)) throw error;
      resolved = { filter: {}, keyGroups: undefined, scanned: undefined, isImpossible: false };
    }
    if (resolved.isImpossible) return;
    if (resolved.scanned !== undefined)
      this.scanned.push({ operatorId: operator.operatorId, reason: resolved.scanned });
    for (const subtask of operator.subtasks) {
      if (this.request.byKey) await this.keysOfSubtask(operator, subtask, resolved);
      else await this.keyedSubtask(operator, subtask, resolved, (rows) => this.emit(operator, rows));
    }
  }

  /** Key group by key group: what a state has of a key need not lie beside what the others have of it. */
  private async keysOfSubtask(operator: OperatorPieces, subtask: SubtaskPieces, query: KeyQueryResult): Promise<void> {
    const range = subtask.keyed?.range ?? subtask.rawKeyed?.range;
    if (!range) return;
    const { first, last } = query.keyGroups ? intersection(range, query.keyGroups) : range;
    const collected = new KeyRows();
    // A file that cannot be read fails in every key group alike: once is enough.
    const unread = this.unread.length;
    for (let keyGroup = first; keyGroup <= last && this.unread.length === unread; keyGroup++) {
      const keyGroups = { first: keyGroup, last: keyGroup };
      await this.keyedSubtask(operator, subtask, { ...query, keyGroups }, (rows) => {
        for (const row of rows) collected.add(row);
      });
      const keys = collected.take();
      const room = Math.max(0, (this.request.limit ?? Number.POSITIVE_INFINITY) - this.shown);
      const shown = keys.slice(0, room);
      this.shown += shown.length;
      this.moreKeys += keys.length - shown.length;
      if (shown.length > 0) await this.handlers.keys?.(shown, operator);
    }
  }

  private async keyedSubtask(
    operator: OperatorPieces,
    { index, keyed, rawKeyed }: SubtaskPieces,
    { filter, keyGroups }: KeyQueryResult,
    emit: (rows: readonly Row[]) => Promise<void> | void,
  ): Promise<void> {
    const wanted = this.request.keyGroups;
    const both = keyGroups && wanted ? intersection(keyGroups, wanted) : (keyGroups ?? wanted);
    const context = { ...this.context(operator, index), keyGroups: both };
    const options = {
      ...filter,
      subtask: index,
      wants: () => this.wants(),
      onEntry: (entry: RawEntry) => this.count(operator, entry.state),
    };
    const walks = [keyed && walkKeyed(keyed, context), rawKeyed && walkRaw(rawKeyed, context)];
    for (const walk of walks) {
      if (!walk) continue;
      try {
        for await (const rows of keyedRows(walk, options)) await emit(rows);
      } catch (error) {
        this.signal?.throwIfAborted();
        if (!(error instanceof CkptError) || error.code !== 'CORRUPT_STATE') throw error;
        const path = String(error.data.location);
        this.unread.push({ operatorId: operator.operatorId, subtask: index, path, reason: error.message });
      }
      await this.tellStates();
    }
  }

  private context(operator: OperatorPieces, subtask: number): WalkContext {
    const { operatorId } = operator;
    return {
      fileSystems: this.fileSystems,
      signal: this.signal,
      isWanted: ({ name }) => this.request.state === undefined || this.request.state === name,
      onState: (state) => this.note(operator, { section: 'keyed', name: state.name, kind: state.kind }),
      onLost: ({ state, entries, reason }) =>
        this.lose(operatorId, state.name, valueType(state), entries ?? null, reason),
      onUnread: (unread) => this.unread.push({ ...unread, operatorId, subtask }),
    };
  }

  private wants(): 'values' | 'keys' | 'nothing' {
    const { mode, limit, byKey } = this.request;
    if (byKey) return 'values';
    if (mode === 'count' || (limit !== undefined && this.shown >= limit)) return 'nothing';
    this.shown++;
    return mode;
  }

  private count(operator: OperatorPieces, state: KeyedState): void {
    const head = this.note(operator, { section: 'keyed', name: state.name, kind: state.kind });
    if (head) head.entries++;
    this.entries++;
  }

  private note(operator: OperatorPieces, head: ReadStateHead): { entries: number } | undefined {
    this.names.add(head.name);
    if (this.request.state !== undefined && this.request.state !== head.name) return undefined;
    const key = `${head.section} ${head.name}`;
    const known = this.heads.get(key);
    if (known) return known;
    const { operatorId, uid, name: operatorName } = operator;
    const made = { ...head, operatorId, uid, operatorName, entries: 0 };
    this.heads.set(key, made);
    this.counts.push(made);
    this.pending.push(head);
    return made;
  }

  private async tellStates(): Promise<void> {
    for (let head = this.pending.shift(); head; head = this.pending.shift()) await this.handlers.state?.(head);
  }

  private async emit(operator: OperatorPieces, rows: readonly Row[]): Promise<void> {
    await this.tellStates();
    await this.handlers.rows?.(rows, operator);
  }

  private lose(operatorId: string, state: string, type: string, entries: number | null, reason: string): void {
    const key = JSON.stringify([operatorId, state, reason]);
    const known = this.undecoded.get(key);
    if (!known) this.undecoded.set(key, { operatorId, state, type, entries, reason });
    else known.entries = known.entries === null || entries === null ? null : known.entries + entries;
  }

  // ---------------------------------------------------------------- operator state

  private async operatorState(operator: OperatorPieces): Promise<void> {
    if (this.request.query.isKeyed || this.request.byKey) return;
    // Each subtask has a copy of a broadcast state.
    const broadcast = new Set<string>();
    for (const subtask of operator.subtasks) {
      const { operator: piece, index } = subtask;
      if (!piece) continue;
      try {
        const { bytes, close } = await openState(this.fileSystems, piece.source, this.signal);
        try {
          const { header, states } = await openOperatorFile(bytes, piece);
          const walk = new OperatorWalk(bytes, piece, header.compressed);
          for (const state of states) {
            if (state.kind === 'broadcast' && broadcast.has(state.name)) continue;
            const counted = this.note(operator, { section: 'operator', name: state.name, kind: state.kind });
            if (!counted) continue;
            await this.tellStates();
            if (state.kind !== 'broadcast') await this.handlers.list?.(state.name, index);
            const onLost = (entries: number | undefined, reason: string): void =>
              this.lose(operator.operatorId, state.name, state.value.type, entries ?? null, reason);
            for await (const entries of walk.entries(state, onLost)) {
              const rows: Row[] = [];
              for (const entry of entries) {
                counted.entries++;
                this.entries++;
                const wants = this.wants();
                if (wants === 'nothing') continue;
                const { value, ...keys } = entry;
                rows.push({
                  state: state.name,
                  kind: state.kind,
                  subtask: index,
                  keyGroup: null,
                  ...keys,
                  ...(wants === 'values' && { value }),
                });
              }
              if (rows.length > 0) await this.emit(operator, rows);
            }
            if (state.kind === 'broadcast') broadcast.add(state.name);
          }
        } finally {
          await close();
        }
      } catch (error) {
        this.signal?.throwIfAborted();
        const path = sourceName(piece.source);
        const reason = reasonOf(located(error, piece.source));
        this.unread.push({ operatorId: operator.operatorId, subtask: index, path, reason });
      }
    }
  }
}

function valueType({ value, mapValue, element, key }: KeyedState): string {
  return (value ?? mapValue ?? element ?? key).type;
}
