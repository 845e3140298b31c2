import { describe, expect, it } from 'vitest';
import { Path } from '../../../../src/filesystem/path.js';
import { isUnfinishedOfFlink, marksIn, namesOf, placeOf, readAlongWith } from '../../../../src/operations/gc/places.js';

const JOB = '0123456789abcdef0123456789abcdef';
const OTHER = 'fedcba9876543210fedcba9876543210';

function place(root: string, directory: string) {
  return placeOf(Path.parse(directory), namesOf(Path.parse(root).path).length);
}

describe('placeOf', () => {
  it.each([
    ['file:/cp', `file:/cp/${JOB}/shared`, 'shared', `file:/cp/${JOB}/shared`],
    ['file:/cp', `file:/cp/${JOB}/shared/a/b`, 'shared', `file:/cp/${JOB}/shared`],
    ['file:/cp', `file:/cp/${JOB}/shared/job_x_op_y_0_2`, 'managed', `file:/cp/${JOB}/shared/job_x_op_y_0_2`],
    [
      'file:/cp',
      `file:/cp/${JOB}/shared/op_A_1_2__attempt_0/db`,
      'working',
      `file:/cp/${JOB}/shared/op_A_1_2__attempt_0`,
    ],
    ['file:/cp', `file:/cp/${JOB}/taskowned`, 'taskowned', `file:/cp/${JOB}/taskowned`],
    ['file:/cp', `file:/cp/${JOB}/taskowned/job_x_tm_y`, 'managed', `file:/cp/${JOB}/taskowned/job_x_tm_y`],
    ['file:/cp', `file:/cp/dstl/${JOB}/dstl`, 'changelog', `file:/cp/dstl/${JOB}/dstl`],
    ['file:/cp', `file:/cp/${JOB}/chk-12`, 'checkpoint', `file:/cp/${JOB}/chk-12`],
    ['file:/cp', `file:/cp/${JOB}/chk-12/inner`, 'checkpoint', `file:/cp/${JOB}/chk-12`],
    ['s3://b/cp', `s3://b/cp/savepoint-012345-0123456789ab`, 'savepoint', 's3://b/cp/savepoint-012345-0123456789ab'],
    ['s3://b', `s3://b/x/${JOB}/shared`, 'shared', `s3://b/x/${JOB}/shared`],
    ['file:/cp', 'file:/cp/chk-1', 'checkpoint', 'file:/cp/chk-1'],
    ['file:/cp', 'file:/cp/shared', 'shared', 'file:/cp/shared'],
    ['file:/cp', `file:/cp/${JOB}`, 'job', `file:/cp/${JOB}`],
    ['file:/cp', 'file:/cp/output/2026-11-30--12', 'outside', 'file:/cp/output/2026-11-30--12'],
    ['file:/cp', 'file:/cp/chk-01', 'outside', 'file:/cp/chk-01'],
    ['file:/cp', 'file:/cp/dstl', 'outside', 'file:/cp/dstl'],
    ['file:/cp', 'file:/cp/savepoint-012345-0123456789a', 'outside', 'file:/cp/savepoint-012345-0123456789a'],
    // A job's directory counts wherever the root is.
    [`file:/cp/${JOB}/shared`, `file:/cp/${JOB}/shared`, 'shared', `file:/cp/${JOB}/shared`],
    [`file:/cp/${JOB}/chk-3`, `file:/cp/${JOB}/chk-3`, 'checkpoint', `file:/cp/${JOB}/chk-3`],
    // What is above the root, and named by no job, is not known.
    ['file:/mnt/shared/cp', 'file:/mnt/shared/cp/output', 'outside', 'file:/mnt/shared/cp/output'],
    ['file:/cp/shared', 'file:/cp/shared', 'outside', 'file:/cp/shared'],
    // A directory that happens to be called shared hides no job below it.
    ['file:/cp', `file:/cp/shared/${JOB}/shared`, 'shared', `file:/cp/shared/${JOB}/shared`],
  ])('below %s takes %s for %s', (root, directory, kind, unit) => {
    expect(place(root, directory)).toMatchObject({ kind, unit, isUnit: unit === directory });
  });

  it('names what is above a place, and marks it by the job', () => {
    expect(place('file:/cp', `file:/cp/${JOB}/shared/job_x_op_y_0_2`)).toMatchObject({
      base: `file:/cp/${JOB}`,
      jobId: JOB,
      mark: `${JOB}/shared`,
    });
    expect(place('file:/cp', 'file:/cp/chk-4')).toMatchObject({ base: 'file:/cp', jobId: null, mark: null });
  });
});

describe('marksIn', () => {
  it.each([
    [`/any/where/${JOB}/shared/job_a_op_b_0_1`, [`${JOB}/shared`], false],
    [`/any/${JOB}/chk-3`, [`${JOB}/chk-3`], false],
    [`/${OTHER}/${JOB}/dstl`, [`${JOB}/dstl`], false],
    ['/any/savepoint-012345-0123456789ab', ['savepoint-012345-0123456789ab'], false],
    ['/any/shared', [], true],
    ['/any/chk-2', [], true],
    [`/any/${JOB}`, [], false],
  ])('finds the marks in %s', (directory, marks, isBare) => {
    expect(marksIn(directory)).toEqual({ marks, isBare });
  });
});

describe('readAlongWith', () => {
  it.each([
    [`file:/cp/${JOB}`, 'file:/cp'],
    [`file:/cp/${JOB}/shared`, 'file:/cp'],
    [`file:/cp/${JOB}/chk-4`, 'file:/cp'],
    [`file:/cp/${JOB}/shared/job_x_op_y_0_2`, 'file:/cp'],
    [`file:/dstl/${JOB}/dstl`, 'file:/dstl'],
    ['file:/cp/shared', 'file:/cp'],
    ['file:/cp/chk-4', 'file:/cp'],
    ['file:/cp', undefined],
    [`file:/tenants/${JOB}/flink/cp`, undefined],
    ['file:/cp/savepoint-012345-0123456789ab', undefined],
  ])('with %s reads %s', (root, along) => {
    expect(readAlongWith(Path.parse(root))?.toString()).toBe(along);
  });
});

describe('isUnfinishedOfFlink', () => {
  const uuid = '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
  it.each([
    [`._metadata.inprogress.${uuid}`, true],
    [`.${uuid}.inprogress.${uuid}`, true],
    [`__metadata_tmp_${uuid}`, true],
    [`.part-0-0.inprogress.${uuid}`, false],
    ['._metadata.inprogress.x', false],
    ['_metadata', false],
    [uuid, false],
  ])('of %s is %s', (name, expected) => {
    expect(isUnfinishedOfFlink(name)).toBe(expected);
  });
});
