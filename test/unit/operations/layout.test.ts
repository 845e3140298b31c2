import { describe, expect, it } from 'vitest';
import { Path } from '../../../src/filesystem/path.js';
import {
  checkpointNumber,
  isJobId,
  isWithin,
  jobIdOf,
  misnamedReason,
  roleOf,
  savepointJobIdPrefix,
} from '../../../src/operations/layout.js';

const JOB = '0123456789abcdef0123456789abcdef';
const own = Path.parse(`s3://b/root/${JOB}/chk-7`);

describe('names', () => {
  it.each([
    ['chk-0', 0n],
    ['chk-7', 7n],
    ['chk-9223372036854775807', 9223372036854775807n],
    ['chk-07', undefined],
    ['chk--1', undefined],
    ['chk-', undefined],
    ['chk-7x', undefined],
    ['Chk-7', undefined],
    ['xchk-7', undefined],
  ])('checkpointNumber(%j) is %s', (name, number) => {
    expect(checkpointNumber(name)).toBe(number);
  });

  it.each([
    ['savepoint-012345-0123456789ab', '012345'],
    ['savepoint-012345-0123456789a', undefined],
    ['savepoint-01234G-0123456789ab', undefined],
    ['savepoint-012345', undefined],
    ['my-savepoint-012345-0123456789ab', undefined],
  ])('savepointJobIdPrefix(%j) is %s', (name, prefix) => {
    expect(savepointJobIdPrefix(name)).toBe(prefix);
  });

  it('tell a job id by 32 lower-case digits', () => {
    expect([JOB, JOB.toUpperCase(), JOB.slice(1), `${JOB}0`, ''].map(isJobId)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('tell the job of a checkpoint by its parent', () => {
    expect(jobIdOf(own)).toBe(JOB);
    for (const path of [
      `file:/${JOB}/other`,
      'file:/root/chk-7',
      `file:/${JOB}/savepoint-012345-0123456789ab`,
      'file:/',
    ]) {
      expect(jobIdOf(Path.parse(path))).toBeNull();
    }
  });
});

describe('roleOf', () => {
  const job = `s3://b/root/${JOB}`;
  it.each([
    [`${job}/chk-7`, 'exclusive'],
    [`${job}/chk-7/below`, 'exclusive'],
    [`${job}/chk-70`, 'foreign'],
    [`${job}/chk-6`, 'foreign'],
    [`${job}/shared`, 'shared'],
    [`${job}/shared/op_x`, 'shared'],
    [`${job}/shared2`, 'foreign'],
    [`${job}/taskowned`, 'taskowned'],
    [`${job}/taskowned/job_x`, 'taskowned'],
    [job, 'foreign'],
    [`s3a://b/root/${JOB}/shared`, 'foreign'],
    ['s3://b/root/ffffffffffffffffffffffffffffffff/shared', 'foreign'],
    ['::', 'foreign'],
    ['', 'foreign'],
  ])('of %j is %s', (directory, role) => {
    expect(roleOf(directory, own, false)).toBe(role);
    expect(roleOf(directory, own, true)).toBe(role === 'exclusive' ? 'exclusive' : 'changelog');
  });

  it('of everything but itself is foreign for a root', () => {
    const root = Path.parse('file:/');
    for (const directory of ['file:/', 'file:', 'file:/shared'])
      expect(roleOf(directory, root, false)).toBe('exclusive');
    expect(roleOf('hdfs:/shared', root, false)).toBe('foreign');
  });
});

it('isWithin looks at whole names', () => {
  expect(isWithin(`${own}`, own)).toBe(true);
  expect(isWithin(`${own}/a/b`, own)).toBe(true);
  expect(isWithin(`${own}0`, own)).toBe(false);
  expect(isWithin(`${own}/../x`, own)).toBe(false);
  expect(isWithin('::', own)).toBe(false);
});

it.each([
  [{ type: 'directory', isLink: false }, 'is a directory'],
  [{ type: 'directory', isLink: true }, 'is a directory'],
  [{ type: 'other', isLink: true }, 'leads nowhere'],
  [{ type: 'other', isLink: false }, 'no regular file'],
] as const)('misnamedReason of %o says it %s', (entry, reason) => {
  expect(misnamedReason(entry)).toContain(reason);
});
