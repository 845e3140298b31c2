import { describe, expect, it } from 'vitest';
import { StateTooLargeError, UsageError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { encodePathAsReference } from '../../../src/storage/location-reference.js';
import { MemoryBackendCheckpointStorage } from '../../../src/storage/memory-storage.js';
import { memoryStore, PLACES, treeOf } from '../../support/stores.js';

const JOB = 'ac2b9833d8854441eaabf09eca054206';

describe('checkpoints in memory', () => {
  const { memory, fileSystems } = memoryStore();
  const storage = new MemoryBackendCheckpointStorage({ fileSystems, jobId: JOB });

  it('are gone with the process, and leave nothing on disk', async () => {
    expect(storage.supportsHighlyAvailableStorage()).toBe(false);
    expect(storage.hasDefaultSavepointLocation()).toBe(false);
    await storage.initializeBaseLocations();
    const location = await storage.initializeLocationForCheckpoint(1n);
    const completed = await (await location.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    expect(completed.externalPointer).toBe('<checkpoint-not-externally-addressable>');
    expect(location.exclusiveDirectory).toBeUndefined();
    expect(memory.operations).toEqual([]);
  });

  it.each([-1n, 2n ** 63n])('do not have the id %s', async (id) => {
    await expect(storage.initializeLocationForCheckpoint(id)).rejects.toThrow(UsageError);
  });

  it('print their limits', () => {
    expect(String(storage)).toBe(
      'MemoryBackendCheckpointStorage {checkpointsDirectory=(none), defaultSavepointDirectory=(none), maxStateSize=5242880}',
    );
  });
});

describe.each(PLACES)('checkpoints in memory with metadata in files: %s', (_, place) => {
  async function storage(more: { createSubdirectory?: boolean; maxStateSize?: number } = {}) {
    const { fileSystems, fileSystem, root } = await place();
    const options = { fileSystems, jobId: JOB, checkpointDirectory: root.child('cp') };
    return { fileSystem, root, storage: new MemoryBackendCheckpointStorage({ ...options, ...more }) };
  }

  it('have a directory each, and none in common', async () => {
    const { fileSystem, root, storage: target } = await storage();
    expect(target.supportsHighlyAvailableStorage()).toBe(true);
    await target.initializeBaseLocations();
    expect(await treeOf(fileSystem, root)).toEqual([]);
    const location = await target.initializeLocationForCheckpoint(1n);
    expect(location.locationReference.isDefault).toBe(true);
    await (await location.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    const job = `cp/${JOB}/`;
    expect(await treeOf(fileSystem, root)).toEqual(['cp/', job, `${job}chk-1/`, `${job}chk-1/_metadata`]);
  });

  it('may do without a directory of the job', async () => {
    const { fileSystem, root, storage: target } = await storage({ createSubdirectory: false });
    await target.initializeLocationForCheckpoint(1n);
    expect(await treeOf(fileSystem, root)).toEqual(['cp/', 'cp/chk-1/']);
  });

  it('keep state inline, wherever it was to go', async () => {
    const { fileSystem, root, storage: target } = await storage({ maxStateSize: 4 });
    const elsewhere = encodePathAsReference(root.child('elsewhere'));
    const streams = [
      await (await target.resolveCheckpointStorageLocation(1n, elsewhere)).createCheckpointStateOutputStream('SHARED'),
      await target.createTaskOwnedStateStream(),
    ];
    for (const stream of streams) {
      await stream.write(Buffer.from('1234'));
      expect(await stream.closeAndGetHandle()).toMatchObject({ type: 'ByteStreamStateHandle' });
    }
    const tooLarge = await target.createTaskOwnedStateStream();
    await tooLarge.write(Buffer.from('12345'));
    await expect(tooLarge.closeAndGetHandle()).rejects.toThrow(StateTooLargeError);
    expect(await treeOf(fileSystem, root)).toEqual([]);
  });

  it('may be savepoints, of which tasks need to know nothing', async () => {
    const { fileSystem, root, storage: target } = await storage();
    const location = await target.initializeLocationForSavepoint(1n, String(root.child('sp')));
    expect(location.locationReference.isDefault).toBe(true);
    const completed = await (await location.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    const name = location.exclusiveDirectory?.name;
    expect(completed.externalPointer).toBe(`${root}/sp/${name}`);
    expect(await treeOf(fileSystem, root)).toEqual(['sp/', `sp/${name}/`, `sp/${name}/_metadata`]);
  });
});

it.each([0, -1, 0.5, Number.NaN])('cannot hold state of %d bytes', (maxStateSize) => {
  const { fileSystems } = memoryStore();
  expect(() => new MemoryBackendCheckpointStorage({ fileSystems, jobId: JOB, maxStateSize })).toThrow(UsageError);
});

it('prints where metadata and savepoints go', () => {
  const { fileSystems } = memoryStore();
  const storage = new MemoryBackendCheckpointStorage({
    fileSystems,
    jobId: JOB,
    checkpointDirectory: Path.parse('memory:/cp'),
    savepointDirectory: Path.parse('memory:/sp'),
    maxStateSize: 7,
  });
  expect(String(storage)).toBe(
    `MemoryBackendCheckpointStorage {checkpointsDirectory=memory:/cp/${JOB}, defaultSavepointDirectory=memory:/sp, maxStateSize=7}`,
  );
});
