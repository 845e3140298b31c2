import { describe, expect, it } from 'vitest';
import { CorruptMetadataError, NotMetadataError, UnsupportedVersionError } from '../../../../src/errors.js';
import { loadMetadata, parseMetadata } from '../../../../src/format/metadata/model-reader.js';
import { loadMetadataHeader } from '../../../../src/format/metadata/read.js';
import { hex, i8, i32, i64, join, utf } from '../../../support/byte-builder.js';
import {
  changelogBytes,
  changelogFilesV2,
  changelogV2,
  channel,
  file,
  incrementalV2,
  inline,
  keyGroups,
  keyGroupsV2,
  localFile,
  masterState,
  mergedChannel,
  mergedOperatorHandle,
  metadataFile,
  nothing,
  operator,
  operatorHandle,
  present,
  range,
  segment,
  state,
  subtask,
} from '../../../support/metadata-builder.js';
import { slowSourceOf, sourceOf } from '../../../support/metadata-cycle.js';

interface Fault {
  readonly offset: number;
  readonly record: string;
  readonly expected: string;
  readonly found: string;
}

/** Reads the bytes at once and slowly: both must end in this fault. */
async function expectFault(bytes: Uint8Array, fault: Fault): Promise<void> {
  const errors: unknown[] = [];
  try {
    parseMetadata(bytes, '/x/_metadata');
  } catch (error) {
    errors.push(error);
  }
  await loadMetadata(slowSourceOf(bytes), '/x/_metadata').catch((error) => errors.push(error));
  expect(errors.length).toBe(2);
  for (const error of errors) {
    expect(error).toBeInstanceOf(CorruptMetadataError);
    if (!(error instanceof CorruptMetadataError)) return;
    expect(error.data).toEqual({ location: '/x/_metadata', ...fault });
    expect(error.message).toBe(
      `/x/_metadata: corrupt metadata at byte ${fault.offset} (${fault.record}): ` +
        `expected ${fault.expected}, found ${fault.found}`,
    );
    expect(error.category).toBe('unreadable');
  }
}

const someFile = file('file:/x/f', 12);

/** Where things are in a version 6 file of one operator without name and uid, of one subtask. */
const At = {
  masterStates: 16,
  operators: 20,
  name: 24,
  parallelism: 44,
  coordinator: 52,
  subtaskCount: 53,
  subtaskIndex: 57,
  managedOperator: 61,
  managedKeyed: 69,
  inputs: 71,
} as const;

const of = (parts: Parameters<typeof subtask>[1]): Uint8Array =>
  metadataFile(6, { operators: [operator(6, { subtasks: [subtask(6, parts)] })] });

/** The fault of a file whose managed keyed handle is this one; `at` counts from its type byte. */
async function expectKeyedFault(handle: Uint8Array, at: number, fault: Omit<Fault, 'offset'>): Promise<void> {
  await expectFault(of({ managedKeyed: handle }), { offset: At.managedKeyed + at, ...fault });
}

const KEYED = 'operator 0 / subtask 0 / managed keyed state';

describe('no metadata at all', () => {
  it.each([
    ['nothing', '', '0 bytes'],
    ['one byte of something else', '00', 'begins with 00'],
    ['the reverse of the magic number', '2d676049', 'begins with 2d 67 60 49'],
    ['text', '7b7d0a', 'begins with 7b 7d 0a'],
    ['nearly the magic number', '4960672e00000006', 'begins with 49 60 67 2e'],
  ])('%s', async (_what, digits, found) => {
    const bytes = hex(digits);
    const check = (error: unknown): void => {
      expect(error).toBeInstanceOf(NotMetadataError);
      expect((error as NotMetadataError).data).toEqual({ location: 'here', size: bytes.length, found });
    };
    for (const read of [
      async () => parseMetadata(bytes, 'here'),
      () => loadMetadata(slowSourceOf(bytes), 'here'),
      () => loadMetadataHeader(sourceOf(bytes), 'here'),
    ]) {
      await read().then(() => expect.unreachable(), check);
    }
  });
});

describe('versions', () => {
  it.each([0, 1, 7, 99, -1, 0x7fffffff, -0x80000000])('%i is not supported', async (version) => {
    const bytes = join(hex('4960672d'), i32(version), i64(7));
    for (const read of [
      async () => parseMetadata(bytes, 'here'),
      () => loadMetadata(slowSourceOf(bytes), 'here'),
      () => loadMetadataHeader(sourceOf(bytes), 'here'),
    ]) {
      const error = await read().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UnsupportedVersionError);
      expect((error as UnsupportedVersionError).data).toEqual({
        location: 'here',
        version,
        supported: [2, 3, 4, 5, 6],
      });
    }
  });

  it('1 is told apart from numbers that no Flink writes', () => {
    const message = (version: number): string => {
      try {
        parseMetadata(metadataFile(version), 'here');
      } catch (error) {
        return String(error);
      }
      return '';
    };
    expect(message(1)).toContain('Flink 1.2');
    expect(message(0)).toContain('Flink 1.1');
    expect(message(7)).toContain('no Flink release');
    expect(message(99)).toContain('no Flink is known');
  });
});

describe('the header', () => {
  const cuts = [
    [1, 0, 'magic number', 'the end of the file after 1 of 4 bytes'],
    [4, 4, 'format version', 'the end of the file'],
    [7, 4, 'format version', 'the end of the file after 3 of 4 bytes'],
    [8, 8, 'checkpoint id', 'the end of the file'],
    [15, 8, 'checkpoint id', 'the end of the file after 7 of 8 bytes'],
    [16, 16, 'number of master states', 'the end of the file'],
    [20, 20, 'number of operators', 'the end of the file'],
  ] as const;
  it.each(cuts)('cut after %i bytes', async (length, offset, expected, found) => {
    await expectFault(metadataFile(6).subarray(0, length), { offset, record: 'header', expected, found });
  });

  it('alone needs 16 bytes', async () => {
    const bytes = metadataFile(6, { checkpointId: 42 });
    expect(await loadMetadataHeader(sourceOf(bytes.subarray(0, 16)), 'here')).toEqual({
      version: 6,
      checkpointId: 42n,
    });
    await expect(loadMetadataHeader(sourceOf(bytes.subarray(0, 15)), 'here')).rejects.toThrow(
      'expected checkpoint id, found the end of the file after 7 of 8 bytes',
    );
    await expect(loadMetadataHeader(sourceOf(metadataFile(6, { checkpointId: -3 })), 'here')).rejects.toThrow(
      'expected checkpoint id, found the negative number -3',
    );
  });

  it('negative checkpoint id', async () => {
    await expectFault(metadataFile(4, { checkpointId: -(2n ** 63n) }), {
      offset: 8,
      record: 'header',
      expected: 'checkpoint id',
      found: 'the negative number -9223372036854775808',
    });
  });

  it.each([-1, -0x80000000])('%i master states', async (count) => {
    await expectFault(join(metadataFile(6).subarray(0, 16), i32(count), i32(0)), {
      offset: At.masterStates,
      record: 'header',
      expected: 'number of master states',
      found: `the negative number ${count}`,
    });
  });

  it('more operators than there are bytes, or fewer than none', async () => {
    await expectFault(join(metadataFile(6).subarray(0, 20), i32(0x7fffffff), i32(0)), {
      offset: At.operators,
      record: 'header',
      expected: 'number of operators',
      found: '2147483647, which needs 70866960351 bytes where 4 remain',
    });
    await expectFault(join(metadataFile(2).subarray(0, 20), i32(-1)), {
      offset: At.operators,
      record: 'header',
      expected: 'number of operators',
      found: 'the negative number -1',
    });
  });
});

describe('master states', () => {
  const withState = (bytes: Uint8Array): Uint8Array =>
    metadataFile(6, { masterStates: [masterState('a', 0, hex('')), bytes] });
  const first = masterState('a', 0, hex('')).length;
  const start = 20 + first;

  it('without their magic number', async () => {
    await expectFault(withState(join(hex('c96b1697'), masterState('b', 0, hex('07')).subarray(4))), {
      offset: start,
      record: 'master state 1',
      expected: 'magic number of a master state',
      found: '0xc96b1697',
    });
  });

  it('whose length is not that of their fields', async () => {
    const rest = join(i32(1), utf('b'), i32(1), hex('07'));
    for (const [length, extra] of [
      [rest.length + 1, hex('00')],
      [rest.length - 1, hex('')],
    ] as const) {
      await expectFault(withState(join(hex('c96b1696'), i32(length), rest, extra)), {
        offset: start + 4,
        record: 'master state 1',
        expected: `length of a master state (${rest.length})`,
        found: `${length}`,
      });
    }
  });

  it('of a negative or an impossible length', async () => {
    await expectFault(withState(join(hex('c96b1696'), i32(-1), i32(1), utf('b'), i32(0))), {
      offset: start + 4,
      record: 'master state 1',
      expected: 'length of a master state',
      found: 'the negative number -1',
    });
    const bytes = withState(join(hex('c96b1696'), i32(11), i32(1), utf('b'), i32(0x10000000)));
    await expectFault(bytes, {
      offset: start + 15,
      record: 'master state 1',
      expected: 'number of bytes of a master state',
      found: `268435456, which needs 268435456 bytes where ${bytes.length - start - 19} remain`,
    });
  });
});

describe('operators', () => {
  it('with a parallelism above the max parallelism', async () => {
    await expectFault(metadataFile(6, { operators: [operator(6, { parallelism: 129 })] }), {
      offset: At.parallelism,
      record: 'operator 0',
      expected: 'a parallelism not above the max parallelism',
      found: '129 and 128',
    });
  });

  it.each([
    [2, 'type 2'],
    [3, 'type 3'],
    [6, 'type 6'],
    [15, 'type 15'],
    [99, 'type 99'],
  ])('with a coordinator state of type %i', async (type, found) => {
    const coordinator = join(i8(type), someFile.subarray(1));
    await expectFault(metadataFile(6, { operators: [operator(6, { coordinator })] }), {
      offset: At.coordinator,
      record: 'operator 0 / coordinator state',
      expected: 'a coordinator state (type 0 or 1)',
      found,
    });
  });

  it('that have finished and have a coordinator state', async () => {
    const coordinator = inline('c', hex('07'));
    await expectFault(metadataFile(6, { operators: [operator(6, { coordinator, count: -1 })] }), {
      offset: At.coordinator + coordinator.length,
      record: 'operator 0',
      expected: 'no coordinator state of a finished operator',
      found: 'one',
    });
  });

  it('with negative counts before version 3', async () => {
    await expectFault(metadataFile(2, { operators: [operator(2, { count: -1 })] }), {
      offset: 24 + 28,
      record: 'operator 0',
      expected: 'number of subtasks',
      found: 'the negative number -1',
    });
  });

  it('with more subtasks than there are bytes', async () => {
    await expectFault(metadataFile(6, { operators: [operator(6, { count: 0x7fffffff })] }), {
      offset: At.subtaskCount,
      record: 'operator 0',
      expected: 'number of subtasks',
      found: '2147483647, which needs 8589934588 bytes where 5 remain',
    });
  });
});

describe('subtasks', () => {
  it.each([
    [4, 4],
    [0x7fffffff, 0x7fffffff],
    [-5, 4],
    [-0x80000000, 0x7fffffff],
  ])('index %i where the parallelism is 4', async (stored, index) => {
    await expectFault(metadataFile(6, { operators: [operator(6, { subtasks: [i32(stored)] })] }), {
      offset: At.subtaskIndex,
      record: `operator 0 / subtask ${index}`,
      expected: 'a subtask index below the parallelism 4',
      found: `${index}`,
    });
  });

  it('negative index in version 2', async () => {
    await expectFault(metadataFile(2, { operators: [operator(2, { subtasks: [subtask(2, { index: -1 })] })] }), {
      offset: 24 + 32,
      record: 'operator 0',
      expected: 'a subtask index below the parallelism 4',
      found: '-1',
    });
  });

  it.each([
    [1, 'no legacy state (Flink 1.11 and later cannot read any)', '1'],
    [-1, 'number of legacy states', 'the negative number -1'],
  ])('%i legacy states in version 2', async (legacyStates, expected, found) => {
    await expectFault(metadataFile(2, { operators: [operator(2, { subtasks: [subtask(2, { legacyStates })] })] }), {
      offset: 24 + 44,
      record: 'operator 0 / subtask 0',
      expected,
      found,
    });
  });

  it('are named by their index, in the second operator', async () => {
    const sound = operator(6, { subtasks: [subtask(6)] });
    const bytes = metadataFile(6, {
      operators: [
        sound,
        operator(6, { subtasks: [subtask(6, { index: 3 }), subtask(6, { index: 2, rawKeyed: i8(99) })] }),
      ],
    });
    const second = 24 + sound.length;
    await expectFault(bytes, {
      offset: second + 33 + subtask(6).length + 13,
      record: 'operator 1 / subtask 2 / raw keyed state',
      expected: 'a keyed state handle (type 0, 3, 5 or 7 to 14)',
      found: 'type 99',
    });
  });
});

describe('stream handles', () => {
  const withDelegate = (delegate: Uint8Array): Uint8Array => keyGroupsV2(0, [], delegate, 'id');
  const FIRST = 9;

  it.each([
    [4, 'type 4'],
    [5, 'type 5'],
    [17, 'type 17'],
    [255, 'type 255'],
  ])('of type %i', async (type, found) => {
    await expectKeyedFault(withDelegate(i8(type)), FIRST, {
      record: KEYED,
      expected: 'a stream state handle (type 0, 1, 2, 3, 6, 15 or 16)',
      found,
    });
  });

  it('null where Flink needs one', async () => {
    const fault = { expected: 'a stream state handle', found: 'null' };
    await expectKeyedFault(withDelegate(nothing), FIRST, { record: KEYED, ...fault });
    await expectKeyedFault(withDelegate(keyGroups(0, [], nothing)), FIRST + 9, { record: KEYED, ...fault });
    await expectKeyedFault(incrementalV2({ meta: nothing }), 63, { record: KEYED, ...fault });
    const shared = [localFile('a', someFile), localFile('b', nothing)];
    await expectKeyedFault(incrementalV2({ meta: someFile, shared }), 63 + 2 * someFile.length + 10, {
      record: `${KEYED} / shared file 1`,
      ...fault,
    });
    await expectFault(of({ managedOperator: present(operatorHandle([], nothing)) }), {
      offset: At.managedOperator + 9,
      record: 'operator 0 / subtask 0 / managed operator state',
      ...fault,
    });
    const plain = channel(0, [0, 0], [], 0, nothing);
    await expectFault(of({ inputs: [join(i8(1), plain)] }), {
      offset: At.inputs + 4 + plain.length,
      record: 'operator 0 / subtask 0 / input channel state / channel handle 0',
      ...fault,
    });
  });

  it('a size below -1', async () => {
    await expectKeyedFault(withDelegate(file('file:/f', -2)), FIRST + 1, {
      record: KEYED,
      expected: 'file size (-1 or more)',
      found: '-2',
    });
    await expectKeyedFault(withDelegate(file('file:/f', -(2n ** 63n))), FIRST + 1, {
      record: KEYED,
      expected: 'file size (-1 or more)',
      found: '-9223372036854775808',
    });
  });

  it('an empty path', async () => {
    await expectKeyedFault(withDelegate(file('', 1)), FIRST + 9, {
      record: KEYED,
      expected: 'file path',
      found: 'an empty string',
    });
    await expectKeyedFault(withDelegate(segment('', 0, 1, 0, 'id')), FIRST + 21, {
      record: KEYED,
      expected: 'path of the physical file',
      found: 'an empty string',
    });
  });

  it.each([2, -1])('scope %i', async (scope) => {
    await expectKeyedFault(withDelegate(segment('file:/m', 0, 1, scope, 'id')), FIRST + 17, {
      record: KEYED,
      expected: 'scope of a segment (0 or 1)',
      found: `${scope}`,
    });
  });

  it('more inline bytes than there are, or fewer than none', async () => {
    await expectKeyedFault(withDelegate(join(i8(1), utf('n'), i32(0x7fffffff))), FIRST + 4, {
      record: KEYED,
      expected: 'number of inline bytes',
      found: '2147483647, which needs 2147483647 bytes where 18 remain',
    });
    await expectKeyedFault(withDelegate(join(i8(1), utf('n'), i32(-1))), FIRST + 4, {
      record: KEYED,
      expected: 'number of inline bytes',
      found: 'the negative number -1',
    });
  });

  it('nested without end', async () => {
    let handle = someFile;
    for (let i = 0; i < 64; i++) handle = keyGroups(0, [], handle);
    parseMetadata(of({ managedKeyed: withDelegate(handle) }));
    await expectKeyedFault(withDelegate(keyGroups(0, [], handle)), FIRST + 64 * 9 + 1, {
      record: KEYED,
      expected: 'a stream state handle',
      found: 'more than 64 inside each other',
    });
  });

  it('cut at the type byte', async () => {
    const whole = of({ managedKeyed: withDelegate(someFile) });
    await expectFault(whole.subarray(0, At.managedKeyed + FIRST), {
      offset: At.managedKeyed + FIRST,
      record: KEYED,
      expected: 'a stream state handle',
      found: 'the end of the file',
    });
  });
});

describe('text', () => {
  it.each([
    ['f0', 0, '0xf0'],
    ['80', 0, '0x80'],
    ['6180', 1, '0x80'],
    ['c3', 0, '0xc3'],
    ['c328', 0, '0xc3'],
    ['61e282', 1, '0xe2'],
    ['e28228', 0, '0xe2'],
    ['f09f9880', 0, '0xf0'],
    ['ff', 0, '0xff'],
  ])('of the bytes %s', async (digits, at, found) => {
    await expectFault(metadataFile(6, { operators: [operator(6, { uid: hex(digits) })] }), {
      offset: At.name + 4 + at,
      record: 'operator 0',
      expected: 'operator uid',
      found: `byte ${found}, which is not modified UTF-8`,
    });
  });

  it('longer than the rest of the file', async () => {
    const bytes = join(metadataFile(6, { operators: [operator(6)] }).subarray(0, 24), hex('ffff'), Buffer.alloc(40));
    await expectFault(bytes, {
      offset: 24,
      record: 'operator 0',
      expected: 'operator name',
      found: 'the end of the file after 42 of 65537 bytes',
    });
  });
});

describe('operator handles', () => {
  const RECORD = 'operator 0 / subtask 0 / managed operator state';
  const directories = { taskOwned: 'file:/t', shared: 'file:/s' };

  it.each([0, 1, 3, 16, 99, -1])('of type %i', async (type) => {
    await expectFault(of({ managedOperator: present(i8(type)) }), {
      offset: At.managedOperator + 4,
      record: RECORD,
      expected: 'an operator state handle (type 4 or 17)',
      found: `type ${type}`,
    });
  });

  it.each([3, -1])('with a state of mode %i', async (mode) => {
    await expectFault(of({ managedOperator: present(operatorHandle([state('s', mode, [])], someFile)) }), {
      offset: At.managedOperator + 12,
      record: RECORD,
      expected: 'distribution mode (0, 1 or 2)',
      found: `${mode}`,
    });
  });

  it('with impossible numbers of states and offsets', async () => {
    await expectFault(of({ managedOperator: present(join(i8(4), i32(-1))) }), {
      offset: At.managedOperator + 5,
      record: RECORD,
      expected: 'number of operator states',
      found: 'the negative number -1',
    });
    await expectFault(of({ rawOperator: present(join(i8(4), i32(1), utf('s'), i8(0), i32(0x10000000))) }), {
      offset: At.managedOperator + 4 + 13,
      record: 'operator 0 / subtask 0 / raw operator state',
      expected: 'number of partition offsets',
      found: '268435456, which needs 2147483648 bytes where 15 remain',
    });
  });

  it('of merged files without a segment', async () => {
    for (const delegate of [someFile, inline('n', hex('')), nothing]) {
      const handle = mergedOperatorHandle([], directories, 0, delegate);
      await expectFault(of({ managedOperator: present(handle) }), {
        offset: At.managedOperator + 4 + 24,
        record: RECORD,
        expected: 'a segment of a merged file (type 15 or 16)',
        found: `type ${delegate[0]}`,
      });
    }
  });

  it('of merged files without directories', async () => {
    const handle = mergedOperatorHandle([], { taskOwned: 'file:/t', shared: '' }, 0, someFile);
    await expectFault(of({ managedOperator: present(handle) }), {
      offset: At.managedOperator + 9,
      record: RECORD,
      expected: 'two directories',
      found: 'an empty string',
    });
  });
});

describe('keyed handles', () => {
  it.each([1, 2, 4, 6, 15, 17, 99, -1])('of type %i', async (type) => {
    await expectKeyedFault(i8(type), 0, {
      record: KEYED,
      expected: 'a keyed state handle (type 0, 3, 5 or 7 to 14)',
      found: `type ${type}`,
    });
  });

  it('with impossible key groups', async () => {
    await expectKeyedFault(join(i8(12), range(0, -1)), 5, {
      record: KEYED,
      expected: 'number of key groups',
      found: 'the negative number -1',
    });
    await expectKeyedFault(join(i8(12), range(0, 0x10000000)), 5, {
      record: KEYED,
      expected: 'number of key groups',
      found: '268435456, which needs 2147483648 bytes where 14 remain',
    });
    await expectKeyedFault(keyGroupsV2(-1, [1], someFile, 'id'), 1, {
      record: KEYED,
      expected: 'a range of key groups',
      found: '1 from -1 on',
    });
    await expectKeyedFault(keyGroupsV2(0x7fffffff, [1, 2], someFile, 'id'), 1, {
      record: KEYED,
      expected: 'a range of key groups',
      found: '2 from 2147483647 on',
    });
  });

  it('with impossible numbers of files', async () => {
    const start = incrementalV2({ meta: someFile }).subarray(0, 63 + someFile.length);
    await expectKeyedFault(join(start, i32(0x7fffffff)), start.length, {
      record: KEYED,
      expected: 'number of shared files',
      found: '2147483647, which needs 6442450941 bytes where 14 remain',
    });
    await expectKeyedFault(join(start, i32(0), i32(-2)), start.length + 4, {
      record: KEYED,
      expected: 'number of private files',
      found: 'the negative number -2',
    });
  });

  it('with a broken file in a list', async () => {
    const shared = [localFile('a', someFile), localFile('b', someFile), localFile('c', i8(99))];
    await expectKeyedFault(incrementalV2({ meta: someFile, shared }), 63 + 3 * someFile.length + 4 + 9, {
      record: `${KEYED} / shared file 2`,
      expected: 'a stream state handle (type 0, 1, 2, 3, 6, 15 or 16)',
      found: 'type 99',
    });
    await expectKeyedFault(
      incrementalV2({ meta: someFile, private: [localFile('c', i8(99))] }),
      63 + someFile.length + 11,
      {
        record: `${KEYED} / private file 0`,
        expected: 'a stream state handle (type 0, 1, 2, 3, 6, 15 or 16)',
        found: 'type 99',
      },
    );
  });

  it('changelogs without key groups', async () => {
    await expectKeyedFault(changelogV2({ range: range(0, 0) }), 1, {
      record: KEYED,
      expected: 'a range of key groups',
      found: 'an empty one',
    });
  });

  it('changelogs with broken or wrong parts', async () => {
    const sound = keyGroupsV2(0, [], someFile, 'id');
    await expectKeyedFault(changelogV2({ materialized: [sound, i8(4)] }), 21 + sound.length, {
      record: `${KEYED} / materialized handle 1`,
      expected: 'a keyed state handle (type 0, 3, 5 or 7 to 14)',
      found: 'type 4',
    });
    for (const type of [0, 12, 14]) {
      await expectKeyedFault(
        changelogV2({ nonMaterialized: [changelogBytes(), i8(type)] }),
        25 + changelogBytes().length,
        {
          record: `${KEYED} / non-materialized handle 1`,
          expected: 'a changelog handle (type 9, 10 or 13)',
          found: `type ${type}`,
        },
      );
    }
    const broken = changelogFilesV2({
      files: [
        [0, someFile],
        [1, i8(99)],
      ],
    });
    await expectKeyedFault(
      changelogV2({ nonMaterialized: [changelogBytes(), broken] }),
      25 + changelogBytes().length + 13 + someFile.length + 16,
      {
        record: `${KEYED} / non-materialized handle 1 / changelog file 1`,
        expected: 'a stream state handle (type 0, 1, 2, 3, 6, 15 or 16)',
        found: 'type 99',
      },
    );
  });

  it('changelogs nested without end', async () => {
    let handle = changelogV2();
    for (let i = 0; i < 64; i++) handle = changelogV2({ materialized: [handle] });
    parseMetadata(of({ managedKeyed: handle }));
    await expectKeyedFault(changelogV2({ materialized: [handle] }), 65 * 21 + 1, {
      record: `${KEYED}${' / materialized handle 0'.repeat(65)}`,
      expected: 'a keyed state handle',
      found: 'more than 64 inside each other',
    });
  });

  it('changes of impossible key groups and sequence numbers', async () => {
    await expectKeyedFault(
      changelogBytes({
        changes: [
          [-1, hex('')],
          [-2, hex('')],
        ],
      }),
      25 + 4 + 8,
      {
        record: `${KEYED} / change 1`,
        expected: 'key group of a change (-1 or more)',
        found: '-2',
      },
    );
    await expectKeyedFault(changelogBytes({ from: -1 }), 9, {
      record: KEYED,
      expected: 'first sequence number',
      found: 'the negative number -1',
    });
    await expectKeyedFault(changelogBytes({ to: -(2n ** 63n) }), 17, {
      record: KEYED,
      expected: 'end sequence number',
      found: 'the negative number -9223372036854775808',
    });
  });

  it('changes that are cut or impossible', async () => {
    const handle = changelogBytes({ changes: [[0, hex('0102')]] });
    const start = 25 + 4;
    await expectKeyedFault(join(handle.subarray(0, start + 4), i32(-1)), start + 4, {
      record: `${KEYED} / change 0`,
      expected: 'length of a change',
      found: 'the negative number -1',
    });
    const whole = of({ managedKeyed: handle });
    await expectFault(whole.subarray(0, At.managedKeyed + start + 9), {
      offset: At.managedKeyed + start + 4,
      record: `${KEYED} / change 0`,
      expected: 'length of a change',
      found: '2, which needs 2 bytes where 1 remain',
    });
    await expectKeyedFault(join(handle.subarray(0, 25), i32(0x20000000)), 25, {
      record: KEYED,
      expected: 'number of changes',
      found: '536870912, which needs 4294967296 bytes where 14 remain',
    });
  });
});

describe('channel handles', () => {
  const RECORD = 'operator 0 / subtask 0';

  it.each([
    ['input', 2],
    ['input', 4],
    ['input', 0],
    ['input', 99],
    ['output', 1],
    ['output', 3],
  ])('among the %s ones of type %i', async (direction, type) => {
    const handle = mergedChannel(type, 0, 0, someFile, hex(''));
    const input = direction === 'input';
    await expectFault(of(input ? { inputs: [handle] } : { outputs: [handle] }), {
      offset: At.inputs + (input ? 4 : 8),
      record: `${RECORD} / ${input ? 'input channel' : 'result subpartition'} state / channel handle 0`,
      expected: `a channel state handle (type ${input ? '1 or 3' : '2 or 4'})`,
      found: `type ${type}`,
    });
  });

  it('cut at the type byte', async () => {
    const handle = mergedChannel(3, 0, 0, someFile, hex('00'));
    const whole = of({ inputs: [handle, handle] });
    await expectFault(whole.subarray(0, At.inputs + 4 + handle.length), {
      offset: At.inputs + 4 + handle.length,
      record: `${RECORD} / input channel state / channel handle 1`,
      expected: 'a channel state handle',
      found: 'the end of the file',
    });
  });

  it('with impossible numbers', async () => {
    const RESULT = `${RECORD} / result subpartition state`;
    await expectFault(join(of({}).subarray(0, At.inputs + 4), i32(-1)), {
      offset: At.inputs + 4,
      record: RESULT,
      expected: 'number of channel state handles',
      found: 'the negative number -1',
    });
    await expectFault(of({ outputs: [join(i8(2), i32(0), i32(0), i32(0), i32(0x40000000))] }), {
      offset: At.inputs + 8 + 13,
      record: `${RESULT} / channel handle 0`,
      expected: 'number of offsets',
      found: '1073741824, which needs 8589934592 bytes where 5 remain',
    });
    await expectFault(of({ outputs: [join(i8(4), i32(0), i64(0), nothing, i32(9))] }), {
      offset: At.inputs + 8 + 14,
      record: `${RESULT} / channel handle 0`,
      expected: 'number of bytes of channel offsets',
      found: '9, which needs 9 bytes where 5 remain',
    });
  });
});

describe('properties', () => {
  it.each([
    ['', 0, 'the magic number 0xaced of a Java object stream', 'the end of the file'],
    ['aced', 2, 'the version 5 of a Java object stream', 'the end of the file'],
    ['acee000570', 0, 'the magic number 0xaced of a Java object stream', '0xacee'],
    ['aced000570'.slice(0, 8), 4, 'a Java object', 'the end of the file'],
    ['aced000500', 4, 'a Java object', '0x00'],
    ['aced00057372', 6, 'a class name', 'the end of the file'],
    ['aced000571007e0000', 5, 'a reference to an object', '0x7e0000, which names nothing so far'],
  ])('of the bytes "%s"', async (digits, at, expected, found) => {
    const operators = [operator(6)];
    const before = metadataFile(6, { operators, properties: hex('') });
    await expectFault(join(before, hex(digits)), {
      offset: before.length + at,
      record: 'properties',
      expected,
      found,
    });
  });

  it('larger than any Flink writes, at once and slowly', async () => {
    const operators = [operator(6)];
    const before = metadataFile(6, { operators, properties: hex('') });
    const block = (length: number): Uint8Array => join(hex('aced00057c'), i64(length), Buffer.alloc(length, 0x61));
    const largest = 384 * 1024 - 13;
    expect(parseMetadata(join(before, block(largest))).propertiesBlock?.length).toBe(largest + 13);
    for (const length of [largest + 1, 3 * 1024 * 1024]) {
      await expectFault(join(before, block(length)), {
        offset: before.length + 5,
        record: 'properties',
        expected: 'the length of a string',
        found: `${length} where ${largest} bytes remain (of the properties only the first 393216 bytes are read)`,
      });
    }
    // Bytes behind the properties do not count.
    expect(parseMetadata(join(before, block(largest), Buffer.alloc(1_000_000))).trailingBytes.length).toBe(1_000_000);
  });
});
