import { describe, expect, it } from 'vitest';
import { groupByJob, type JobHints, matchesJob } from '../../../src/operations/job-groups.js';

const A = 'aaaaaaaa000000000000000000000001';
const A2 = 'aaaaaaaa000000000000000000000002';
const B = 'bbbbbbbb000000000000000000000001';

const of = (jobId: string | null, jobIdPrefix: string | null = null, parent = '/cp'): JobHints => ({
  jobId,
  jobIdPrefix,
  parent,
});

function groups(items: readonly JobHints[], jobIds: readonly string[] = []): [string | null, number][] {
  return groupByJob(items, (item) => item, jobIds).map(({ job, items: members }) => [job, members.length]);
}

describe('groupByJob', () => {
  it('gives a savepoint to the one job that its prefix leaves', () => {
    expect(groups([of(A), of(null, 'aaaaaa'), of(B)])).toEqual([
      [A, 2],
      [B, 1],
    ]);
    expect(groups([of(null, 'aaaaaa')], [A])).toEqual([[A, 1]]);
  });

  it('gives it to none where several jobs begin so, or none does', () => {
    expect(groups([of(A), of(A2), of(null, 'aaaaaa'), of(null, 'cccccc')])).toEqual([
      [A, 1],
      [A2, 1],
      ['aaaaaa', 1],
      ['cccccc', 1],
    ]);
  });

  it('keeps directories apart where nothing tells the job', () => {
    expect(groups([of(null, null, '/a'), of(null, null, '/b'), of(null, null, '/a')])).toEqual([
      [null, 2],
      [null, 1],
    ]);
  });

  it('has a group for a known job without anything', () => {
    expect(groups([], [B])).toEqual([[B, 0]]);
  });
});

describe('matchesJob', () => {
  it('compares as far as both are known', () => {
    expect(matchesJob(A, 'aaaa')).toBe(true);
    expect(matchesJob('aaaaaa', A)).toBe(true);
    expect(matchesJob('aaaaaa', 'aa')).toBe(true);
    expect(matchesJob(A, 'ab')).toBe(false);
    expect(matchesJob(null, '')).toBe(false);
  });
});
