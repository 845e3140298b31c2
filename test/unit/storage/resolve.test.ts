import { describe, expect, it } from 'vitest';
import {
  InvalidPathError,
  NoMetadataError,
  NotFoundError,
  PermissionError,
  PointerNotFoundError,
  UnknownSchemeError,
  WrongFileTypeError,
} from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { resolveCheckpointPointer } from '../../../src/storage/resolve.js';
import { memoryStore, PLACES, writeFile } from '../../support/stores.js';
import { tempDirectory } from '../../support/temp.js';

describe.each(PLACES)('a pointer: %s', (_, place) => {
  it('to a directory, or to a file of any name, means the directory and the file', async () => {
    const { fileSystems, fileSystem, root } = await place();
    const directory = root.child('chk-1');
    for (const name of ['_metadata', 'other']) await writeFile(fileSystem, directory.child(name), name);
    const cases = [
      [`${directory}`, '_metadata'],
      [`${directory}/`, '_metadata'],
      [`${directory}///_metadata`, '_metadata'],
      [`${root}/x/../chk-1`, '_metadata'],
      [`${directory}/other`, 'other'],
    ] as const;
    for (const [pointer, name] of cases) {
      const location = await resolveCheckpointPointer(fileSystems, pointer);
      expect(location.externalPointer).toBe(String(directory));
      expect(location.exclusiveDirectory.equals(directory)).toBe(true);
      const filePath = String(directory.child(name));
      expect(location.metadataHandle).toEqual({ type: 'FileStateHandle', filePath, stateSize: BigInt(name.length) });
    }
  });

  it('to nothing, or to a directory without metadata, does not resolve', async () => {
    const { fileSystems, fileSystem, root } = await place();
    await writeFile(fileSystem, root.child('chk-1/data'));
    await expect(resolveCheckpointPointer(fileSystems, `${root}/chk-2`)).rejects.toThrow(PointerNotFoundError);
    await expect(resolveCheckpointPointer(fileSystems, `${root}/chk-1`)).rejects.toThrow(NoMetadataError);
    await expect(resolveCheckpointPointer(fileSystems, `${root}/chk-1/_metadata`)).rejects.toThrow(
      PointerNotFoundError,
    );
  });
});

describe('a pointer of this machine', () => {
  it('may be relative, with a scheme or without, but percent signs stay', async () => {
    const workingDirectory = await tempDirectory();
    const fileSystems = createFileSystems({ configuration: new Map(), workingDirectory });
    const directory = Path.parse(`file:${workingDirectory}/rt/chk 1`);
    await writeFile(await fileSystems.get(directory), directory.child('_metadata'));
    for (const pointer of [
      'rt/chk 1',
      './rt/chk 1',
      `${workingDirectory}/rt/chk 1`,
      `file:${workingDirectory}/rt/chk 1`,
      `file://${workingDirectory}/rt/chk 1`,
    ]) {
      expect((await resolveCheckpointPointer(fileSystems, pointer)).externalPointer).toBe(String(directory));
    }
    await expect(resolveCheckpointPointer(fileSystems, 'rt/chk%201')).rejects.toThrow(PointerNotFoundError);
  });

  it.each([
    ['', InvalidPathError],
    ['::', InvalidPathError],
    ['file://host/a', InvalidPathError],
    ['FILE:/a', UnknownSchemeError],
    ['nosuch://bucket/a', UnknownSchemeError],
    ['<checkpoint-not-externally-addressable>', PointerNotFoundError],
  ])('"%s" is refused', async (pointer, error) => {
    const fileSystems = createFileSystems({ configuration: new Map() });
    await expect(resolveCheckpointPointer(fileSystems, pointer)).rejects.toThrow(error);
  });

  it('is refused if its printed form is another path', async () => {
    const fileSystems = createFileSystems({ configuration: new Map(), workingDirectory: '/a\\b' });
    await expect(resolveCheckpointPointer(fileSystems, 'chk-1')).rejects.toThrow(InvalidPathError);
  });
});

it('takes a directory called _metadata, which nobody can read', async () => {
  const { memory, fileSystems } = memoryStore();
  await memory.makeDirectory(Path.parse('memory:/chk-1/_metadata'));
  const location = await resolveCheckpointPointer(fileSystems, 'memory:/chk-1');
  expect(location.metadataHandle.filePath).toBe('memory:/chk-1/_metadata');
  await expect(memory.open(Path.parse(location.metadataHandle.filePath))).rejects.toThrow(WrongFileTypeError);
});

it('does not take a refusal for an absence', async () => {
  const { memory, fileSystems } = memoryStore({ failures: (_, path) => new PermissionError(String(path)) });
  memory.put(Path.parse('memory:/chk-1/_metadata'), 'x');
  const error: unknown = await resolveCheckpointPointer(fileSystems, 'memory:/chk-1').catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PermissionError);
  expect(error).not.toBeInstanceOf(NotFoundError);
});
