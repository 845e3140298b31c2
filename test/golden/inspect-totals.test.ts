import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { inspectMetadata } from '../../src/operations/inspect.js';
import { allCases, pointersOf } from '../support/corpus.js';
import { type Json, slowSourceOf } from '../support/metadata-cycle.js';

const judged = pointersOf(allCases()).filter(({ oracleFile }) => oracleFile !== undefined);

/** What the handles inside a part of an oracle document come to. */
interface Handles {
  readonly files: Map<string, number>;
  readonly segments: Map<string, number>;
  inlineBytes: number;
}

function handlesOf(part: Json): Handles {
  const handles: Handles = { files: new Map(), segments: new Map(), inlineBytes: 0 };
  const visit = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    switch (value.type) {
      case 'FileStateHandle':
      case 'RelativeFileStateHandle':
        handles.files.set(value.filePath, value.stateSize);
        break;
      case 'SegmentFileStateHandle':
        handles.segments.set(`${value.filePath} ${value.startPos}`, value.stateSize);
        handles.files.set(value.filePath, 0);
        break;
      case 'ByteStreamStateHandle':
        handles.inlineBytes += Buffer.from(value.bytes, 'base64').length;
        break;
      case 'InMemoryChangelogStateHandle':
        for (const { change } of value.changes) handles.inlineBytes += Buffer.from(change, 'base64').length;
        break;
      default:
    }
    // The channels of a merged handle repeat its delegate.
    for (const [key, item] of Object.entries(value)) if (key !== 'unmergedHandles') visit(item);
  };
  visit(part);
  return handles;
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/** Bytes of the handles in these lists of all subtasks. */
function sizesOf(operator: Json, ...lists: string[]): number {
  return sum(
    operator.subtasks.flatMap((subtask: Json) => lists.flatMap((list) => subtask[list].map((h: Json) => h.stateSize))),
  );
}

describe('the totals of inspect are those of real Flink', () => {
  it.each(judged)('$label', async (pointer) => {
    const oracle: Json = JSON.parse(readFileSync(pointer.oracleFile ?? '', 'utf8'));
    const bytes = new Uint8Array(readFileSync(pointer.metadataFile));
    const directory = Path.parse(pointer.externalPointer);
    const result = await inspectMetadata({
      source: slowSourceOf(bytes),
      metadataPath: directory.child('_metadata'),
      directory,
      modificationTime: 0,
    });

    const { files, segments, inlineBytes } = handlesOf(oracle.operatorStates);
    expect(result).toMatchObject({
      pointer: oracle.externalPointer,
      metadataSize: bytes.length,
      version: oracle.version,
      checkpointId: oracle.checkpointId,
      stateSize: oracle.stateSize,
      checkpointedSize: oracle.checkpointedSize,
      properties: oracle.properties,
      files: files.size,
      fileBytes: sum(files.values()) + sum(segments.values()),
      inlineBytes,
      masterStates: oracle.masterStates.map(({ name, version, size }: Json) => ({ name, version, size })),
    });
    expect(sum(result.directories.map((d) => d.files))).toBe(files.size);
    expect(sum(result.directories.map((d) => d.bytes))).toBe(result.fileBytes);
    if (oracle.properties !== null) expect(result.kind).toBe(pointer.kind);

    expect(result.operatorStates.length).toBe(oracle.operatorStates.length);
    for (const [i, operator] of oracle.operatorStates.entries()) {
      const running = operator.subtasks.filter((subtask: Json) => !subtask.finished);
      const sizes = running.map((subtask: Json) => subtask.stateSize);
      expect(result.operatorStates[i]).toMatchObject({
        operatorId: operator.operatorId,
        uid: operator.uid,
        name: operator.name,
        parallelism: operator.parallelism,
        maxParallelism: operator.maxParallelism,
        finished: operator.finished,
        stateSize: operator.stateSize,
        checkpointedSize: operator.checkpointedSize,
        keyedStateSize: sizesOf(operator, 'managedKeyedState', 'rawKeyedState'),
        operatorStateSize: sizesOf(operator, 'managedOperatorState', 'rawOperatorState'),
        channelStateSize: sizesOf(operator, 'inputChannelState', 'resultSubpartitionState'),
        coordinatorStateSize: operator.coordinatorState?.stateSize ?? 0,
        files: handlesOf(operator).files.size,
        subtasks: operator.subtasks.length,
        finishedSubtasks: operator.subtasks.length - running.length,
      });
      const { largestSubtask, smallestSubtask } = result.operatorStates[i] ?? {};
      expect(largestSubtask?.bytes).toBe(running.length > 0 ? Math.max(...sizes) : undefined);
      expect(smallestSubtask?.bytes).toBe(running.length > 0 ? Math.min(...sizes) : undefined);
    }
  });
});
