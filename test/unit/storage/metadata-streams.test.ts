import { describe, expect, it } from 'vitest';
import { AlreadyExistsError, DirectoryNotEmptyError, IoError, StreamClosedError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { FsCheckpointMetadataOutputStream } from '../../../src/storage/fs-metadata-stream.js';
import {
  NOT_EXTERNALLY_ADDRESSABLE,
  NonPersistentMetadataCheckpointStorageLocation,
  PersistentMetadataCheckpointStorageLocation,
} from '../../../src/storage/metadata-locations.js';
import { memoryStore, PLACES, readFile, treeOf, writeFile } from '../../support/stores.js';

describe.each(PLACES)('metadata in a file: %s', (_, place) => {
  async function location() {
    const { fileSystem, root } = await place();
    const directory = root.child('chk-1');
    return {
      fileSystem,
      directory,
      location: new PersistentMetadataCheckpointStorageLocation(fileSystem, directory, 9),
    };
  }

  it('is there when it is complete, and points to its directory', async () => {
    const { fileSystem, directory, location: target } = await location();
    const stream = await target.createMetadataOutputStream();
    await stream.write(Buffer.from('meta'));
    await stream.write(Buffer.from('data'));
    expect(stream.position).toBe(8);
    expect(await treeOf(fileSystem, directory).then((names) => names.includes('_metadata'))).toBe(false);
    const completed = await stream.closeAndFinalizeCheckpoint();
    expect(completed.externalPointer).toBe(String(directory));
    expect(completed.exclusiveDirectory).toEqual(directory);
    const filePath = String(directory.child('_metadata'));
    expect(completed.metadataHandle).toEqual({ type: 'FileStateHandle', filePath, stateSize: 8n });
    expect(Buffer.from(await readFile(fileSystem, directory.child('_metadata'))).toString()).toBe('metadata');
    expect(await treeOf(fileSystem, directory)).toEqual(['_metadata']);
  });

  it('may be empty', async () => {
    const { fileSystem, directory, location: target } = await location();
    const completed = await (await target.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    expect(completed.metadataHandle).toMatchObject({ stateSize: 0n });
    expect(await treeOf(fileSystem, directory)).toEqual(['_metadata']);
  });

  it('is never overwritten', async () => {
    const { fileSystem, directory, location: target } = await location();
    const slow = await target.createMetadataOutputStream();
    await slow.write(Buffer.from('slow'));
    await writeFile(fileSystem, directory.child('_metadata'), 'first');
    await expect(target.createMetadataOutputStream()).rejects.toThrow(AlreadyExistsError);
    await expect(slow.closeAndFinalizeCheckpoint()).rejects.toThrow(AlreadyExistsError);
    expect(Buffer.from(await readFile(fileSystem, directory.child('_metadata'))).toString()).toBe('first');
    expect(await treeOf(fileSystem, directory)).toEqual(['_metadata']);
  });

  it('leaves nothing behind when it is dropped', async () => {
    const { fileSystem, directory, location: target } = await location();
    const stream = await target.createMetadataOutputStream();
    await stream.write(Buffer.from('x'));
    await stream.close();
    await stream.close();
    expect(await treeOf(fileSystem, directory)).toEqual([]);
    await expect(stream.write(Buffer.from('x'))).rejects.toThrow(StreamClosedError);
    await expect(stream.closeAndFinalizeCheckpoint()).rejects.toThrow(StreamClosedError);
  });

  it('is finished once', async () => {
    const { fileSystem, directory, location: target } = await location();
    const stream = await target.createMetadataOutputStream();
    await stream.closeAndFinalizeCheckpoint();
    await stream.close();
    expect(stream.isClosed).toBe(true);
    await expect(stream.closeAndFinalizeCheckpoint()).rejects.toThrow(StreamClosedError);
    await expect(stream.write(Buffer.from('x'))).rejects.toThrow(StreamClosedError);
    expect(await treeOf(fileSystem, directory)).toEqual(['_metadata']);
  });

  it('goes with its directory, which must be empty but for it', async () => {
    const { fileSystem, directory, location: target } = await location();
    const completed = await (await target.createMetadataOutputStream()).closeAndFinalizeCheckpoint();
    await expect(completed.disposeStorageLocation()).rejects.toThrow(DirectoryNotEmptyError);
    expect(await treeOf(fileSystem, directory)).toEqual(['_metadata']);
    await fileSystem.deleteFile(directory.child('_metadata'));
    await completed.disposeStorageLocation();
    await completed.disposeStorageLocation();
    expect(await treeOf(fileSystem, directory.parent ?? directory)).toEqual([]);
  });

  it('goes with everything in its directory if the checkpoint failed', async () => {
    const { fileSystem, directory, location: target } = await location();
    await writeFile(fileSystem, directory.child('sub/state'));
    await writeFile(fileSystem, directory.child('_metadata'));
    await target.disposeOnFailure();
    await target.disposeOnFailure();
    expect(await treeOf(fileSystem, directory.parent ?? directory)).toEqual([]);
  });
});

describe('metadata in a file, when the store fails', () => {
  it.each(['write', 'commit'] as const)('at %s: the error comes out, no file is left', async (at) => {
    const failure = new IoError('memory:/chk-1/_metadata', at);
    const { memory } = memoryStore({ failures: (operation) => (operation === at ? failure : undefined) });
    const directory = Path.parse('memory:/chk-1');
    const stream = await FsCheckpointMetadataOutputStream.open(memory, directory.child('_metadata'), directory);
    const work = async () => {
      await stream.write(Buffer.from('x'));
      await stream.closeAndFinalizeCheckpoint();
    };
    await expect(work()).rejects.toBe(failure);
    await stream.close();
    expect(memory.snapshot().size).toBe(0);
  });
});

it('keeps a path in the form it was given', async () => {
  const { memory } = memoryStore();
  const directory = Path.parse('/data/chk-1');
  const stream = await FsCheckpointMetadataOutputStream.open(memory, directory.child('_metadata'), directory);
  const completed = await stream.closeAndFinalizeCheckpoint();
  expect(completed.externalPointer).toBe('/data/chk-1');
  expect(completed.metadataHandle.filePath).toBe('/data/chk-1/_metadata');
  expect([...memory.snapshot().keys()]).toEqual(['memory:/data/chk-1/_metadata']);
});

describe('metadata in memory', () => {
  it('has a random name, and a pointer that says there is nothing to point to', async () => {
    const location = new NonPersistentMetadataCheckpointStorageLocation(9);
    const stream = await location.createMetadataOutputStream();
    const chunk = Buffer.from('data');
    await stream.write(chunk);
    chunk.fill(0);
    expect(stream.position).toBe(4);
    const completed = await stream.closeAndFinalizeCheckpoint();
    expect(completed.externalPointer).toBe('<checkpoint-not-externally-addressable>');
    expect(NOT_EXTERNALLY_ADDRESSABLE).toBe(completed.externalPointer);
    expect(completed.exclusiveDirectory).toBeUndefined();
    expect(completed.metadataHandle).toEqual({
      type: 'ByteStreamStateHandle',
      handleName: expect.stringMatching(/^[0-9a-f-]{36}$/),
      bytes: new Uint8Array(Buffer.from('data')),
    });
    await completed.disposeStorageLocation();
    await location.disposeOnFailure();
    expect(location.locationReference.isDefault).toBe(true);
  });

  it('is finished or dropped once', async () => {
    const location = new NonPersistentMetadataCheckpointStorageLocation(9);
    for (const end of ['closeAndFinalizeCheckpoint', 'close'] as const) {
      const stream = await location.createMetadataOutputStream();
      await stream[end]();
      await stream.close();
      expect(stream.isClosed).toBe(true);
      await expect(stream.closeAndFinalizeCheckpoint()).rejects.toThrow(StreamClosedError);
      await expect(stream.write(Buffer.from('x'))).rejects.toThrow(StreamClosedError);
    }
  });
});
