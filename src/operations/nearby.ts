/** What stands around a path that does not exist: pointers that may have been meant. */
import { NotFoundError, WrongFileTypeError } from '../errors.js';
import type { DirectoryEntry } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { loadMetadataHeader } from '../format/metadata/read.js';
import { checkpointNumber, METADATA_FILE } from './layout.js';
import { nearestNames } from './near-names.js';

const MAX_NEARBY = 5;

/** What is there instead of a path. */
export interface Surroundings {
  /** True if the path itself is there: a link that leads nowhere. */
  readonly isLink: boolean;
  /** The topmost directory above the path that does not exist; undefined if the one it should be in does. */
  readonly missing: Path | undefined;
  /** A file that stands where a directory above the path should be. */
  readonly blocking: Path | undefined;
  /** Pointers with metadata, the likeliest first. */
  readonly nearby: readonly Path[];
  /** Directories with names like that of the missing one. */
  readonly alike: readonly Path[];
}

const NOTHING: Surroundings = { isLink: false, missing: undefined, blocking: undefined, nearby: [], alike: [] };

/** Looks around. What cannot be looked at is left out. */
export async function surroundingsOf(fileSystems: FileSystems, path: Path): Promise<Surroundings> {
  let missing: Path | undefined;
  let wanted = path;
  for (;;) {
    const { parent } = wanted;
    if (!parent) return { ...NOTHING, missing };
    try {
      const entries = await entriesOf(fileSystems, parent);
      const isLink = missing === undefined && entries.some(({ name, isLink: link }) => link && name === path.name);
      return { ...NOTHING, isLink, missing, ...(await likely(fileSystems, path, wanted, entries)) };
    } catch (error) {
      if (error instanceof WrongFileTypeError) return { ...NOTHING, blocking: parent };
      if (!(error instanceof NotFoundError)) return { ...NOTHING, missing };
      missing = parent;
      wanted = parent;
    }
  }
}

/** The complete checkpoints beside a directory: those of the nearest numbers, or else the newest. */
export async function nearbyCheckpoints(fileSystems: FileSystems, directory: Path): Promise<readonly Path[]> {
  const { parent } = directory;
  if (!parent) return [];
  try {
    const names = (await entriesOf(fileSystems, parent)).map(({ name }) => name);
    const near = nearestCheckpoints(checkpointNumber(directory.name), names);
    return await withMetadata(
      fileSystems,
      near.map((name) => parent.entry(name)),
    );
  } catch {
    return [];
  }
}

/**
 * @param wanted the path, or the topmost directory above it that does not exist
 * @param entries what stands where `wanted` should be
 */
async function likely(
  fileSystems: FileSystems,
  path: Path,
  wanted: Path,
  entries: readonly DirectoryEntry[],
): Promise<Pick<Surroundings, 'nearby' | 'alike'>> {
  const { parent } = wanted;
  if (!parent) return NOTHING;
  const rest = path.relativeTo(wanted) ?? '';
  const names = entries
    .filter(({ type }) => type === 'directory' || (type === 'file' && rest === ''))
    .map(({ name }) => name);
  const number = checkpointNumber(wanted.name);
  const close =
    number === undefined ? nearestNames(wanted.name, names, MAX_NEARBY * 2) : nearestCheckpoints(number, names);
  const siblings = close.map((name) => parent.entry(name));
  if (rest === '') return { nearby: await withMetadata(fileSystems, siblings), alike: [] };
  const below = siblings.map((sibling) => sibling.child(rest));
  return { nearby: await withMetadata(fileSystems, below), alike: siblings.slice(0, MAX_NEARBY) };
}

/** Names of checkpoints, those with the nearest numbers first; without a number the highest first. */
function nearestCheckpoints(number: bigint | undefined, names: readonly string[]): string[] {
  const numbered = names.flatMap((name) => {
    const other = checkpointNumber(name);
    if (other === undefined) return [];
    const distance = number === undefined ? -other : other > number ? other - number : number - other;
    return [{ name, distance, other }];
  });
  // Of two at one distance the newer one.
  numbered.sort((a, b) => compare(a.distance, b.distance) || compare(b.other, a.other));
  return numbered.map(({ name }) => name).slice(0, MAX_NEARBY * 2);
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

async function entriesOf(fileSystems: FileSystems, directory: Path): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const batch of (await fileSystems.get(directory)).list(directory)) entries.push(...batch);
  return entries;
}

async function withMetadata(fileSystems: FileSystems, candidates: readonly Path[]): Promise<readonly Path[]> {
  const found: Path[] = [];
  for (const candidate of candidates) {
    if (found.length >= MAX_NEARBY) break;
    if (await isPointer(fileSystems, candidate)) found.push(candidate);
  }
  return found;
}

/** True for a directory with a metadata file, and for a file that begins like one; false where that cannot be seen. */
async function isPointer(fileSystems: FileSystems, path: Path): Promise<boolean> {
  try {
    const fileSystem = await fileSystems.get(path);
    const { type } = await fileSystem.getFileStatus(path);
    if (type === 'directory') return (await fileSystem.getFileStatus(path.child(METADATA_FILE))).type === 'file';
    const source = await fileSystem.open(path);
    try {
      await loadMetadataHeader(source, path.toString());
      return true;
    } finally {
      await source.close();
    }
  } catch {
    return false;
  }
}
