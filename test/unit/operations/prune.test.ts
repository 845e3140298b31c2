import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import type { ListEntry, ListStatus } from '../../../src/operations/list/entry.js';
import { pruneArea, type Retention, selectForPrune } from '../../../src/operations/prune.js';

const JOB = 'aaaaaaaa000000000000000000000001';
const NOW = Date.parse('2026-11-30T00:00:00Z');
const DAY = 86_400_000;

function entry(
  directory: string,
  checkpointId: number | string,
  daysAgo = 0,
  status: ListStatus = 'complete',
): ListEntry {
  return {
    pointer: directory,
    jobId: directory.includes(JOB) ? JOB : null,
    jobIdPrefix: /savepoint-(\w{6})-/.exec(directory)?.[1] ?? null,
    kind: 'unknown',
    checkpointId,
    status,
    time: new Date(NOW - daysAgo * DAY).toISOString(),
    version: 6,
    metadataBytes: 1,
    totalBytes: 1,
    exclusiveBytes: 1,
    operatorNames: [],
    leftFiles: null,
    leftBytes: null,
    error: null,
  };
}

const checkpoint = (id: number, daysAgo = 0, status?: ListStatus): ListEntry =>
  entry(`file:/cp/${JOB}/chk-${id}`, id, daysAgo, status);

const retention = (more: Partial<Retention>): Retention => ({ of: 'checkpoints', now: NOW, ...more });

const names = (pointers: readonly string[]): string[] => pointers.map((pointer) => pointer.split('/').at(-1) ?? '');

function chosen(entries: readonly ListEntry[], more: Partial<Retention>): string[] {
  return names(selectForPrune(entries, retention(more)).flatMap(({ discard }) => discard));
}

describe('what prune chooses', () => {
  const five = [9, 2, 10, 276, 100].map((id) => checkpoint(id));

  it('takes all but the newest N by number, the oldest first', () => {
    expect(chosen(five, { keep: 2 })).toEqual(['chk-2', 'chk-9', 'chk-10']);
    expect(chosen(five, { keep: 5 })).toEqual([]);
    expect(chosen(five, { keep: 50 })).toEqual([]);
    const huge = [entry('file:/cp/chk-9007199254740993', '9007199254740993'), entry('file:/cp/chk-9', 9)];
    expect(chosen(huge, { keep: 1 })).toEqual(['chk-9']);
  });

  it('takes what is older; what either keeps stays', () => {
    const aged = [checkpoint(1, 9), checkpoint(2, 8), checkpoint(3, 6), checkpoint(4, 1)];
    expect(chosen(aged, { olderThan: 7 * DAY })).toEqual(['chk-1', 'chk-2']);
    expect(chosen(aged, { olderThan: 7 * DAY, keep: 3 })).toEqual(['chk-1']);
    expect(chosen(aged, { olderThan: 9 * DAY, keep: 1 })).toEqual([]);
    const [group] = selectForPrune(aged, retention({ olderThan: 7 * DAY, keep: 2 }));
    expect(group?.retained.map(({ reason }) => reason)).toEqual(['keep', 'newest']);
  });

  it('never takes the newest complete one unless that is asked for, however old it is', () => {
    expect(chosen([checkpoint(1, 100), checkpoint(2, 99)], { olderThan: DAY })).toEqual(['chk-1']);
    expect(chosen([checkpoint(1, 100)], { keep: 0 })).toEqual([]);
    expect(chosen([checkpoint(1, 100), checkpoint(2)], { keep: 0, newest: 'may-go' })).toEqual(['chk-1', 'chk-2']);
    const unfinished = [
      checkpoint(1, 9),
      checkpoint(2, 8),
      checkpoint(3, 0, 'in-progress'),
      checkpoint(4, 0, 'broken'),
    ];
    expect(chosen(unfinished, { keep: 1 })).toEqual(['chk-1']);
  });

  it('leaves alone what is not complete, but finishes what was begun', () => {
    const statuses: ListStatus[] = ['broken', 'incomplete', 'in-progress', 'half-discarded'];
    const entries = [...statuses.map((status, i) => checkpoint(i, 100, status)), checkpoint(8), checkpoint(9)];
    const [group] = selectForPrune(entries, retention({ keep: 1 }));
    expect(names(group?.discard ?? [])).toEqual(['chk-8']);
    expect(names(group?.unfinished ?? [])).toEqual(['chk-3']);
  });

  it('takes a time that it does not know, or that is to come, for young', () => {
    const entries = [{ ...checkpoint(1), time: null }, checkpoint(2, -5), checkpoint(3)];
    expect(chosen(entries, { olderThan: 0 })).toEqual([]);
  });

  it('keeps jobs, directories and kinds apart', () => {
    const other = 'file:/cp/bbbbbbbb000000000000000000000002';
    const entries = [
      checkpoint(1),
      checkpoint(2),
      entry(`${other}/chk-1`, 1),
      entry('file:/cp/chk-5', 5),
      entry('file:/cp/chk-6', 6),
      entry('file:/backup/chk-1', 1),
      entry('file:/cp/savepoint-aaaaaa-000000000001', 7),
      entry('file:/cp/savepoint-aaaaaa-000000000002', 8),
      entry('file:/cp/savepoint-bbbbbb-000000000003', 9),
      entry('file:/old/savepoint-aaaaaa-000000000004', 1),
      entry('file:/cp/my own name', 1),
    ];
    expect(chosen(entries, { keep: 1 })).toEqual(['chk-1', 'chk-5']);
    expect(chosen(entries, { keep: 1, of: 'savepoints' })).toEqual(['savepoint-aaaaaa-000000000001']);
  });

  it('asked for nothing, takes nothing', () => {
    expect(chosen(five, {})).toEqual([]);
  });

  it('keeps what it must, for any tree and any retention', () => {
    const anyEntry = fc.record({
      job: fc.integer({ min: 0, max: 2 }),
      id: fc.integer({ min: 0, max: 40 }),
      daysAgo: fc.integer({ min: -1, max: 20 }),
      status: fc.constantFrom<ListStatus>(
        'complete',
        'complete',
        'complete',
        'broken',
        'in-progress',
        'half-discarded',
      ),
    });
    const anyRetention = fc.record({
      keep: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      olderThan: fc.option(fc.integer({ min: 0, max: 20 * DAY }), { nil: undefined }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(anyEntry, { selector: ({ job, id }) => `${job} ${id}`, maxLength: 40 }),
        anyRetention,
        (parts, { keep, olderThan }) => {
          const entries = parts.map(({ job, id, daysAgo, status }) =>
            entry(`file:/cp/${job}/chk-${id}`, id, daysAgo, status),
          );
          const groups = selectForPrune(entries, retention({ keep, olderThan }));
          const byPointer = new Map(entries.map((item) => [item.pointer, item]));
          for (const { discard, retained, directory } of groups) {
            const complete = entries
              .filter(({ pointer, status }) => status === 'complete' && pointer.startsWith(`${directory}/`))
              .sort((a, b) => Number(b.checkpointId) - Number(a.checkpointId));
            expect([...discard, ...retained.map(({ pointer }) => pointer)].sort()).toEqual(
              complete.map(({ pointer }) => pointer).sort(),
            );
            for (const pointer of discard) {
              const item = byPointer.get(pointer);
              const rank = complete.findIndex((other) => other.pointer === pointer);
              expect(rank).toBeGreaterThanOrEqual(Math.max(1, keep ?? 1));
              if (olderThan !== undefined) expect(Date.parse(item?.time ?? '')).toBeLessThan(NOW - olderThan);
              expect(keep !== undefined || olderThan !== undefined).toBe(true);
            }
          }
        },
      ),
    );
  });
});

describe('where prune may delete', () => {
  const fileSystems = createFileSystems({ configuration: new Map() });
  const area = (root: string, ...pointers: string[]): string[] =>
    pruneArea(fileSystems, Path.parse(root), pointers).map(String);

  it('is the root, and the directory above the job if the root is that of a job', () => {
    expect(area('file:/cp', `file:/cp/${JOB}/chk-1`, 'file:/cp/sp/savepoint-aaaaaa-000000000001')).toEqual([
      'file:/cp',
    ]);
    expect(area(`file:/cp/${JOB}`, `file:/cp/${JOB}/chk-1`)).toEqual(['file:/cp']);
    expect(area('file:/cp')).toEqual(['file:/cp']);
    expect(area('s3://b/cp', 's3://b/cp/chk-1')).toEqual(['s3://b/cp']);
  });
});
