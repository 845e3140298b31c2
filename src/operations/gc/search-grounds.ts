/** Where files may go, where metadata is read besides, and what was taken out: the arguments of a search, checked. */
import { CkptError, UsageError, WrongFileTypeError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { Area } from '../area/area.js';
import { outermost } from '../area/scan.js';
import type { Grounds } from './named-directories.js';
import { readAlongWith } from './places.js';

/** The arguments of a search for garbage that name places; qualified. */
export interface GcPlaces {
  readonly roots: readonly Path[];
  /** Places that may refer to the roots. */
  readonly usedBy?: readonly Path[] | undefined;
  /** Flat directories of changelog files. */
  readonly changelogBases?: readonly Path[] | undefined;
  /** Groups of schemes that the user says are one store. */
  readonly aliases?: readonly (readonly string[])[] | undefined;
}

/**
 * Looks whether the places are there.
 * @throws NotFoundError, PermissionError, UnknownSchemeError; WrongFileTypeError if one is no directory; UsageError if
 *   there is no root
 */
export async function findGrounds(fileSystems: FileSystems, places: GcPlaces): Promise<Grounds> {
  const { usedBy = [], changelogBases = [], aliases = [] } = places;
  if (places.roots.length === 0) throw new UsageError('there is no root to search');
  for (const path of [...places.roots, ...usedBy, ...changelogBases]) await requireDirectory(fileSystems, path);
  const roots = outermost(places.roots);
  const along: Path[] = [];
  for (const root of roots) {
    const path = readAlongWith(root);
    if (path && !roots.some((other) => path.startsWith(other))) along.push(path);
  }
  return {
    roots: await Area.of(fileSystems, roots, aliases),
    readOnly: await Area.of(fileSystems, outermost([...along, ...usedBy, ...changelogBases]), aliases),
    changelogBases,
  };
}

async function requireDirectory(fileSystems: FileSystems, path: Path): Promise<void> {
  const status = await (await fileSystems.get(path)).getFileStatus(path);
  if (status.type !== 'directory') throw new WrongFileTypeError(path.toString(), 'directory');
}

/**
 * The paths of what pointers name, which may be broken in any way: the pointers themselves and, if one is a metadata file,
 * its directory.
 */
export async function pathsOfDead(fileSystems: FileSystems, pointers: readonly string[]): Promise<Set<string>> {
  const paths = new Set<string>();
  for (const pointer of pointers) {
    const path = fileSystems.nameOf(Path.parse(pointer));
    paths.add(path.toString());
    try {
      const status = await (await fileSystems.get(path)).getFileStatus(path);
      if (status.type === 'file' && path.parent) paths.add(path.parent.toString());
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
    }
  }
  return paths;
}
