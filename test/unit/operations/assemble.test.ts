import { describe, expect, it } from 'vitest';
import { CkptError, InvalidDocumentError, UnwritableMetadataError } from '../../../src/errors.js';
import { parseMetadata } from '../../../src/format/metadata/model-reader.js';
import { assembleMetadata } from '../../../src/operations/assemble.js';
import { hex } from '../../support/byte-builder.js';
import {
  changelogBytes,
  changelogFilesOf115,
  changelogFilesV2,
  changelogOf115,
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
  mergedChannel,
  mergedOperatorHandle,
  metadataFile,
  nothing,
  operator,
  operatorHandle,
  present,
  range,
  relative,
  segment,
  state,
  subtask,
} from '../../support/metadata-builder.js';
import {
  assembleDocument,
  assembleText,
  dumpText,
  expectSameBytes,
  type Json,
  withKeys,
} from '../../support/metadata-cycle.js';

const someFile = file('file:///x//f', 12);

function fileOf(parts: Parameters<typeof subtask>[1], version = 6): Uint8Array {
  return metadataFile(version, { operators: [operator(version, { subtasks: [subtask(version, parts)] })] });
}

async function documentOf(bytes: Uint8Array): Promise<Json> {
  return JSON.parse(await dumpText(bytes));
}

async function refusalOf(document: Json): Promise<CkptError> {
  try {
    await assembleDocument(document);
  } catch (error) {
    if (error instanceof CkptError) return error;
    throw error;
  }
  throw new Error('the document was assembled');
}

/** Edits the document of these bytes and expects a refusal that names the field, and gives the reason. */
async function expectRefusal(
  bytes: Uint8Array,
  edit: (document: Json) => void,
  field: string,
  reason: string,
): Promise<void> {
  const document = await documentOf(bytes);
  edit(document);
  const error = await refusalOf(document);
  expect(error).toBeInstanceOf(InvalidDocumentError);
  expect(error.data.field).toBe(field);
  expect(error.data.reason).toContain(reason);
  expect(error.message).toBe(`${error.data.field}: ${error.data.reason}`);
}

const SUBTASK = 'operatorStates[0].subtasks[0]';
const KEYED = `${SUBTASK}.managedKeyedState[0]`;
const OPERATOR_HANDLE = `${SUBTASK}.managedOperatorState[0]`;
const keyedOf = (document: Json): Json => document.operatorStates[0].subtasks[0].managedKeyedState[0];
const operatorHandleOf = (document: Json): Json => document.operatorStates[0].subtasks[0].managedOperatorState[0];

describe('a wire value that contradicts its visible field', () => {
  it('of a path', async () => {
    const bytes = fileOf({ managedKeyed: keyGroupsV2(0, [], someFile, 'id') });
    const delegate = (document: Json): Json => keyedOf(document).delegateStateHandle;
    await expectRefusal(
      bytes,
      (document) => {
        delegate(document).filePath = 's3://bucket/f';
      },
      `${KEYED}.delegateStateHandle.wire.filePath`,
      'is the path file:/x/f, which contradicts the visible s3://bucket/f',
    );
    for (const filePath of ['', 'file:a', '1x:/a']) {
      await expectRefusal(
        bytes,
        (document) => {
          delegate(document).wire.filePath = filePath;
        },
        `${KEYED}.delegateStateHandle.wire.filePath`,
        'is not a valid path',
      );
    }
    // Without the wire value the visible one is written.
    const document = await documentOf(bytes);
    delegate(document).filePath = 's3://bucket/f';
    delete delegate(document).wire;
    expectSameBytes(
      await assembleDocument(document),
      fileOf({ managedKeyed: keyGroupsV2(0, [], file('s3://bucket/f', 12), 'id') }),
    );
  });

  it('of the path of a segment and of directories', async () => {
    const directories = { taskOwned: 'file:///t', shared: 'file:///s' };
    const merged = mergedOperatorHandle([], directories, 1, segment('file:///m', 0, 1, 0, 'id'));
    const bytes = fileOf({ managedOperator: present(merged) });
    const cases = [
      [(handle: Json) => (handle.delegateStateHandle.filePath = 'file:/n'), 'delegateStateHandle.wire.filePath'],
      [(handle: Json) => (handle.taskOwnedDirHandle.directory = 'file:/n'), 'wire.taskOwnedDirectory'],
      [(handle: Json) => (handle.sharedDirHandle.directory = 'file:/n'), 'wire.sharedDirectory'],
    ] as const;
    for (const [edit, field] of cases) {
      await expectRefusal(
        bytes,
        (document) => edit(operatorHandleOf(document)),
        `${OPERATOR_HANDLE}.${field}`,
        'file:/n',
      );
    }
  });

  it('of a backend identifier', async () => {
    await expectRefusal(
      fileOf({ managedKeyed: incrementalV2({ backend: 'not-a-uuid' }) }),
      (document) => {
        keyedOf(document).backendIdentifier = '11111111-2222-3333-4444-555555555555';
      },
      `${KEYED}.wire.backendIdentifier`,
      'which contradicts the visible 11111111-2222-3333-4444-555555555555',
    );
  });

  it('of a checkpointed size', async () => {
    const bytes = fileOf({ managedKeyed: incrementalV2({ checkpointedSize: -1 }) });
    const field = `${KEYED}.wire.checkpointedSize`;
    await expectRefusal(bytes, (document) => (keyedOf(document).wire.checkpointedSize = 5), field, 'only -1 (unknown)');
    await expectRefusal(
      bytes,
      (document) => (keyedOf(document).checkpointedSize = 5),
      field,
      'must be the stateSize, 100',
    );
    await expectRefusal(
      fileOf({ managedKeyed: incremental() }),
      (document) => (keyedOf(document).wire = { checkpointedSize: -1 }),
      field,
      'only -1 (unknown)',
    );
  });

  it('of the first key group', async () => {
    await expectRefusal(
      fileOf({ managedKeyed: incrementalV2({ range: range(5, 0) }) }),
      (document) => (keyedOf(document).keyGroupRange = { start: 0, end: 3 }),
      `${KEYED}.wire.startKeyGroup`,
      'contradicts the visible keyGroupRange',
    );
    for (const keyGroupRange of [
      { start: 5, end: 4 },
      { start: 0, end: -2 },
    ]) {
      await expectRefusal(
        fileOf({ managedKeyed: incrementalV2() }),
        (document) => (keyedOf(document).keyGroupRange = keyGroupRange),
        `${KEYED}.keyGroupRange`,
        'the empty range is {"start":0,"end":-1}',
      );
    }
  });

  it('of the form of a changelog', async () => {
    const of115 = fileOf({ managedKeyed: changelogOf115() });
    const tag = `${KEYED}.wire.tag`;
    await expectRefusal(of115, (document) => (keyedOf(document).checkpointId = 99), tag, 'the visible checkpointId 99');
    await expectRefusal(of115, (document) => (keyedOf(document).wire.tag = 10), tag, 'expected 8');
    await expectRefusal(
      fileOf({ managedKeyed: changelogFilesOf115() }),
      (document) => (keyedOf(document).storageIdentifier = 'other'),
      tag,
      'the visible storageIdentifier other',
    );
    await expectRefusal(
      fileOf({ managedKeyed: changelogV2() }),
      (document) => (keyedOf(document).checkpointId = null),
      `${KEYED}.checkpointId`,
      'is null exactly if the materializationID is',
    );
    await expectRefusal(
      fileOf({ managedKeyed: changelogFilesV2() }),
      (document) => (keyedOf(document).storageIdentifier = null),
      `${KEYED}.storageIdentifier`,
      'is null exactly if the checkpointedSize is',
    );
  });

  it('of null entries', async () => {
    const bytes = fileOf({ managedKeyed: changelogV2({ materialized: [nothing] }) });
    for (const index of [1, -1]) {
      await expectRefusal(
        bytes,
        (document) => (keyedOf(document).wire.nullMaterializedStateHandles = [index]),
        `${KEYED}.wire.nullMaterializedStateHandles[0]`,
        `no place ${index} in a list of 0`,
      );
    }
  });

  it('of states', async () => {
    const states = [state('b', 0, [1]), state('a', 0, [2]), state('b', 0, [3])];
    const bytes = fileOf({ managedOperator: present(operatorHandle(states, someFile)) });
    const cases: readonly (readonly [(handle: Json) => unknown, string, string])[] = [
      [(h) => (h.stateNameToPartitionOffsets.c = h.stateNameToPartitionOffsets.a), 'wire.states', 'visible state "c"'],
      [(h) => delete h.stateNameToPartitionOffsets.a, 'wire.states[1]', 'there is no visible state "a"'],
      [(h) => (h.wire.states[2].offsets = [4]), 'wire.states[2]', 'the offsets of this state are the visible ones'],
      [(h) => delete h.wire.states[0].offsets, 'wire.states[0].offsets', 'expected a list, found nothing'],
      [(h) => (h.wire.states[1].more = 1), 'wire.states[1].more', 'this field is not known'],
      [(h) => (h.wire.states[1].utf = 'c182'), 'wire.states[1].utf', 'are not the bytes of "a"'],
    ];
    for (const [edit, field, reason] of cases) {
      await expectRefusal(bytes, (document) => edit(operatorHandleOf(document)), `${OPERATOR_HANDLE}.${field}`, reason);
    }
  });

  it('of the bytes of text', async () => {
    const overlong = hex('c181');
    const utf = Buffer.from(overlong).toString('base64');
    const named = metadataFile(6, {
      masterStates: [masterState(overlong, 1, hex(''))],
      operators: [
        operator(6, { uid: overlong, subtasks: [subtask(6, { managedKeyed: incrementalV2({ id: overlong }) })] }),
      ],
    });
    const why = 'are not the bytes of "B", which the document shows';
    await expectRefusal(named, (d) => (d.masterStates[0].name = 'B'), 'masterStates[0].wire.utf.name', why);
    await expectRefusal(named, (d) => (d.operatorStates[0].uid = 'B'), 'operatorStates[0].wire.utf.uid', why);
    await expectRefusal(named, (d) => (keyedOf(d).stateHandleId = 'B'), `${KEYED}.wire.utf.stateHandleId`, why);
    await expectRefusal(
      named,
      (d) => (d.operatorStates[0].uid = null),
      'operatorStates[0].wire.utf.uid',
      'no such string is stored here',
    );
    await expectRefusal(
      named,
      (d) => (keyedOf(d).wire.utf.more = utf),
      `${KEYED}.wire.utf.more`,
      'no such string is stored here',
    );
    await expectRefusal(
      named,
      (d) => (keyedOf(d).wire.utf.stateHandleId = '/w=='),
      `${KEYED}.wire.utf.stateHandleId`,
      'are not the bytes of "A"',
    );
    await expectRefusal(
      fileOf({ managedKeyed: keyGroups(0, [], someFile) }),
      (d) => (keyedOf(d).wire = { utf: { stateHandleId: utf } }),
      `${KEYED}.wire.utf.stateHandleId`,
      'no such string is stored here',
    );
    const elsewhere = fileOf({
      managedKeyed: incrementalV2({
        meta: inline(overlong, hex('')),
        shared: [localFile(overlong, relative(overlong, 1))],
        private: [localFile('x', segment('file:/m', 0, 1, 0, overlong))],
      }),
      rawKeyed: changelogFilesV2({ storage: overlong }),
    });
    await expectRefusal(
      elsewhere,
      (d) => (keyedOf(d).metaStateHandle.handleName = 'B'),
      `${KEYED}.metaStateHandle.wire.utf.handleName`,
      why,
    );
    const shared = `${KEYED}.sharedState[0]`;
    await expectRefusal(
      elsewhere,
      (d) => (keyedOf(d).sharedState[0].localPath = 'B'),
      `${shared}.wire.utf.localPath`,
      why,
    );
    await expectRefusal(
      elsewhere,
      (d) => (keyedOf(d).sharedState[0].handle.relativePath = 'B'),
      `${shared}.handle.wire.utf.relativePath`,
      why,
    );
    await expectRefusal(
      elsewhere,
      (d) => (keyedOf(d).privateState[0].handle.logicalFileId = 'B'),
      `${KEYED}.privateState[0].handle.wire.utf.logicalFileId`,
      why,
    );
    await expectRefusal(
      elsewhere,
      (d) => (d.operatorStates[0].subtasks[0].rawKeyedState[0].storageIdentifier = 'B'),
      `${SUBTASK}.rawKeyedState[0].wire.utf.storageIdentifier`,
      why,
    );
  });

  it('of whether there is operator state', async () => {
    const bytes = fileOf({ managedOperator: present(operatorHandle([], someFile), 2) });
    const subtaskOf = (document: Json): Json => document.operatorStates[0].subtasks[0];
    await expectRefusal(
      bytes,
      (document) => (subtaskOf(document).managedOperatorState = []),
      `${SUBTASK}.wire.managedOperatorStatePresence`,
      'contradicts the visible state, which is not there',
    );
    await expectRefusal(
      bytes,
      (document) => (subtaskOf(document).wire.managedOperatorStatePresence = 0),
      `${SUBTASK}.wire.managedOperatorStatePresence`,
      'contradicts the visible state, which is there',
    );
    await expectRefusal(
      bytes,
      (document) => (subtaskOf(document).wire.rawOperatorStatePresence = 3),
      `${SUBTASK}.wire.rawOperatorStatePresence`,
      'contradicts the visible state, which is not there',
    );
  });

  it('of an empty merged state', async () => {
    const merged = mergedOperatorHandle([], { taskOwned: 'file:/t', shared: 'file:/s' }, 7, emptySegment);
    await expectRefusal(
      fileOf({ managedOperator: present(merged) }),
      (document) => (operatorHandleOf(document).type = 'FileMergingOperatorStreamStateHandle'),
      `${OPERATOR_HANDLE}.wire.isEmpty`,
      'contradicts the visible type FileMergingOperatorStreamStateHandle',
    );
  });

  it('of a finished operator or subtask', async () => {
    const finished = metadataFile(6, { operators: [operator(6, { count: -5 })] });
    await expectRefusal(
      finished,
      (document) => (document.operatorStates[0].finished = false),
      'operatorStates[0].wire.subtaskCount',
      'contradicts the visible finished: false',
    );
    await expectRefusal(
      finished,
      (document) => (document.operatorStates[0].wire.subtaskCount = 0),
      'operatorStates[0].wire.subtaskCount',
      'must be negative',
    );
    const entry = metadataFile(6, { operators: [operator(6, { subtasks: [finishedSubtask(0)] })] });
    await expectRefusal(
      entry,
      (document) => (document.operatorStates[0].subtasks[0].wire = { duration: 5 }),
      `${SUBTASK}.wire.duration`,
      'this field is not known',
    );
  });

  it('of subtasks that Flink does not see', async () => {
    const subtasks = [subtask(6, { index: 1 }), subtask(6), subtask(6, { index: 1 })];
    const bytes = metadataFile(6, { operators: [operator(6, { subtasks })] });
    const wireOf = (document: Json): Json => document.operatorStates[0].wire;
    const field = 'operatorStates[0].wire.overwrittenSubtasks';
    await expectRefusal(
      bytes,
      (d) => wireOf(d).overwrittenSubtasks.push(wireOf(d).overwrittenSubtasks[0]),
      `${field}[1].position`,
      '0 occurs twice',
    );
    await expectRefusal(bytes, (d) => (wireOf(d).overwrittenSubtasks[0].position = 3), field, 'beyond the number');
    await expectRefusal(bytes, (d) => (wireOf(d).overwrittenSubtasks[0].position = -1), field, 'beyond the number');
    await expectRefusal(bytes, (d) => (wireOf(d).overwrittenSubtasks[0].position = 2), field, 'no visible subtask 1');
    await expectRefusal(
      bytes,
      (d) => {
        d.operatorStates[0].subtasks.push(d.operatorStates[0].subtasks[0]);
        delete d.operatorStates[0].wire;
      },
      `${SUBTASK}.index`,
      '0 occurs again below',
    );
  });

  it('of the properties', async () => {
    const block = Buffer.from(hex('aced00057970')).toString('base64');
    const bytes = metadataFile(6, { properties: hex('aced00057970') });
    await expectRefusal(bytes, (d) => (d.properties = {}), 'wire.properties', 'contradicts the visible properties');
    await expectRefusal(bytes, (d) => (d.wire.properties = 'rO0ABXBw'), 'wire.properties', 'has bytes behind its end');
    await expectRefusal(bytes, (d) => (d.wire.properties = 'rO0='), 'wire.properties', 'found the end of the file');
    await expectRefusal(bytes, (d) => (d.wire.properties = 7), 'wire.properties', 'expected a string, found 7');
    await expectRefusal(
      metadataFile(3),
      (d) => (d.wire.properties = block),
      'wire.properties',
      'version 3 has no properties',
    );
    await expectRefusal(metadataFile(3), (d) => (d.properties = {}), 'properties', 'version 3 has no properties');
    await expectRefusal(metadataFile(4), (d) => delete d.properties, 'properties', 'found nothing');
  });

  it('of the layout, also where it comes too late', async () => {
    const document = await documentOf(metadataFile(6, { operators: [operator(6)] }));
    const early = await refusalOf({ wire: { layout: '1.11' }, ...document });
    expect(early).toBeInstanceOf(UnwritableMetadataError);
    expect(early.message).toContain('the layout 1.11 in version 6');
    const late = await refusalOf({ ...document, wire: { layout: '1.11' } });
    expect(late).toBeInstanceOf(InvalidDocumentError);
    expect(late.message).toBe('wire.layout: version 6 has one layout');
    await expectRefusal(
      metadataFile(3),
      (d) => (d.wire.layout = '1.12'),
      'wire.layout',
      'expected "current" or "1.14"',
    );
  });
});

describe('a document that is none', () => {
  it.each([
    ['', '', 'the text ends in the middle of the document'],
    ['  \n', '', 'the text ends in the middle of the document'],
    ['{', '', 'the text ends in the middle of the document'],
    ['[]', '', 'expected an object'],
    ['7 ', '', 'expected an object'],
    ['null', '', 'expected an object'],
    ['{}', 'operatorStates', 'expected a list, found nothing'],
    ['{"version":6}', 'operatorStates', 'expected a list, found nothing'],
    ['{"operatorStates":[]}', 'version', 'expected a 32-bit integer, found nothing'],
    ['{"operatorStates":{}}', 'operatorStates', 'expected a list'],
    ['{"operatorStates":[7]}', 'operatorStates[0]', 'expected an object'],
    ['{"operatorStates":[{"subtasks":{}}]}', 'operatorStates[0].subtasks', 'expected a list'],
    ['{"version":6,"version":6}', 'version', 'occurs twice'],
    ['{"operatorStates":[{"uid":1,"uid":2}]}', 'operatorStates[0].uid', 'occurs twice'],
    ['{"properties":{"a":1,"a":1}}', 'properties', 'the key "a" occurs twice'],
    [
      '{"operatorStates":[{},{"subtasks":[{},{"a":{"b":1,"b":1}}]}]}',
      'operatorStates[1].subtasks[1]',
      '"b" occurs twice',
    ],
    ['{"__proto__":1}', '__proto__', 'this field is not known'],
    ['{"more":1}', 'more', 'this field is not known'],
    ['{"version":6} {}', '', 'is not well-formed JSON'],
    ['{"version":6]', 'version', 'is not well-formed JSON'],
    ['{"version" 6}', 'version', 'is not well-formed JSON'],
    ['{"version":6,}', 'version', 'is not well-formed JSON'],
    ['{"version":6 "checkpointId":7}', 'version', 'is not well-formed JSON'],
    ['{version:6}', '', 'is not JSON'],
    ['{"version":6.}', 'version', 'is not JSON'],
    ["{'version':6}", '', 'is not JSON'],
    ['{"properties":"\t"}', 'properties', 'is not JSON'],
    ['{"checkpointId":9007199254740993}', 'checkpointId', 'must be a string, or it loses digits'],
    ['{"properties":[{"a":-9007199254740993}]}', 'properties', 'must be a string, or it loses digits'],
    [`{"properties":${'['.repeat(600)}`, 'properties', 'more than 512 levels'],
  ])('%s', async (text, field, reason) => {
    for (const chunkBytes of [1, 1000]) {
      const error = await assembleText(text, chunkBytes).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidDocumentError);
      expect((error as InvalidDocumentError).data.field).toBe(field);
      expect((error as InvalidDocumentError).data.reason).toContain(reason);
    }
  });

  it('because its text is not UTF-8', async () => {
    const error = await assembleText(Buffer.from('{"externalPointer":"caf\xe9"}', 'latin1')).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(InvalidDocumentError);
    expect((error as InvalidDocumentError).data.field).toBe('externalPointer');
  });

  it.each([
    ['version', 'six', 'version', 'expected a 32-bit integer, found "six"'],
    ['version', 6.5, 'version', 'expected a 32-bit integer, found 6.5'],
    ['checkpointId', '7.5', 'checkpointId', 'expected an integer, found "7.5"'],
    ['checkpointId', '0x10', 'checkpointId', 'expected an integer'],
    ['checkpointId', '007', 'checkpointId', 'expected an integer'],
    ['checkpointId', '9223372036854775808', 'checkpointId', 'expected a 64-bit integer'],
    ['checkpointId', null, 'checkpointId', 'expected an integer, found null'],
    ['masterStates', {}, 'masterStates', 'expected a list, found an object'],
    ['masterStates', [7], 'masterStates[0]', 'expected an object, found 7'],
    ['wire', [], 'wire', 'expected an object, found a list'],
    ['wire', { trailingBytes: 'A' }, 'wire.trailingBytes', 'expected base64, found "A"'],
    ['wire', { trailingBytes: 'QR==' }, 'wire.trailingBytes', 'expected base64'],
    ['wire', { trailingBytes: 'QQ' }, 'wire.trailingBytes', 'expected base64'],
    ['wire', { trailingBytes: 'QU JD' }, 'wire.trailingBytes', 'expected base64'],
    ['wire', { trailingBytes: '_-__' }, 'wire.trailingBytes', 'expected base64'],
    ['wire', { more: 1 }, 'wire.more', 'this field is not known'],
  ])('because %s is %j', async (field, value, at, reason) => {
    await expectRefusal(metadataFile(6), (document) => (document[field] = value), at, reason);
  });

  it('because a handle has fields of another, or lacks its own', async () => {
    const bytes = fileOf({
      managedKeyed: keyGroupsV2(0, [1], someFile, 'id'),
      managedOperator: present(operatorHandle([], someFile)),
      inputs: [mergedChannel(3, 0, 1, someFile, hex('00000000'))],
    });
    const delegate = `${KEYED}.delegateStateHandle`;
    await expectRefusal(bytes, (d) => (keyedOf(d).delegateStateHandle.more = 1), `${delegate}.more`, 'not known');
    await expectRefusal(
      bytes,
      (d) => delete keyedOf(d).delegateStateHandle.stateSize,
      `${delegate}.stateSize`,
      'nothing',
    );
    await expectRefusal(
      bytes,
      (d) => (keyedOf(d).delegateStateHandle = null),
      delegate,
      'expected an object, found null',
    );
    await expectRefusal(bytes, (d) => (keyedOf(d).type = 'FileStateHandle'), `${KEYED}.type`, 'expected "KeyGroups');
    await expectRefusal(bytes, (d) => delete keyedOf(d).type, `${KEYED}.type`, 'found nothing');
    await expectRefusal(
      bytes,
      (d) => (keyedOf(d).type = 'KeyGroupsSavepointStateHandle'),
      `${KEYED}.stateHandleId`,
      'a canonical savepoint stores none: expected null',
    );
    await expectRefusal(
      bytes,
      (d) => d.operatorStates[0].subtasks[0].managedKeyedState.push(keyedOf(d)),
      `${SUBTASK}.managedKeyedState`,
      '2 handles where the format has room for one',
    );
    await expectRefusal(
      bytes,
      (d) => (d.operatorStates[0].subtasks[0].upstreamOutputBufferState = [{}]),
      `${SUBTASK}.upstreamOutputBufferState`,
      'no version of the format stores it',
    );
    await expectRefusal(
      bytes,
      (d) => (d.operatorStates[0].subtasks[0].finished = true),
      `${SUBTASK}.managedOperatorState`,
      'a finished subtask has no state',
    );
    await expectRefusal(
      bytes,
      (d) => (operatorHandleOf(d).type = 'FileMergingOperatorStreamStateHandle'),
      `${OPERATOR_HANDLE}.delegateStateHandle.type`,
      'a merged operator state lies in a segment',
    );
    await expectRefusal(
      bytes,
      (d) => (d.operatorStates[0].coordinatorState = keyedOf(d).delegateStateHandle),
      'operatorStates[0].coordinatorState.type',
      'expected "ByteStreamStateHandle", found "FileStateHandle"',
    );
    await expectRefusal(
      bytes,
      (d) =>
        d.operatorStates[0].subtasks[0].resultSubpartitionState.push(
          d.operatorStates[0].subtasks[0].inputChannelState[0],
        ),
      `${SUBTASK}.resultSubpartitionState[0].type`,
      'expected "ResultSubpartitionStateHandle" or "MergedResultSubpartitionStateHandle"',
    );
  });
});

describe('what the format cannot hold', () => {
  it.each<[string, Uint8Array, (document: Json) => void, string]>([
    [
      'a long uid',
      metadataFile(6, { operators: [operator(6)] }),
      (d) => (d.operatorStates[0].uid = 'a'.repeat(65_536)),
      'operator 0: cannot be written: uid: a string of 65536 encoded bytes, where the format allows 65535',
    ],
    [
      'a long name of a state',
      fileOf({ managedOperator: present(operatorHandle([state('s', 0, [])], someFile)) }),
      (d) =>
        (operatorHandleOf(d).stateNameToPartitionOffsets['€'.repeat(21_846)] =
          operatorHandleOf(d).stateNameToPartitionOffsets.s),
      'name: a string of 65538 encoded bytes',
    ],
    [
      'a uid in an old version',
      metadataFile(6, { operators: [operator(6, { uid: 'u' })] }),
      (d) => {
        d.version = 4;
      },
      'an operator name or uid before version 5',
    ],
    ['another version', metadataFile(6), (d) => (d.version = 7), 'header: cannot be written: version 7'],
    [
      'merged channel handles in an old version',
      fileOf({ inputs: [mergedChannel(3, 0, 1, someFile, hex('00000000'))] }),
      (d) => {
        d.version = 5;
      },
      'a MergedInputChannelStateHandle before version 6',
    ],
    [
      'channel handles of 1.11 in another layout',
      fileOf({ inputs: [channel(null, [0, 0], [], 1, someFile)] }, 3),
      (d) => (d.wire.layout = 'current'),
      'a channel handle that the layout current has not',
    ],
    [
      'fewer offsets than key groups',
      fileOf({ managedKeyed: keyGroupsV2(0, [1, 2], someFile, 'id') }),
      (d) => keyedOf(d).keyGroupOffsets.pop(),
      '1 key-group offsets for 2 key groups',
    ],
    [
      'an operator id that is none',
      metadataFile(6, { operators: [operator(6)] }),
      (d) => (d.operatorStates[0].operatorId = 'my-operator'),
      'operator id my-operator',
    ],
    [
      'a subtask beyond the parallelism',
      fileOf({}),
      (d) => (d.operatorStates[0].parallelism = 0),
      'subtask index 0 of parallelism 0',
    ],
    [
      'a negative checkpoint id',
      metadataFile(6),
      (d) => {
        d.checkpointId = -1;
      },
      'checkpoint id -1',
    ],
    [
      'an id of changes in the layout of 1.14',
      fileOf({ managedKeyed: changelogBytes() }, 3),
      (d) => (d.wire.layout = '1.14'),
      'an in-memory changelog that the layout 1.14 has not',
    ],
  ])('%s', async (_what, bytes, edit, message) => {
    const document = await documentOf(bytes);
    edit(document);
    const error = await refusalOf(document);
    expect(error).toBeInstanceOf(UnwritableMetadataError);
    expect(error.message).toContain(message);
  });
});

describe('an edited document', () => {
  it('is written as it is shown', async () => {
    const bytes = metadataFile(6, {
      operators: [
        operator(6, {
          uid: 'old',
          subtasks: [
            subtask(6, { managedKeyed: incrementalV2({ shared: [localFile('1.sst', file('s3://a/1', 5))] }) }),
          ],
        }),
      ],
    });
    const document = await documentOf(bytes);
    document.checkpointId = 8;
    document.operatorStates[0].uid = 'new-Ü';
    document.operatorStates[0].maxParallelism = 256;
    keyedOf(document).sharedState[0].handle.filePath = 's3://b/1';
    keyedOf(document).sharedState[0].handle.stateSize = '9223372036854775807';
    document.operatorStates.push({ ...document.operatorStates[0], operatorId: 'f'.repeat(32), subtasks: [] });
    const model = parseMetadata(await assembleDocument(document));
    expect(model.checkpointId).toBe(8n);
    expect(
      model.operatorStates.map(({ uid, operatorId, maxParallelism }) => [uid, operatorId, maxParallelism]),
    ).toEqual([
      ['new-Ü', '00112233445566778899aabbccddeeff', 256],
      ['new-Ü', 'f'.repeat(32), 256],
    ]);
    expect(model.operatorStates[0]?.subtasks[0]).toMatchObject({
      managedKeyedState: { sharedState: [{ handle: { filePath: 's3://b/1', stateSize: 2n ** 63n - 1n } }] },
    });
  });

  it('may leave out derived values, or have others: they are ignored', async () => {
    const bytes = fileOf({
      managedKeyed: incrementalV2({ meta: relative('m', 5), shared: [localFile('1', inline('n', hex('0102')))] }),
      inputs: [mergedChannel(3, 0, 1, someFile, hex('00000000'))],
    });
    const without = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(without);
      if (typeof value !== 'object' || value === null) return value;
      const kept = Object.entries(value).filter(
        ([key]) => !['physicalId', 'unmergedHandles', 'upstreamOutputBufferState'].includes(key),
      );
      return Object.fromEntries(kept.map(([key, item]) => [key, without(item)]));
    };
    const document = without(await documentOf(bytes));
    document.readByFlink = '2.3.0';
    document.externalPointer = 'file:/elsewhere';
    document.stateSize = -5;
    document.operatorStates[0].stateSize = 'anything';
    delete document.operatorStates[0].checkpointedSize;
    keyedOf(document).stateSize = 0;
    keyedOf(document).metaStateHandle.filePath = 'file:/elsewhere/m';
    keyedOf(document).sharedState[0].handle.stateSize = 0;
    expectSameBytes(await assembleDocument(document), bytes);
  });

  it('may put what is needed first last', async () => {
    for (const version of [2, 3, 6]) {
      const bytes = metadataFile(version, {
        masterStates: [masterState('m', 1, hex('07'))],
        operators: [
          operator(version, {
            subtasks: [subtask(version, { managedKeyed: changelogV2() }), subtask(version, { index: 1 })],
          }),
          operator(version),
        ],
        trailing: hex('0102'),
      });
      const document = await documentOf(bytes);
      expectSameBytes(await assembleDocument(withKeys(document, (keys) => keys.sort().reverse())), bytes);
      const last = (keys: string[]): string[] => ['operatorStates', ...keys.filter((key) => key !== 'operatorStates')];
      expectSameBytes(
        await assembleDocument(withKeys(document, (k) => (k.includes('operatorStates') ? last(k) : k))),
        bytes,
      );
    }
  });

  it('may begin with a byte order mark and have blanks everywhere', async () => {
    const bytes = fileOf({ managedKeyed: incrementalV2() });
    const text = JSON.stringify(await documentOf(bytes), null, '\t');
    expectSameBytes(await assembleText(`\ufeff${text}\r\n\r\n `), bytes);
  });

  it('may escape what need not be escaped', async () => {
    const name = Buffer.from('é\u{1f600}\ufeff', 'utf8');
    const encoded = hex('c3a9eda0bdedb880efbbbf');
    const bytes = metadataFile(6, { operators: [operator(6, { name: encoded })] });
    const text = (await dumpText(bytes)).replace(name.toString('utf8'), '\\u00e9\\uD83D\\ude00\\ufeff');
    expect(text).toContain('\\ufeff');
    for (const chunkBytes of [1, 2, 3, 1000]) expectSameBytes(await assembleText(text, chunkBytes), bytes);
  });
});

describe('the output', () => {
  it('fails with what the output fails with, and reads no further', async () => {
    const bytes = fileOf({ managedKeyed: incrementalV2() });
    const text = Buffer.from(await dumpText(bytes));
    const failure = new Error('disk full');
    let read = 0;
    function* chunks(): Generator<Uint8Array> {
      for (let at = 0; at < text.length; at += 100) {
        read++;
        yield text.subarray(at, at + 100);
      }
    }
    const sink = {
      write: () => Promise.reject(failure),
      patch: () => Promise.resolve(),
    };
    await expect(assembleMetadata(chunks(), sink)).rejects.toBe(failure);
    expect(read).toBeLessThan(text.length / 100);
  });

  it('fails with what the input fails with', async () => {
    const failure = new Error('connection lost');
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"version":6,');
      throw failure;
    }
    const sink = { write: () => Promise.resolve(), patch: () => Promise.resolve() };
    await expect(assembleMetadata(chunks(), sink)).rejects.toBe(failure);
  });

  it('tells how much was written', async () => {
    const bytes = metadataFile(6, {
      operators: [
        operator(6, { subtasks: [subtask(6, { index: 1 }), subtask(6, { index: 1 }), finishedSubtask(0)] }),
        operator(6),
      ],
    });
    const text = await dumpText(bytes);
    const sink = { write: () => Promise.resolve(), patch: () => Promise.resolve() };
    expect(await assembleMetadata([Buffer.from(text)], sink)).toEqual({
      bytes: bytes.length,
      version: 6,
      operators: 2,
      subtasks: 3,
    });
  });
});
