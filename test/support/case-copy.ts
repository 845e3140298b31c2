import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fixtureCase } from './corpus.js';
import { tempDirectory } from './temp.js';

/** A copy of a case, in a directory that goes away with the test. */
export interface CaseCopy {
  /** The copy: what the metadata calls {@link CaseCopy.original} lies here. */
  readonly root: string;
  readonly original: string;
  /** `--map` that takes the names in the metadata for the copy. */
  readonly map: readonly [option: '--map', mapping: string];
  /** The job of the first checkpoint. */
  readonly job: string;
  /** A path in the copy. */
  readonly path: (...names: string[]) => string;
}

/** Copies the tree of a fixture such as `flink-2.3.0/unaligned`. */
export async function copyOfCase(name: string): Promise<CaseCopy> {
  const { directory, mapping, pointers } = fixtureCase(name);
  const root = join(await tempDirectory(), 'root');
  await cp(directory, root, {
    recursive: true,
    filter: (source) => !/(?:\.json)$/.test(source),
  });
  const job =
    pointers.map(({ externalPointer }) => /\/([0-9a-f]{32})\/chk-/.exec(externalPointer)?.[1]).find(Boolean) ?? '';
  return {
    root,
    original: mapping.uri,
    map: ['--map', `${mapping.uri}=${root}`],
    job,
    path: (...names) => join(root, ...names),
  };
}
