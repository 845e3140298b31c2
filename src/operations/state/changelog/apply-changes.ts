/** Applies changes of one state in one key group to what a materialization has of it. Origin: Flink `StateChangeApplier`s. */
import { ByteReader } from '../../../bytes/byte-reader.js';
import {
  CHANGE_HEAD_BYTES,
  Operation,
  readKeyedChange,
  readOperation,
} from '../../../format/changelog/change-record.js';
import type { KeyedState } from '../../../format/entries/named-state.js';
import { NONE, RawEntry } from '../../../format/entries/raw-entry.js';
import {
  copy,
  elementsOfEntry,
  elementsOfList,
  entriesOfEntry,
  entriesOfMap,
  entryOf,
  identityOf,
  joinElements,
  latin1,
  type MapContent,
  mapEntriesOf,
  type Scope,
  scopeOf,
} from './content.js';

/** What a key has; the kind of the state decides which. `lost`: only the job's own function could tell. */
type Content =
  | { readonly kind: 'value'; readonly value: Uint8Array }
  | { readonly kind: 'list'; readonly elements: Uint8Array[] }
  | { readonly kind: 'map'; readonly entries: MapContent }
  | { readonly kind: 'lost' };

interface Slot extends Scope {
  content: Content | undefined;
}

const TIMESTAMP_BYTES = 8;

/**
 * The keys of one state in one key group that have changes. Tell it of what the materialization has, then of the changes in
 * their order, then take what has come of it.
 */
export class ChangedGroup {
  private readonly slots = new Map<string, Slot>();
  private readonly timers = new Map<string, RawEntry | undefined>();
  private readonly isTimer: boolean;
  /** Keys, namespaces apart, that changes are about: an operation may concern several namespaces of one key. */
  private readonly keys: ReadonlySet<string>;

  /** @throws ByteFormatError; UndecodableValueError */
  constructor(
    private readonly state: KeyedState,
    private readonly keyGroup: number,
    private readonly changes: readonly Uint8Array[],
    /** Told how many entries cannot be known, and why. */
    private readonly onLost: (entries: number, reason: string) => void,
  ) {
    this.isTimer = state.valueSnapshot === undefined;
    this.keys = new Set(this.isTimer ? [] : changes.map((change) => this.keyOf(change)));
  }

  private keyOf(change: Uint8Array): string {
    const { key, keyEnd } = readKeyedChange(ByteReader.over(change), this.state);
    return latin1(change.subarray(key, keyEnd));
  }

  /**
   * An entry of the materialization.
   * @returns false if no change is about it: it stays as it is
   */
  takeBase(entry: RawEntry): boolean {
    if (this.isTimer) {
      this.timers.set(timerIdentity(entry), copiedTimer(entry));
      return true;
    }
    const { keyBuffer, key, keyEnd } = entry;
    if (!this.keys.has(latin1(keyBuffer.subarray(key, keyEnd)))) return false;
    const slot = this.slot(scopeOf(entry));
    slot.content = this.contentOf(entry, slot.content);
    return true;
  }

  private contentOf(entry: RawEntry, before: Content | undefined): Content {
    const { state } = this;
    if (state.kind === 'list' && state.element) {
      return { kind: 'list', elements: elementsOfEntry(state.element, entry) };
    }
    if (state.kind !== 'map') return { kind: 'value', value: copy(entry.valueBuffer, entry.value, entry.valueEnd) };
    const entries = before?.kind === 'map' ? before.entries : (new Map() as MapContent);
    for (const [mapKey, value] of entriesOfEntry(state, entry)) entries.set(mapKey, value);
    return { kind: 'map', entries };
  }

  private slot(scope: Scope): Slot {
    const identity = identityOf(scope.key, scope.namespace);
    const known = this.slots.get(identity);
    if (known) return known;
    const made = { ...scope, content: undefined };
    this.slots.set(identity, made);
    return made;
  }

  /** Applies all changes. @returns what there is then @throws ByteFormatError; UndecodableValueError */
  finish(): RawEntry[] {
    for (const change of this.changes) {
      if (this.isTimer) this.applyTimer(change);
      else this.apply(change);
    }
    if (this.isTimer) return [...this.timers.values()].filter((timer) => timer !== undefined);
    return [...this.slots.values()].flatMap((slot) => this.entriesOf(slot));
  }

  private entriesOf(slot: Slot): RawEntry[] {
    const { content } = slot;
    switch (content?.kind) {
      case undefined:
        return [];
      case 'value':
        return [entryOf(this.state, slot, content.value)];
      case 'list':
        return content.elements.length === 0 ? [] : [entryOf(this.state, slot, joinElements(content.elements))];
      case 'map':
        return mapEntriesOf(this.state, slot, content.entries);
      case 'lost':
        this.onLost(1, 'namespaces were merged, and only the function of the job can tell the result');
        return [];
    }
  }

  private apply(change: Uint8Array): void {
    const reader = ByteReader.over(change);
    const { operation, key, keyEnd, namespace, namespaceEnd, data } = readKeyedChange(reader, this.state);
    const { keyGroup } = this;
    const slot = this.slot({
      keyGroup,
      key: change.subarray(key, keyEnd),
      namespace: change.subarray(namespace, namespaceEnd),
    });
    const bytes = change.subarray(data);
    if (operation === Operation.Clear) slot.content = undefined;
    else if (operation === Operation.MergeNamespaces) this.merge(slot, bytes);
    else if (this.state.kind === 'map') this.applyToMap(slot, operation, bytes, reader);
    else if (this.state.kind === 'list') this.applyToList(slot, operation, bytes, reader);
    else if (operation === Operation.Set || operation === Operation.SetInternal) {
      slot.content = { kind: 'value', value: bytes };
    } else refuse(reader, operation, this.state);
  }

  private applyToMap(slot: Slot, operation: Operation, bytes: Uint8Array, reader: ByteReader): void {
    const entries = slot.content?.kind === 'map' ? slot.content.entries : (new Map() as MapContent);
    slot.content = { kind: 'map', entries };
    switch (operation) {
      case Operation.Set:
      case Operation.SetInternal:
        entries.clear();
        for (const [mapKey, value] of entriesOfMap(this.state, bytes)) entries.set(mapKey, value);
        break;
      case Operation.Add:
        for (const [mapKey, value] of entriesOfMap(this.state, bytes)) entries.set(mapKey, value);
        break;
      case Operation.AddElement:
      case Operation.AddOrUpdateElement:
      case Operation.RemoveElement: {
        const at = ByteReader.over(bytes);
        this.state.mapKey?.skip(at, operation === Operation.RemoveElement ? bytes.length : undefined);
        const mapKey = latin1(bytes.subarray(0, at.position));
        if (operation === Operation.RemoveElement) entries.delete(mapKey);
        else entries.set(mapKey, bytes.subarray(at.position));
        break;
      }
      default:
        refuse(reader, operation, this.state);
    }
  }

  private applyToList(slot: Slot, operation: Operation, bytes: Uint8Array, reader: ByteReader): void {
    const { element } = this.state;
    if (!element) refuse(reader, operation, this.state);
    const before = slot.content?.kind === 'list' ? slot.content.elements : [];
    switch (operation) {
      case Operation.Set:
      case Operation.SetInternal:
        slot.content = { kind: 'list', elements: elementsOfList(element, bytes) };
        break;
      case Operation.Add:
        slot.content = { kind: 'list', elements: [...before, ...elementsOfList(element, bytes)] };
        break;
      case Operation.AddElement:
        before.push(bytes);
        slot.content = { kind: 'list', elements: before };
        break;
      default:
        refuse(reader, operation, this.state);
    }
  }

  /** Data: the target, a count, the sources; all of them namespaces. */
  private merge(scope: Slot, bytes: Uint8Array): void {
    const reader = ByteReader.over(bytes);
    const readNamespace = (): Uint8Array => {
      const start = reader.position;
      this.state.namespace.skip(reader);
      return bytes.subarray(start, reader.position);
    };
    const target = this.slot({ ...scope, namespace: readNamespace() });
    const count = reader.readCount('number of namespaces', 0);
    let merged: Content | undefined;
    for (let i = 0; i < count; i++) {
      const source = this.slot({ ...scope, namespace: readNamespace() });
      merged = mergeContents(merged, source.content);
      source.content = undefined;
    }
    target.content = mergeContents(target.content, merged);
  }

  private applyTimer(change: Uint8Array): void {
    const reader = ByteReader.over(change);
    const operation = readOperation(reader);
    reader.position = CHANGE_HEAD_BYTES;
    if (operation === Operation.RemoveElement) {
      this.timers.set(timerIdentity(this.readTimer(reader)), undefined);
      return;
    }
    if (operation !== Operation.AddElement) refuse(reader, operation, this.state);
    const count = reader.readCount('number of timers', TIMESTAMP_BYTES);
    for (let i = 0; i < count; i++) {
      const timer = this.readTimer(reader);
      this.timers.set(timerIdentity(timer), timer);
    }
  }

  private readTimer(reader: ByteReader): RawEntry {
    const timer = new RawEntry(this.state, this.keyGroup, reader.buffer, reader.buffer);
    timer.timestamp = reader.take(TIMESTAMP_BYTES, 'timestamp of a timer');
    timer.isFlipped = true;
    timer.key = reader.position;
    this.state.key.skip(reader);
    timer.keyEnd = reader.position;
    timer.namespace = reader.position;
    this.state.namespace.skip(reader);
    timer.namespaceEnd = reader.position;
    return timer;
  }
}

/** Lists are joined; of two values only the function of the job makes one. */
function mergeContents(one: Content | undefined, other: Content | undefined): Content | undefined {
  if (one === undefined) return other;
  if (other === undefined) return one;
  if (one.kind !== 'list' || other.kind !== 'list') return { kind: 'lost' };
  return { kind: 'list', elements: [...one.elements, ...other.elements] };
}

/** Timestamp, key and namespace as they stand in a row, in the heap's form and in that of backends alike. */
function timerIdentity({ keyBuffer, timestamp, namespaceEnd }: RawEntry): string {
  return latin1(keyBuffer.subarray(timestamp, namespaceEnd));
}

function copiedTimer(entry: RawEntry): RawEntry {
  const { timestamp, key, keyEnd, namespace, namespaceEnd, isFlipped } = entry;
  const made = new RawEntry(
    entry.state,
    entry.keyGroup,
    copy(entry.keyBuffer, timestamp, namespaceEnd),
    entry.valueBuffer,
  );
  made.timestamp = 0;
  made.isFlipped = isFlipped;
  made.key = key - timestamp;
  made.keyEnd = keyEnd - timestamp;
  made.namespace = namespace - timestamp;
  made.namespaceEnd = namespaceEnd - timestamp;
  made.mapKey = NONE;
  return made;
}

/** @throws ByteFormatError always */
function refuse(reader: ByteReader, operation: Operation, { kind, name }: KeyedState): never {
  return reader.fail(`a change of the ${kind} state ${name}`, `operation ${operation}`, 0);
}
