import { chmod, symlink } from 'node:fs/promises';
import { expect, it } from 'vitest';
import {
  AlreadyExistsError,
  IoError,
  PermissionError,
  SavepointDirectoryError,
  UnknownSchemeError,
  UsageError,
} from '../../../src/errors.js';
import { LocalFileSystem } from '../../../src/filesystem/local.js';
import { Path } from '../../../src/filesystem/path.js';
import { createSavepointDirectory } from '../../../src/storage/savepoint-directory.js';
import { asNobody, memoryStore, PLACES, treeOf, writeFile } from '../../support/stores.js';
import { tempDirectory } from '../../support/temp.js';

const JOB = 'ac2b9833d8854441eaabf09eca054206';

/** A source of randomness that gives these bytes, one for each name. */
function bytes(...values: number[]): (size: number) => Uint8Array {
  const left = [...values];
  return (size) => new Uint8Array(size).fill(left.shift() ?? 0xff);
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

it.each(PLACES)('is new, named for the job, and qualified: %s', async (_, place) => {
  const { fileSystem, root } = await place();
  const base = root.child('not/there/yet');
  const { directory, attempts } = await createSavepointDirectory(fileSystem, base, JOB);
  expect(attempts).toBe(1);
  expect(directory.parent?.equals(base)).toBe(true);
  expect(directory.name).toMatch(/^savepoint-ac2b98-[0-9a-f]{12}$/);
  expect(await treeOf(fileSystem, base)).toEqual([`${directory.name}/`]);
});

it('qualifies a path of a user', async () => {
  const workingDirectory = await tempDirectory();
  const fileSystem = new LocalFileSystem({ workingDirectory });
  const { directory } = await createSavepointDirectory(fileSystem, Path.parse('here'), JOB, { random: bytes(0x0a) });
  expect(String(directory)).toBe(`file:${workingDirectory}/here/savepoint-ac2b98-0a0a0a0a0a0a`);
});

it.each(PLACES)('gives fifty callers fifty directories: %s', async (_, place) => {
  const { fileSystem, root } = await place();
  // All draw from one short supply of names, so that nearly all of them meet.
  let drawn = 0;
  const random = (size: number) => new Uint8Array(size).fill(Math.floor(drawn++ / 5));
  const made = await Promise.all(
    Array.from({ length: 50 }, () => createSavepointDirectory(fileSystem, root, JOB, { random, attempts: 1000 })),
  );
  expect(new Set(made.map(({ directory }) => String(directory))).size).toBe(50);
  expect((await treeOf(fileSystem, root)).filter((name) => name.endsWith('/'))).toHaveLength(50);
});

it.each(PLACES)('never takes over one that exists: %s', async (_, place) => {
  const { fileSystem, root } = await place();
  const taken = root.child('savepoint-ac2b98-010101010101');
  await fileSystem.makeDirectory(taken);
  const made = await createSavepointDirectory(fileSystem, root, JOB, { random: bytes(1, 1, 2) });
  expect(made).toEqual({ directory: root.child('savepoint-ac2b98-020202020202'), attempts: 3 });
});

it('gives up after ten attempts, and says where and why', async () => {
  const { memory } = memoryStore();
  const base = Path.parse('memory:/base');
  for (const digit of '0123456789') await memory.makeDirectory(base.child(`savepoint-ac2b98-${`0${digit}`.repeat(6)}`));
  const random = bytes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  const error = await failureOf(createSavepointDirectory(memory, base, JOB, { random }));
  expect(error).toBeInstanceOf(SavepointDirectoryError);
  const { message, data, cause, suppressed } = error as SavepointDirectoryError;
  expect(message).toContain('memory:/base');
  expect(data).toEqual({ base: 'memory:/base', attempts: 10 });
  expect([...suppressed, cause].map((each) => [each instanceof AlreadyExistsError, String(each)])).toEqual(
    [...'0123456789'].map((digit) => [true, expect.stringContaining(`0${digit}`.repeat(6))]),
  );
});

it('carries the failures of all attempts, the latest as the cause', async () => {
  const errors: Error[] = [];
  const { memory } = memoryStore({
    failures: (operation, path) => {
      if (operation !== 'makeDirectory') return undefined;
      const error = new IoError(String(path), `attempt ${errors.length + 1}`);
      errors.push(error);
      return error;
    },
  });
  const error = await failureOf(createSavepointDirectory(memory, Path.parse('memory:/base'), JOB));
  expect(errors).toHaveLength(10);
  expect(error).toBeInstanceOf(SavepointDirectoryError);
  expect((error as SavepointDirectoryError).cause).toBe(errors[9]);
  expect((error as SavepointDirectoryError).suppressed).toEqual(errors.slice(0, 9));
});

it('gets over failures that pass', async () => {
  let calls = 0;
  const { memory } = memoryStore({
    failures: (_, path) => (++calls < 10 ? new IoError(String(path), 'create') : undefined),
  });
  const made = await createSavepointDirectory(memory, Path.parse('memory:/base'), JOB);
  expect(made.attempts).toBe(10);
});

it('says that the base is a file', async () => {
  const fileSystem = new LocalFileSystem();
  const base = Path.parse(`file:${await tempDirectory()}/file`);
  await writeFile(fileSystem, base);
  for (const path of [base, base.child('below')]) {
    const error = await failureOf(createSavepointDirectory(fileSystem, path, JOB));
    expect(error).toMatchObject({ code: 'SAVEPOINT_DIRECTORY', cause: expect.any(AlreadyExistsError) });
    expect(String(error)).toContain(String(path));
  }
});

it('says that the base is a dangling link', async () => {
  const directory = await tempDirectory();
  await symlink('nothing', `${directory}/link`);
  const error = await failureOf(
    createSavepointDirectory(new LocalFileSystem(), Path.parse(`file:${directory}/link`), JOB),
  );
  expect(error).toMatchObject({ code: 'SAVEPOINT_DIRECTORY', cause: expect.any(AlreadyExistsError) });
});

it('says that the base is read-only', async () => {
  const fileSystem = new LocalFileSystem();
  const base = Path.parse(`file:${await tempDirectory()}`);
  await chmod(base.path, 0o555);
  const error = await asNobody(() => failureOf(createSavepointDirectory(fileSystem, base, JOB)));
  expect(error).toMatchObject({ code: 'SAVEPOINT_DIRECTORY', cause: expect.any(PermissionError) });
  expect((error as SavepointDirectoryError).suppressed).toHaveLength(9);
});

it.each(['', 'ac2b98', `${JOB}0`, JOB.replace('a', 'g'), `${JOB} `])('refuses the job id "%s"', async (jobId) => {
  const { memory } = memoryStore();
  await expect(createSavepointDirectory(memory, Path.parse('memory:/base'), jobId)).rejects.toThrow(UsageError);
  expect(memory.operations).toEqual([]);
});

it('takes a job id in capitals', async () => {
  const { memory } = memoryStore();
  const { directory } = await createSavepointDirectory(memory, Path.parse('memory:/base'), JOB.toUpperCase());
  expect(directory.name).toMatch(/^savepoint-ac2b98-/);
});

it('does not try less than once', async () => {
  const { memory } = memoryStore();
  const none = createSavepointDirectory(memory, Path.parse('memory:/base'), JOB, { attempts: 0 });
  await expect(none).rejects.toThrow(RangeError);
});

it('leaves an unknown scheme to whoever finds the file system', async () => {
  const { fileSystems } = memoryStore();
  await expect(fileSystems.get(Path.parse('nosuch://x/y'))).rejects.toThrow(UnknownSchemeError);
});
