import { NoCheckpointError, UsageError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { ListEntry, ListJob, ListResult } from '../../operations/list/entry.js';
import { type ListOrder, sortEntries } from '../../operations/list/jobs.js';
import { listCheckpoints } from '../../operations/list/list.js';
import {
  type ListDocument,
  type ListDocumentEntry,
  renderList,
  renderNewest,
  renderSortedList,
} from '../../report/list.js';
import type { Context } from '../context.js';
import { describeError } from '../error-report.js';
import { Exit, type ExitCode, highestExit } from '../exit-code.js';
import type { Run } from '../spec.js';
import { storeTime } from '../store-time.js';

interface Options {
  readonly sizes?: true;
  readonly latest?: true;
  readonly complete?: true;
  readonly job?: string;
  readonly sort: ListOrder;
  readonly minAge: number;
}

const SHOWN_JOBS = 5;

/** Runs `ckpt list`. */
export const run: Run<Options> = async (context, args, options) => {
  if (options.sizes !== true && (options.sort === 'size' || options.sort === 'exclusive')) {
    throw new UsageError(`--sort ${options.sort} needs sizes: it goes with --sizes`);
  }
  const fileSystems = await context.fileSystems();
  const roots = await rootsOf(context, fileSystems, args);
  const isShown = ({ status }: ListEntry): boolean => options.complete !== true || status === 'complete';
  const streamed = context.jsonl && options.latest !== true && options.sort === 'id';
  const progress = context.progress('Finding checkpoints');
  const result = await listCheckpoints(fileSystems, roots, {
    now: (await storeTime(context, fileSystems, roots))(),
    minAge: options.minAge,
    sizes: options.sizes,
    job: options.job,
    signal: context.signal,
    onProgress: (phase, done, total) =>
      progress.update(done, total, phase === 'reading' ? 'reading metadata' : undefined),
    ...(streamed && {
      onEntry: async (entry: ListEntry) => {
        if (isShown(entry)) await context.stream.jsonLine(documentEntry(entry));
      },
    }),
  });
  progress.stop();
  const exit = reportFailures(context, result);
  if (options.latest) return printNewest(context, result, exit, options);
  const kept = { ...result, entries: result.entries.filter(isShown) };
  const hidden = result.entries.filter((entry) => entry.error !== null && !isShown(entry));
  if (hidden.length > 0) {
    const what = hidden.length === 1 ? 'one more could not be read' : `${hidden.length} more could not be read`;
    context.warn(`${what} and may be complete; the first: ${hidden[0]?.error?.message}`);
  }
  const jobs = options.complete ? kept.jobs.map(onlyComplete).filter(({ complete }) => complete > 0) : kept.jobs;
  const document = documentOf({ ...kept, jobs, entries: sortEntries(kept.entries, options.sort) });
  if (!context.jsonl) await context.emit(document, options.sort === 'id' ? renderList : renderSortedList);
  else if (!streamed) await context.stream.jsonLines(document.entries);
  return exit;
};

async function rootsOf(context: Context, fileSystems: FileSystems, args: readonly string[]): Promise<Path[]> {
  let given = args;
  if (given.length === 0) {
    const { checkpointDirectory, savepointDirectory } = await context.configuration();
    given = [checkpointDirectory, savepointDirectory].filter((directory) => directory !== undefined);
    if (given.length === 0) throw new UsageError("missing argument 'root', and no directory is configured");
  }
  return given.map((root) => fileSystems.nameOf(Path.parse(root)));
}

/**
 * Tells on standard error what could not be read.
 * @throws the error of the only root, or of one of them if none could be listed
 */
function reportFailures(context: Context, { roots, entries, failed, unread }: ListResult): ExitCode {
  const [first] = failed;
  if (first && failed.length === roots.length && entries.length === 0 && roots.length === 1) throw first.error;
  const exits = failed.map(({ path, error }) => context.report(error, path).exit);
  if (unread.length > 0) {
    const [{ error }] = unread as [ListResult['unread'][number]];
    context.warn(
      `${unread.length} more metadata ${unread.length === 1 ? 'file' : 'files'} could not be read, and what only they share with an entry counts as its own; the first: ${error.message}`,
    );
  }
  const isBroken = unread.length > 0 || entries.some(({ error }) => error !== null);
  return highestExit(isBroken ? [...exits, Exit.No] : exits);
}

async function printNewest(context: Context, result: ListResult, exit: ExitCode, { job }: Options): Promise<ExitCode> {
  const jobs = result.jobs
    .filter(({ newest }) => newest !== null)
    .sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1));
  const [first, ...others] = jobs;
  const entry = result.entries.find(({ pointer }) => pointer === first?.newest);
  if (!first || !entry) {
    const of = job === undefined ? '' : ` of job ${job}`;
    throw new NoCheckpointError(
      result.roots.join(', '),
      `no complete checkpoint or savepoint${of} below this directory`,
    );
  }
  const broken = result.entries.filter(({ error }) => error !== null);
  if (broken.length > 0) {
    const places = broken.length === 1 ? 'place' : 'places';
    context.warn(
      `${broken.length} ${places} could not be read and may hold newer ones; the first: ${broken[0]?.error?.message}`,
    );
  }
  if (others.length > 0) {
    const shown = others.slice(0, SHOWN_JOBS).map(({ newest }) => newest);
    const more = others.length > SHOWN_JOBS ? `, and ${others.length - SHOWN_JOBS} more` : '';
    context.warn(
      `several jobs; ${first.newest} was written last. The newest of the others: ${shown.join(', ')}${more} (--job picks)`,
    );
  }
  const document = documentOf({ ...result, entries: [entry], jobs: [first] });
  if (context.jsonl) await context.stream.jsonLines(document.entries);
  else await context.emit(document, renderNewest);
  return result.failed.length > 0 ? exit : Exit.Ok;
}

function onlyComplete(job: ListJob): ListJob {
  return { ...job, incomplete: 0, inProgress: 0, halfDiscarded: 0, broken: 0 };
}

function documentEntry(entry: ListEntry): ListDocumentEntry {
  return { ...entry, error: entry.error && describeError(entry.error) };
}

function documentOf(result: ListResult): ListDocument {
  const failure = ({ path, error }: ListResult['failed'][number]) => ({ path, error: describeError(error) });
  return {
    ...result,
    entries: result.entries.map(documentEntry),
    failed: result.failed.map(failure),
    unread: result.unread.map(failure),
  };
}
