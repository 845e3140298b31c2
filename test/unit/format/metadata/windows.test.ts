import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LOW_WATER } from '../../../../src/format/metadata/handle-decoder.js';
import {
  MIN_CHUNK_BYTES,
  type VisitOptions,
  visitMetadata,
  visitMetadataBytes,
} from '../../../../src/format/metadata/read.js';
import { MetadataVisitor } from '../../../../src/format/metadata/visitor.js';
import { hex, join } from '../../../support/byte-builder.js';
import { fixtureCases, pointersOf } from '../../../support/corpus.js';
import {
  changelogBytes,
  changelogFilesV2,
  changelogV2,
  channel,
  channelBlob,
  file,
  finishedSubtask,
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
  relative,
  segment,
  state,
  subtask,
} from '../../../support/metadata-builder.js';
import { assembleText, dumpText, expectSameBytes, slowSourceOf, sourceOf } from '../../../support/metadata-cycle.js';
import { RecordingVisitor } from '../../../support/recording-visitor.js';

function eventsAtOnce(bytes: Uint8Array): readonly string[] {
  const visitor = new RecordingVisitor();
  visitMetadataBytes(bytes, 'here', visitor);
  return visitor.events;
}

async function eventsInWindows(bytes: Uint8Array, options: VisitOptions = {}): Promise<readonly string[]> {
  const visitor = new RecordingVisitor();
  await visitMetadata(slowSourceOf(bytes), 'here', visitor, options);
  return visitor.events;
}

/** Text of the greatest length, another for each number. */
const longText = (n: number): Uint8Array => Buffer.alloc(0xffff, `${n}-abcdefghijklmnop`, 'latin1');
const blob = (bytes: number): Uint8Array => Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i * 31) >> 3));
const numbers = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i) ** 3n);

/** A file of several windows with everything in it that can straddle their edges; `shift` moves it against the edges. */
function large(version: number, shift: number): Uint8Array {
  const long = segment(longText(1), 1, 2, 0, longText(2));
  const plain = channel(0, [1, 2], numbers(30_000), 9, relative('c', 1));
  const tagged = (type: string, handle: Uint8Array): Uint8Array => (version >= 6 ? join(hex(type), handle) : handle);
  const merged = mergedChannel(3, 1, 9, inline('m', blob(70_000)), channelBlob([[0, 0, 9, numbers(20_000)]]));
  const keyed = changelogV2({
    id: longText(3),
    materialized: [
      nothing,
      keyGroupsV2(0, numbers(40_000), keyGroups(0, numbers(20_000), inline(longText(4), blob(10))), longText(5)),
      incrementalV2({
        backend: longText(6),
        meta: inline('meta', blob(100_000)),
        shared: Array.from({ length: 3000 }, (_, i) => localFile(`${i}.sst`, file(`s3://bucket/shared/${i}`, i))),
        private: [localFile(longText(7), long), localFile(longText(8), inline(longText(9), blob(500_000)))],
        id: longText(1),
      }),
    ],
    nonMaterialized: [
      changelogBytes({
        changes: Array.from({ length: 2000 }, (_, i) => [i, blob(i)] as const),
        id: longText(2),
      }),
      changelogFilesV2({
        files: Array.from({ length: 500 }, (_, i) => [i, i % 3 === 0 ? nothing : relative(`${i}`, i)] as const),
        id: longText(3),
        storage: longText(4),
      }),
    ],
  });
  const states = Array.from({ length: 100 }, (_, i) => state(`state-${i}`, i % 3, numbers(i * 20)));
  const directories = { taskOwned: longText(5), shared: longText(6) };
  const coordinator = version >= 3 ? { coordinator: inline(longText(7), blob(450_000)) } : {};
  return metadataFile(version, {
    masterStates: [masterState('shift', 1, blob(shift)), masterState(longText(8), 1, blob(900_000))],
    operators: [
      operator(version, {
        ...(version >= 5 ? { name: longText(9), uid: longText(1) } : {}),
        ...coordinator,
        parallelism: 8,
        subtasks: [
          subtask(version, {
            managedOperator: present(operatorHandle(states, long)),
            rawOperator: present(mergedOperatorHandle(states, directories, 0, long)),
            managedKeyed: keyed,
            rawKeyed: keyGroupsV2(0, numbers(5), long, longText(2)),
            ...(version >= 3
              ? {
                  inputs: version >= 6 ? [merged, tagged('01', plain), merged] : [plain, plain],
                  outputs: [tagged('02', plain)],
                }
              : {}),
          }),
          ...(version >= 3 ? [finishedSubtask(1)] : []),
          subtask(version, { index: 2, managedKeyed: keyed }),
        ],
      }),
      operator(version),
    ],
    trailing: blob(600_000),
  });
}

describe('reading in windows reports what reading at once reports', () => {
  const pointers = pointersOf(fixtureCases());
  it.each(pointers)('$label', async ({ metadataFile: path }) => {
    const bytes = new Uint8Array(readFileSync(path));
    const events = eventsAtOnce(bytes);
    expect(await eventsInWindows(bytes)).toEqual(events);
    expect(events.length).toBeGreaterThan(10);
  });

  it('has no smaller window than the largest record', () => {
    expect(MIN_CHUNK_BYTES).toBe(LOW_WATER);
    // Five strings and the numbers between them.
    expect(LOW_WATER).toBeGreaterThan(5 * (0xffff + 2) + 64);
  });

  it.each([2, 3, 6])('for a file of many windows in version %i', async (version) => {
    for (const shift of [0, 1, 3, 7, 1000]) {
      const bytes = large(version, shift);
      const events = eventsAtOnce(bytes);
      expect(bytes.length).toBeGreaterThan(6 * MIN_CHUNK_BYTES);
      for (const chunkBytes of [MIN_CHUNK_BYTES, MIN_CHUNK_BYTES + 12_345]) {
        const found = await eventsInWindows(bytes, { chunkBytes });
        expect(found.length).toBe(events.length);
        const differing = events.findIndex((event, i) => event !== found[i]);
        if (differing >= 0) expect(found[differing]).toBe(events[differing]);
      }
    }
  });

  it('takes a window that is too small for one of the least size', async () => {
    const bytes = large(6, 0);
    expect(await eventsInWindows(bytes, { chunkBytes: 1 })).toEqual(eventsAtOnce(bytes));
  });
});

describe('the document of a file of many windows', () => {
  it.each([2, 3, 6])('assembles to the file again in version %i', async (version) => {
    const bytes = large(version, 3);
    for (const pretty of [false, true]) expectSameBytes(await assembleText(await dumpText(bytes, { pretty })), bytes);
  });
});

describe('a pass', () => {
  it('never asks for bytes twice, nor for bytes that are not there', async () => {
    const bytes = large(6, 0);
    let next = 0;
    const source = sourceOf(bytes);
    await visitMetadata(
      {
        size: source.size,
        async readInto(target, offset, start, end, signal) {
          expect(start).toBe(next);
          expect(end).toBeLessThanOrEqual(bytes.length);
          expect(target.length).toBeGreaterThanOrEqual(offset + end - start);
          next = end;
          await source.readInto(target, offset, start, end, signal);
        },
      },
      'here',
      new MetadataVisitor(),
    );
    expect(next).toBe(bytes.length);
  });

  it('pauses after every window and at the end', async () => {
    const bytes = large(6, 0);
    let pauses = 0;
    await visitMetadata(sourceOf(bytes), 'here', new MetadataVisitor(), {
      chunkBytes: MIN_CHUNK_BYTES,
      onPause: () => {
        pauses++;
      },
    });
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(bytes.length / MIN_CHUNK_BYTES));
    let once = 0;
    await visitMetadata(sourceOf(metadataFile(6)), 'here', new MetadataVisitor(), {
      onPause: () => {
        once++;
      },
    });
    expect(once).toBe(1);
  });

  it('stops between two windows when it is told to', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const pass = visitMetadata(sourceOf(large(6, 0)), 'here', new MetadataVisitor(), {
      signal: controller.signal,
      onPause: () => controller.abort(reason),
    });
    await expect(pass).rejects.toBe(reason);
  });

  it('passes on what the source fails with', async () => {
    const failure = new Error('connection lost');
    const bytes = large(3, 0);
    for (const failAt of [0, 2 * 1024 * 1024, bytes.length - 1]) {
      const source = sourceOf(bytes);
      const pass = visitMetadata(
        {
          size: source.size,
          async readInto(target, offset, start, end) {
            if (failAt >= start && failAt < end) throw failure;
            await source.readInto(target, offset, start, end);
          },
        },
        'here',
        new MetadataVisitor(),
      );
      await expect(pass).rejects.toBe(failure);
    }
  });

  it('passes on what the visitor throws', async () => {
    const failure = new Error('not this one');
    class Refusing extends MetadataVisitor {
      override endOperator(): void {
        throw failure;
      }
    }
    const bytes = metadataFile(3, { operators: [operator(3)] });
    await expect(visitMetadata(sourceOf(bytes), 'here', new Refusing())).rejects.toBe(failure);
    expect(() => visitMetadataBytes(bytes, 'here', new Refusing())).toThrow(failure);
  });
});
