import { describe, expect, it } from 'vitest';
import { hex, i8, i16, i64, join, utf } from '../../../support/byte-builder.js';
import {
  changelogBytes,
  changelogFilesV2,
  changelogV2,
  channel,
  emptySegment,
  file,
  finishedSubtask,
  incremental,
  incrementalV2,
  inline,
  keyGroups,
  keyGroupsV2,
  localFile,
  masterState,
  mergedOperatorHandle,
  metadataFile,
  nothing,
  operator,
  operatorHandle,
  present,
  range,
  relative,
  savepointKeyGroups,
  segment,
  state,
  subtask,
} from '../../../support/metadata-builder.js';
import { type Cycle, DIRECTORY, expectFullCycle, type Json } from '../../../support/metadata-cycle.js';

const VERSIONS = [2, 3, 4, 5, 6];
const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;
const someFile = file('file:/x/f', 12);

function cycleOfSubtask(parts: Parameters<typeof subtask>[1], version = 6): Promise<Cycle> {
  return expectFullCycle(
    metadataFile(version, { operators: [operator(version, { subtasks: [subtask(version, parts)] })] }),
  );
}

async function shownSubtask(parts: Parameters<typeof subtask>[1], version = 6): Promise<Json> {
  return (await cycleOfSubtask(parts, version)).document.operatorStates[0].subtasks[0];
}

describe('numbers that say yes', () => {
  it.each([2, -1, 256, 0x7fffffff, -0x80000000])('presence of operator state as %i', async (presence) => {
    const handle = operatorHandle([], someFile);
    const managed = await shownSubtask({ managedOperator: present(handle, presence) });
    expect(managed.wire).toEqual({ managedOperatorStatePresence: presence });
    expect(managed.managedOperatorState.length).toBe(1);
    const raw = await shownSubtask({ managedOperator: present(handle), rawOperator: present(handle, presence) });
    expect(raw.wire).toEqual({ rawOperatorStatePresence: presence });
  });

  it.each([-5, -2, -0x80000000])('a finished operator as %i subtasks', async (count) => {
    const { model, document } = await expectFullCycle(metadataFile(6, { operators: [operator(6, { count })] }));
    expect(model.operatorStates[0]?.finished).toBe(true);
    expect(document.operatorStates[0]).toMatchObject({ finished: true, subtasks: [], wire: { subtaskCount: count } });
  });

  it.each([2, 7, 255])('an empty merged state as %i', async (isEmpty) => {
    const directories = { taskOwned: 'file:/t', shared: 'file:/s' };
    const handle = mergedOperatorHandle([], directories, isEmpty, segment('file:/m', 0, 4, 0, 'id'));
    const document = await shownSubtask({ managedOperator: present(handle) });
    expect(document.managedOperatorState[0]).toMatchObject({
      type: 'EmptyFileMergingOperatorStreamStateHandle',
      delegateStateHandle: { type: 'SegmentFileStateHandle' },
      wire: { isEmpty },
    });
  });
});

describe('the dead fields of version 2', () => {
  it('are kept where they are not what Flink writes', async () => {
    const bytes = metadataFile(2, {
      operators: [
        operator(2, { chainLength: 3, subtasks: [subtask(2, { duration: 77 }), subtask(2, { index: 1 })] }),
        operator(2, { id: '00000000000000000000000000000001', chainLength: -1 }),
      ],
    });
    const { model, document } = await expectFullCycle(bytes);
    expect(model.propertiesBlock).toBeNull();
    const [first, second] = document.operatorStates;
    expect(first.wire).toEqual({ chainLength: 3 });
    expect(first.subtasks[0].wire).toEqual({ duration: 77 });
    expect(first.subtasks[1].wire).toBeUndefined();
    expect(second.wire).toEqual({ chainLength: -1 });
    expect(document.properties).toBeNull();
  });
});

describe('things that occur twice', () => {
  it('an operator: both are shown', async () => {
    const one = operator(6, { uid: 'a', subtasks: [subtask(6)] });
    const { document } = await expectFullCycle(metadataFile(6, { operators: [one, operator(6, { uid: 'b' }), one] }));
    expect(document.operatorStates.map((o: Json) => o.uid)).toEqual(['a', 'b', 'a']);
  });

  it('a subtask: the last is shown and counts, the others stand in wire', async () => {
    const sized = (index: number, size: number): Uint8Array =>
      subtask(6, { index, managedOperator: present(operatorHandle([], relative('f', size))) });
    const subtasks = [sized(1, 10), sized(0, 20), finishedSubtask(1), sized(1, 30), sized(2, 40), finishedSubtask(2)];
    const { model, document } = await expectFullCycle(metadataFile(6, { operators: [operator(6, { subtasks })] }));
    expect(model.operatorStates[0]?.subtasks.map(({ index }) => index)).toEqual([1, 0, 1, 1, 2, 2]);
    const [shown] = document.operatorStates;
    expect(shown.stateSize).toBe(50);
    expect(document.stateSize).toBe(50);
    expect(shown.subtasks.map((s: Json) => [s.index, s.finished, s.stateSize])).toEqual([
      [0, false, 20],
      [1, false, 30],
      [2, true, 0],
    ]);
    expect(
      shown.wire.overwrittenSubtasks.map(({ position, subtask: hidden }: Json) => [
        position,
        hidden.index,
        hidden.finished,
        hidden.stateSize,
      ]),
    ).toEqual([
      [0, 1, false, 10],
      [2, 1, true, 0],
      [4, 2, false, 40],
    ]);
  });

  it('a state name: the last is shown, the order stands in wire', async () => {
    const states = [state('b', 0, [1]), state('a', 1, [2]), state('b', 2, [3])];
    const document = await shownSubtask({ managedOperator: present(operatorHandle(states, someFile)) });
    const [handle] = document.managedOperatorState;
    expect(handle.stateNameToPartitionOffsets).toEqual({
      a: { distributionMode: 'UNION', offsets: [2] },
      b: { distributionMode: 'BROADCAST', offsets: [3] },
    });
    expect(handle.wire.states).toEqual([
      { name: 'b', distributionMode: 'SPLIT_DISTRIBUTE', offsets: [1] },
      { name: 'a' },
      { name: 'b' },
    ]);
  });

  it('a name of a file in one list', async () => {
    const shared = [localFile('1.sst', someFile), localFile('1.sst', relative('x', 1))];
    const document = await shownSubtask({ managedKeyed: incrementalV2({ shared }) });
    expect(document.managedKeyedState[0].sharedState.map((f: Json) => f.localPath)).toEqual(['1.sst', '1.sst']);
  });
});

describe('names that JavaScript takes for something else', () => {
  const names = ['2', '1', '10', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'wire', 'type', '', ' '];

  it.each([
    ['as they come', names],
    ['sorted as Java sorts', [...names].sort()],
    ['the other way round', [...names].sort().reverse()],
  ])('of states, %s', async (_order, order) => {
    const states = order.map((name, i) => state(name, 0, [i]));
    const document = await shownSubtask({ managedOperator: present(operatorHandle(states, someFile)) });
    const shown = document.managedOperatorState[0].stateNameToPartitionOffsets;
    expect(Object.keys(shown).sort()).toEqual([...names].sort());
    for (const [i, name] of order.entries()) {
      expect(Object.getOwnPropertyDescriptor(shown, name)?.value.offsets).toEqual([i]);
    }
  });

  it('of states that occur twice', async () => {
    const states = [...names, ...names].map((name, i) => state(name, 0, [i]));
    const document = await shownSubtask({ rawOperator: present(operatorHandle(states, someFile)) });
    expect(document.rawOperatorState[0].wire.states.length).toBe(2 * names.length);
  });

  it('of operators, master states and files', async () => {
    for (const name of names.filter((n) => n !== '')) {
      const bytes = metadataFile(6, {
        masterStates: [masterState(name, 1, hex(''))],
        operators: [
          operator(6, {
            name,
            uid: name,
            subtasks: [subtask(6, { managedKeyed: keyGroupsV2(0, [], someFile, name) })],
          }),
        ],
      });
      const { document } = await expectFullCycle(bytes);
      expect(document.masterStates[0].name).toBe(name);
      expect(document.operatorStates[0]).toMatchObject({ name, uid: name });
    }
  });

  it('absent names are null', async () => {
    const { document } = await expectFullCycle(metadataFile(5, { operators: [operator(5)] }));
    expect(document.operatorStates[0]).toMatchObject({ name: null, uid: null });
    expect(
      (await expectFullCycle(metadataFile(4, { operators: [operator(4)] }))).document.operatorStates[0],
    ).toMatchObject({
      name: null,
      uid: null,
    });
  });
});

/** Encoded bytes, their text, and whether Java would encode that text in other bytes. */
const strings: readonly (readonly [what: string, bytes: Uint8Array, text: string, odd: boolean])[] = [
  ['two and three bytes a character', hex('c3a9e282ac'), 'é€', false],
  ['zero as Java writes it', hex('61c08062'), 'a\0b', false],
  ['a supplementary character as two surrogates', hex('eda0bdedb880'), '\u{1f600}', false],
  ['a lone high surrogate', hex('61eda080'), 'a\ud800', false],
  ['a lone low surrogate', hex('edb08061'), '\udc00a', false],
  ['surrogates in the wrong order', hex('edb880eda0bd'), '\ude00\ud83d', false],
  ['a byte order mark in front', hex('efbbbf61'), '\ufeffa', false],
  ['byte order marks elsewhere', hex('61efbbbfc3a9efbbbfefbbbf'), 'a\ufeffé\ufeff\ufeff', false],
  ['a replacement character', hex('efbfbd'), '\ufffd', false],
  ['the last code unit', hex('efbfbf'), '\uffff', false],
  ['controls and what JSON escapes', hex('010809221f5c2f7f'), '\x01\b\t"\x1f\\/\x7f', false],
  ['line separators', hex('e280a8e280a9c285'), '\u2028\u2029\u0085', false],
  ['a plain zero byte', hex('610062'), 'a\0b', true],
  ['an overlong letter', hex('c181'), 'A', true],
  ['an overlong zero', hex('e08080'), '\0', true],
  ['overlong and usual letters', hex('41c18141e0818141'), 'AAAAA', true],
];

/** Every place of a string, and where dump shows it. */
const places: readonly (readonly [
  what: string,
  field: string,
  build: (text: Uint8Array) => Uint8Array,
  look: (document: Json) => Json,
])[] = [
  [
    'a master state',
    'name',
    (text) => metadataFile(6, { masterStates: [masterState(text, 0, hex('07'))] }),
    (document) => document.masterStates[0],
  ],
  [
    'the name of an operator',
    'name',
    (name) => metadataFile(5, { operators: [operator(5, { name })] }),
    (document) => document.operatorStates[0],
  ],
  [
    'the uid of an operator',
    'uid',
    (uid) => metadataFile(6, { operators: [operator(6, { uid })] }),
    (document) => document.operatorStates[0],
  ],
  ...inSubtask('the name of inline bytes', 'handleName', (text) => inline(text, hex('07'))),
  ...inSubtask('the path of a file', 'filePath', (text) => file(text, 1)),
  ...inSubtask('the path of a relative file', 'relativePath', (text) => relative(text, 1)),
  ...inSubtask('the path of a segment', 'filePath', (text) => segment(text, 0, 1, 0, 'id')),
  ...inSubtask('the id of a segment', 'logicalFileId', (text) => segment('file:/m', 0, 1, 0, text)),
  ...inKeyed('the id of key groups', 'stateHandleId', (text) => keyGroupsV2(0, [], someFile, text)),
  ...inKeyed('a backend identifier', 'backendIdentifier', (backend) => incrementalV2({ backend })),
  ...inKeyed('the backend identifier of type 5', 'backendIdentifier', (backend) => incremental({ backend })),
  ...inKeyed('the id of an incremental handle', 'stateHandleId', (id) => incrementalV2({ id })),
  ...inKeyed('the id of a changelog', 'stateHandleId', (id) => changelogV2({ id })),
  ...inKeyed('the id of changes', 'stateHandleId', (id) => changelogBytes({ id })),
  ...inKeyed('the id of changelog files', 'stateHandleId', (id) => changelogFilesV2({ id })),
  ...inKeyed('a storage identifier', 'storageIdentifier', (storage) => changelogFilesV2({ storage })),
  ...inKeyed(
    'the name of a file',
    'localPath',
    (text) => incrementalV2({ shared: [localFile(text, someFile)] }),
    (handle) => handle.sharedState[0],
  ),
];

type Place = (typeof places)[number];

function inKeyed(
  what: string,
  field: string,
  build: (text: Uint8Array) => Uint8Array,
  look = (handle: Json): Json => handle,
): Place[] {
  return [
    [
      what,
      field,
      (text) =>
        metadataFile(6, { operators: [operator(6, { subtasks: [subtask(6, { managedKeyed: build(text) })] })] }),
      (document) => look(document.operatorStates[0].subtasks[0].managedKeyedState[0]),
    ],
  ];
}

function inSubtask(what: string, field: string, build: (text: Uint8Array) => Uint8Array): Place[] {
  return inKeyed(
    what,
    field,
    (text) => keyGroupsV2(0, [], build(text), 'id'),
    (handle) => handle.delegateStateHandle,
  );
}

describe.each(strings)('text with %s', (_what, bytes, text, odd) => {
  it.each(places)('in %s', async (_place, field, build, look) => {
    const { document } = await expectFullCycle(build(bytes));
    const object = look(document);
    // Flink shows paths normalized and identifiers as UUIDs; the stored text then stands in wire.
    expect(object.wire?.[field] ?? object[field]).toBe(text);
    expect(object.wire?.utf?.[field]).toBe(odd ? Buffer.from(bytes).toString('base64') : undefined);
  });

  it('in the name of a state, beside its usual form', async () => {
    const usual = state(Buffer.from('other'), 0, []);
    const states = [state(bytes, 0, [1]), usual];
    const document = await shownSubtask({ managedOperator: present(operatorHandle(states, someFile)) });
    const [handle] = document.managedOperatorState;
    expect(handle.stateNameToPartitionOffsets[text].offsets).toEqual([1]);
    const names = handle.wire?.states?.map((s: Json) => s.utf);
    if (odd) expect(names).toEqual([Buffer.from(bytes).toString('base64'), undefined]);
  });

  it('in the directories of merged state', async () => {
    const directories = { taskOwned: join(utfBytes('file:/t/'), bytes), shared: join(utfBytes('file:/s/'), bytes) };
    const handle = mergedOperatorHandle([], directories, 1, emptySegment);
    await cycleOfSubtask({ managedOperator: present(handle) });
  });
});

function utfBytes(text: string): Uint8Array {
  return utf(text).subarray(2);
}

describe('long text', () => {
  it('of 65,535 bytes, everywhere', async () => {
    for (const [, , build] of places) await expectFullCycle(build(Buffer.alloc(0xffff, 0x61)));
  });

  it('of 65,535 bytes that are no ASCII', async () => {
    const text = Buffer.from('€'.repeat(0xffff / 3), 'utf8');
    expect(text.length).toBe(0xffff);
    await expectFullCycle(metadataFile(5, { operators: [operator(5, { name: text, uid: text })] }));
  });
});

describe('paths', () => {
  it.each([
    ['file:///a//b/', 'file:/a/b', 'file:///a/b'],
    ['file:////a', 'file:/a', 'file:///a'],
    ['file:///C:/x', 'file:/C:/x', 'file:///C:/x'],
    ['file:///a\\b c', 'file:/a/b c', 'file:///a/b%20c'],
    ['file:///a/./b', 'file:/a/b', 'file:/a/b'],
    ['file:///a/b/..', 'file:/a/', 'file:/a/'],
    ['file:///..', 'file:/..', 'file:///..'],
    ['///a/b', '/a/b', '///a/b'],
    ['//a/b', '//a/b', '//a/b'],
    ['file:/a/./b/../c', 'file:/a/c', 'file:/a/c'],
    ['/a/b/', '/a/b', '/a/b'],
    ['s3://bucket//k', 's3://bucket/k', 's3://bucket/k'],
    ['s3://bucket/a%20b c', 's3://bucket/a%20b c', 's3://bucket/a%2520b%20c'],
    ['C:\\x\\y', 'C:/x/y', '/C:/x/y'],
    ['FILE:/a', 'FILE:/a', 'FILE:/a'],
    // Flink makes no path of these: they are shown as they are.
    ['file:a', 'file:a', 'file:a'],
    ['::', '::', '::'],
  ])('%s is shown as %s and kept', async (stored, shown, physicalId) => {
    const raw = stored === shown ? undefined : stored;
    const handleOf = async (bytes: Uint8Array): Promise<Json> =>
      (await shownSubtask({ managedKeyed: keyGroupsV2(0, [], bytes, 'id') })).managedKeyedState[0].delegateStateHandle;
    expect((await handleOf(file(stored, 1))).physicalId).toBe(physicalId);
    for (const handle of [await handleOf(file(stored, 1)), await handleOf(segment(stored, 0, 1, 0, 'id'))]) {
      expect(handle.filePath).toBe(shown);
      expect(handle.wire?.filePath).toBe(raw);
    }
    const merged = mergedOperatorHandle([], { taskOwned: stored, shared: stored }, 1, emptySegment);
    const [handle] = (await shownSubtask({ managedOperator: present(merged) })).managedOperatorState;
    expect(handle.taskOwnedDirHandle.directory).toBe(shown);
    expect(handle.sharedDirHandle.directory).toBe(shown);
    expect([handle.wire?.taskOwnedDirectory, handle.wire?.sharedDirectory]).toEqual([raw, raw]);
  });

  it.each([
    ['a//b/', `${DIRECTORY}/a/b`],
    ['./x', `${DIRECTORY}/x`],
    ['../chk-6/x', 'file:/checkpoints/job/chk-6/x'],
    ['a:b', `${DIRECTORY}/a:b`],
  ])('%s relative to the directory is %s', async (relativePath, filePath) => {
    const { managedKeyedState } = await shownSubtask({
      managedKeyed: keyGroupsV2(0, [], relative(relativePath, 1), 'id'),
    });
    expect(managedKeyedState[0].delegateStateHandle).toMatchObject({ relativePath, filePath });
  });
});

describe('backend identifiers', () => {
  it.each([
    ['1F8A7B3C-0D4E-4F6A-9B2C-5E7D8F901A2B', '1f8a7b3c-0d4e-4f6a-9b2c-5e7d8f901a2b'],
    ['1-2-3-4-5', '00000001-0002-0003-0004-000000000005'],
    ['123456789-12345-3-4-5', '23456789-2345-0003-0004-000000000005'],
    ['window-state-backend', '08262a8a-c980-315e-9e30-0ac9704a4a2c'],
    ['', 'd41d8cd9-8f00-3204-a980-0998ecf8427e'],
  ])('%s is shown as the UUID %s and kept', async (backend, shown) => {
    for (const handle of [incremental({ backend }), incrementalV2({ backend })]) {
      const [document] = (await shownSubtask({ managedKeyed: handle })).managedKeyedState;
      expect(document.backendIdentifier).toBe(shown);
      expect(document.wire.backendIdentifier).toBe(backend);
    }
  });
});

describe('key groups', () => {
  it.each([0, 5, -1, 0x7fffffff, -0x80000000])('none, from %i on', async (start) => {
    const empty = range(start, 0);
    const handles = [
      keyGroups(start, [], someFile),
      keyGroupsV2(start, [], someFile, 'id'),
      savepointKeyGroups(start, [], someFile),
      incremental({ range: empty }),
      incrementalV2({ range: empty }),
      changelogBytes({ range: empty }),
      changelogFilesV2({ range: empty }),
    ];
    for (const handle of handles) {
      const [document] = (await shownSubtask({ managedKeyed: handle })).managedKeyedState;
      expect(document.keyGroupRange).toEqual({ start: 0, end: -1 });
      expect(document.wire?.startKeyGroup).toBe(start === 0 ? undefined : start);
    }
    await cycleOfSubtask({ managedKeyed: keyGroupsV2(1, [1], keyGroups(start, [], someFile), 'id') });
  });

  it('up to the highest number', async () => {
    const [document] = (await shownSubtask({ managedKeyed: keyGroups(0x7ffffffe, [1, 2], someFile) }))
      .managedKeyedState;
    expect(document.keyGroupRange).toEqual({ start: 0x7ffffffe, end: 0x7fffffff });
  });
});

describe('sizes', () => {
  it('an incremental handle that added an unknown number of bytes', async () => {
    const document = await shownSubtask({ managedKeyed: incrementalV2({ checkpointedSize: -1 }) });
    expect(document.managedKeyedState[0]).toMatchObject({
      stateSize: 100,
      checkpointedSize: 100,
      wire: { checkpointedSize: -1 },
    });
    expect(document.checkpointedSize).toBe(100);
    const unknown = incrementalV2({ checkpointedSize: -1, meta: relative('m', -1) });
    const both = (await shownSubtask({ managedKeyed: unknown })).managedKeyedState[0];
    expect(both).toMatchObject({ stateSize: -1, checkpointedSize: -1 });
    expect(both.wire).toBeUndefined();
  });

  it('a changelog that added -1 bytes', async () => {
    const document = await shownSubtask({
      managedKeyed: changelogV2({ checkpointedSize: -1 }),
      rawKeyed: changelogFilesV2({ checkpointedSize: -1, size: 5 }),
    });
    expect(document.checkpointedSize).toBe(-2);
    expect(document.managedKeyedState[0].wire).toBeUndefined();
  });

  it.each([LONG_MIN, LONG_MAX, -1n, 2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n)])(
    '64-bit numbers such as %i',
    async (n) => {
      const shown = n >= -(2n ** 53n - 1n) && n <= 2n ** 53n - 1n ? Number(n) : n.toString();
      const size = n < -1n ? 0n : n;
      const handles = {
        managedOperator: present(operatorHandle([state('s', 0, [n, n])], file('file:/f', size))),
        managedKeyed: changelogV2({
          checkpointedSize: n,
          materializationId: n,
          checkpointId: n,
          materialized: [
            incrementalV2({ checkpointId: n, checkpointedSize: n, meta: segment('file:/m', n, n, 1, 'id') }),
            keyGroupsV2(0, [n, 0, n], someFile, 'id'),
          ],
          nonMaterialized: [
            changelogBytes({ from: n < 0n ? 0 : n, to: n < 0n ? 0 : n }),
            changelogFilesV2({ files: [[n, someFile]], size: n, checkpointedSize: n }),
          ],
        }),
        inputs: [join(i8(1), channel(0, [0, 0], [n], n, someFile))],
      };
      const document = await shownSubtask(handles);
      const [keyed] = document.managedKeyedState;
      expect(keyed).toMatchObject({ checkpointedSize: shown, materializationID: shown, checkpointId: shown });
      expect(keyed.materializedStateHandles[0].metaStateHandle).toMatchObject({ startPos: shown, stateSize: shown });
      expect(keyed.materializedStateHandles[1].keyGroupOffsets).toEqual([shown, 0, shown]);
      expect(keyed.nonMaterializedStateHandles[0]).toMatchObject(
        n < 0n ? { from: 0, to: 0 } : { from: shown, to: shown },
      );
      expect(keyed.nonMaterializedStateHandles[1].handlesAndOffsets[0].offset).toBe(shown);
      expect(document.managedOperatorState[0].stateNameToPartitionOffsets.s.offsets).toEqual([shown, shown]);
      expect(document.inputChannelState[0].stateSize).toBe(shown);
    },
  );

  it('sums wrap at 64 bits, as in Java', async () => {
    const huge = file('file:/f', LONG_MAX);
    const { document } = await cycleOfSubtask({
      managedKeyed: incrementalV2({ meta: huge, shared: [localFile('a', huge), localFile('b', huge)] }),
      managedOperator: present(operatorHandle([], huge)),
    });
    const three = BigInt.asIntN(64, 3n * LONG_MAX);
    expect(document.operatorStates[0].subtasks[0].managedKeyedState[0].stateSize).toBe(three.toString());
    const four = Number(BigInt.asIntN(64, 4n * LONG_MAX));
    expect(four).toBe(-4);
    expect(document.operatorStates[0].subtasks[0].stateSize).toBe(four);
    expect(document.stateSize).toBe(four);
  });

  it('the highest checkpoint id', async () => {
    const { document } = await expectFullCycle(metadataFile(6, { checkpointId: LONG_MAX }));
    expect(document.checkpointId).toBe(LONG_MAX.toString());
    expect((await expectFullCycle(metadataFile(6, { checkpointId: 0 }))).document.checkpointId).toBe(0);
  });
});

describe('null entries among materialized handles', () => {
  const handle = keyGroupsV2(0, [1], someFile, 'id');
  it.each([
    ['alone', [nothing], [0]],
    ['in front', [nothing, nothing, handle], [0, 1]],
    ['in between and behind', [handle, nothing, handle, nothing, nothing], [1, 3, 4]],
  ])('%s', async (_where, materialized, nulls) => {
    const [document] = (await shownSubtask({ managedKeyed: changelogV2({ materialized }) })).managedKeyedState;
    expect(document.materializedStateHandles.length).toBe(materialized.length - nulls.length);
    expect(document.wire).toEqual({ nullMaterializedStateHandles: nulls });
  });
});

describe('master states', () => {
  it('of any version, with and without bytes', async () => {
    const bytes = metadataFile(3, {
      masterStates: [
        masterState('a', 0x7fffffff, hex('')),
        masterState('a', -0x80000000, hex('00ff')),
        masterState('', 0, hex('07')),
      ],
    });
    const { document } = await expectFullCycle(bytes);
    expect(document.masterStates).toEqual([
      { name: 'a', version: 0x7fffffff, size: 0, bytes: '' },
      { name: 'a', version: -0x80000000, size: 2, bytes: 'AP8=' },
      { name: '', version: 0, size: 1, bytes: 'Bw==' },
    ]);
  });
});

describe('operators', () => {
  it('without subtasks, with fewer than their parallelism, with an empty coordinator state', async () => {
    const bytes = metadataFile(6, {
      operators: [
        operator(6, { parallelism: 128, subtasks: [subtask(6, { index: 127 }), subtask(6, { index: 3 })] }),
        operator(6, { id: 'ffffffffffffffffffffffffffffffff', parallelism: -1, maxParallelism: -1 }),
        operator(6, { coordinator: inline('x', hex('')), subtasks: [finishedSubtask(3), finishedSubtask(0)] }),
      ],
    });
    const { document } = await expectFullCycle(bytes);
    expect(document.operatorStates.map((o: Json) => o.subtasks.map((s: Json) => s.index))).toEqual([
      [127, 3],
      [],
      [3, 0],
    ]);
    expect(document.operatorStates[1].operatorId).toBe('f'.repeat(32));
    expect(document.operatorStates[2].coordinatorState).toMatchObject({ bytes: '', stateSize: 0 });
  });

  it('none at all', async () => {
    for (const version of VERSIONS) {
      const { document } = await expectFullCycle(metadataFile(version));
      expect(document).toMatchObject({ version, checkpointId: 7, stateSize: 0, operatorStates: [], masterStates: [] });
    }
  });
});

describe('properties', () => {
  const javaClass = (name: string): Uint8Array =>
    join(hex('72'), utf(name), i64(1), hex('02'), i16(0), hex('78'), hex('70'));

  it('null is not the same as absent', async () => {
    const null4 = await expectFullCycle(metadataFile(4));
    expect(null4.model.propertiesBlock?.length).toBe(5);
    expect(null4.document.properties).toBeNull();
    expect(null4.document.wire).toBeUndefined();
    const absent = await expectFullCycle(metadataFile(2));
    expect(absent.model.propertiesBlock).toBeNull();
    expect(absent.document.properties).toBeNull();
  });

  it('of an unknown class are kept and shown empty', async () => {
    const properties = join(hex('aced0005 73'), javaClass('org.example.NewProperties'));
    const { document } = await expectFullCycle(metadataFile(6, { properties, operators: [operator(6)] }));
    expect(document.properties).toEqual({});
    expect(document.wire).toEqual({ properties: Buffer.from(properties).toString('base64') });
  });

  it('of unusual bytes that say null are kept', async () => {
    const properties = hex('aced0005 79 79 70');
    const { document } = await expectFullCycle(metadataFile(6, { properties }));
    expect(document.properties).toBeNull();
    expect(document.wire).toEqual({ properties: Buffer.from(properties).toString('base64') });
  });
});

describe('bytes after the end', () => {
  it.each([
    ['one', 1],
    ['more than a window of the reader', 3 * 1024 * 1024 + 1],
    ['many', 8 * 1024 * 1024],
  ])('%s', async (_what, length) => {
    const trailing = Buffer.alloc(length, 0x5a);
    trailing[length - 1] = 0;
    for (const version of [2, 6]) {
      const { model, document } = await expectFullCycle(
        metadataFile(version, { operators: [operator(version)], trailing }),
      );
      expect(model.trailingBytes.length).toBe(length);
      expect(document.wire.trailingBytes.length).toBe(Math.ceil(length / 3) * 4);
    }
  });

  it('that look like another file', async () => {
    const whole = metadataFile(6, { operators: [operator(6, { subtasks: [subtask(6)] })] });
    const { model } = await expectFullCycle(join(whole, whole));
    expect(model.trailingBytes).toEqual(new Uint8Array(whole));
  });
});

describe('large parts', () => {
  it('inline bytes, changes, master states and channel offsets of megabytes', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 0xa5);
    const bytes = metadataFile(6, {
      masterStates: [masterState('m', 1, large)],
      operators: [
        operator(6, {
          coordinator: inline('c', large),
          subtasks: [
            subtask(6, {
              managedKeyed: changelogBytes({
                changes: [
                  [0, large],
                  [1, hex('01')],
                ],
              }),
            }),
          ],
        }),
      ],
    });
    const { document } = await expectFullCycle(bytes);
    expect(document.masterStates[0].size).toBe(large.length);
    expect(document.stateSize).toBe(2 * large.length + 1);
  });

  it('half a million offsets of one state', async () => {
    const offsets = Array.from({ length: 500_000 }, (_, i) => BigInt(i) * 1_000_003n);
    const handle = operatorHandle([state('s', 0, offsets), state('t', 0, [1])], someFile);
    const document = await shownSubtask({ managedOperator: present(handle) });
    const shown = document.managedOperatorState[0].stateNameToPartitionOffsets;
    expect(shown.s.offsets.length).toBe(500_000);
    expect(shown.s.offsets[499_999]).toBe(499_999 * 1_000_003);
    expect(shown.t.offsets).toEqual([1]);
  });

  it('handles as deep inside each other as is allowed', async () => {
    let stream = someFile;
    for (let i = 0; i < 64; i++) stream = keyGroups(i, [i], stream);
    let keyed = changelogV2({ materialized: [keyGroupsV2(0, [1], stream, 'id')] });
    for (let i = 0; i < 63; i++) keyed = changelogV2({ materialized: [nothing, keyed] });
    const document = await shownSubtask({ managedKeyed: keyed, rawKeyed: keyed });
    expect(document.stateSize).toBe(24);
  });
});
