import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Everything that the system tells of the files of a tree, by their paths. */
export type Snapshot = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Takes a snapshot of a tree: names, types, sizes, owners, modes, links, inodes and all time stamps, the access time of files
 * included (of directories it changes with every listing, also with this one). Opens no file.
 */
export async function snapshotOf(root: string): Promise<Snapshot> {
  const entries: Record<string, Record<string, string>> = {};
  const visit = async (path: string): Promise<void> => {
    const status = await lstat(path, { bigint: true });
    entries[relative(root, path)] = await describe(path, status);
    if (!status.isDirectory()) return;
    for (const name of await readdir(path)) await visit(join(path, name));
  };
  await visit(root);
  return entries;
}

async function describe(path: string, status: BigIntStats): Promise<Record<string, string>> {
  const { mode, uid, gid, size, ino, nlink, mtimeNs, ctimeNs, birthtimeNs, atimeNs } = status;
  return {
    ...Object.fromEntries(
      Object.entries({ mode, uid, gid, size, ino, nlink, mtimeNs, ctimeNs, birthtimeNs }).map(([key, value]) => [
        key,
        String(value),
      ]),
    ),
    ...(status.isFile() && { atimeNs: String(atimeNs) }),
    ...(status.isSymbolicLink() && { target: await readlink(path) }),
  };
}
