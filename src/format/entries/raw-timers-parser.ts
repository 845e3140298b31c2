/**
 * Timers that an operator keeps in raw keyed state: those on the heap of a job with RocksDB. For each key group a list of
 * timer services, each with its serializers, event timers and processing timers.
 * Origin: Flink `InternalTimerServiceSerializationProxy`, `InternalTimersSnapshotReaderWriters`.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { SnapshotReader } from '../keyed/snapshot-reader.js';
import { serializerOf } from '../value/serializer-of.js';
import type { ValueSerializer } from '../value/value-serializer.js';
import type { KeyedState } from './named-state.js';
import { type EntryParser, RawEntry } from './raw-entry.js';

/** What the bytes of a key group begin with. */
export const RAW_TIMERS_MAGIC = 0xf1cd859f | 0;
const VERSION = 2;
const TIMESTAMP_BYTES = 8;

/** The states that are in raw keyed state, made as they are met, one for each name. */
export class RawTimerStates {
  private readonly byName = new Map<string, KeyedState>();

  /** @param domain `event` or `processing` */
  of(service: string, domain: string, key: ValueSerializer, namespace: ValueSerializer): KeyedState {
    const name = `raw:${service}/${domain}`;
    const known = this.byName.get(name);
    if (known) return known;
    const none = { value: undefined, element: undefined, mapKey: undefined, mapValue: undefined };
    const state: KeyedState = {
      name,
      kind: 'timers',
      key,
      namespace,
      ...none,
      ttl: false,
      hasLengths: false,
      valueSnapshot: undefined,
    };
    this.byName.set(name, state);
    return state;
  }

  /** All there are. */
  get states(): readonly KeyedState[] {
    return [...this.byName.values()];
  }
}

/** See the file comment. The window must start at the offset of the key group. */
export class RawTimersParser implements EntryParser<RawEntry> {
  private servicesLeft: number | undefined;
  /** Groups of timers that are still to come. */
  private readonly groups: KeyedState[] = [];
  private current: KeyedState | undefined;
  private left = 0;

  constructor(
    private readonly keyGroup: number,
    private readonly states: RawTimerStates,
  ) {}

  get isDone(): boolean {
    return this.servicesLeft === 0 && this.groups.length === 0 && this.left === 0;
  }

  next(reader: ByteReader): RawEntry | undefined {
    if (this.servicesLeft === undefined) this.readHead(reader);
    else if (this.left > 0 && this.current) return this.readTimer(reader, this.current);
    else if (this.groups.length > 0) this.readCount(reader);
    else this.readService(reader, this.servicesLeft);
    return undefined;
  }

  private readHead(reader: ByteReader): void {
    const at = reader.offset;
    const magic = reader.readI32('the start of raw timers');
    if (magic !== RAW_TIMERS_MAGIC) reader.fail('the start of raw timers', 'other bytes', at);
    const version = reader.readI32('version of raw timers');
    if (version !== VERSION) reader.fail(`version ${VERSION} of raw timers`, `${version}`, at + 4);
    const services = reader.readI32('number of timer services');
    if (services < 0) reader.fail('number of timer services', `${services}`, at + 8);
    this.servicesLeft = services;
  }

  private readService(reader: ByteReader, servicesLeft: number): void {
    const snapshots = new SnapshotReader(reader);
    const service = snapshots.readText('name of a timer service');
    const key = serializerOf(snapshots.readPlain());
    const namespace = serializerOf(snapshots.readPlain());
    this.groups.push(
      this.states.of(service, 'event', key, namespace),
      this.states.of(service, 'processing', key, namespace),
    );
    this.servicesLeft = servicesLeft - 1;
  }

  private readCount(reader: ByteReader): void {
    const at = reader.offset;
    const count = reader.readI32('number of timers');
    if (count < 0) reader.fail('number of timers', `${count}`, at);
    this.left = count;
    this.current = this.groups.shift();
  }

  private readTimer(reader: ByteReader, state: KeyedState): RawEntry {
    const entry = new RawEntry(state, this.keyGroup, reader.buffer, reader.buffer);
    entry.key = reader.position;
    state.key.skip(reader);
    entry.keyEnd = reader.position;
    entry.namespace = reader.position;
    state.namespace.skip(reader);
    entry.namespaceEnd = reader.position;
    entry.timestamp = reader.take(TIMESTAMP_BYTES, 'timestamp of a timer');
    this.left--;
    return entry;
  }
}
