import { describe, expect, it } from 'vitest';
import { CorruptMetadataError } from '../../../../src/errors.js';
import { loadMetadata, parseMetadata } from '../../../../src/format/metadata/model-reader.js';
import { hex, join } from '../../../support/byte-builder.js';
import {
  changelogBytes,
  changelogBytesOf114,
  changelogFilesOf114,
  changelogFilesOf115,
  changelogFilesV2,
  changelogOf114,
  changelogOf115,
  channel,
  emptySegment,
  file,
  keyGroups,
  keyGroupsV2,
  metadataFile,
  operator,
  relative,
  subtask,
} from '../../../support/metadata-builder.js';
import { assembleDocument, expectFullCycle, slowSourceOf } from '../../../support/metadata-cycle.js';

/** Written by Flink 1.14.6: a changelog handle with one part of each kind, a finished subtask, a finished operator. */
const OF_1_14 = hex(
  '4960672d00000003000000000000000700000000000000020000000000000001000000000000000200000002000000800000000002000000000000000000000000080000000000000002000000010300000000000000020000000000000001000000000000000202000000000000000c000966696c653a2f782f66000000020a000000000000000200000001000000000000000502000000000000000c000966696c653a2f782f6600000000000000090900000000000000020000000000000001000000000000000200000001000000010000000107000000000000000000fffffffe00000000000000030000000000000004000000010000000100ffffffff',
);

/** Written by Flink 1.11.6: an input channel and a result subpartition. */
const OF_1_11 = hex(
  '4960672d000000030000000000000007000000000000000100000000000000010000000000000002000000020000008000000000010000000000000000000000000000000000010000000100000002000000010000000000000004000000000000000c02000000000000000c000966696c653a2f782f66000000010000000300000004000000010000000000000008000000000000000c02000000000000000c000966696c653a2f782f66',
);

const handle = file('file:/x/f', 12);

/** A version 3 file of one subtask. */
const of = (parts: Parameters<typeof subtask>[1], trailing = join()): Uint8Array =>
  metadataFile(3, { operators: [operator(3, { subtasks: [subtask(3, parts)] })], trailing });

const changelogParts114 = {
  materialized: [keyGroups(0, [1, 2], handle)],
  nonMaterialized: [changelogFilesOf114({ files: [[5, handle]] }), changelogBytesOf114({ changes: [[1, hex('07')]] })],
};

function layoutOf(bytes: Uint8Array): string {
  return parseMetadata(bytes).layout;
}

function errorOf(bytes: Uint8Array): CorruptMetadataError['data'] {
  try {
    parseMetadata(bytes, 'here');
  } catch (error) {
    if (error instanceof CorruptMetadataError) return error.data;
    throw error;
  }
  throw new Error('the bytes were read without an error');
}

describe('a file that Flink 1.14.6 wrote', () => {
  it('keeps its bytes and shows its handles', async () => {
    const { model, document } = await expectFullCycle(OF_1_14);
    expect(model.layout).toBe('1.14');
    expect(document.wire).toEqual({ layout: '1.14' });
    const [first, second] = document.operatorStates;
    expect(first.operatorId).toBe('00000000000000010000000000000002');
    expect(first.subtasks[0].managedKeyedState).toEqual([
      {
        type: 'ChangelogStateBackendHandleImpl',
        checkpointId: null,
        materializationID: null,
        keyGroupRange: { start: 0, end: 1 },
        stateSize: 22,
        checkpointedSize: null,
        stateHandleId: null,
        materializedStateHandles: [
          {
            type: 'KeyGroupsStateHandle',
            keyGroupRange: { start: 0, end: 1 },
            keyGroupOffsets: [1, 2],
            stateSize: 12,
            checkpointedSize: 12,
            stateHandleId: null,
            delegateStateHandle: {
              type: 'FileStateHandle',
              filePath: 'file:/x/f',
              stateSize: 12,
              physicalId: 'file:/x/f',
            },
          },
        ],
        nonMaterializedStateHandles: [
          {
            type: 'ChangelogStateHandleStreamImpl',
            keyGroupRange: { start: 0, end: 1 },
            stateSize: 9,
            checkpointedSize: null,
            stateHandleId: null,
            storageIdentifier: null,
            handlesAndOffsets: [
              {
                offset: 5,
                handle: { type: 'FileStateHandle', filePath: 'file:/x/f', stateSize: 12, physicalId: 'file:/x/f' },
              },
            ],
          },
          {
            type: 'InMemoryChangelogStateHandle',
            keyGroupRange: { start: 0, end: 1 },
            from: 1,
            to: 2,
            stateSize: 1,
            checkpointedSize: 1,
            stateHandleId: null,
            storageIdentifier: 'memory',
            changes: [{ keyGroup: 1, change: 'Bw==' }],
          },
        ],
      },
    ]);
    expect(first.subtasks[1]).toMatchObject({ index: 1, finished: true });
    expect(second).toMatchObject({ finished: true, parallelism: 1, maxParallelism: 1, subtasks: [] });
  });
});

describe('a file that Flink 1.11.6 wrote', () => {
  it('keeps its bytes and shows its channels', async () => {
    const { model, document } = await expectFullCycle(OF_1_11);
    expect(model.layout).toBe('1.11');
    expect(document.wire).toEqual({ layout: '1.11' });
    const [subtaskState] = document.operatorStates[0].subtasks;
    const delegate = { type: 'FileStateHandle', filePath: 'file:/x/f', stateSize: 12, physicalId: 'file:/x/f' };
    expect(subtaskState.inputChannelState).toEqual([
      {
        type: 'InputChannelStateHandle',
        subtaskIndex: null,
        info: { gateIdx: 1, inputChannelIdx: 2 },
        offsets: [4],
        stateSize: 12,
        delegate,
      },
    ]);
    expect(subtaskState.resultSubpartitionState).toEqual([
      {
        type: 'ResultSubpartitionStateHandle',
        subtaskIndex: null,
        info: { partitionIdx: 3, subPartitionIdx: 4 },
        offsets: [8],
        stateSize: 12,
        delegate,
      },
    ]);
  });
});

describe('the layout of a version 3 file', () => {
  it('is the newest where nothing is ambiguous', async () => {
    const { model, document } = await expectFullCycle(of({ managedKeyed: keyGroupsV2(0, [1], handle, 'id') }));
    expect(model.layout).toBe('current');
    expect(document.wire).toEqual({ layout: 'current' });
  });

  it.each([
    ['8', changelogOf115({ materialized: [keyGroupsV2(0, [1, 2], handle, 'id')] })],
    ['9', changelogBytes({ changes: [[-1, hex('0102')]] })],
    ['10', changelogFilesOf115({ files: [[5, handle]] })],
    ['8 with all others in it', changelogOf115({ nonMaterialized: [changelogBytes(), changelogFilesOf115()] })],
    ['13 beside none of them', changelogFilesV2({ files: [[5, handle]] })],
  ])('is the newest for a handle of type %s as Flink 1.15 has it', (_type, handleOf115) => {
    expect(layoutOf(of({ managedKeyed: handleOf115 }))).toBe('current');
  });

  it.each([
    ['8', changelogOf114({ materialized: [keyGroups(0, [1, 2], handle)] })],
    ['9', changelogBytesOf114({ changes: [[-1, hex('0102')]] })],
    ['10', changelogFilesOf114({ files: [[5, handle]] })],
    ['8 with all others in it', changelogOf114(changelogParts114)],
  ])('is that of 1.14 for a handle of type %s as Flink 1.14 has it', async (_type, handleOf114) => {
    const { model } = await expectFullCycle(of({ managedKeyed: handleOf114 }));
    expect(model.layout).toBe('1.14');
  });

  it('is one for the whole file: all channels or all changelogs', () => {
    const plain = channel(0, [1, 2], [4], 12, handle);
    expect(layoutOf(of({ inputs: [plain, plain], outputs: [plain] }))).toBe('current');
    const of111 = channel(null, [1, 2], [4], 12, handle);
    expect(layoutOf(of({ inputs: [of111, of111], outputs: [of111] }))).toBe('1.11');
  });

  it('is that of 1.11 for the smallest handles at the end of a file', async () => {
    const smallest = channel(null, [0, 0], [], 0, emptySegment);
    for (const outputs of [[smallest], Array.from({ length: 100 }, () => smallest)]) {
      expect((await expectFullCycle(of({ outputs }))).model.layout).toBe('1.11');
    }
  });

  it('is an older one only if the file then ends exactly', () => {
    expect(layoutOf(of({ managedKeyed: changelogOf114(changelogParts114) }))).toBe('1.14');
    expect(() => layoutOf(of({ managedKeyed: changelogOf114(changelogParts114) }, hex('00')))).toThrow(
      CorruptMetadataError,
    );
    expect(() => layoutOf(join(OF_1_11, hex('00')))).toThrow(CorruptMetadataError);
    // The newest may have bytes behind it, as Flink takes them.
    expect(parseMetadata(of({ managedKeyed: changelogOf115() }, hex('00'))).trailingBytes).toEqual(new Uint8Array([0]));
  });

  it('is the newest in what an error says, where no layout fits', async () => {
    const cut = OF_1_11.subarray(0, OF_1_11.length - 1);
    expect(errorOf(cut)).toEqual({
      location: 'here',
      offset: 95,
      record: 'operator 0 / subtask 0 / input channel state / channel handle 0',
      // The upper half of the first offset is taken for a number of offsets, and what follows the size is no handle.
      expected: 'a stream state handle',
      found: 'null',
    });
    await expect(loadMetadata(slowSourceOf(cut), 'here')).rejects.toThrow(CorruptMetadataError);
  });

  it('is not looked for under other version numbers', () => {
    const of114 = subtask(4, { managedKeyed: changelogOf114(changelogParts114) });
    expect(() => layoutOf(metadataFile(4, { operators: [operator(4, { subtasks: [of114] })] }))).toThrow(
      CorruptMetadataError,
    );
  });

  it('is the same when the file comes slowly', async () => {
    for (const bytes of [OF_1_11, OF_1_14, of({ managedKeyed: changelogOf115() })]) {
      expect((await loadMetadata(slowSourceOf(bytes), 'here')).layout).toBe(layoutOf(bytes));
    }
  });
});

describe('a document of version 3', () => {
  it('means the newest layout without a word about it', async () => {
    const bytes = of({ managedKeyed: changelogOf115(), inputs: [channel(0, [1, 2], [4], 12, relative('a', 1))] });
    const { document } = await expectFullCycle(bytes);
    delete document.wire;
    expect(Buffer.compare(await assembleDocument(document), bytes)).toBe(0);
  });
});
