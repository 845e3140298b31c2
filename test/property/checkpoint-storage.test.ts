import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompletedCheckpoint } from '../../src/checkpoint/completed-checkpoint.js';
import { PendingState } from '../../src/checkpoint/pending-state.js';
import {
  InvalidLocationReferenceError,
  InvalidPathError,
  IoError,
  SavepointDirectoryError,
  suppressedOf,
} from '../../src/errors.js';
import { Path } from '../../src/filesystem/path.js';
import type { OperatorState, OperatorSubtaskState } from '../../src/model/checkpoint-metadata.js';
import { forCheckpoint } from '../../src/model/checkpoint-properties.js';
import type { StreamStateHandle } from '../../src/model/state-handles.js';
import { FsCompletedCheckpointStorageLocation } from '../../src/storage/fs-metadata-stream.js';
import { FsCheckpointStateOutputStream } from '../../src/storage/fs-state-stream.js';
import {
  CheckpointStorageLocationReference,
  decodePathFromReference,
  encodePathAsReference,
} from '../../src/storage/location-reference.js';
import { MemoryCheckpointOutputStream } from '../../src/storage/memory-streams.js';
import { createSavepointDirectory } from '../../src/storage/savepoint-directory.js';
import { memoryStore, treeOf } from '../support/stores.js';
import * as states from '../unit/checkpoint/states.js';

describe('location references', () => {
  it('keep every path', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(text, fc.constantFrom('', '/', 'file:/', 's3://bucket/'), (name, front) => {
        let path: Path;
        try {
          path = Path.parse(front + name);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidPathError);
          return;
        }
        if (!path.isFaithful) return;
        expect(decodePathFromReference(encodePathAsReference(path)).equals(path)).toBe(true);
      }),
    );
  });

  it('of any bytes are a path, or refused', () => {
    const magic = fc.constantFrom([], [0x05, 0x5f, 0x3f, 0x18]);
    fc.assert(
      fc.property(magic, fc.uint8Array({ minLength: 1, maxLength: 12 }), (front, rest) => {
        const reference = CheckpointStorageLocationReference.of(Uint8Array.from([...front, ...rest]));
        try {
          expect(decodePathFromReference(reference)).toBeInstanceOf(Path);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidLocationReferenceError);
        }
      }),
    );
  });
});

describe('state that is written in any chunks', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });

  it('comes out as it went in, as bytes or as a file', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, fc.nat(60), fc.nat(60), async (parts, fileStateSizeThreshold, writeBufferSize) => {
        const { memory } = memoryStore();
        const settings = { fileStateSizeThreshold, writeBufferSize };
        const stream = new FsCheckpointStateOutputStream(memory, Path.parse('memory:/d'), 'absolute', settings);
        for (const part of parts) await stream.write(part);
        const contents = new Uint8Array(Buffer.concat(parts));
        expect(stream.position).toBe(contents.length);
        const handle = await stream.closeAndGetHandle();
        if (contents.length === 0) {
          expect(handle).toBeNull();
        } else if (contents.length <= fileStateSizeThreshold) {
          expect(handle).toMatchObject({ type: 'ByteStreamStateHandle', bytes: contents });
          expect(memory.snapshot().size).toBe(0);
        } else {
          const stateSize = BigInt(contents.length);
          expect(handle).toMatchObject({ type: 'FileStateHandle', stateSize });
          const { filePath } = handle as { filePath: string };
          expect([...memory.snapshot()]).toEqual([[filePath, contents]]);
        }
      }),
    );
  });

  it('is limited in memory at the end, and never before', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 1, max: 100 }), async (parts, maxStateSize) => {
        const stream = new MemoryCheckpointOutputStream(maxStateSize);
        for (const part of parts) await stream.write(part);
        const bytes = new Uint8Array(Buffer.concat(parts));
        const result = await stream.closeAndGetHandle().catch(() => 'refused');
        if (bytes.length > maxStateSize) expect(result).toBe('refused');
        else if (parts.length === 0) expect(result).toBeNull();
        else expect(result).toMatchObject({ bytes });
      }),
    );
  });
});

it('savepoint directories are new, whatever exists, fails, and happens at the same time', async () => {
  const outcomes = fc.array(fc.boolean(), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(15)),
      outcomes,
      fc.infiniteStream(fc.nat(15)),
      async (taken, failing, drawn) => {
        const left = [...failing];
        const { memory } = memoryStore({
          failures: (operation, path) =>
            operation === 'makeDirectory' && left.shift() === true ? new IoError(String(path), 'create') : undefined,
        });
        const base = Path.parse('memory:/sp');
        const name = (digit: number) => `savepoint-ac2b98-${`0${digit.toString(16)}`.repeat(6)}`;
        for (const digit of taken) memory.put(base.child(name(digit)).child('_metadata'), 'x');
        const random = (size: number) => new Uint8Array(size).fill(drawn.next().value ?? 0);
        const made = await Promise.allSettled(
          Array.from({ length: 6 }, () => createSavepointDirectory(memory, base, states.JOB, { random })),
        );
        const directories = made.flatMap((result) =>
          result.status === 'fulfilled' ? [result.value.directory.name] : [],
        );
        expect(new Set([...directories, ...taken.map(name)]).size).toBe(directories.length + taken.length);
        for (const result of made) {
          if (result.status === 'fulfilled') continue;
          expect(result.reason).toBeInstanceOf(SavepointDirectoryError);
          expect(result.reason.cause).toBeInstanceOf(Error);
          expect(result.reason.suppressed).toHaveLength(9);
        }
      },
    ),
  );
});

describe('discarding', () => {
  const FILES = ['chk-1/a', 'chk-1/b', 'chk-1/c', 'shared/s', 'shared/t', 'taskowned/o', 'dstl/d'];
  const anyFile = fc.constantFrom(...FILES);
  const handle = (name: string): StreamStateHandle =>
    name.startsWith('chk-1/') ? states.relative(name.slice(6)) : states.file(`memory:/job/${name}`);

  /** Part of a subtask, with the files that it owns. */
  const part: fc.Arbitrary<{ state: Partial<OperatorSubtaskState>; owns: readonly string[] }> = fc.oneof(
    anyFile.map((name) => ({ state: { managedOperatorState: states.operatorState(handle(name)) }, owns: [name] })),
    anyFile.map((name) => ({ state: { rawKeyedState: states.keyGroups(handle(name)) }, owns: [name] })),
    anyFile.map((name) => ({
      state: { managedKeyedState: states.changelog(`memory:/job/${name}`, 'memory:/job/dstl/d') },
      owns: [],
    })),
    anyFile.map((name) => ({
      state: { inputChannelState: [states.channel(states.segment(`memory:/job/${name}`))] },
      owns: [],
    })),
    anyFile.map((name) => ({
      state: { resultSubpartitionState: [states.mergedChannels(handle(name))] },
      owns: [name],
    })),
    fc
      .tuple(anyFile, fc.array(anyFile, { maxLength: 3 }), fc.array(anyFile, { maxLength: 3 }))
      .map(([meta, shared, own]) => ({
        state: { managedKeyedState: states.incremental(handle(meta), shared.map(handle), own.map(handle)) },
        owns: [meta, ...shared, ...own],
      })),
  );

  it('deletes all that it owns and nothing else, as often as it takes', async () => {
    const rounds = fc.array(fc.subarray([...FILES, 'chk-1/_metadata', 'chk-1']), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), rounds, fc.boolean(), async (parts, failures, inParallel) => {
        let failing: readonly string[] = [];
        const { memory, fileSystems } = memoryStore({
          failures: (operation, path) =>
            operation.startsWith('delete') && failing.includes(path.path.slice('/job/'.length))
              ? new IoError(String(path), 'delete')
              : undefined,
        });
        const job = Path.parse('memory:/job');
        for (const name of [...FILES, 'chk-1/_metadata']) memory.put(job.child(name), 'x');
        const directory = job.child('chk-1');
        const owned = new Set(['chk-1/_metadata', ...parts.flatMap(({ owns }) => owns)]);
        // What nobody owns in the directory of the checkpoint would keep it for good.
        for (const name of FILES)
          if (name.startsWith('chk-1/') && !owned.has(name)) await memory.deleteFile(job.child(name));
        const kept = FILES.filter((name) => !name.startsWith('chk-1/') && !owned.has(name)).sort();
        const operatorStates: OperatorState[] = [
          states.operator(
            states.OPERATOR,
            parts.map(({ state }, index) => states.subtask(index, state)),
          ),
        ];
        const metadata = states.file(String(directory.child('_metadata')));
        const discard = () => {
          const checkpoint = new CompletedCheckpoint({
            jobId: states.JOB,
            checkpointId: 1n,
            timestamp: 0,
            completionTimestamp: 0,
            operatorStates,
            properties: forCheckpoint('NEVER_RETAIN_AFTER_TERMINATION'),
            storageLocation: new FsCompletedCheckpointStorageLocation(memory, directory, metadata, String(directory)),
            fileSystems,
          });
          return inParallel ? checkpoint.markAsDiscarded().discardAsync({ concurrency: 3 }) : checkpoint.discard();
        };
        const left = async () => (await treeOf(memory, job)).filter((name) => !name.endsWith('/'));
        let stuck = new Set(owned);
        for (failing of failures) {
          const error = await discard().then(
            () => undefined,
            (thrown: Error) => thrown,
          );
          stuck = new Set([...stuck].filter((name) => failing.includes(name)));
          expect(await left()).toEqual([...stuck, ...kept].sort());
          // Whatever is left in the directory, or keeps it, is reported.
          const isKept = failing.includes('chk-1') || [...stuck].some((name) => name.startsWith('chk-1/'));
          if (isKept) expect(error).toBeInstanceOf(Error);
          else if (!inParallel) expect(error).toBeUndefined();
          if (error !== undefined)
            expect(new Set([error, ...suppressedOf(error)]).size).toBe(1 + suppressedOf(error).length);
        }
        failing = [];
        await discard();
        expect(await left()).toEqual(kept);
        expect(await treeOf(memory, job)).not.toContain('chk-1/');
      }),
    );
  });
});

it('answers to a pending checkpoint count once each, in any order', () => {
  const ids = ['a', 'b', 'c', 'd'];
  const awaited = fc.subarray(ids);
  const answer = fc.tuple(fc.constantFrom('task', 'coordinator', 'master'), fc.constantFrom(...ids));
  fc.assert(
    fc.property(
      awaited,
      awaited,
      awaited,
      fc.array(answer, { maxLength: 20 }),
      (tasks, coordinators, masters, answers) => {
        const tasksToWaitFor = tasks.map((executionAttemptId, subtaskIndex) => ({
          executionAttemptId,
          subtaskIndex,
          parallelism: 4,
          maxParallelism: 4,
          operators: [],
        }));
        const state = new PendingState({ tasksToWaitFor }, coordinators, masters);
        const expected = { task: new Set(tasks), coordinator: new Set(coordinators), master: new Set(masters) };
        const seen = new Set<string>();
        for (const [kind, id] of answers) {
          const info = { operatorId: id, currentParallelism: 1, maxParallelism: 1 };
          const result = {
            task: () => state.acknowledgeTask(id, null),
            coordinator: () => state.acknowledgeCoordinatorState(info, states.inline('c')),
            master: () => state.acknowledgeMasterState(id, { name: id, version: 1, bytes: new Uint8Array(0) }),
          }[kind as keyof typeof expected]();
          const isNew = expected[kind as keyof typeof expected].delete(id);
          expect(result).toBe(isNew ? 'SUCCESS' : seen.has(kind + id) ? 'DUPLICATE' : 'UNKNOWN');
          if (isNew) seen.add(kind + id);
        }
        expect(state.isComplete).toBe(expected.task.size + expected.coordinator.size + expected.master.size === 0);
        expect([state.awaitedTasks, state.awaitedCoordinators]).toEqual([
          expected.task.size,
          expected.coordinator.size,
        ]);
      },
    ),
  );
});
