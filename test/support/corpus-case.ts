import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapFileSystems } from '../../src/filesystem/map.js';
import { Path } from '../../src/filesystem/path.js';
import { PathMapping } from '../../src/filesystem/path-mapping.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';

/** A case of the corpus, in a place of its own where anything may be done to it. */
export interface CorpusCase {
  /** See it where Flink wrote it: the paths in its metadata lead into the copy. */
  readonly fileSystems: FileSystems;
  /** The directory in which Flink wrote it. */
  readonly original: Path;
  /** Relative to {@link original}. */
  readonly pointers: readonly string[];
}

/** What a `case.json` says, as far as it is used here. */
interface CaseDescription {
  readonly originalDirectory: string;
  readonly pointers: readonly { readonly pointer: string }[];
  readonly emptyDirectories?: readonly string[];
}

/** Copies a case (`2.3.0/hashmap-files`) from the corpus to a directory that does not exist yet. */
export async function copyCorpusCase(corpus: string, name: string, to: string): Promise<CorpusCase> {
  const description: CaseDescription = JSON.parse(await readFile(join(corpus, name, 'case.json'), 'utf8'));
  await cp(join(corpus, name), to, { recursive: true, filter: (source) => !source.endsWith('.json') });
  for (const directory of description.emptyDirectories ?? []) await mkdir(join(to, directory), { recursive: true });
  const systems = createFileSystems({ configuration: new Map() });
  const original = systems.qualify(Path.parse(description.originalDirectory));
  const mapping = PathMapping.parse([`${original}=${to.replaceAll('=', '\\=')}`], (path) => systems.qualify(path));
  const pointers = description.pointers.map(({ pointer }) => pointer);
  return { fileSystems: mapFileSystems(systems, mapping), original, pointers };
}
