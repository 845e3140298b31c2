import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Makes an empty directory that goes away when the current test has finished. Call it inside a test; outside one (a
 * `beforeAll`) use {@link withTempDirectory}. The path is free of links, so it equals what `realpath` says of it.
 */
export async function tempDirectory(): Promise<string> {
  const directory = await create();
  onTestFinished(() => removeTree(directory));
  return directory;
}

/** Runs `use` with an empty directory that is removed afterwards, whatever happened. */
export async function withTempDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await create();
  try {
    return await use(directory);
  } finally {
    await removeTree(directory);
  }
}

async function create(): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), 'ckpt-test-'));
}

/** Removes a tree even if a test took write permission away from parts of it. */
async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    await makeWritable(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeWritable(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      await makeWritable(join(directory, entry.name));
    }
  }
}
