/** Looks at every file that checkpoints name and decides whether it goes. */
import { CkptError, NotFoundError, RefusedError } from '../../errors.js';
import type { EntryStatus } from '../../filesystem/file-system.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { Area } from '../area/area.js';
import { IdSets } from './id-sets.js';
import type { TargetFile } from './target-files.js';
import { isStatus } from './targets.js';
import type { KeepReason } from './types.js';

const CONCURRENT_DIRECTORIES = 8;
/** Names in one call to a store, so that an abort is noticed. */
const NAMES_AT_ONCE = 10_000;

/** What is to become of a file. */
export type Verdict =
  | { readonly kind: 'gone' }
  | { readonly kind: 'keep'; readonly bytes: number; readonly reason: KeepReason }
  | { readonly kind: 'delete'; readonly bytes: number; readonly modificationTime: number };

/** By what is decided. */
export interface JudgeRules {
  readonly area: Area;
  /** Keys of the directories of the checkpoints that go. */
  readonly ownDirectories: ReadonlySet<string>;
  /** True if nothing outside of them may go. */
  readonly keepShared: boolean;
  /** Merged and changelog files changed at this time or later stay, ms since the epoch. */
  readonly youngFrom: number;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link judgeFiles} has found. */
export interface Judgement {
  readonly verdicts: ReadonlyMap<TargetFile, Verdict>;
  /** Identity of each directory in which something may go, by its name. */
  readonly identities: ReadonlyMap<string, string | undefined>;
}

/**
 * Judges files.
 * @throws RefusedError if a link leads out of the area; errors of directories in the area that cannot be looked at; the
 *   signal's reason
 */
export async function judgeFiles(
  fileSystems: FileSystems,
  files: readonly TargetFile[],
  rules: JudgeRules,
): Promise<Judgement> {
  const verdicts = new Map<TargetFile, Verdict>();
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
      const place = await placeOf(fileSystems, name, rules.area);
      if (place.kind === 'inside') {
        identities.set(name, place.identity);
        await judgeDirectory(fileSystems, place.directory, siblings, rules, verdicts);
        return;
      }
      for (const file of siblings) {
        const stays: Verdict = { kind: 'keep', bytes: file.recorded, reason: 'outside-tree' };
        verdicts.set(file, place.kind === 'outside' ? stays : { kind: 'gone' });
      }
    },
    { concurrency: CONCURRENT_DIRECTORIES, signal: rules.signal },
  );
  rules.signal?.throwIfAborted();
  return { verdicts, identities };
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

async function judgeDirectory(
  fileSystems: FileSystems,
  directory: Path,
  files: readonly TargetFile[],
  rules: JudgeRules,
  verdicts: Map<TargetFile, Verdict>,
): Promise<void> {
  const fileSystem = await fileSystems.get(directory);
  for (let start = 0; start < files.length; start += NAMES_AT_ONCE) {
    const some = files.slice(start, start + NAMES_AT_ONCE);
    const statuses = await fileSystem.getFileStatuses(
      directory,
      some.map(({ name }) => name),
      rules.signal,
    );
    for (const [index, file] of some.entries()) {
      const status = statuses[index];
      if (status === undefined) {
        verdicts.set(file, { kind: 'gone' });
        continue;
      }
      if (isStatus(status) && status.type === 'link') {
        await requireLinkInside(fileSystems, directory.entry(file.name), rules.area);
      }
      verdicts.set(file, judge(file, isStatus(status) ? status : undefined, rules));
    }
  }
}

/** @param status undefined if it cannot be looked at: then the attempt to delete it will tell why */
function judge(file: TargetFile, status: EntryStatus | undefined, rules: JudgeRules): Verdict {
  const bytes = status?.size ?? file.recorded;
  const keep = (reason: KeepReason): Verdict => ({ kind: 'keep', bytes, reason });
  if (file.users !== IdSets.EMPTY) return keep(file.merged ? 'shared-segment' : 'used-by-other');
  if (rules.keepShared && !rules.ownDirectories.has(file.directoryKey)) return keep('outside-tree');
  const isWrittenByMany = file.merged || file.changelog;
  if (isWrittenByMany && status && status.modificationTime >= rules.youngFrom) return keep('young');
  const freed = status && status.linkCount > 1 ? 0 : bytes;
  return { kind: 'delete', bytes: freed, modificationTime: status?.modificationTime ?? 0 };
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
