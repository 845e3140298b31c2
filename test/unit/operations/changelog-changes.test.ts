import { describe, expect, it } from 'vitest';
import { EntryDecoder } from '../../../src/format/entries/decode-entry.js';
import { type KeyedState, keyedState } from '../../../src/format/entries/named-state.js';
import { NONE, type RawEntry } from '../../../src/format/entries/raw-entry.js';
import type { SerializerSnapshot } from '../../../src/format/keyed/serializer-snapshot.js';
import type { StateMetaInfo } from '../../../src/format/state-meta-info.js';
import { ChangedGroup } from '../../../src/operations/state/changelog/apply-changes.js';
import { entryOf } from '../../../src/operations/state/changelog/content.js';

const BASE = 'org.apache.flink.api.common.typeutils.base';
const simple = (name: string): SerializerSnapshot => ({
  className: `${BASE}.${name}Serializer$${name}SerializerSnapshot`,
  version: 3,
  content: { kind: 'simple' },
});
const composite = (className: string, nested: readonly SerializerSnapshot[]): SerializerSnapshot => ({
  className,
  version: 3,
  content: { kind: 'composite', outerVersion: 1, outer: new Uint8Array(0), nested },
});
const INT = simple('Int');

/** A state with keys, namespaces and parts that are all `int`. */
function stateOf(type: string, value: SerializerSnapshot): KeyedState {
  const info: StateMetaInfo = {
    name: 'state',
    kind: 'keyed-value',
    options: new Map([['KEYED_STATE_TYPE', type]]),
    serializers: new Map([
      ['NAMESPACE_SERIALIZER', INT],
      ['VALUE_SERIALIZER', value],
    ]),
  };
  return keyedState(info, INT);
}

const LIST = stateOf('LIST', composite(`${BASE}.ListSerializerSnapshot`, [INT]));
const MAP = stateOf('MAP', composite(`${BASE}.MapSerializerSnapshot`, [INT, INT]));
const REDUCING = stateOf('REDUCING', INT);
const TIMERS = keyedState(
  {
    name: '_timer_state/event_x',
    kind: 'priority-queue',
    options: new Map(),
    serializers: new Map([['VALUE_SERIALIZER', composite('x.TimerSerializerSnapshot', [INT, INT])]]),
  },
  INT,
);

const ints = (...values: number[]): Uint8Array => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value, 4 * i);
  return bytes;
};
/** A change: operation, number of the state, key, namespace, data. */
const change = (operation: number, key: number, namespace: number, ...data: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.of(operation, 0, 0), ints(key, namespace), ...data]);
const timerBytes = (timestamp: number, key: number): Uint8Array => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt.asIntN(64, BigInt(timestamp) - (1n << 63n)));
  return Buffer.concat([bytes, ints(key, 0)]);
};

interface Outcome {
  readonly entries: string[];
  readonly lost: readonly string[];
}

function outcome(state: KeyedState, base: readonly RawEntry[], changes: readonly Uint8Array[]): Outcome {
  const lost: string[] = [];
  const group = new ChangedGroup(state, 7, changes, (entries, reason) => lost.push(`${entries} ${reason}`));
  const passed = base.filter((entry) => !group.takeBase(entry));
  const decoder = new EntryDecoder();
  const entries = [...passed, ...group.finish()].map((entry) => {
    const scope = `${decoder.key(entry)}/${decoder.namespace(entry)}`;
    if (entry.timestamp !== NONE) return `${scope} at ${decoder.timestamp(entry)}`;
    if (state.kind !== 'map') return `${scope}: ${JSON.stringify(decoder.value(entry))}`;
    return `${scope}: ${JSON.stringify(decoder.mapEntries(entry))}`;
  });
  return { entries, lost };
}

const scope = (key: number, namespace: number) => ({ keyGroup: 7, key: ints(key), namespace: ints(namespace) });

describe('changes of lists', () => {
  it('add elements one by one and many at once, behind what was there', () => {
    const base = [entryOf(LIST, scope(1, 0), Buffer.concat([ints(10), Buffer.of(0x2c), ints(11)]))];
    const changes = [change(5, 1, 0, ints(12)), change(3, 1, 0, ints(2, 13, 14)), change(5, 2, 0, ints(20))];
    expect(outcome(LIST, base, changes).entries).toEqual(['1/0: [10,11,12,13,14]', '2/0: [20]']);
  });

  it('replace and clear', () => {
    const base = [
      entryOf(LIST, scope(1, 0), ints(10)),
      entryOf(LIST, scope(2, 0), ints(20)),
      entryOf(LIST, scope(3, 0), ints(30)),
    ];
    const changes = [change(1, 1, 0, ints(1, 99)), change(0, 2, 0), change(5, 2, 0, ints(21)), change(0, 3, 0)];
    expect(outcome(LIST, base, changes).entries).toEqual(['1/0: [99]', '2/0: [21]']);
  });

  it('merge namespaces, those of the materialization too', () => {
    const base = [
      entryOf(LIST, scope(1, 5), ints(10)),
      entryOf(LIST, scope(1, 6), ints(11)),
      entryOf(LIST, scope(2, 5), ints(20)),
    ];
    const changes = [change(5, 1, 7, ints(12)), change(4, 1, 7, ints(7), ints(2, 5, 6))];
    expect(outcome(LIST, base, changes).entries.sort()).toEqual(['1/7: [12,10,11]', '2/5: [20]']);
  });
});

describe('changes of maps', () => {
  it('put and remove single entries', () => {
    const whole = entryOf(MAP, scope(1, 0), Buffer.concat([ints(2, 100), Buffer.of(0), ints(1, 101), Buffer.of(1)]));
    const changes = [
      change(6, 1, 0, ints(102, 3)),
      change(7, 1, 0, ints(100)),
      change(3, 1, 0, ints(1, 103), Buffer.of(0), ints(4)),
    ];
    expect(outcome(MAP, [whole], changes).entries).toEqual([
      '1/0: [{"key":101,"value":null}]',
      '1/0: [{"key":102,"value":3}]',
      '1/0: [{"key":103,"value":4}]',
    ]);
  });

  it('leave nothing of a map that becomes empty', () => {
    expect(outcome(MAP, [], [change(6, 1, 0, ints(100, 1)), change(7, 1, 0, ints(100))]).entries).toEqual([]);
  });
});

describe('changes of values that are merged', () => {
  it('move the only one there is', () => {
    const base = [entryOf(REDUCING, scope(1, 5), ints(10))];
    expect(outcome(REDUCING, base, [change(4, 1, 7, ints(7), ints(2, 5, 6))])).toEqual({
      entries: ['1/7: 10'],
      lost: [],
    });
  });

  it('take the value that the job wrote afterwards', () => {
    const base = [entryOf(REDUCING, scope(1, 5), ints(10)), entryOf(REDUCING, scope(1, 6), ints(1))];
    const changes = [change(4, 1, 7, ints(7), ints(2, 5, 6)), change(2, 1, 7, ints(12))];
    expect(outcome(REDUCING, base, changes)).toEqual({ entries: ['1/7: 12'], lost: [] });
  });

  it('are lost if only the function of the job can tell', () => {
    const base = [entryOf(REDUCING, scope(1, 5), ints(10)), entryOf(REDUCING, scope(1, 6), ints(1))];
    const { entries, lost } = outcome(REDUCING, base, [change(4, 1, 7, ints(7), ints(2, 5, 6))]);
    expect(entries).toEqual([]);
    expect(lost).toHaveLength(1);
  });
});

describe('changes of timers', () => {
  it('add several at once and remove one', () => {
    const add = Buffer.concat([Buffer.of(5, 0, 0), ints(2), timerBytes(1000, 1), timerBytes(-5, 2)]);
    const remove = Buffer.concat([Buffer.of(7, 0, 0), timerBytes(1000, 1)]);
    expect(outcome(TIMERS, [], [add]).entries).toEqual(['1/0 at 1000', '2/0 at -5']);
    expect(outcome(TIMERS, [], [add, remove]).entries).toEqual(['2/0 at -5']);
  });
});

it('refuses an operation that a state does not have', () => {
  expect(() => outcome(REDUCING, [], [change(6, 1, 0, ints(1))])).toThrow(/a change of the reducing state/);
});
