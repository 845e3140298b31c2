import { RefusedError, UsageError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { ListResult } from '../../operations/list/entry.js';
import { listCheckpoints } from '../../operations/list/list.js';
import {
  emptiedCheckpoints,
  type PruneGroup,
  pruneArea,
  type Retention,
  selectForPrune,
} from '../../operations/prune.js';
import type { DiscardDocument } from '../../report/discard.js';
import { renderChoice } from '../../report/prune.js';
import type { Context } from '../context.js';
import type { DiscardOptions } from '../discard-options.js';
import { Exit, type ExitCode } from '../exit-code.js';
import { outputPath, runDiscard } from '../run-discard.js';
import type { DestructiveOptions, Run } from '../spec.js';
import { storeTime } from '../store-time.js';

interface Options extends DiscardOptions, DestructiveOptions {
  readonly keep?: number;
  readonly olderThan?: number;
  readonly savepoints?: true;
}

/** Runs `ckpt prune`. */
export const run: Run<Options> = async (context, [given], options) => {
  const fileSystems = await context.fileSystems();
  if (options.plan !== undefined) {
    if (given !== undefined) throw new UsageError('--plan says itself what goes: no root beside it');
    return discard(context, fileSystems, [], {}, options);
  }
  if (given === undefined) throw new UsageError("missing required argument 'root'");
  const root = outputPath(fileSystems, given, 'root');
  const now = await storeTime(context, fileSystems, [root]);
  const retention = retentionOf(options, now());
  const listed = await list(context, fileSystems, root, { sizes: true, now: now() });
  const groups = selectForPrune(listed.entries, retention);
  const chosen = groups.flatMap((group) => [...group.unfinished, ...group.discard]);
  const area = pruneArea(fileSystems, root, chosen);
  const pointers = [...chosen, ...(await emptiedCheckpoints(fileSystems, area, listed))];
  if (!context.json) await context.preview({ groups, what: retention.of }, renderChoice);
  if (pointers.length === 0 && options.planOut === undefined) return nothingToDo(context, area, groups, options);
  return discard(context, fileSystems, pointers, { roots: area, groups }, options, async () => {
    await requireSameChoice(context, fileSystems, root, groups, retention);
  });
};

/** @throws UsageError, RefusedError */
function retentionOf({ keep, olderThan, savepoints, force }: Options, now: number): Retention {
  if (keep === undefined && olderThan === undefined) {
    throw new UsageError('say what stays: --keep N, --older-than T, or both');
  }
  if (keep === 0 && !force) {
    throw new RefusedError('--keep 0 leaves a job without a checkpoint to restart from: it needs --force', {
      reason: 'keep-0',
    });
  }
  return {
    keep,
    olderThan,
    of: savepoints ? 'savepoints' : 'checkpoints',
    now,
    newest: keep === 0 ? 'may-go' : 'stays',
  };
}

/** @throws the error of the root if it cannot be listed */
async function list(
  context: Context,
  fileSystems: FileSystems,
  root: Path,
  { sizes, now }: { readonly sizes: boolean; readonly now: number },
): Promise<ListResult> {
  const progress = context.progress('Finding checkpoints');
  try {
    const listed = await listCheckpoints(fileSystems, [root], {
      now,
      minAge: 0,
      sizes,
      signal: context.signal,
      onProgress: (_, done, total) => progress.update(done, total),
    });
    const [failed] = listed.failed;
    if (failed) throw failed.error;
    return listed;
  } finally {
    progress.stop();
  }
}

/**
 * What was chosen by what was newest must still be so when it goes.
 * @throws RefusedError
 */
async function requireSameChoice(
  context: Context,
  fileSystems: FileSystems,
  root: Path,
  groups: readonly PruneGroup[],
  retention: Retention,
): Promise<void> {
  const listed = await list(context, fileSystems, root, { sizes: false, now: retention.now });
  const now = new Set(selectForPrune(listed.entries, retention).flatMap((group) => group.discard));
  const there = new Set(listed.entries.map(({ pointer }) => pointer));
  for (const pointer of groups.flatMap((group) => group.discard)) {
    if (now.has(pointer) || !there.has(pointer)) continue;
    throw new RefusedError(
      `${pointer}: it is not beyond what is to be kept any more, for others have gone meanwhile; nothing was changed`,
      { reason: 'changed', pointer },
    );
  }
}

async function nothingToDo(
  context: Context,
  area: readonly Path[],
  groups: readonly PruneGroup[],
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const document: DiscardDocument & Pick<PruneGroup, 'retained'> = {
    pointers: [],
    plan: { delete: [], keep: [] },
    done: !dryRun,
    dryRun,
    interrupted: false,
    deletedFiles: 0,
    deletedBytes: 0,
    alreadyGone: 0,
    strayEntries: [],
    error: null,
    suppressed: [],
    movedTo: null,
    search: { roots: area.map(String), checkpoints: 0, metadataFiles: 0, unreadable: [], searched: false },
    retained: groups.flatMap(({ retained }) => retained),
  };
  // The choice has been shown, and it says that there is nothing.
  await context.emit(document, () => '');
  return Exit.Ok;
}

interface Choice {
  readonly roots?: readonly Path[];
  readonly groups?: readonly PruneGroup[];
}

function discard(
  context: Context,
  fileSystems: FileSystems,
  pointers: readonly string[],
  { roots, groups = [] }: Choice,
  options: Options,
  beforeExecution?: () => Promise<void>,
): Promise<ExitCode> {
  const directory = (option: string) => (text: string) => outputPath(fileSystems, text, option);
  return runDiscard(context, {
    command: 'prune',
    pointers,
    targets: { roots: roots ?? [], allowOutside: options.allowOutside.map(directory('--allow-outside')) },
    plan: {
      scope: options.keepShared ? 'own-directories' : 'all',
      // Whatever is forced: what stays must stay whole.
      otherUsers: 'respect',
      job: options.jobStopped ? 'stopped' : 'may-run',
      minAge: options.minAge,
      unreadable: 'fail',
      moveTo: options.moveTo === undefined ? undefined : directory('--move-to')(options.moveTo),
    },
    options,
    beforeExecution,
    more: { retained: groups.flatMap(({ retained }) => retained) },
  });
}
