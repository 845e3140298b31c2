/** `ckpt states`: every named state with its types, from the heads of the state files. */
import { CkptError } from '../../errors.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { KeyedState, KeyedStateKind, OperatorState, OperatorStateKind } from '../../format/entries/named-state.js';
import type { SerializerSnapshot } from '../../format/keyed/serializer-snapshot.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { serializerOf } from '../../format/value/serializer-of.js';
import { type TypeDescription, typeText } from '../../format/value/type-description.js';
import type { Backend } from '../inspect-result.js';
import { familySizes } from './family-sizes.js';
import { loadKeyedStates } from './keyed-states.js';
import { forEachOperator, type MetadataInput, type OperatorPieces } from './operators.js';
import type { KeyedPiece, OperatorPiece, SubtaskPieces } from './pieces.js';
import { type StateSource, sourceName } from './state-source.js';
import { withState } from './walk-errors.js';
import { OperatorWalk, openOperatorFile } from './walk-operator.js';

/** Heads that are read at once. */
const CONCURRENT_HEADS = 16;

/** A state of an operator. */
export interface ListedState {
  readonly name: string;
  readonly kind: KeyedStateKind | OperatorStateKind;
  /** Of keyed state and broadcast states; null where nothing tells, or there is none. */
  readonly keyType: string | null;
  /** Null where there is none. */
  readonly namespaceType: string | null;
  /** Of a list that of its elements, of a map that of its values; null for timers. */
  readonly valueType: string | null;
  /** With the fields of a POJO and the constants of an enum, without what time to live adds. */
  readonly valueDetail: string | null;
  /** Of maps. */
  readonly mapKeyType: string | null;
  /** Values carry the time of their last access. How long they live is not stored. */
  readonly ttl: boolean;
  /** Simple name of the serializer of the whole value; null for timers. */
  readonly serializer: string | null;
  /** Subtasks that have it. */
  readonly subtasks: number;
  /** Bytes of its elements in files, or of its tables in RocksDB; null where only reading all would tell. */
  readonly bytes: number | null;
  /** Elements; null where only reading all would tell. */
  readonly entries: number | null;
  /** The types in full; null where there is none. */
  readonly description: {
    readonly key: TypeDescription | null;
    readonly namespace: TypeDescription | null;
    /** Of maps. */
    readonly mapKey: TypeDescription | null;
    readonly value: TypeDescription | null;
  };
}

/** Subtasks that describe a state in another way than the first one. */
export interface Disagreement {
  readonly state: string;
  readonly subtasks: readonly number[];
  /** What they say, e.g. `value of Integer`. */
  readonly found: string;
  readonly expected: string;
}

/** An operator with its states. */
export interface ListedOperator {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  /** Null without keyed state. */
  readonly backend: Backend | null;
  readonly keyType: string | null;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly states: readonly ListedState[];
  readonly disagreements: readonly Disagreement[];
  /** State that has no names, or of which they are not decoded: `raw keyed`, `raw operator`, `channels`, `coordinator`. */
  readonly otherState: readonly string[];
}

/** A file whose head could not be read. */
export interface UnreadHead {
  readonly operatorId: string;
  readonly subtask: number;
  readonly path: string;
  readonly reason: string;
}

/** The document of `ckpt states`. */
export interface StatesResult {
  readonly operators: readonly ListedOperator[];
  readonly unread: readonly UnreadHead[];
}

/**
 * Lists the states.
 * @param wanted id, unique beginning of an id, uid or name of the only operator
 * @throws OperatorNotFoundError; the errors of reading metadata
 */
export async function listStates(
  fileSystems: FileSystems,
  input: MetadataInput,
  wanted: string | undefined,
  signal?: AbortSignal,
): Promise<StatesResult> {
  const operators: ListedOperator[] = [];
  const unread: UnreadHead[] = [];
  const work = async (operator: OperatorPieces): Promise<void> => {
    const listed = await listOperator(fileSystems, operator, unread, signal);
    const hasAny = listed.states.length > 0 || listed.otherState.length > 0;
    if (hasAny || wanted !== undefined) operators.push(listed);
  };
  await forEachOperator(input, wanted, work, signal);
  return { operators, unread };
}

/** The states of an operator. @param unread to which heads are added that cannot be read */
export function listOperator(
  fileSystems: FileSystems,
  operator: OperatorPieces,
  unread: UnreadHead[],
  signal?: AbortSignal,
): Promise<ListedOperator> {
  return new Listing(fileSystems, operator, unread, signal).list();
}

/** What is collected of a state. */
interface Collected {
  state: Omit<ListedState, 'subtasks' | 'bytes' | 'entries'>;
  subtasks: number;
  bytes: number | null;
  entries: number | null;
  /** Descriptions that differ from the first one, with who has them. */
  others: Map<string, number[]>;
}

class Listing {
  private readonly states = new Map<string, Collected>();
  private keyType: string | null = null;

  constructor(
    readonly fileSystems: FileSystems,
    private readonly operator: OperatorPieces,
    private readonly unread: UnreadHead[],
    readonly signal: AbortSignal | undefined,
  ) {}

  async list(): Promise<ListedOperator> {
    const { operator, signal } = this;
    const found: { subtask: number; add: () => void }[] = [];
    await forEachConcurrently(
      operator.subtasks,
      async (subtask) => {
        for (const add of await this.look(subtask)) found.push({ subtask: subtask.index, add });
      },
      { concurrency: CONCURRENT_HEADS, signal },
    );
    signal?.throwIfAborted();
    // In the order of the subtasks, so that the same comes out each time.
    for (const { add } of found.sort((a, b) => a.subtask - b.subtask)) add();
    const { operatorId, uid, name, parallelism, maxParallelism } = operator;
    return {
      ...{ operatorId, uid, name, backend: backendOf(operator), keyType: this.keyType, parallelism, maxParallelism },
      states: [...this.states.values()].map(({ state, subtasks, bytes, entries }) => ({
        ...state,
        subtasks,
        bytes,
        entries,
      })),
      disagreements: [...this.states.values()].flatMap(disagreementsOf),
      otherState: otherState(operator),
    };
  }

  /** What a subtask has, to be noted later. */
  private async look({ index, keyed, operator }: SubtaskPieces): Promise<(() => void)[]> {
    const notes: (() => void)[] = [];
    if (keyed) {
      await this.guarded(index, mainSource(keyed), async () => {
        const { keySnapshot, states } = await loadKeyedStates(this.fileSystems, keyed, this.signal);
        const keyType = keySnapshot ? serializerOf(keySnapshot).type : null;
        const sizes = await familySizes(this.fileSystems, keyed, this.signal);
        notes.push(() => this.noteKeyed(index, keyType, states, sizes));
      });
    }
    if (operator) {
      await this.guarded(index, operator.source, async () => {
        notes.push(await this.lookAtOperator(index, operator));
      });
    }
    return notes;
  }

  private async lookAtOperator(subtask: number, piece: OperatorPiece): Promise<() => void> {
    return withState(this, piece.source, async (bytes) => {
      const { states, header } = await openOperatorFile(bytes, piece);
      const walk = new OperatorWalk(bytes, piece, header.compressed);
      const sizes = await Promise.all(states.map((state) => walk.size(state)));
      return () => {
        for (const [i, state] of states.entries()) this.noteOperator(subtask, state, sizes[i] ?? NOTHING);
      };
    });
  }

  private async guarded(subtask: number, source: StateSource | undefined, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.signal?.throwIfAborted();
      if (!(error instanceof CkptError || error instanceof UnknownFormatError)) throw error;
      const path = source ? sourceName(source) : '';
      this.unread.push({ operatorId: this.operator.operatorId, subtask, path, reason: error.message });
    }
  }

  private noteKeyed(
    subtask: number,
    keyType: string | null,
    states: readonly KeyedState[],
    sizes: ReadonlyMap<string, number> | undefined,
  ): void {
    this.keyType ??= keyType;
    for (const state of states) {
      const collected = this.note(subtask, `keyed ${state.name}`, listedKeyed(state), 0, null);
      const isKnown = sizes !== undefined && collected.bytes !== null;
      // A state without entries need not have a family yet.
      collected.bytes = isKnown ? (collected.bytes ?? 0) + (sizes.get(state.name) ?? 0) : null;
    }
  }

  private noteOperator(subtask: number, state: OperatorState, { bytes, entries }: OperatorStateSize): void {
    const collected = this.note(subtask, `operator ${state.name}`, listedOperator(state), 0, 0);
    // Each subtask has a copy of a broadcast state.
    if (state.kind === 'broadcast' && collected.subtasks > 1) return;
    collected.bytes = (collected.bytes ?? 0) + bytes;
    collected.entries = entries === undefined || collected.entries === null ? null : collected.entries + entries;
  }

  private note(
    subtask: number,
    key: string,
    state: Collected['state'],
    bytes: number | null,
    entries: number | null,
  ): Collected {
    const known = this.states.get(key);
    if (!known) {
      const made = { state, subtasks: 1, bytes, entries, others: new Map<string, number[]>() };
      this.states.set(key, made);
      return made;
    }
    known.subtasks++;
    const text = describeListed(state);
    if (text !== describeListed(known.state)) known.others.set(text, [...(known.others.get(text) ?? []), subtask]);
    return known;
  }
}

/** How much of a state of operator state there is in a file. */
interface OperatorStateSize {
  readonly bytes: number;
  readonly entries: number | undefined;
}

const NOTHING: OperatorStateSize = { bytes: 0, entries: 0 };

function listedKeyed(state: KeyedState): Collected['state'] {
  const { name, kind, key, namespace, value, element, mapKey, mapValue, ttl, valueSnapshot } = state;
  const shown = element ?? mapValue ?? value;
  return {
    name,
    kind,
    keyType: key.type,
    namespaceType: namespace.type,
    valueType: shown?.type ?? null,
    valueDetail: shown ? fullText(withoutTtl(shown.description)) : null,
    mapKeyType: mapKey?.type ?? null,
    ttl,
    serializer: valueSnapshot ? serializerName(valueSnapshot) : null,
    description: {
      key: key.description,
      namespace: namespace.description,
      mapKey: mapKey?.description ?? null,
      value: shown?.description ?? null,
    },
  };
}

function listedOperator({ name, kind, key, value, valueSnapshot }: OperatorState): Collected['state'] {
  return {
    name,
    kind,
    keyType: key?.type ?? null,
    namespaceType: null,
    valueType: value.type,
    valueDetail: fullText(value.description),
    mapKeyType: null,
    ttl: false,
    serializer: serializerName(valueSnapshot),
    description: { key: key?.description ?? null, namespace: null, mapKey: null, value: value.description },
  };
}

/** Simple name of the serializer that a snapshot belongs to. */
function serializerName({ className }: SerializerSnapshot): string {
  return className.slice(Math.max(className.lastIndexOf('.'), className.lastIndexOf('$')) + 1).replace(/Snapshot$/, '');
}

function describeListed({
  kind,
  keyType,
  namespaceType,
  mapKeyType,
  valueType,
  description,
}: Collected['state']): string {
  const types = [keyType, namespaceType, mapKeyType, valueType].filter((type) => type !== null);
  // Two POJOs of one name may differ in their fields.
  const fields =
    description.value?.kind === 'pojo' ? ` (${description.value.fields.map(({ name }) => name).join(', ')})` : '';
  return `${kind} of ${types.join(', ')}${fields}`;
}

function disagreementsOf({ state, others }: Collected): Disagreement[] {
  const expected = describeListed(state);
  return [...others].map(([found, subtasks]) => ({ state: state.name, subtasks, found, expected }));
}

function otherState({ subtasks, coordinatorState }: OperatorPieces): string[] {
  const others: string[] = [];
  if (subtasks.some(({ rawKeyed }) => rawKeyed)) others.push('raw keyed');
  if (subtasks.some(({ hasRawOperator }) => hasRawOperator)) others.push('raw operator');
  if (subtasks.some(({ hasChannels }) => hasChannels)) others.push('channels');
  if (coordinatorState) others.push('coordinator');
  return others;
}

function mainSource(piece: KeyedPiece): StateSource | undefined {
  switch (piece.kind) {
    case 'key-groups':
      return piece.source;
    case 'incremental':
      return piece.meta;
    case 'changelog':
      return piece.materialized[0] ? mainSource(piece.materialized[0]) : undefined;
  }
}

function backendOf({ subtasks }: OperatorPieces): Backend | null {
  const first = subtasks.find(({ keyed }) => keyed)?.keyed;
  if (!first) return null;
  switch (first.kind) {
    case 'changelog':
      return 'changelog';
    case 'incremental':
      return subtasks.every(({ keyed }) => keyed?.kind !== 'incremental' || keyed.isForSt) ? 'forst' : 'rocksdb';
    case 'key-groups':
      if (first.form === 'unified') return 'unknown';
      return first.offsets.some((offset) => offset === 0) ? 'rocksdb' : 'hashmap';
  }
}

/** That there is time to live is said with the kind. */
function withoutTtl(type: TypeDescription): TypeDescription {
  return type.kind === 'composite' && type.name === 'Ttl' && type.parts[0] ? (type.parts[1] ?? type.parts[0]) : type;
}

/** With the fields of a POJO, the constants of an enum. */
function fullText(type: TypeDescription): string {
  switch (type.kind) {
    case 'pojo':
      return `${typeText(type)} {${type.fields.map((field) => `${field.name} ${typeText(field.type)}`).join(', ')}}`;
    case 'enum':
      return `${typeText(type)} {${type.constants.join(', ')}}`;
    default:
      return typeText(type);
  }
}
