import { describe, expect, it } from 'vitest';
import { InvalidPathError, UnknownSchemeError } from '../../../src/errors.js';
import { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';
import type { FileSystemLoader } from '../../../src/filesystem/registry.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';

const settings = { configuration: new Map([['s3.endpoint', 'there']]), workingDirectory: '/cwd' };

describe('createFileSystems', () => {
  it('takes a path without a scheme for a local one', async () => {
    const systems = createFileSystems(settings);
    expect(systems.qualify(Path.parse('a/../b')).toString()).toBe('file:/cwd/b');
    expect(systems.qualify(Path.parse('/a')).toString()).toBe('file:/a');
    expect(systems.qualify(Path.parse('s3://b/k/l/..')).toString()).toBe('s3://b/k');
    expect(systems.lookUp(Path.parse('x')).toString()).toBe('file:/cwd/x');
    expect((await systems.get(Path.parse('x'))).scheme).toBe('file');
    expect(await systems.get(Path.parse('/other'))).toBe(await systems.get(Path.parse('file:///x')));
  });

  it('starts relative paths at the working directory of the process unless told otherwise', async () => {
    const systems = createFileSystems({ configuration: new Map() });
    const path = Path.parse('package.json');
    const qualified = systems.qualify(path);
    expect(qualified.path).toBe(`${process.cwd()}/package.json`);
    expect((await systems.get(path)).qualify(path).equals(qualified)).toBe(true);
    expect((await createFileSystems(settings).get(path)).qualify(path).toString()).toBe('file:/cwd/package.json');
  });

  it('makes one file system for each scheme and authority, when it is needed', async () => {
    const made: string[] = [];
    const loader: FileSystemLoader = async ({ configuration }, scheme, authority) => {
      made.push(`${scheme} ${authority} ${configuration.get('s3.endpoint')}`);
      return new MemoryFileSystem({ scheme });
    };
    const systems = createFileSystems(settings, new Map([['s3', loader]]));
    expect(made).toEqual([]);
    const [a, again, b] = await Promise.all(
      ['s3://a/x', 's3://a/y', 's3://b/x'].map((name) => systems.get(Path.parse(name))),
    );
    expect(made).toEqual(['s3 a there', 's3 b there']);
    expect(again).toBe(a);
    expect(b).not.toBe(a);
  });

  it('tries again what has failed', async () => {
    let calls = 0;
    const loader: FileSystemLoader = async () => {
      calls += 1;
      if (calls === 1) throw new Error('no credentials');
      return new MemoryFileSystem();
    };
    const systems = createFileSystems(settings, new Map([['memory', loader]]));
    const path = Path.parse('memory:/x');
    await expect(systems.get(path)).rejects.toThrow('no credentials');
    expect((await systems.get(path)).scheme).toBe('memory');
  });

  it('names the schemes that it knows', async () => {
    const systems = createFileSystems(settings, new Map([['memory', async () => new MemoryFileSystem()]]));
    const error = await systems.get(Path.parse('foo://bar/x')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnknownSchemeError);
    expect(error).toMatchObject({ data: { path: 'foo://bar/x', scheme: 'foo', known: systems.schemes } });
    expect(systems.schemes).toContain('file');
    expect(systems.schemes).toContain('memory');
    // As in Flink, a scheme is looked up as it is written.
    await expect(systems.get(Path.parse('FILE:/x'))).rejects.toThrow(UnknownSchemeError);
  });

  it('refuses a local path with a host', async () => {
    await expect(createFileSystems(settings).get(Path.parse('file://host/a'))).rejects.toThrow(InvalidPathError);
  });
});
