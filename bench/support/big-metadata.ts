/**
 * Large metadata as a big RocksDB job on an object store leaves it: every fifth operator with list state, the others with
 * incremental keyed state of many shared files; streamed to a file, the same for the same arguments.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { writeCheckpointProperties } from '../../src/format/java/properties.js';
import { MetadataEncoder } from '../../src/format/metadata/metadata-encoder.js';
import type { OperatorSubtaskState } from '../../src/model/checkpoint-metadata.js';
import { forCheckpoint } from '../../src/model/checkpoint-properties.js';
import type { HandleAndLocalPath, RelativeFileStateHandle } from '../../src/model/state-handles.js';

const JOB = 's3://checkpoints.example/flink/prod/4f1a0c8d2b7e4d6f9a3b5c7d8e9f0a1b';
const CHECKPOINT_ID = 4711n;

/** Size of the metadata. */
export interface BigMetadata {
  readonly operators: number;
  readonly parallelism: number;
  /** Shared files of each subtask. */
  readonly sstFiles: number;
}

/** A generator of 32-bit numbers (mulberry32), so that files can be made again. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

function uuid(random: () => number): string {
  const hex = Array.from({ length: 4 }, () => random().toString(16).padStart(8, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function relative(random: () => number, size: number): RelativeFileStateHandle {
  return { type: 'RelativeFileStateHandle', relativePath: uuid(random), stateSize: BigInt(size) };
}

function listState(random: () => number): OperatorSubtaskState['managedOperatorState'] {
  return {
    type: 'OperatorStreamStateHandle',
    stateNameToPartitionOffsets: [
      {
        name: 'SourceReaderState',
        distributionMode: 'SPLIT_DISTRIBUTE',
        offsets: BigInt64Array.from([0n, 512n, 1024n]),
      },
    ],
    delegateStateHandle: relative(random, 2048),
  };
}

function rocksDb(random: () => number, subtask: number, sstFiles: number): OperatorSubtaskState['managedKeyedState'] {
  const sharedState: HandleAndLocalPath[] = Array.from({ length: sstFiles }, (_, i) => ({
    localPath: `${String(1000 + 3 * i).padStart(6, '0')}.sst`,
    handle: {
      type: 'FileStateHandle',
      filePath: `${JOB}/shared/${uuid(random)}`,
      stateSize: BigInt(1_000_000 + (random() % 64_000_000)),
    },
  }));
  const bytes = new TextEncoder().encode('MANIFEST-000004\n');
  return {
    type: 'IncrementalRemoteKeyedStateHandle',
    checkpointId: CHECKPOINT_ID,
    backendIdentifier: uuid(random),
    keyGroupRange: { startKeyGroup: subtask, numberOfKeyGroups: 1 },
    checkpointedSize: 50_000_000n,
    stateHandleId: uuid(random),
    metaStateHandle: relative(random, 4000),
    sharedState,
    privateState: [
      { localPath: 'MANIFEST-000004', handle: relative(random, 12_345) },
      { localPath: 'CURRENT', handle: { type: 'ByteStreamStateHandle', handleName: uuid(random), bytes } },
      { localPath: 'OPTIONS-000013', handle: relative(random, 31_000) },
    ],
  };
}

/** Writes the file. */
export async function writeBigMetadata(file: string, { operators, parallelism, sstFiles }: BigMetadata): Promise<void> {
  const out = createWriteStream(file);
  const encoder = new MetadataEncoder();
  const flush = async (): Promise<void> => {
    if (!out.write(encoder.out.drain())) await new Promise<void>((resolve) => out.once('drain', resolve));
  };
  encoder.header({ version: 6, layout: 'current', checkpointId: CHECKPOINT_ID });
  encoder.masterStates([]);
  encoder.operators(operators);
  for (let index = 0; index < operators; index++) {
    const random = generator(index + 1);
    encoder.beginOperator({
      operatorId: uuid(random).replaceAll('-', ''),
      uid: `operator-uid-${index}`,
      name: `Operator ${index}`,
      parallelism,
      maxParallelism: 512,
      finished: false,
      coordinatorState:
        index === 0 ? { type: 'ByteStreamStateHandle', handleName: 'coordinator', bytes: new Uint8Array(500) } : null,
    });
    for (let subtask = 0; subtask < parallelism; subtask++) {
      const withList = index % 5 === 0;
      encoder.subtask({
        index: subtask,
        finished: false,
        managedOperatorState: withList ? listState(random) : null,
        rawOperatorState: null,
        managedKeyedState: withList ? null : rocksDb(random, subtask, sstFiles),
        rawKeyedState: null,
        inputChannelState: [],
        resultSubpartitionState: [],
      });
    }
    // The count was written before the subtasks were: it can be patched only while it is in memory.
    encoder.endOperator();
    await flush();
  }
  encoder.properties(writeCheckpointProperties(forCheckpoint('RETAIN_ON_CANCELLATION')));
  await flush();
  out.end();
  await finished(out);
}
