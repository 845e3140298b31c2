import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PermissionError } from '../../src/errors.js';
import type { FileSystem } from '../../src/filesystem/file-system.js';
import { mapFileSystems } from '../../src/filesystem/map.js';
import { MemoryFileSystem } from '../../src/filesystem/memory.js';
import { Path } from '../../src/filesystem/path.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { removeGarbage } from '../../src/operations/gc/remove.js';
import { type GcSearch, type GcSearchOptions, searchGarbage } from '../../src/operations/gc/search.js';
import { type BuiltTree, buildTree, treePlans } from '../support/gc-tree.js';
import { binPath } from '../support/paths.js';
import { memoryStore, treeOf } from '../support/stores.js';
import { withTempDirectory } from '../support/temp.js';

const root = Path.parse('memory:/root');
/** Everything is old enough for these. */
const options: Pick<GcSearchOptions, 'minAge' | 'now'> = { minAge: 0, now: Date.now };

function search(fileSystems: FileSystems, at: Path = root, more: Partial<GcSearchOptions> = {}): Promise<GcSearch> {
  return searchGarbage(fileSystems, { ...options, roots: [at], ...more });
}

function kindsOf({ findings }: GcSearch): Record<string, string> {
  return Object.fromEntries(findings.unreferenced.map(({ path, kind }) => [path, kind]));
}

function expectNothing({ findings }: GcSearch): void {
  expect(findings.blocked.length).toBeGreaterThan(0);
  expect([findings.unreferenced, findings.taskOwned, findings.emptyDirectories]).toEqual([[], [], []]);
}

/** A store by another spelling of its scheme. */
function spelledAs(store: FileSystem, scheme: string): FileSystem {
  const respell = (value: unknown): unknown =>
    value instanceof Path ? Path.verbatim({ scheme, authority: value.authority, path: value.path }) : value;
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (...args: unknown[]) => value.apply(target, args.map(respell)) : value;
    },
  });
}

/** Paths of all files below a directory. */
async function filesBelow(fileSystem: FileSystem, directory: Path): Promise<string[]> {
  const names = await treeOf(fileSystem, directory);
  return names.filter((name) => !name.endsWith('/')).map((name) => `${directory}/${name}`);
}

function sorted(paths: Iterable<string>): string[] {
  return [...paths].sort();
}

describe('gc and any tree', () => {
  it('offers exactly what the model says, in a file system and in an object store', async () => {
    await fc.assert(
      fc.asyncProperty(
        treePlans,
        fc.constantFrom('file-system' as const, 'object-store' as const),
        async (plan, kind) => {
          const { memory, fileSystems } = memoryStore({ kind });
          const tree = await buildTree(memory, root, plan);
          const found = await search(fileSystems);
          expect(found.findings.blocked).toEqual([]);
          expect(kindsOf(found)).toEqual(Object.fromEntries(tree.garbage));
          expect(sorted(found.findings.taskOwned.map(({ path }) => path))).toEqual(sorted(tree.taskOwned));
          expect(sorted(await filesBelow(memory, root))).toEqual(sorted(tree.files));
        },
      ),
    );
  });

  it('removes exactly that, and finds nothing more afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(
        treePlans,
        fc.constantFrom('file-system' as const, 'object-store' as const),
        async (plan, kind) => {
          const { memory, fileSystems } = memoryStore({ kind });
          const tree = await buildTree(memory, root, plan);
          const result = await removeGarbage(fileSystems, await search(fileSystems, root, { taskOwned: true }));
          expect([result.failed, result.blocked, result.spared, result.interrupted]).toEqual([[], [], [], false]);
          const kept = [...tree.files].filter((path) => !tree.garbage.has(path) && !tree.taskOwned.has(path));
          expect(sorted(await filesBelow(memory, root))).toEqual(sorted(kept));
          expect(result.deletedFiles).toBe(tree.files.size - kept.length);
          expect(kindsOf(await search(fileSystems, root, { taskOwned: true }))).toEqual({});
        },
      ),
    );
  });

  it('offers nothing once any one metadata file is damaged', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, fc.nat(), fc.nat(), async (plan, which, where) => {
        const { memory, fileSystems } = memoryStore();
        const { checkpoints } = await buildTree(memory, root, plan);
        const { metadata } = checkpoints[which % checkpoints.length] as BuiltTree['checkpoints'][number];
        const source = await memory.open(metadata);
        const bytes = await source.read(0, source.size);
        // At least the magic number: without it a file that is not called _metadata is none.
        const kept = metadata.name === '_metadata' ? where % bytes.length : 4 + (where % (bytes.length - 4));
        const writer = await memory.createAtomic(metadata, { overwrite: true });
        await writer.write(bytes.subarray(0, kept));
        await writer.commit();
        const found = await search(fileSystems);
        expectNothing(found);
        expect(found.findings.blocked.map(({ path }) => path)).toContain(metadata.toString());
      }),
    );
  });

  it('offers nothing if a directory cannot be listed', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, fc.nat(), async (plan, which) => {
        let closed = '';
        const { memory, fileSystems } = memoryStore({
          failures: (operation, path) =>
            operation === 'list' && path.toString() === closed ? new PermissionError(closed) : undefined,
        });
        const { files } = await buildTree(memory, root, plan);
        const directories = sorted(new Set([...files].map((path) => path.slice(0, path.lastIndexOf('/')))));
        closed = directories[which % directories.length] ?? '';
        const found = await search(fileSystems);
        expectNothing(found);
        expect(found.findings.blocked.map(({ path }) => path)).toContain(closed);
      }),
    );
  });

  it('offers nothing if metadata spells the scheme differently, and the model if that was allowed', async () => {
    const bucket = Path.parse('s3://bucket/cp');
    await fc.assert(
      fc.asyncProperty(treePlans, async (plan) => {
        const store = new MemoryFileSystem({ scheme: 's3', kind: 'object-store' });
        const fileSystems = createFileSystems(
          { configuration: new Map() },
          new Map([
            ['s3', async () => store],
            ['s3a', async () => spelledAs(store, 's3')],
          ]),
        );
        const tree = await buildTree(store, bucket, plan, (path) => path.toString().replace('s3:', 's3a:'));
        expectNothing(await search(fileSystems, bucket));
        const found = await search(fileSystems, bucket, { aliases: [['s3', 's3a']] });
        expect(found.findings.blocked).toEqual([]);
        expect(kindsOf(found)).toEqual(Object.fromEntries(tree.garbage));
      }),
    );
  });

  it('offers nothing in a copy, and the model if it is told what the copy is of', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, async (plan) => {
        const { memory, fileSystems } = memoryStore();
        const original = Path.parse('memory:/flink/original');
        const nameOf = (path: Path): string => path.toString().replace('memory:/root', original.toString());
        const tree = await buildTree(memory, root, plan, nameOf);
        expectNothing(await search(fileSystems));
        const mapping = PathMapping.parse([`${original}=${root}`], (path) => fileSystems.qualify(path));
        const mapped = mapFileSystems(fileSystems, mapping);
        for (const at of [original, root]) {
          const found = await search(mapped, mapped.nameOf(at));
          expect(found.findings.blocked).toEqual([]);
          const expected = [...tree.garbage].map(([path, kind]) => [nameOf(Path.parse(path)), kind]);
          expect(kindsOf(found)).toEqual(Object.fromEntries(expected));
        }
      }),
    );
  });

  it('offers nothing if the tree is reached through a link, and the model by its own name', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, async (plan) => {
        await withTempDirectory(async (directory) => {
          const fileSystems = createFileSystems({ configuration: new Map() });
          const real = Path.parse(`file:${directory}/real`);
          const tree = await buildTree(await fileSystems.get(real), real, plan);
          await symlink(join(directory, 'real'), join(directory, 'link'));
          expectNothing(await search(fileSystems, Path.parse(`file:${directory}/link`)));
          // A directory that the metadata calls by a link to it.
          const found = await search(fileSystems, real);
          expect(kindsOf(found)).toEqual(Object.fromEntries(tree.garbage));
        });
      }),
      { numRuns: 15 },
    );
  });

  it('offers what the model says if metadata and command line agree on the name of a link', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, async (plan) => {
        await withTempDirectory(async (directory) => {
          const fileSystems = createFileSystems({ configuration: new Map() });
          await mkdir(join(directory, 'real'));
          await symlink(join(directory, 'real'), join(directory, 'link'));
          const link = Path.parse(`file:${directory}/link`);
          const tree = await buildTree(await fileSystems.get(link), link, plan);
          const found = await search(fileSystems, link);
          expect(kindsOf(found)).toEqual(Object.fromEntries(tree.garbage));
        });
      }),
      { numRuns: 10 },
    );
  });

  it('never offers a file that a checkpoint names by a link below the roots', async () => {
    await fc.assert(
      fc.asyncProperty(treePlans, async (plan) => {
        await withTempDirectory(async (directory) => {
          const fileSystems = createFileSystems({ configuration: new Map() });
          const at = Path.parse(`file:${directory}/root`);
          await mkdir(join(directory, 'root'));
          // The names in the metadata lead to the files through a link that lies below the root itself.
          await symlink(join(directory, 'root'), join(directory, 'root', 'self'));
          const nameOf = (path: Path): string => path.toString().replace('/root/', '/root/self/');
          const tree = await buildTree(await fileSystems.get(at), at, plan, nameOf);
          const found = await search(fileSystems, at);
          const used = new Set(tree.checkpoints.flatMap(({ names }) => [...names]));
          expect(found.findings.unreferenced.filter(({ path }) => used.has(path))).toEqual([]);
          await rm(join(directory, 'root', 'self'));
        });
      }),
      { numRuns: 15 },
    );
  });

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'offers nothing if the tree is reached by the name of a mount',
    async () => {
      await fc.assert(
        fc.asyncProperty(treePlans, async (plan) => {
          await withTempDirectory(async (directory) => {
            const fileSystems = createFileSystems({ configuration: new Map() });
            const real = Path.parse(`file:${directory}/real`);
            await buildTree(await fileSystems.get(real), real, plan);
            await mkdir(join(directory, 'mount'));
            const script = 'mount --bind "$0/real" "$0/mount" && exec "$@"';
            const ckpt = [process.execPath, binPath(), 'gc', `${directory}/mount`, '--json', '--min-age', '0s'];
            const run = await execa('unshare', ['--mount', 'bash', '-c', script, directory, ...ckpt], {
              reject: false,
            });
            expect(run.exitCode).toBe(5);
            const document = JSON.parse(run.stdout);
            expect(document.unreferenced).toEqual([]);
            expect(document.blocked.length).toBeGreaterThan(0);
          });
        }),
        { numRuns: 4 },
      );
    },
  );
});
