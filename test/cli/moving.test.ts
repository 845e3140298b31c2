import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyOfCase } from '../support/case-copy.js';
import { fixtureCase } from '../support/corpus.js';
import {
  checkpointAt,
  file,
  incremental,
  inline,
  metadata,
  operator,
  operatorState,
  subtask,
} from '../support/made-metadata.js';
import { runCkpt } from '../support/run-ckpt.js';
import { tempDirectory } from '../support/temp.js';

const JOB = 'aaaaaaaa000000000000000000000001';

/** The newest pointer of a case, a copy of the case, and a place for results. */
async function moving(name: string) {
  const copied = await copyOfCase(name);
  const pointer = fixtureCase(name).pointers.at(-1)?.externalPointer ?? '';
  return { ...copied, pointer, out: await tempDirectory() };
}

async function dumpOf(pointer: string): Promise<Record<string, unknown>> {
  const { stdout, exitCode } = await runCkpt(['dump', pointer]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

describe('ckpt copy', () => {
  it('makes a copy that is whole wherever it is moved', async () => {
    const { pointer, map, out } = await moving('flink-2.3.0/rocksdb-incremental');
    const dry = await runCkpt(['copy', ...map, pointer, join(out, 'a'), '--dry-run', '--json']);
    expect(await readdir(out)).toEqual([]);
    const { copy } = JSON.parse(dry.stdout);
    const { stdout, exitCode } = await runCkpt([
      'copy',
      ...map,
      pointer,
      join(out, 'a'),
      '--verify',
      '--fsync',
      '--json',
    ]);
    expect(exitCode).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({
      source: pointer,
      target: `file:${out}/a`,
      verified: true,
      files: copy.length + 1,
    });
    expect((await readdir(join(out, 'a'))).length).toBe(copy.length + 1);
    await rename(join(out, 'a'), join(out, 'b'));
    expect((await runCkpt(['verify', '--deep', join(out, 'b')])).exitCode).toBe(0);
    const inspected = JSON.parse((await runCkpt(['inspect', join(out, 'b'), '--json'])).stdout);
    expect(inspected.relocatable).toBe('relative');
    const again = await runCkpt(['copy', ...map, pointer, join(out, 'b')]);
    expect(again).toMatchObject({ exitCode: 5, stdout: '' });
    expect(again.stderr).toContain('is not empty');
    expect((await runCkpt(['copy', ...map, pointer, join(out, 'b'), '--dry-run'])).exitCode).toBe(5);
  });

  it('ends with 1 where a file is gone, and says which', async () => {
    const root = await tempDirectory();
    const operatorStates = [
      operator({ subtasks: [subtask({ managedKeyedState: incremental([file(`file:${root}/gone`)]) })] }),
    ];
    const source = await checkpointAt(join(root, 'chk-1'), metadata({ operatorStates }));
    const { exitCode, stderr } = await runCkpt(['copy', source, join(root, 'copy')]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${root}/gone`);
    expect(await readdir(join(root, 'copy'))).toEqual(['.ckpt-copying']);
  });
});

describe('ckpt savepoint --from', () => {
  it('makes a savepoint that says that it is one', async () => {
    const { pointer, map, out, job } = await moving('flink-2.3.0/rocksdb-incremental');
    const args = ['savepoint', ...map, '--from', pointer, '--target-directory', out, '--verify'];
    const given = pointer.includes('savepoint') ? [...args, '--job-id', job] : args;
    const { stdout, exitCode } = await runCkpt([...given, '--json']);
    expect(exitCode).toBe(0);
    const { savepointDirectory, verified } = JSON.parse(stdout);
    expect(verified).toBe(true);
    expect(savepointDirectory).toMatch(new RegExp(`^file:${out}/savepoint-${job.slice(0, 6)}-[0-9a-f]{12}$`));
    const inspected = JSON.parse((await runCkpt(['inspect', savepointDirectory, '--json'])).stdout);
    expect(inspected).toMatchObject({ kind: 'savepoint', formatType: 'NATIVE' });
  });

  it('needs a job id from somewhere', async () => {
    const root = await tempDirectory();
    const source = await checkpointAt(join(root, 'x'));
    const args = ['savepoint', '--from', source, '--target-directory', join(root, 'sp')];
    expect(await runCkpt(args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--job-id') });
    expect((await runCkpt([...args, '--job-id', JOB])).exitCode).toBe(0);
    const [made = ''] = await readdir(join(root, 'sp'));
    // The job id of a savepoint is the beginning in its name.
    const again = await runCkpt([
      'savepoint',
      '--from',
      join(root, 'sp', made),
      '--target-directory',
      join(root, 'sp2'),
    ]);
    expect(again.exitCode).toBe(0);
    expect((await readdir(join(root, 'sp2')))[0]).toMatch(/^savepoint-aaaaaa-/);
  });
});

describe('ckpt rebase', () => {
  it('makes a moved checkpoint whole again, in place', async () => {
    const { root, original, pointer } = await moving('flink-2.3.0/rocksdb-incremental');
    const there = join(root, pointer.slice(pointer.indexOf(original) + original.length));
    const { stdout, exitCode } = await runCkpt([
      'rebase',
      there,
      `${original}=${root}`,
      '--in-place',
      '--verify',
      '--json',
    ]);
    expect(exitCode).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ verified: true, prefixes: [{ old: original, new: `file:${root}` }] });
    expect(document.prefixes[0].handles).toBe(document.rewrittenHandles);
    expect(document.rewrittenHandles).toBeGreaterThan(0);
    expect((await readdir(there)).filter((name) => name.startsWith('_metadata'))).toEqual(['_metadata']);
  });

  it('writes nothing where no prefix fits (1), nor over a file (5), nor without a place to write (2)', async () => {
    const root = await tempDirectory();
    const operatorStates = [operator({ subtasks: [subtask({ managedKeyedState: incremental([file('s3://a/x')]) })] })];
    const source = await checkpointAt(join(root, 'chk-1'), metadata({ operatorStates }));
    const before = await readFile(join(source, '_metadata'));
    const none = await runCkpt(['rebase', source, 's3://b=s3://c', '--out', join(source, 'm')]);
    expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no path begins with s3://b') });
    expect((await runCkpt(['rebase', source, 's3://b=s3://c', '--in-place'])).exitCode).toBe(1);
    expect((await runCkpt(['rebase', source, 's3://a=s3://c', '--out', join(source, '_metadata')])).exitCode).toBe(5);
    expect((await runCkpt(['rebase', source, 's3://a=s3://c'])).exitCode).toBe(2);
    const long = await runCkpt(['rebase', source, `s3://a=s3://${'n'.repeat(66_000)}`, '--in-place']);
    expect(long.exitCode).toBe(5);
    expect(await readdir(source)).toEqual(['_metadata']);
    expect(await readFile(join(source, '_metadata'))).toEqual(before);
  });

  it('says that there is nothing to change where all is relative or inline', async () => {
    const root = await tempDirectory();
    const operatorStates = [operator({ subtasks: [subtask({ managedOperatorState: operatorState(inline(), 'l') })] })];
    const source = await checkpointAt(root, metadata({ operatorStates }));
    const { exitCode, stdout, stderr } = await runCkpt(['rebase', source, 's3://a=s3://c', '--in-place']);
    expect(exitCode).toBe(0);
    expect(stdout + stderr).toContain('there is no absolute path in it');
  });

  it('names the backup that a run left which was killed when all was done', async () => {
    const directory = await tempDirectory();
    const managedKeyedState = incremental([file('s3://b/new', 40)]);
    const source = await checkpointAt(
      join(directory, 'chk-1'),
      metadata({ operatorStates: [operator({ subtasks: [subtask({ managedKeyedState })] })] }),
    );
    await writeFile(join(source, '_metadata.before-rebase'), 'old');
    const again = await runCkpt(['rebase', source, 's3://a=s3://b', '--in-place']);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain('_metadata.before-rebase is left of an earlier run');
    expect(await readdir(source)).toEqual(['_metadata', '_metadata.before-rebase']);
  });
});

describe('ckpt edit', () => {
  it('renames and drops in one call; the documents differ in nothing else', async () => {
    const { pointer, root, original, map, out: out0 } = await moving('flink-2.3.0/operator-state');
    const there = join(root, pointer.slice(pointer.indexOf(original) + original.length));
    const before = (await dumpOf(there)) as { operatorStates: { operatorId: string }[] };
    const [first, second] = before.operatorStates;
    const out = join(there, '_metadata.edited');
    const args = ['--set-operator-id', `${first?.operatorId}=${'ab'.repeat(16)}`, '--drop', second?.operatorId ?? ''];
    const { exitCode, stdout } = await runCkpt(['edit', there, ...args, '--out', out, '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).operators).toHaveLength(2);
    const after = await dumpOf(out);
    const operatorStates = before.operatorStates
      .filter((one) => one !== second)
      .map((one) => (one === first ? { ...one, operatorId: 'ab'.repeat(16) } : one));
    // The sums are of what is left.
    const { stateSize, checkpointedSize } = after;
    expect(after).toEqual({ ...before, operatorStates, stateSize, checkpointedSize });
    const unknown = await runCkpt(['edit', there, '--drop', 'no-such-operator', '--out', `${out}2`]);
    expect(unknown.exitCode).toBe(5);
    const full = await runCkpt(['edit', ...map, pointer, ...args, '--copy', join(out0, 'full'), '--verify', '--json']);
    expect(full.exitCode).toBe(0);
    expect(JSON.parse(full.stdout)).toMatchObject({ verified: true, target: `file:${out0}/full` });
  });
});
