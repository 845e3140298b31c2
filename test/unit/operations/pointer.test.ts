import { describe, expect, it } from 'vitest';
import { IoError, NotFoundError, PermissionError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { openMetadata, resolvePointer } from '../../../src/operations/pointer.js';
import { explainNoMetadata, isNoSuchName } from '../../../src/operations/pointer-errors.js';
import { metadata } from '../../support/made-metadata.js';
import { memoryStore, PLACES, type Place } from '../../support/stores.js';

const JOB = '0123456789abcdef0123456789abcdef';

async function put({ fileSystem, root }: Pick<Place, 'fileSystem' | 'root'>, names: string, bytes = metadata()) {
  await fileSystem.createExclusive(root.child(names), bytes);
}

const messageOf = async (place: Place, pointer: string): Promise<string> => {
  const error = await resolvePointer(place.fileSystems, pointer).catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) throw new Error(`${pointer} was resolved`);
  return error.message.replaceAll(place.root.toString(), 'ROOT');
};

describe.each(PLACES)('resolvePointer in a store: %s', (_, makePlace) => {
  it('takes a directory with _metadata, and a file of any name', async () => {
    const place = await makePlace();
    const { fileSystems, root } = place;
    await put(place, 'chk-1/_metadata');
    await put(place, 'chk-1/other', new Uint8Array(3));
    const directory = root.child('chk-1');
    for (const [pointer, name] of [
      [`${directory}`, '_metadata'],
      [`${directory}//`, '_metadata'],
      [`${directory}/_metadata`, '_metadata'],
      [`${directory}/../chk-1/other/`, 'other'],
    ] as const) {
      const resolved = await resolvePointer(fileSystems, pointer);
      expect(resolved).toMatchObject({ given: pointer, directory, metadataPath: directory.child(name) });
      const source = await openMetadata(fileSystems, resolved);
      expect(source.size).toBe(resolved.metadata.size);
      await source.close();
    }
  });

  it('says what is there instead', async () => {
    const place = await makePlace();
    const { root, fileSystem } = place;
    await put(place, `${JOB}/chk-9/_metadata`);
    await put(place, `${JOB}/chk-12/_metadata`);
    await put(place, `${JOB}/chk-10/part`);
    await put(place, `${JOB}/shared/sst`);
    await put(place, `${JOB}/chk-8/_metadata.discarding`);
    await fileSystem.makeDirectory(root.child(`${JOB}/chk-7`));
    const at = (name: string): Promise<string> => messageOf(place, `${root}/${JOB}/${name}`);
    expect(await at('chk-11')).toBe(`ROOT/${JOB}/chk-11: no such file or directory; beside it: chk-12, chk-9`);
    expect(await at('chk-10')).toMatch(/\(1 entry is there without it\).*; complete beside it: chk-9, chk-12$/);
    expect(await at('chk-7')).toContain('(it is empty)');
    expect(await at('chk-8')).toContain('being discarded');
    expect(await at('shared')).toMatch(/holds state files .*; complete beside it: chk-12, chk-9$/);
    expect(await at('.')).toContain(`the newest complete one is ROOT/${JOB}/chk-12 (--latest takes it)`);
    expect(await messageOf(place, `${root}`)).toContain('the newest complete one');
  });

  it('names at most five that are near', async () => {
    const place = await makePlace();
    for (let number = 1; number <= 20; number++) await put(place, `chk-${number}/_metadata`);
    expect(await messageOf(place, `${place.root}/chk-100`)).toMatch(
      /; beside it: chk-20, chk-19, chk-18, chk-17, chk-16$/,
    );
  });

  it('stops a search below on request', async () => {
    const place = await makePlace();
    await put(place, 'a/b/chk-1/_metadata');
    const reason = new Error('stop');
    const pointer = `${place.root}/a`;
    const stopped = resolvePointer(place.fileSystems, pointer, { signal: AbortSignal.abort(reason) });
    await expect(stopped).rejects.toBe(reason);
  });
});

describe('resolvePointer', () => {
  it('finds no near name where nothing can be listed', async () => {
    const { memory, fileSystems } = memoryStore({
      failures: (operation, path) => (operation === 'list' ? new PermissionError(path.toString()) : undefined),
    });
    await memory.createExclusive(Path.parse('memory:/a/chk-1/_metadata'), metadata());
    await memory.makeDirectory(Path.parse('memory:/a/chk-3'));
    await expect(resolvePointer(fileSystems, 'memory:/a/chk-2')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'memory:/a/chk-2: no such file or directory',
      data: { nearby: [] },
    });
    await expect(resolvePointer(fileSystems, 'memory:/a/chk-3')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('passes on what is neither there nor missing', async () => {
    const failure = new IoError('memory:/a', 'status');
    const { fileSystems } = memoryStore({ failures: () => failure });
    await expect(resolvePointer(fileSystems, 'memory:/a')).rejects.toBe(failure);
  });

  it('ends a search that hangs', async () => {
    const { memory, fileSystems } = memoryStore();
    await memory.createExclusive(Path.parse('memory:/a/b/_metadata'), metadata());
    const list = memory.list.bind(memory);
    memory.list = async function* (directory, signal) {
      if (directory.name === 'b') {
        await new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      }
      yield* list(directory, signal);
    };
    const error = await explainNoMetadata(fileSystems, Path.parse('memory:/a'), { searchMilliseconds: 5 });
    expect(error.message).toContain('took too long (--latest searches to the end)');
    const reason = new Error('stop');
    const controller = new AbortController();
    const explained = explainNoMetadata(fileSystems, Path.parse('memory:/a'), { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 5);
    await expect(explained).rejects.toBe(reason);
  });
});

it('a circle of links and a name too long are such as nothing has', () => {
  const failed = (code: string) =>
    new IoError('file:/a', 'status', { cause: Object.assign(new Error(code), { code }) });
  expect([failed('ELOOP'), failed('ENAMETOOLONG'), failed('EIO')].map(isNoSuchName)).toEqual([true, true, false]);
  expect([new NotFoundError('a'), new PermissionError('a'), new IoError('a', 'b')].map(isNoSuchName)).toEqual([
    true,
    false,
    false,
  ]);
});
