/** What a state is: its kind and the serializers of its parts, made of what a state file says of it. */
import type { SerializerSnapshot } from '../keyed/serializer-snapshot.js';
import type { StateMetaInfo } from '../state-meta-info.js';
import { serializerOf } from '../value/serializer-of.js';
import type { ValueSerializer } from '../value/value-serializer.js';

/** Kinds of keyed state, in the words of the contents documents. */
export type KeyedStateKind =
  | 'value'
  | 'list'
  | 'map'
  | 'reducing'
  | 'aggregating'
  | 'timers'
  | 'priority-queue'
  | 'unknown';

/** Kinds of operator state. */
export type OperatorStateKind = 'split-list' | 'union-list' | 'broadcast';

/** A named keyed state. */
export interface KeyedState {
  readonly name: string;
  readonly kind: KeyedStateKind;
  readonly key: ValueSerializer;
  /** Of timers that of their own namespace. */
  readonly namespace: ValueSerializer;
  /** A whole value as the heap backend writes it; of timers and of maps of the second API undefined. */
  readonly value: ValueSerializer | undefined;
  /** Of lists. */
  readonly element: ValueSerializer | undefined;
  /** Of maps. */
  readonly mapKey: ValueSerializer | undefined;
  readonly mapValue: ValueSerializer | undefined;
  /** Values, elements or values of maps carry the time of the last access. */
  readonly ttl: boolean;
  /** Key and namespace both vary in length, so that backends put their lengths behind them. */
  readonly hasLengths: boolean;
  /** The snapshot of the value; undefined for timers. */
  readonly valueSnapshot: SerializerSnapshot | undefined;
}

/** A named operator state. */
export interface OperatorState {
  readonly name: string;
  readonly kind: OperatorStateKind;
  /** An element of a list, or a value of a broadcast state. */
  readonly value: ValueSerializer;
  /** Of broadcast states. */
  readonly key: ValueSerializer | undefined;
  readonly valueSnapshot: SerializerSnapshot;
}

const TIMER_PREFIX = '_timer_state/';
const NO_SNAPSHOT: SerializerSnapshot = {
  className: 'nothing',
  version: 0,
  content: { kind: 'unknown', bytes: new Uint8Array(0) },
};

/** The kind of a keyed state. */
export function keyedStateKind({ kind, name, options }: StateMetaInfo): KeyedStateKind {
  if (kind === 'priority-queue') return name.startsWith(TIMER_PREFIX) ? 'timers' : 'priority-queue';
  switch (options.get('KEYED_STATE_TYPE')) {
    case 'VALUE':
      return 'value';
    case 'LIST':
      return 'list';
    case 'MAP':
      return 'map';
    case 'REDUCING':
      return 'reducing';
    case 'AGGREGATING':
    case 'FOLDING':
      return 'aggregating';
    default:
      return 'unknown';
  }
}

/** The kind of an operator state. */
export function operatorStateKind({ kind, options }: StateMetaInfo): OperatorStateKind {
  if (kind === 'broadcast') return 'broadcast';
  return options.get('OPERATOR_STATE_DISTRIBUTION_MODE') === 'UNION' ? 'union-list' : 'split-list';
}

/** @param keySnapshot of the backend's keys */
export function keyedState(info: StateMetaInfo, keySnapshot: SerializerSnapshot): KeyedState {
  const kind = keyedStateKind(info);
  const valueSnapshot = info.serializers.get('VALUE_SERIALIZER') ?? NO_SNAPSHOT;
  const nested = nestedOf(valueSnapshot);
  if (info.kind === 'priority-queue') {
    const key = serializerOf(nested[0] ?? keySnapshot);
    const namespace = serializerOf(nested[1] ?? NO_SNAPSHOT);
    const none = { value: undefined, element: undefined, mapKey: undefined, mapValue: undefined };
    return { name: info.name, kind, key, namespace, ...none, ttl: false, hasLengths: false, valueSnapshot: undefined };
  }
  const key = serializerOf(keySnapshot);
  const namespace = serializerOf(info.serializers.get('NAMESPACE_SERIALIZER') ?? NO_SNAPSHOT);
  const userKey = info.serializers.get('USER_KEY_SERIALIZER');
  const mapParts = kind !== 'map' ? [] : userKey ? [userKey, valueSnapshot] : nested;
  const isList = kind === 'list' && isNamed(valueSnapshot, 'ListSerializerSnapshot');
  const elementSnapshot = kind !== 'list' ? undefined : isList ? nested[0] : valueSnapshot;
  const made = (snapshot: SerializerSnapshot | undefined): ValueSerializer | undefined =>
    snapshot && serializerOf(snapshot);
  return {
    name: info.name,
    kind,
    key,
    namespace,
    value: userKey || (kind === 'list' && !isList) ? undefined : serializerOf(valueSnapshot),
    element: made(elementSnapshot),
    mapKey: made(mapParts[0]),
    mapValue: made(mapParts[1]),
    ttl: [elementSnapshot, mapParts[1], valueSnapshot].some((snapshot) => snapshot && isTtl(snapshot)),
    hasLengths: key.length === undefined && namespace.length === undefined,
    valueSnapshot,
  };
}

/** An operator state of a header. */
export function operatorState(info: StateMetaInfo): OperatorState {
  const valueSnapshot = info.serializers.get('VALUE_SERIALIZER') ?? NO_SNAPSHOT;
  const key = info.serializers.get('KEY_SERIALIZER');
  const kind = operatorStateKind(info);
  return {
    name: info.name,
    kind,
    value: serializerOf(valueSnapshot),
    key: kind === 'broadcast' ? serializerOf(key ?? NO_SNAPSHOT) : undefined,
    valueSnapshot,
  };
}

/** True for the snapshot of a serializer that puts the time of the last access in front. */
export function isTtl(snapshot: SerializerSnapshot): boolean {
  const { content } = snapshot;
  if (content.kind === 'ttl-aware') return content.ttl || isTtl(content.nested);
  return isNamed(snapshot, 'TtlSerializerSnapshot');
}

function isNamed({ className }: SerializerSnapshot, name: string): boolean {
  return className.endsWith(name) && '.$'.includes(className.charAt(className.length - name.length - 1));
}

/** What a composite snapshot is made of. */
function nestedOf({ content }: SerializerSnapshot): readonly SerializerSnapshot[] {
  return content.kind === 'composite' ? content.nested : [];
}
