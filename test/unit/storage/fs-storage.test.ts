import { describe, expect, it } from 'vitest';
import {
  AlreadyExistsError,
  InvalidLocationReferenceError,
  InvalidPathError,
  IoError,
  UnknownSchemeError,
  UsageError,
} from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import type { CheckpointStreamFactory } from '../../../src/storage/checkpoint-storage.js';
import { FsCheckpointStorage, type FsCheckpointStorageOptions } from '../../../src/storage/fs-storage.js';
import { CheckpointStorageLocationReference, encodePathAsReference } from '../../../src/storage/location-reference.js';
import { memoryStore, PLACES, treeOf, writeFile } from '../../support/stores.js';

const JOB = 'ac2b9833d8854441eaabf09eca054206';

async function write(factory: CheckpointStreamFactory, scope: 'EXCLUSIVE' | 'SHARED') {
  const stream = await factory.createCheckpointStateOutputStream(scope);
  await stream.write(Buffer.from('state'));
  return stream.closeAndGetHandle();
}

describe.each(PLACES)('checkpoints in files: %s', (_, place) => {
  async function storage(options: Partial<FsCheckpointStorageOptions> = {}) {
    const { fileSystems, fileSystem, root } = await place();
    const made = new FsCheckpointStorage({
      fileSystems,
      jobId: JOB,
      checkpointDirectory: root.child('cp'),
      fileStateSizeThreshold: 0,
      ...options,
    });
    return { fileSystem, root, storage: made };
  }

  it('have two directories in common, which may exist', async () => {
    const { fileSystem, root, storage: target } = await storage();
    await target.initializeBaseLocations();
    await target.initializeBaseLocations();
    expect(await treeOf(fileSystem, root)).toEqual(['cp/', `cp/${JOB}/`, `cp/${JOB}/shared/`, `cp/${JOB}/taskowned/`]);
  });

  it('have a directory each, which may exist, without the ones in common', async () => {
    const { fileSystem, root, storage: target } = await storage();
    for (const id of [0n, 7n, 7n, 0x7fff_ffff_ffff_ffffn]) {
      const location = await target.initializeLocationForCheckpoint(id);
      expect(location.exclusiveDirectory.equals(root.child(`cp/${JOB}/chk-${id}`))).toBe(true);
      expect(location.locationReference.isDefault).toBe(true);
    }
    const names = ['chk-0/', 'chk-7/', 'chk-9223372036854775807/'].map((name) => `cp/${JOB}/${name}`);
    expect(await treeOf(fileSystem, root)).toEqual(['cp/', `cp/${JOB}/`, ...names]);
  });

  it('may do without a directory of the job', async () => {
    const { fileSystem, root, storage: target } = await storage({ createSubdirectory: false });
    await target.initializeBaseLocations();
    await target.initializeLocationForCheckpoint(1n);
    expect(await treeOf(fileSystem, root)).toEqual(['cp/', 'cp/chk-1/', 'cp/shared/', 'cp/taskowned/']);
  });

  it('keep state where it belongs', async () => {
    const { fileSystem, root, storage: target } = await storage();
    const job = root.child(`cp/${JOB}`);
    const location = await target.initializeLocationForCheckpoint(1n);
    const resolved = await target.resolveCheckpointStorageLocation(1n, location.locationReference);
    const exclusive = await write(resolved, 'EXCLUSIVE');
    const shared = await write(resolved, 'SHARED');
    const owned = await target.createTaskOwnedStateStream();
    await owned.write(Buffer.from('wal'));
    const taskOwned = await owned.closeAndGetHandle();
    expect(exclusive).toMatchObject({ type: 'RelativeFileStateHandle', stateSize: 5n });
    expect(shared).toMatchObject({ type: 'FileStateHandle', stateSize: 5n });
    expect(taskOwned).toMatchObject({ type: 'FileStateHandle', stateSize: 3n });
    const { relativePath } = exclusive as { relativePath: string };
    expect(await treeOf(fileSystem, job)).toEqual([
      'chk-1/',
      `chk-1/${relativePath}`,
      'shared/',
      (shared as { filePath: string }).filePath.slice(String(job).length + 1),
      'taskowned/',
      (taskOwned as { filePath: string }).filePath.slice(String(job).length + 1),
    ]);
  });

  it('leave their common state alone when they fail', async () => {
    const { fileSystem, root, storage: target } = await storage();
    await target.initializeBaseLocations();
    const location = await target.initializeLocationForCheckpoint(1n);
    await write(location, 'EXCLUSIVE');
    await write(location, 'SHARED');
    await location.disposeOnFailure();
    const left = await treeOf(fileSystem, root.child(`cp/${JOB}`));
    expect(left).toEqual(['shared/', expect.stringMatching(/^shared\/.{36}$/), 'taskowned/']);
  });

  it('become complete with their metadata', async () => {
    const { root, storage: target } = await storage();
    const location = await target.initializeLocationForCheckpoint(3n);
    const stream = await location.createMetadataOutputStream();
    await stream.write(Buffer.from('x'));
    const completed = await stream.closeAndFinalizeCheckpoint();
    expect(completed.externalPointer).toBe(`${root}/cp/${JOB}/chk-3`);
    const found = await target.resolveCheckpoint(completed.externalPointer);
    expect(found.metadataHandle).toEqual(completed.metadataHandle);
    expect(found.externalPointer).toBe(completed.externalPointer);
    await expect(location.createMetadataOutputStream()).rejects.toThrow(AlreadyExistsError);
  });

  it('may be savepoints: everything in one new directory', async () => {
    const { fileSystem, root, storage: target } = await storage();
    expect(target.hasDefaultSavepointLocation()).toBe(false);
    const location = await target.initializeLocationForSavepoint(5n, String(root.child('sp')));
    const directory = location.exclusiveDirectory;
    expect(directory?.parent?.equals(root.child('sp'))).toBe(true);
    expect(directory?.name).toMatch(/^savepoint-ac2b98-[0-9a-f]{12}$/);
    const { locationReference } = location;
    expect(locationReference.equals(encodePathAsReference(directory as Path))).toBe(true);
    const worker = await target.resolveCheckpointStorageLocation(5n, locationReference);
    expect(worker.locationReference).toBe(locationReference);
    expect(worker.taskOwnedStateDirectory.equals(directory as Path)).toBe(true);
    expect(await write(worker, 'EXCLUSIVE')).toMatchObject({ type: 'RelativeFileStateHandle' });
    const shared = await write(worker, 'SHARED');
    expect(shared).toMatchObject({ type: 'FileStateHandle' });
    expect(Path.parse((shared as { filePath: string }).filePath).parent?.equals(directory as Path)).toBe(true);
    const completed = await (await location.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    expect(completed.externalPointer).toBe(String(directory));
    expect((await treeOf(fileSystem, root)).filter((name) => name.endsWith('/'))).toEqual([
      'sp/',
      `sp/${directory?.name}/`,
    ]);
  });
});

describe('the place of a savepoint', () => {
  const fileSystemsOf = () => memoryStore();
  const checkpointDirectory = Path.parse('memory:/cp');
  const savepointDirectory = Path.parse('memory:/default');

  it('is the given one before the default', async () => {
    const { fileSystems } = fileSystemsOf();
    const random = (size: number) => new Uint8Array(size).fill(0xab);
    const storage = new FsCheckpointStorage({
      fileSystems,
      jobId: JOB,
      checkpointDirectory,
      savepointDirectory,
      random,
    });
    expect(storage.hasDefaultSavepointLocation()).toBe(true);
    expect(storage.defaultSavepointDirectory).toBe(savepointDirectory);
    const name = 'savepoint-ac2b98-abababababab';
    expect(String((await storage.initializeLocationForSavepoint(1n)).exclusiveDirectory)).toBe(
      `memory:/default/${name}`,
    );
    const given = await storage.initializeLocationForSavepoint(1n, 'memory:/given');
    expect(String(given.exclusiveDirectory)).toBe(`memory:/given/${name}`);
  });

  it('must be known, a path, and in a known store', async () => {
    const { memory, fileSystems } = fileSystemsOf();
    const storage = new FsCheckpointStorage({ fileSystems, jobId: JOB, checkpointDirectory });
    await expect(storage.initializeLocationForSavepoint(1n)).rejects.toThrow(UsageError);
    await expect(storage.initializeLocationForSavepoint(1n, '')).rejects.toThrow(InvalidPathError);
    await expect(storage.initializeLocationForSavepoint(1n, '::')).rejects.toThrow(InvalidPathError);
    await expect(storage.initializeLocationForSavepoint(1n, 'nosuch://a/b')).rejects.toThrow(UnknownSchemeError);
    expect(memory.operations).toEqual([]);
  });
});

describe('a storage in files', () => {
  const { fileSystems } = memoryStore();
  const checkpointDirectory = Path.parse('memory:/cp');
  const options = { fileSystems, jobId: JOB, checkpointDirectory };

  it('keeps what it writes', () => {
    const storage = new FsCheckpointStorage(options);
    expect(storage.supportsHighlyAvailableStorage()).toBe(true);
    expect(String(storage)).toBe(
      `FsCheckpointStorage {checkpointsDirectory=memory:/cp/${JOB}, defaultSavepointDirectory=(none), fileStateSizeThreshold=20480}`,
    );
  });

  it.each([
    { jobId: 'x' },
    { fileStateSizeThreshold: -1 },
    { fileStateSizeThreshold: 2 ** 21 },
    { writeBufferSize: -1 },
  ])('is not made with %j', (more) => {
    expect(() => new FsCheckpointStorage({ ...options, ...more })).toThrow(UsageError);
  });

  it('is not made in a directory that handles cannot name', () => {
    const odd = Path.verbatim({ scheme: 'memory', path: '/a\\b' });
    expect(() => new FsCheckpointStorage({ ...options, checkpointDirectory: odd })).toThrow(InvalidPathError);
    expect(() => new FsCheckpointStorage({ ...options, savepointDirectory: odd })).toThrow(InvalidPathError);
  });

  it.each([-1n, 2n ** 63n])('refuses the checkpoint id %s', async (id) => {
    const { memory, fileSystems: systems } = memoryStore();
    const storage = new FsCheckpointStorage({ ...options, fileSystems: systems });
    await expect(storage.initializeLocationForCheckpoint(id)).rejects.toThrow(UsageError);
    await expect(storage.initializeLocationForCheckpoint(id)).rejects.toThrow(String(id));
    expect(memory.operations).toEqual([]);
  });

  it('says which directory could not be made', async () => {
    const store = memoryStore({
      failures: (operation, path) => (operation === 'makeDirectory' ? new IoError(String(path), 'create') : undefined),
    });
    const storage = new FsCheckpointStorage({ ...options, fileSystems: store.fileSystems });
    await expect(storage.initializeBaseLocations()).rejects.toThrow(`memory:/cp/${JOB}/shared`);
    await expect(storage.initializeLocationForCheckpoint(1n)).rejects.toThrow(`memory:/cp/${JOB}/chk-1`);
  });

  it('finds a file where a directory should be', async () => {
    const { memory, fileSystems: systems } = memoryStore();
    const storage = new FsCheckpointStorage({ ...options, fileSystems: systems });
    await writeFile(memory, Path.parse(`memory:/cp/${JOB}/shared`));
    await writeFile(memory, Path.parse(`memory:/cp/${JOB}/chk-1`));
    await expect(storage.initializeBaseLocations()).rejects.toThrow(AlreadyExistsError);
    await expect(storage.initializeLocationForCheckpoint(1n)).rejects.toThrow(AlreadyExistsError);
  });

  it('refuses references that are none', async () => {
    const storage = new FsCheckpointStorage(options);
    for (const hex of ['055f3f18', '0102030405']) {
      const reference = CheckpointStorageLocationReference.of(Buffer.from(hex, 'hex'));
      await expect(storage.resolveCheckpointStorageLocation(1n, reference)).rejects.toThrow(
        InvalidLocationReferenceError,
      );
    }
    const foreign = encodePathAsReference(Path.parse('nosuch://a/b'));
    await expect(storage.resolveCheckpointStorageLocation(1n, foreign)).rejects.toThrow(UnknownSchemeError);
  });

  it('prints its locations', async () => {
    const location = await new FsCheckpointStorage(options).initializeLocationForCheckpoint(1n);
    expect(String(location)).toContain(`checkpointDirectory=memory:/cp/${JOB}/chk-1, sharedStateDirectory=`);
    expect(String(location)).toContain('reference=(default)');
  });
});

it('keeps a directory without scheme as it is written, and makes it all the same', async () => {
  const { memory } = memoryStore();
  const local = createFileSystems({ configuration: new Map() }, new Map([['file', async () => memory]]));
  const storage = new FsCheckpointStorage({
    fileSystems: local,
    jobId: JOB,
    checkpointDirectory: Path.parse('/cp'),
    fileStateSizeThreshold: 0,
  });
  const location = await storage.initializeLocationForCheckpoint(1n);
  const shared = await write(location, 'SHARED');
  expect(shared).toMatchObject({ filePath: expect.stringMatching(`^/cp/${JOB}/shared/`) });
  const completed = await (await location.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
  expect(completed.externalPointer).toBe(`/cp/${JOB}/chk-1`);
  expect([...memory.snapshot().keys()].sort()[0]).toBe(`memory:/cp/${JOB}/chk-1/_metadata`);
});
