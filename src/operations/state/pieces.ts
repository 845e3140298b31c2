/** The pieces of state of a subtask, as its handles name them: what there is to read, with where and in which form. */
import type { Path } from '../../filesystem/path.js';
import type { SubtaskEntry } from '../../model/checkpoint-metadata.js';
import type {
  ChangelogStateBackendHandleImpl,
  ChangelogStateHandle,
  DistributionMode,
  IncrementalRemoteKeyedStateHandle,
  KeyedStateHandle,
  KeyGroupRange,
  KeyGroupsSavepointStateHandle,
  KeyGroupsStateHandle,
  OperatorStateHandle,
  StateChange,
} from '../../model/state-handles.js';
import type { KeyGroupsForm } from './keyed-file.js';
import { type StateSource, sourceOf } from './state-source.js';

/** Key groups [first, last], both included; empty if last is lower. */
export interface KeyGroups {
  readonly first: number;
  readonly last: number;
}

/** A file with key groups: heap or unified. */
export interface KeyGroupsPiece extends KeyGroupsForm {
  readonly kind: 'key-groups';
  readonly source: StateSource;
  readonly range: KeyGroups;
}

/** Files of RocksDB or ForSt. */
export interface IncrementalPiece {
  readonly kind: 'incremental';
  /** ForSt, as far as one can tell: it lists its own files in one order always. */
  readonly isForSt: boolean;
  readonly meta: StateSource | undefined;
  /** By the names that they have there. */
  readonly files: readonly { readonly name: string; readonly source: StateSource }[];
  readonly range: KeyGroups;
  readonly maxParallelism: number;
}

/** Changes of a changelog: of one set in a file, or in the metadata itself. */
export type ChangesSource =
  | { readonly kind: 'file'; readonly source: StateSource; readonly offset: number }
  | { readonly kind: 'inline'; readonly changes: readonly StateChange[] };

/** State of a changelog backend. */
export interface ChangelogPiece {
  readonly kind: 'changelog';
  readonly materialized: readonly KeyedPiece[];
  /** In the order in which they are to be applied. */
  readonly changes: readonly ChangesSource[];
  readonly range: KeyGroups;
  readonly maxParallelism: number;
}

/** Managed keyed state. */
export type KeyedPiece = KeyGroupsPiece | IncrementalPiece | ChangelogPiece;

/** Raw keyed state: an offset of -1 stands for nothing. */
export interface RawKeyedPiece {
  readonly kind: 'raw-keyed';
  readonly source: StateSource;
  readonly firstKeyGroup: number;
  readonly offsets: Float64Array;
  readonly range: KeyGroups;
}

/** Managed operator state. */
export interface OperatorPiece {
  readonly source: StateSource;
  readonly states: readonly {
    readonly name: string;
    readonly mode: DistributionMode;
    /** One for each element; one for a broadcast state. */
    readonly offsets: Float64Array;
  }[];
}

/** What a subtask has. */
export interface SubtaskPieces {
  readonly index: number;
  readonly finished: boolean;
  readonly keyed: KeyedPiece | undefined;
  readonly rawKeyed: RawKeyedPiece | undefined;
  readonly operator: OperatorPiece | undefined;
  /** It has raw operator state, or in-flight data: no command decodes them. */
  readonly hasRawOperator: boolean;
  readonly hasChannels: boolean;
}

/** How ForSt lists the files of an instance that are no tables; RocksDB lists them as the local file system does. */
const FORST_ORDER = ['OPTIONS-', 'MANIFEST-', 'CURRENT'];

/** Where handles stand. */
export interface PieceContext {
  /** Of the metadata: those of releases without ForSt name no operators. */
  readonly hasNames: boolean;
  /** Directory of the metadata file. */
  readonly own: Path;
  readonly maxParallelism: number;
}

/** The pieces of a subtask. */
export function piecesOf(entry: SubtaskEntry, context: PieceContext): SubtaskPieces {
  if (entry.finished) {
    const nothing = { keyed: undefined, rawKeyed: undefined, operator: undefined };
    return { index: entry.index, finished: true, ...nothing, hasRawOperator: false, hasChannels: false };
  }
  const { managedKeyedState, rawKeyedState, managedOperatorState } = entry;
  return {
    index: entry.index,
    finished: false,
    keyed: managedKeyedState ? keyedPiece(managedKeyedState, context) : undefined,
    rawKeyed: rawKeyedState ? rawKeyedPiece(rawKeyedState, context) : undefined,
    operator: managedOperatorState ? operatorPiece(managedOperatorState, context) : undefined,
    hasRawOperator: entry.rawOperatorState !== null,
    hasChannels: entry.inputChannelState.length > 0 || entry.resultSubpartitionState.length > 0,
  };
}

/** Key groups of two ranges. */
export function intersection(a: KeyGroups, b: KeyGroups): KeyGroups {
  return { first: Math.max(a.first, b.first), last: Math.min(a.last, b.last) };
}

/** Key groups that a handle holds, of those that are wanted. */
export function wantedKeyGroups(range: KeyGroups, wanted: KeyGroups | undefined): KeyGroups {
  return wanted === undefined ? range : intersection(range, wanted);
}

function rangeOf({ startKeyGroup, numberOfKeyGroups }: KeyGroupRange): KeyGroups {
  return { first: startKeyGroup, last: startKeyGroup + numberOfKeyGroups - 1 };
}

function keyedPiece(handle: KeyedStateHandle, context: PieceContext): KeyedPiece | undefined {
  switch (handle.type) {
    case 'KeyGroupsStateHandle':
    case 'KeyGroupsSavepointStateHandle':
      return keyGroupsPiece(handle, context);
    case 'IncrementalRemoteKeyedStateHandle':
      return incrementalPiece(handle, context);
    case 'ChangelogStateBackendHandleImpl':
      return changelogPiece(handle, context);
    case 'InMemoryChangelogStateHandle':
    case 'ChangelogStateHandleStreamImpl':
      return {
        kind: 'changelog',
        materialized: [],
        changes: changesOf(handle, context),
        range: rangeOf(handle.keyGroupRange),
        maxParallelism: context.maxParallelism,
      };
  }
}

function keyGroupsPiece(
  handle: KeyGroupsStateHandle | KeyGroupsSavepointStateHandle,
  { own, maxParallelism }: PieceContext,
): KeyGroupsPiece | undefined {
  const source = sourceOf(handle.delegateStateHandle, own);
  if (!source) return undefined;
  return {
    kind: 'key-groups',
    source,
    form: handle.type === 'KeyGroupsSavepointStateHandle' ? 'unified' : 'unknown',
    firstKeyGroup: handle.keyGroupRange.startKeyGroup,
    offsets: Float64Array.from(handle.keyGroupOffsets, Number),
    maxParallelism,
    range: rangeOf(handle.keyGroupRange),
  };
}

function incrementalPiece(
  handle: IncrementalRemoteKeyedStateHandle,
  { own, maxParallelism, hasNames }: PieceContext,
): IncrementalPiece {
  const names = handle.privateState.map(({ localPath }) => localPath);
  const inOrder = FORST_ORDER.every((prefix, i) => names[i]?.startsWith(prefix) && names.length === FORST_ORDER.length);
  const files = [...handle.sharedState, ...handle.privateState].flatMap(({ localPath, handle: file }) => {
    const source = sourceOf(file, own);
    return source ? [{ name: localPath, source }] : [];
  });
  const meta = sourceOf(handle.metaStateHandle, own);
  return {
    kind: 'incremental',
    isForSt: hasNames && inOrder,
    meta,
    files,
    range: rangeOf(handle.keyGroupRange),
    maxParallelism,
  };
}

function changelogPiece(handle: ChangelogStateBackendHandleImpl, context: PieceContext): ChangelogPiece {
  const materialized = handle.materializedStateHandles.flatMap((part) => {
    const piece = part ? keyedPiece(part, context) : undefined;
    return piece ? [piece] : [];
  });
  return {
    kind: 'changelog',
    materialized: materialized.sort((a, b) => a.range.first - b.range.first),
    changes: handle.nonMaterializedStateHandles.flatMap((part) => changesOf(part, context)),
    range: rangeOf(handle.keyGroupRange),
    maxParallelism: context.maxParallelism,
  };
}

function changesOf(handle: ChangelogStateHandle, { own }: PieceContext): ChangesSource[] {
  if (handle.type === 'InMemoryChangelogStateHandle') return [{ kind: 'inline', changes: handle.changes }];
  return handle.handlesAndOffsets.flatMap(({ handle: file, offset }): ChangesSource[] => {
    const source = file ? sourceOf(file, own) : undefined;
    return source ? [{ kind: 'file', source, offset: Number(offset) }] : [];
  });
}

function rawKeyedPiece(handle: KeyedStateHandle, { own }: PieceContext): RawKeyedPiece | undefined {
  if (handle.type !== 'KeyGroupsStateHandle' && handle.type !== 'KeyGroupsSavepointStateHandle') return undefined;
  const source = sourceOf(handle.delegateStateHandle, own);
  if (!source) return undefined;
  return {
    kind: 'raw-keyed',
    source,
    firstKeyGroup: handle.keyGroupRange.startKeyGroup,
    offsets: Float64Array.from(handle.keyGroupOffsets, Number),
    range: rangeOf(handle.keyGroupRange),
  };
}

function operatorPiece(handle: OperatorStateHandle, { own }: PieceContext): OperatorPiece | undefined {
  const source = sourceOf(handle.delegateStateHandle, own);
  if (!source) return undefined;
  const byName = new Map(handle.stateNameToPartitionOffsets.map((state) => [state.name, state]));
  return {
    source,
    states: [...byName.values()].map(({ name, distributionMode, offsets }) => ({
      name,
      mode: distributionMode,
      offsets: Float64Array.from(offsets, Number),
    })),
  };
}
