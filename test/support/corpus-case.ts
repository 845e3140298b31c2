import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapFileSystems } from '../../src/filesystem/map.js';
import { Path } from '../../src/filesystem/path.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import type { CorpusCase } from './corpus.js';

/** A case in a place of its own, where anything may be done to it. */
export interface MappedCase {
  /** See the case where Flink wrote it: the paths in its metadata lead into the copy. */
  readonly fileSystems: FileSystems;
  /** Where Flink wrote it. */
  readonly original: Path;
}

/** Copies a case of this machine's file system, with its empty directories, to a directory that does not exist yet. */
export async function copyMapped({ directory, mapping }: CorpusCase, to: string): Promise<MappedCase> {
  await cp(directory, to, { recursive: true, filter: (source) => !source.endsWith('.json') });
  const { emptyDirectories = [] }: { emptyDirectories?: readonly string[] } = JSON.parse(
    await readFile(join(directory, 'case.json'), 'utf8'),
  );
  for (const name of emptyDirectories) await mkdir(join(to, name), { recursive: true });
  const systems = createFileSystems({ configuration: new Map() });
  const pairs = PathMapping.parse([`${mapping.uri}=${to.replaceAll('=', '\\=')}`], (path) => systems.qualify(path));
  return { fileSystems: mapFileSystems(systems, pairs), original: systems.qualify(Path.parse(mapping.uri)) };
}
