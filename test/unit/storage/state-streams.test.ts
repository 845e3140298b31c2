import { describe, expect, it } from 'vitest';
import { IoError, StateTooLargeError, StreamClosedError, UsageError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import type { CheckpointStateOutputStream } from '../../../src/storage/checkpoint-storage.js';
import {
  DEFAULT_FILE_STATE_SIZE_THRESHOLD,
  FsCheckpointStateOutputStream,
  FsCheckpointStreamFactory,
  MAX_FILE_STATE_SIZE_THRESHOLD,
} from '../../../src/storage/fs-state-stream.js';
import { MemCheckpointStreamFactory, MemoryCheckpointOutputStream } from '../../../src/storage/memory-streams.js';
import { memoryStore, PLACES, readFile, treeOf } from '../../support/stores.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Bytes that tell where they are. */
function pattern(length: number, from = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (from + index) % 251);
}

async function writeAll(stream: CheckpointStateOutputStream, sizes: readonly number[]): Promise<Uint8Array> {
  let position = 0;
  for (const size of sizes) {
    // A buffer that is used again: the stream must not keep it.
    const chunk = Buffer.from(pattern(size, position));
    await stream.write(chunk);
    chunk.fill(0xff);
    position += size;
    expect(stream.position).toBe(position);
  }
  return pattern(position);
}

describe('state in memory', () => {
  it.each([[[3]], [[1, 1, 1]], [[10]], [[0]]])('of writes of %j bytes is a handle with them', async (sizes) => {
    const stream = new MemoryCheckpointOutputStream(10);
    const bytes = await writeAll(stream, sizes);
    const handle = await stream.closeAndGetHandle();
    expect(handle).toEqual({ type: 'ByteStreamStateHandle', handleName: expect.stringMatching(UUID), bytes });
    expect(stream.isClosed).toBe(true);
  });

  it('that was never written is no handle', async () => {
    const stream = new MemoryCheckpointOutputStream(10);
    await stream.flush();
    expect(await stream.closeAndGetHandle()).toBeNull();
  });

  it('may be larger than allowed until it is closed', async () => {
    const stream = new MemoryCheckpointOutputStream(10);
    await writeAll(stream, [6, 6]);
    const error: unknown = await stream.closeAndGetHandle().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StateTooLargeError);
    expect((error as StateTooLargeError).data).toEqual({ size: 12, maxStateSize: 10 });
    expect(String(error)).toMatch(/12 bytes.* 10;.*FsCheckpointStorage/);
  });

  it.each(['closed', 'taken'])('cannot be used once it was %s', async (how) => {
    const stream = new MemoryCheckpointOutputStream(10);
    await writeAll(stream, [1]);
    await (how === 'closed' ? stream.close() : stream.closeAndGetHandle());
    await expect(stream.closeAndGetHandle()).rejects.toThrow(StreamClosedError);
    await expect(stream.write(pattern(1))).rejects.toThrow(StreamClosedError);
    await stream.close();
    expect(stream.isClosed).toBe(true);
  });

  it('comes from a factory that knows no scopes', async () => {
    const factory = new MemCheckpointStreamFactory(10);
    expect(String(factory)).toBe('In-Memory Stream Factory');
    for (const scope of ['EXCLUSIVE', 'SHARED'] as const) {
      const stream = await factory.createCheckpointStateOutputStream(scope);
      await writeAll(stream, [1]);
      expect(await stream.closeAndGetHandle()).toMatchObject({ type: 'ByteStreamStateHandle' });
    }
  });
});

describe.each(PLACES)('state in files: %s', (_, place) => {
  const THRESHOLD = 100;

  async function factory(settings = {}) {
    const { fileSystem, root } = await place();
    const exclusive = root.child('chk-1');
    const shared = root.child('shared');
    const streams = new FsCheckpointStreamFactory(fileSystem, exclusive, shared, {
      fileStateSizeThreshold: THRESHOLD,
      writeBufferSize: 0,
      ...settings,
    });
    return { fileSystem, root, exclusive, shared, streams };
  }

  it.each([[[1]], [[THRESHOLD]], [[60, 40]], [Array(THRESHOLD).fill(1)]])(
    'of up to the threshold becomes part of the metadata: %j',
    async (sizes: number[]) => {
      const { fileSystem, root, exclusive, streams } = await factory();
      const stream = await streams.createCheckpointStateOutputStream('EXCLUSIVE');
      const bytes = await writeAll(stream, sizes);
      await stream.flush();
      const handle = await stream.closeAndGetHandle();
      expect(handle).toEqual({ type: 'ByteStreamStateHandle', handleName: expect.any(String), bytes });
      const { handleName } = handle as { handleName: string };
      expect(handleName.startsWith(`${exclusive}/`)).toBe(true);
      expect(handleName.slice(String(exclusive).length + 1)).toMatch(UUID);
      expect(await treeOf(fileSystem, root)).toEqual([]);
    },
  );

  it.each([[[THRESHOLD + 1]], [[100, 1]], [[1, 100]], [[60, 60, 60, 1]], [[1000]], [[1, 1000, 1]]])(
    'of more goes to a file: %j',
    async (sizes) => {
      const { fileSystem, exclusive, streams } = await factory();
      const stream = await streams.createCheckpointStateOutputStream('EXCLUSIVE');
      const bytes = await writeAll(stream, sizes);
      expect(await treeOf(fileSystem, exclusive).then((names) => names.filter((name) => UUID.test(name)))).toEqual([]);
      const handle = await stream.closeAndGetHandle();
      expect(handle).toEqual({
        type: 'RelativeFileStateHandle',
        relativePath: expect.stringMatching(UUID),
        stateSize: BigInt(bytes.length),
      });
      const { relativePath } = handle as { relativePath: string };
      expect(await treeOf(fileSystem, exclusive)).toEqual([relativePath]);
      expect(await readFile(fileSystem, exclusive.child(relativePath))).toEqual(bytes);
    },
  );

  it.each([0, 10, 4096])('has the same contents with a buffer of %i', async (writeBufferSize) => {
    const { fileSystem, shared, streams } = await factory({ fileStateSizeThreshold: 0, writeBufferSize });
    const stream = await streams.createCheckpointStateOutputStream('SHARED');
    const bytes = await writeAll(stream, [1, 9, 10, 11, 0, 5000, 4096, 3]);
    const handle = await stream.closeAndGetHandle();
    const { filePath } = handle as { filePath: string };
    expect(handle).toEqual({ type: 'FileStateHandle', filePath, stateSize: BigInt(bytes.length) });
    expect(Path.parse(filePath).parent?.equals(shared)).toBe(true);
    expect(await readFile(fileSystem, Path.parse(filePath))).toEqual(bytes);
  });

  it('that was never written, or nothing to it, is no handle and no file', async () => {
    const { fileSystem, root, streams } = await factory({ fileStateSizeThreshold: 0 });
    const stream = await streams.createCheckpointStateOutputStream('EXCLUSIVE');
    await stream.flush();
    await stream.write(new Uint8Array(0));
    expect(await stream.closeAndGetHandle()).toBeNull();
    expect(await treeOf(fileSystem, root)).toEqual([]);
  });

  it.each([1, 500])('of %i bytes leaves nothing behind when it is dropped', async (size) => {
    const { fileSystem, exclusive, streams } = await factory({ fileStateSizeThreshold: 0 });
    const stream = await streams.createCheckpointStateOutputStream('EXCLUSIVE');
    await writeAll(stream, [size]);
    await stream.close();
    await stream.close();
    expect(stream.isClosed).toBe(true);
    expect(await treeOf(fileSystem, exclusive)).toEqual([]);
    await expect(stream.write(pattern(1))).rejects.toThrow(StreamClosedError);
    await expect(stream.flush()).rejects.toThrow(StreamClosedError);
    await expect(stream.closeAndGetHandle()).rejects.toThrow(StreamClosedError);
  });

  it.each([1, 500])('of %i bytes gives its handle once', async (size) => {
    const { fileSystem, exclusive, streams } = await factory();
    const stream = await streams.createCheckpointStateOutputStream('EXCLUSIVE');
    await writeAll(stream, [size]);
    await stream.closeAndGetHandle();
    const names = await treeOf(fileSystem, exclusive);
    await stream.close();
    await expect(stream.closeAndGetHandle()).rejects.toThrow(StreamClosedError);
    await expect(stream.write(pattern(1))).rejects.toThrow(StreamClosedError);
    expect(await treeOf(fileSystem, exclusive)).toEqual(names);
  });
});

describe('state in files, when the store fails', () => {
  const directory = Path.parse('memory:/chk-1');

  it.each(['createAtomic', 'write', 'commit'] as const)('at %s: the error comes out, no file is left', async (at) => {
    const failure = new IoError('memory:/chk-1/x', at);
    const { memory } = memoryStore({ failures: (operation) => (operation === at ? failure : undefined) });
    const stream = new FsCheckpointStateOutputStream(memory, directory, 'relative', { fileStateSizeThreshold: 0 });
    await writeAll(stream, [10]);
    await expect(stream.closeAndGetHandle()).rejects.toBe(failure);
    expect(stream.isClosed).toBe(true);
    expect(memory.snapshot().size).toBe(0);
    await expect(stream.closeAndGetHandle()).rejects.toThrow(StreamClosedError);
  });

  it('leaves no file if it is closed while the file is being started', async () => {
    const { memory } = memoryStore();
    const settings = { fileStateSizeThreshold: 0, writeBufferSize: 0 };
    const stream = new FsCheckpointStateOutputStream(memory, directory, 'relative', settings);
    const writing = stream.write(pattern(10));
    await stream.close();
    await expect(writing).rejects.toThrow(StreamClosedError);
    expect(memory.snapshot().size).toBe(0);
    expect(memory.operations.map(({ operation }) => operation)).toEqual(['createAtomic']);
  });
});

describe('settings of state in files', () => {
  const { memory } = memoryStore();
  const make = (settings: object) => {
    const directory = Path.parse('memory:/a');
    return new FsCheckpointStreamFactory(memory, directory, directory, settings);
  };

  it('are 20 KiB unless said otherwise', async () => {
    expect(DEFAULT_FILE_STATE_SIZE_THRESHOLD).toBe(20 * 1024);
    const factory = make({});
    expect(String(factory)).toBe('File Stream Factory @ memory:/a');
    for (const [size, type] of [
      [20 * 1024, 'ByteStreamStateHandle'],
      [20 * 1024 + 1, 'RelativeFileStateHandle'],
    ] as const) {
      const stream = await factory.createCheckpointStateOutputStream('EXCLUSIVE');
      await stream.write(pattern(size));
      expect(await stream.closeAndGetHandle()).toMatchObject({ type });
    }
  });

  it('may be up to 1 MiB', () => {
    expect(MAX_FILE_STATE_SIZE_THRESHOLD).toBe(1024 * 1024);
    expect(() => make({ fileStateSizeThreshold: 1024 * 1024 })).not.toThrow();
  });

  it.each([
    { fileStateSizeThreshold: -1 },
    { fileStateSizeThreshold: 1024 * 1024 + 1 },
    { fileStateSizeThreshold: 1.5 },
    { fileStateSizeThreshold: Number.NaN },
    { writeBufferSize: -1 },
  ])('cannot be %j', (settings) => {
    expect(() => make(settings)).toThrow(UsageError);
  });
});
