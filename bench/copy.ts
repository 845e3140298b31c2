/** How long `copy` takes against `cp -r` of the same files: many small ones, and a few large ones. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeMetadata } from '../src/format/metadata/metadata-encoder.js';
import type { OperatorState } from '../src/model/checkpoint-metadata.js';
import { ckpt, type Measurement, measure, measureBareNode, measureNode, ratio, report } from './support/measure.js';

const SMALL = { files: 10_000, bytes: 4 * 1024 };
const LARGE = { files: 20, bytes: 100_000_000 };
const SUBTASKS = 10;
const ROUNDS = 5;

/** `copy` of a checkpoint with all its files in its own directory. */
export async function copyBench(): Promise<void> {
  const directory = mkdtempSync(join(process.env.CKPT_BENCH_DIRECTORY ?? tmpdir(), 'ckpt-bench-'));
  try {
    const bare = await measureBareNode();
    report('node -e 0', bare);
    for (const { files, bytes } of [SMALL, LARGE]) {
      const source = join(directory, 'source');
      makeCheckpoint(source, files, bytes);
      const target = join(directory, 'target');
      const before = (): void => {
        rmSync(target, { recursive: true, force: true });
        // What earlier runs have written is not to be waited for by this one.
        execFileSync('sync');
      };
      // In turns: what creating a file costs changes with the state of the disk, within seconds and for everybody.
      let plain = await measure('cp', ['-r', source, target], { runs: 1, before });
      let ours = await measureNode(ckpt('copy', source, target), { runs: 1, before });
      for (let round = 1; round < ROUNDS; round++) {
        plain = faster(plain, await measure('cp', ['-r', source, target], { runs: 1, before }));
        ours = faster(ours, await measure(process.execPath, ckpt('copy', source, target), { runs: 1, before }));
      }
      const again = await measureNode(ckpt('copy', source, target, '--dry-run'), { runs: ROUNDS, before });
      const what = `${files.toLocaleString('en')} files of ${(bytes / 1000).toLocaleString('en')} kB`;
      report(`cp -r, ${what}`, plain);
      const overBare = ratio(ours.milliseconds - bare.milliseconds, plain.milliseconds, 'cp -r, without bare node');
      report(`ckpt copy, ${what}`, ours, overBare);
      report('ckpt copy --dry-run', again);
      rmSync(source, { recursive: true });
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function faster(first: Measurement, second: Measurement): Measurement {
  return { ...first, milliseconds: Math.min(first.milliseconds, second.milliseconds) };
}

function makeCheckpoint(directory: string, files: number, bytes: number): void {
  mkdirSync(directory, { recursive: true });
  const contents = Buffer.alloc(bytes, 'state');
  const name = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  for (let index = 0; index < files; index++) writeFileSync(join(directory, name(index)), contents);
  const perSubtask = files / SUBTASKS;
  const operator: OperatorState = {
    operatorId: '1'.repeat(32),
    uid: null,
    name: 'operator',
    parallelism: SUBTASKS,
    maxParallelism: 128,
    finished: false,
    coordinatorState: null,
    subtasks: Array.from({ length: SUBTASKS }, (_, subtask) => ({
      index: subtask,
      finished: false,
      managedOperatorState: null,
      rawOperatorState: null,
      managedKeyedState: {
        type: 'IncrementalRemoteKeyedStateHandle',
        checkpointId: 1n,
        backendIdentifier: name(subtask),
        keyGroupRange: { startKeyGroup: subtask, numberOfKeyGroups: 1 },
        checkpointedSize: 0n,
        stateHandleId: name(subtask),
        metaStateHandle: { type: 'ByteStreamStateHandle', handleName: 'meta', bytes: new Uint8Array(10) },
        sharedState: Array.from({ length: perSubtask }, (_file, file) => ({
          localPath: `${String(file).padStart(6, '0')}.sst`,
          handle: {
            type: 'RelativeFileStateHandle',
            relativePath: name(subtask * perSubtask + file),
            stateSize: BigInt(bytes),
          },
        })),
        privateState: [],
      },
      rawKeyedState: null,
      inputChannelState: [],
      resultSubpartitionState: [],
    })),
  };
  const metadata = writeMetadata({
    version: 6,
    layout: 'current',
    checkpointId: 1n,
    masterStates: [],
    operatorStates: [operator],
    propertiesBlock: Uint8Array.of(0xac, 0xed, 0, 5, 0x70),
    trailingBytes: new Uint8Array(),
  });
  writeFileSync(join(directory, '_metadata'), metadata);
}
