/** Looks at every file that checkpoints name, and decides whether it goes. */
import { CkptError, NotFoundError, RefusedError } from '../../errors.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { Area } from '../area/area.js';
import { IdSets } from './id-sets.js';
import type { TargetFile, Verdict } from './target-files.js';
import { isStatus } from './targets.js';

const CONCURRENT_DIRECTORIES = 8;
/** Names in one call to a store, so that an abort is noticed. */
const NAMES_AT_ONCE = 10_000;

/**
 * Looks at files: notes in each what is there.
 * @returns the identity of each directory in the area, by its name
 * @throws RefusedError if a link leads out of the area; errors of directories in the area that cannot be looked at; the
 *   signal's reason
 */
export async function lookAtFiles(
  fileSystems: FileSystems,
  files: readonly TargetFile[],
  area: Area,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string | undefined>> {
  const identities = new Map<string, string | undefined>();
  const byDirectory = new Map<string, TargetFile[]>();
  for (const file of files) {
    const siblings = byDirectory.get(file.directory);
    if (siblings) siblings.push(file);
    else byDirectory.set(file.directory, [file]);
  }
  await forEachConcurrently(
    byDirectory,
    async ([name, siblings]) => {
      const place = await placeOf(fileSystems, name, area);
      if (place.kind === 'inside') {
        identities.set(name, place.identity);
        await lookInto(fileSystems, place.directory, siblings, area, signal);
        return;
      }
      for (const file of siblings) {
        file.sight = place.kind;
        file.size = file.recorded;
      }
    },
    { concurrency: CONCURRENT_DIRECTORIES, signal },
  );
  signal?.throwIfAborted();
  return identities;
}

type Place =
  | { readonly kind: 'inside'; readonly directory: Path; readonly identity: string | undefined }
  | { readonly kind: 'outside' }
  | { readonly kind: 'gone' };

/** Where a directory lies: links count for what they lead to. */
async function placeOf(fileSystems: FileSystems, name: string, area: Area): Promise<Place> {
  let directory: Path;
  try {
    directory = Path.parse(name);
    fileSystems.qualify(directory);
  } catch (error) {
    if (!(error instanceof CkptError)) throw error;
    return { kind: 'outside' };
  }
  const isNamedInside = area.contains(directory);
  // What lies in another store needs no look, and no access to it.
  if (!isNamedInside && fileSystems.lookUp(directory).scheme !== 'file') return { kind: 'outside' };
  const fileSystem = await fileSystems.get(directory);
  try {
    const real = await fileSystem.resolveLinks(directory);
    if (!area.containsReal(real)) {
      if (!isNamedInside) return { kind: 'outside' };
      throw leadsOut(directory, real);
    }
    const { identity } = await fileSystem.getFileStatus(directory);
    return { kind: 'inside', directory, identity };
  } catch (error) {
    if (error instanceof NotFoundError) return { kind: isNamedInside ? 'gone' : 'outside' };
    if (!(error instanceof CkptError) || isNamedInside) throw error;
    return { kind: 'outside' };
  }
}

async function lookInto(
  fileSystems: FileSystems,
  directory: Path,
  files: readonly TargetFile[],
  area: Area,
  signal: AbortSignal | undefined,
): Promise<void> {
  const fileSystem = await fileSystems.get(directory);
  for (let start = 0; start < files.length; start += NAMES_AT_ONCE) {
    const some = files.slice(start, start + NAMES_AT_ONCE);
    const names = some.map(({ name }) => name);
    const statuses = await fileSystem.getFileStatuses(directory, names, signal);
    for (const [index, file] of some.entries()) {
      const status = statuses[index];
      if (status === undefined) continue;
      if (!isStatus(status)) {
        // The attempt to delete it will tell why it cannot be looked at.
        file.sight = 'unknown';
        file.size = file.recorded;
        continue;
      }
      file.sight = status.type;
      file.size = status.size;
      file.modificationTime = status.modificationTime;
      file.linkCount = status.linkCount;
      if (status.type === 'link') await requireLinkInside(fileSystems, directory.entry(file.name), area);
    }
  }
}

/** By what is decided whether a file goes. */
export interface JudgeRules {
  /** Keys of the directories of the checkpoints that go. */
  readonly ownDirectories: ReadonlySet<string>;
  /** True if nothing outside of them may go. */
  readonly keepShared: boolean;
  /** Merged and changelog files changed at this time or later stay, ms since the epoch. */
  readonly youngFrom: number;
}

/** Decides about a file that was looked at and whose users are known. */
export function judge(file: TargetFile, rules: JudgeRules): Verdict {
  if (file.sight === 'gone' || file.sight === 'outside') return file.sight === 'gone' ? 'gone' : 'outside-tree';
  if (file.users !== IdSets.EMPTY) return file.merged ? 'shared-segment' : 'used-by-other';
  if (rules.keepShared && !rules.ownDirectories.has(file.directoryKey)) return 'outside-tree';
  const isWrittenByMany = file.merged || file.changelog;
  return isWrittenByMany && file.modificationTime >= rules.youngFrom ? 'young' : 'delete';
}

/**
 * Makes sure that a link leads to something in the area, or nowhere.
 * @throws RefusedError
 */
export async function requireLinkInside(fileSystems: FileSystems, link: Path, area: Area): Promise<void> {
  let real: Path;
  try {
    real = await (await fileSystems.get(link)).resolveLinks(link);
  } catch (error) {
    if (!(error instanceof CkptError)) throw error;
    return;
  }
  if (!area.containsReal(real)) throw leadsOut(link, real);
}

function leadsOut(path: Path, real: Path): RefusedError {
  return new RefusedError(
    `${path}: a link on this path leads out of the directories below which files may be deleted, to ${real}; nothing was changed`,
    { reason: 'link', path: path.toString(), leadsTo: real.toString() },
  );
}
