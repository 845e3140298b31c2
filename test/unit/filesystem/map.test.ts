import { describe, expect, it } from 'vitest';
import type { FileSystemError } from '../../../src/errors.js';
import { IoError, NotFoundError, UnknownSchemeError, UnsupportedOperationError } from '../../../src/errors.js';
import { mapFileSystems } from '../../../src/filesystem/map.js';
import type { MemoryOperation } from '../../../src/filesystem/memory.js';
import { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';
import { PathMapping } from '../../../src/filesystem/path-mapping.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';

/** Memory at `memory:` and an object store at `gs:`, both real; every other scheme is only a name. */
function setUp(mapping: readonly string[], failures?: (operation: MemoryOperation, path: Path) => Error | undefined) {
  const memory = new MemoryFileSystem({ ...(failures !== undefined && { failures }) });
  const store = new MemoryFileSystem({ kind: 'object-store', scheme: 'gs' });
  const systems = createFileSystems(
    { configuration: new Map() },
    new Map([
      ['memory', async () => memory],
      ['gs', async () => store],
    ]),
  );
  const mapped = mapFileSystems(
    systems,
    PathMapping.parse(mapping, (path) => systems.qualify(path)),
  );
  return { memory, store, systems, mapped };
}

const p = Path.parse;

describe('mapFileSystems', () => {
  it('changes nothing without a mapping', () => {
    const { systems, mapped } = setUp([]);
    expect(mapped).toBe(systems);
  });

  it('looks names up where they are mapped, and all others where they say', async () => {
    const { memory, store, mapped } = setUp(['s3://b/p=memory:/copy', 's3://b/p/shared=gs://fast']);
    memory.put(p('memory:/copy/chk-1/_metadata'), 'metadata');
    memory.put(p('memory:/plain'), 'plain');
    store.put(p('gs://fast/x'), 'shared');
    const fs = await mapped.get(p('s3://b/p/chk-1'));
    const read = async (name: string) => {
      const source = await fs.open(p(name));
      return Buffer.from(await source.read(0, source.size)).toString();
    };
    expect(await read('s3://b/p/chk-1/_metadata')).toBe('metadata');
    expect(await read('s3://b/p/shared/x')).toBe('shared');
    expect(await read('memory:/plain')).toBe('plain');
    expect([fs.kind, fs.scheme]).toEqual(['file-system', 's3']);
    expect((await mapped.get(p('s3://b/p/shared'))).kind).toBe('object-store');
    expect((await fs.getFileStatus(p('s3://b/p/shared/x'))).path.toString()).toBe('s3://b/p/shared/x');
    expect(mapped.lookUp(p('s3://b/p/shared/x')).toString()).toBe('gs://fast/x');
    expect(mapped.lookUp(p('s3://other/x')).toString()).toBe('s3://other/x');
  });

  it('knows no more schemes than before', async () => {
    const { mapped } = setUp(['cos://b/p=memory:/copy']);
    await expect(mapped.get(p('cos://b/elsewhere'))).rejects.toThrow(UnknownSchemeError);
    const fs = await mapped.get(p('cos://b/p'));
    await expect(fs.open(p('cos://b/elsewhere'))).rejects.toThrow(UnknownSchemeError);
  });

  it('names both places in an error', async () => {
    const { mapped } = setUp(['s3://b/p=memory:/copy']);
    const path = p('s3://b/p/gone');
    const error = await (await mapped.get(path)).open(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotFoundError);
    expect((error as FileSystemError).data).toEqual({ path: 's3://b/p/gone', lookedUpAt: 'memory:/copy/gone' });
    expect((error as FileSystemError).message).toBe(
      's3://b/p/gone (looked up at memory:/copy/gone): no such file or directory',
    );
  });

  it('leaves the error of a path that is not mapped as it is', async () => {
    const { mapped } = setUp(['s3://b/p=memory:/copy']);
    const error = await (await mapped.get(p('s3://b/p'))).open(p('memory:/gone')).catch((reason: unknown) => reason);
    expect((error as FileSystemError).data).toEqual({ path: 'memory:/gone' });
  });

  it.each(['read', 'write', 'commit', 'list'] as const)('names both places if %s fails', async (operation) => {
    const failure = new IoError('memory:/copy/file', 'work', { cause: new Error('disk on fire') });
    failure.suppressed.push(new Error('another'));
    const { memory, mapped } = setUp(['s3://b/p=memory:/copy'], (current) =>
      current === operation ? failure : undefined,
    );
    memory.put(p('memory:/copy/file'), 'contents');
    const path = p('s3://b/p/file');
    const fs = await mapped.get(path);
    const work = async () => {
      if (operation === 'read') return (await fs.open(path)).read(0, 1);
      if (operation === 'list') for await (const _ of fs.list(path)) return;
      const writer = await fs.createAtomic(path, { overwrite: true });
      await writer.write(Buffer.from('x'));
      return writer.commit();
    };
    const error = await work().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(IoError);
    expect(error).toMatchObject({
      data: { path: 's3://b/p/file', lookedUpAt: 'memory:/copy/file', action: 'work' },
      cause: failure.cause,
      suppressed: failure.suppressed,
    });
    expect(String(error)).toContain('disk on fire');
  });

  it('does not rename from one file system to another', async () => {
    const { memory, store, mapped } = setUp(['s3://b/p=memory:/copy', 's3://b/q=gs://x']);
    memory.put(p('memory:/copy/file'), 'contents');
    const fs = await mapped.get(p('s3://b/p'));
    const error = await fs.rename(p('s3://b/p/file'), p('s3://b/q/file')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnsupportedOperationError);
    expect((error as FileSystemError).data.path).toBe('s3://b/p/file');
    expect([memory.snapshot().size, store.snapshot().size]).toEqual([1, 0]);
  });

  it('resolves two names of one file to the same path', async () => {
    const { mapped } = setUp(['s3://a=memory:/copy', 's3a://a=memory:/copy']);
    const fs = await mapped.get(p('s3://a'));
    const [one, two] = await Promise.all([p('s3://a/x'), p('s3a://a/x')].map((path) => fs.resolveLinks(path)));
    expect(one?.toString()).toBe('memory:/copy/x');
    expect(two?.toString()).toBe('memory:/copy/x');
  });

  it('stops a listing with the reason of the signal', async () => {
    const { memory, mapped } = setUp(['s3://b/p=memory:/copy']);
    memory.put(p('memory:/copy/file'), 'contents');
    const reason = new Error('enough');
    const fs = await mapped.get(p('s3://b/p'));
    const work = async () => {
      for await (const _ of fs.list(p('s3://b/p'), AbortSignal.abort(reason)));
    };
    await expect(work()).rejects.toBe(reason);
  });
});
