import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { writeMetadata } from '../../src/format/metadata/metadata-encoder.js';
import { loadMetadata, parseMetadata } from '../../src/format/metadata/model-reader.js';
import { loadMetadataHeader } from '../../src/format/metadata/read.js';
import { allCases, type CorpusPointer, fixtureCases, pointersOf } from '../support/corpus.js';
import {
  assembleText,
  dumpText,
  expectSameBytes,
  type Json,
  slowSourceOf,
  sourceOf,
  withKeys,
} from '../support/metadata-cycle.js';

const pointers = pointersOf(allCases());
const judged = pointers.filter(({ oracleFile }) => oracleFile !== undefined);

const json = (file: string | undefined): Json => JSON.parse(readFileSync(file ?? '', 'utf8'));
const bytesOf = (pointer: CorpusPointer): Uint8Array => new Uint8Array(readFileSync(pointer.metadataFile));

/** The document as the oracle has it: without `wire`, subtasks in the order of their indexes. */
function asOracle(document: Json): Json {
  for (const operator of document.operatorStates) {
    operator.subtasks.sort((a: Json, b: Json) => a.index - b.index);
  }
  return withoutWire(document);
}

function withoutWire(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'wire')
      .map(([key, item]) => [key, withoutWire(item)]),
  );
}

describe('the cases', () => {
  it('have every version and the releases that wrote them', () => {
    const seen = new Set(pointersOf(fixtureCases()).map((p) => `${p.metadataVersion} by ${p.case.flinkVersion}`));
    expect([...seen].sort()).toEqual([
      '2 by 1.15.4',
      '3 by 1.11.6',
      '3 by 1.14.6',
      '3 by 1.15.4',
      '4 by 1.17.2',
      '4 by 1.20.0',
      '4 by 1.20.5',
      '5 by 2.0.0',
      '6 by 2.1.3',
      '6 by 2.3.0',
    ]);
  });

  it('have every handle class', () => {
    const classes = new Set<string>();
    const collect = (value: Json): void => {
      if (typeof value !== 'object' || value === null) return;
      if (typeof value.type === 'string') classes.add(value.type);
      for (const item of Object.values(value)) collect(item);
    };
    for (const pointer of pointersOf(fixtureCases())) if (pointer.oracleFile) collect(json(pointer.oracleFile));
    expect([...classes].sort()).toEqual([
      'ByteStreamStateHandle',
      'ChangelogStateBackendHandleImpl',
      'ChangelogStateHandleStreamImpl',
      'DirectoryStreamStateHandle',
      'EmptyFileMergingOperatorStreamStateHandle',
      'EmptySegmentFileStateHandle',
      'FileMergingOperatorStreamStateHandle',
      'FileStateHandle',
      'InMemoryChangelogStateHandle',
      'IncrementalRemoteKeyedStateHandle',
      'InputChannelStateHandle',
      'KeyGroupsSavepointStateHandle',
      'KeyGroupsStateHandle',
      'MergedInputChannelStateHandle',
      'MergedResultSubpartitionStateHandle',
      'OperatorStreamStateHandle',
      'RelativeFileStateHandle',
      'ResultSubpartitionStateHandle',
      'SegmentFileStateHandle',
    ]);
  });
});

describe('what dump prints is what real Flink reads', () => {
  it.each(judged)('$label', async (pointer) => {
    const oracle = json(pointer.oracleFile);
    expect(oracle.externalPointer).toBe(pointer.externalPointer);
    delete oracle.readByFlink;
    const { externalPointer } = pointer;
    const compact = await dumpText(bytesOf(pointer), { externalPointer });
    expect(asOracle(JSON.parse(compact))).toStrictEqual(oracle);
    const pretty = await dumpText(bytesOf(pointer), { externalPointer, pretty: true });
    expect(asOracle(JSON.parse(pretty))).toStrictEqual(oracle);
    expect(compact.trimEnd().includes('\n')).toBe(false);
    expect(pretty.split('\n').length).toBeGreaterThan(20);
  });
});

describe('the model writes the file again', () => {
  it.each(pointers)('$label', async (pointer) => {
    const bytes = bytesOf(pointer);
    const model = parseMetadata(bytes, pointer.metadataFile);
    expect(model.version).toBe(pointer.metadataVersion);
    expect(model.checkpointId).toBe(BigInt(pointer.checkpointId));
    expect(model.layout).toBe(pointer.channelsFile === undefined ? 'current' : '1.11');
    expect(model.trailingBytes.length).toBe(0);
    expectSameBytes(writeMetadata(model), bytes);
    expect(await loadMetadata(slowSourceOf(bytes), pointer.metadataFile)).toStrictEqual(model);
    expect(await loadMetadataHeader(sourceOf(bytes), pointer.metadataFile)).toEqual({
      version: model.version,
      checkpointId: model.checkpointId,
    });
  });
});

describe('the document assembles to the file again', () => {
  it.each(pointers)('$label', async (pointer) => {
    const bytes = bytesOf(pointer);
    const { externalPointer } = pointer;
    const text = await dumpText(bytes, { externalPointer });
    expectSameBytes(await assembleText(text), bytes);
    expectSameBytes(await assembleText(await dumpText(bytes, { externalPointer, pretty: true })), bytes);
    const sorted = withKeys(JSON.parse(text), (keys) => keys.sort());
    expectSameBytes(await assembleText(JSON.stringify(sorted)), bytes);
  });

  const few = pointersOf(fixtureCases()).filter(({ label }) =>
    ['unaligned', 'file-merging-hashmap', 'raw-state', 'changelog-hashmap'].some((name) => label.includes(`/${name} `)),
  );
  it.each(few)('in pieces of 1 to 7 bytes: $label', async (pointer) => {
    const bytes = bytesOf(pointer);
    const text = await dumpText(bytes, { externalPointer: pointer.externalPointer });
    for (let chunkBytes = 1; chunkBytes <= 7; chunkBytes++) {
      expectSameBytes(await assembleText(text, chunkBytes), bytes);
    }
  });
});

describe('channel state as Flink 1.11 reads it', () => {
  it.each(pointers.filter(({ channelsFile }) => channelsFile !== undefined))('$label', async (pointer) => {
    const { externalPointer } = pointer;
    const document: Json = JSON.parse(await dumpText(bytesOf(pointer), { externalPointer }));
    expect(document.wire.layout).toBe('1.11');
    const found: Json = {};
    for (const operator of document.operatorStates) {
      for (const subtask of operator.subtasks) {
        const inputChannelState = subtask.inputChannelState.map((handle: Json) =>
          channel(`gate ${handle.info.gateIdx} channel ${handle.info.inputChannelIdx}`, handle),
        );
        const resultSubpartitionState = subtask.resultSubpartitionState.map((handle: Json) =>
          channel(`partition ${handle.info.partitionIdx} subpartition ${handle.info.subPartitionIdx}`, handle),
        );
        found[operator.operatorId] ??= {};
        found[operator.operatorId][`subtask ${subtask.index}`] = { inputChannelState, resultSubpartitionState };
      }
    }
    expect(found).toStrictEqual(json(pointer.channelsFile));
  });

  function channel(where: string, handle: Json): Json {
    expect(handle.subtaskIndex).toBeNull();
    const { filePath, relativePath, stateSize } = handle.delegate;
    const delegate = `RelativeFileStateHandle State: ${filePath}, ${relativePath} [${stateSize} bytes]`;
    return [where, handle.offsets, handle.stateSize, delegate];
  }
});
