/** What is known of the state of an operator, as the writers of SQL and Java need it. */
import type { TypeDescription } from '../../format/value/type-description.js';
import type { Backend } from '../inspect-result.js';

/** Kinds of state, in the words of `ckpt states`. */
export type NamedStateKind =
  | 'value'
  | 'list'
  | 'map'
  | 'reducing'
  | 'aggregating'
  | 'timers'
  | 'priority-queue'
  | 'unknown'
  | 'split-list'
  | 'union-list'
  | 'broadcast';

/** A state. */
export interface NamedState {
  readonly name: string;
  readonly kind: NamedStateKind;
  /** Of keyed state the key; of a broadcast state that of its map; undefined for lists of operator state. */
  readonly key: TypeDescription | undefined;
  /** Undefined for operator state. */
  readonly namespace: TypeDescription | undefined;
  /** Of maps. */
  readonly mapKey: TypeDescription | undefined;
  /** Of a list an element, of a map a value; undefined for timers. With `ttl` a `Ttl` of it. */
  readonly value: TypeDescription | undefined;
  readonly ttl: boolean;
  /** A serializer somewhere in it that Flink makes of no TypeInformation, though its values can be read. */
  readonly ownSerializer: string | undefined;
}

/** How the managed keyed state of an operator is kept. */
export type KeyedForm = 'key-groups' | 'incremental' | 'changelog';

/** An operator. */
export interface OperatorStates {
  /** As Flink is to be told: the name by which metadata calls the place. */
  readonly pointer: string;
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  /** Null without keyed state. */
  readonly backend: Backend | null;
  /** Undefined without managed keyed state. */
  readonly form: KeyedForm | undefined;
  readonly states: readonly NamedState[];
}

const OPERATOR_STATE: ReadonlySet<NamedStateKind> = new Set(['split-list', 'union-list', 'broadcast']);

/** True for operator state, false for keyed state. */
export function isOperatorState({ kind }: NamedState): boolean {
  return OPERATOR_STATE.has(kind);
}

/** True if a keyed state has no namespaces but Flink's `VoidNamespace`. */
export function isWithoutNamespace({ namespace }: NamedState): boolean {
  return namespace?.kind === 'basic' && namespace.name === 'VoidNamespace';
}

/** The type behind a `Ttl`; any other type itself. */
export function withoutTtl(type: TypeDescription): TypeDescription {
  return type.kind === 'composite' && type.name === 'Ttl' ? (type.parts[0] ?? type) : type;
}

/** A few words for people: `orders (38226e…)`. */
export function operatorText({ operatorId, uid, name }: OperatorStates): string {
  const names = [name, uid === null ? null : `uid ${uid}`].filter((part) => part !== null);
  return names.length > 0 ? `${operatorId} (${names.join(', ')})` : operatorId;
}

/**
 * What is to be known of several states read together from RocksDB, or from ForSt. Flink 2.3 merges their keys in
 * `RocksMultiStateKeysIterator` by `Arrays.compare(byte[], byte[])`, where bytes are signed, in tables where they are not.
 */
export const KEYS_TWICE =
  'a key may come twice, with the same values: Flink 2.3 merges the keys of several states by signed bytes, and its tables are in the order of unsigned ones; of a single state (--state) each comes once';
