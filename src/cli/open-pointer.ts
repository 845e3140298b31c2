/** Finds the metadata that a command line means, and warns of what a user should know about the choice. */

import { UsageError } from '../errors.js';
import type { ByteSource } from '../filesystem/file-system.js';
import type { FileSystems } from '../filesystem/registry.js';
import { type Located, locate } from '../operations/locate.js';
import { openMetadata, type ResolvedPointer } from '../operations/pointer.js';
import type { Context } from './context.js';
import type { LatestOptions } from './pointer-options.js';

const SHOWN_JOBS = 5;

/**
 * Locates a pointer with the options of `pointer-options.ts`.
 * @throws UsageError if `--job` or `--whole` stand without `--latest`; the errors of `locate`
 */
export async function locatePointer(
  context: Context,
  fileSystems: FileSystems,
  given: string,
  options: LatestOptions,
): Promise<ResolvedPointer> {
  if (!options.latest && (options.job !== undefined || options.whole)) {
    throw new UsageError(`${options.whole ? '--whole' : '--job'} chooses among checkpoints: it goes with --latest`);
  }
  const progress = options.latest ? context.progress('Searching for checkpoints') : undefined;
  const located = await locate(fileSystems, given, {
    latest: options.latest,
    job: options.job,
    signal: context.signal,
    accept: options.whole ? (pointer) => isWhole(context, fileSystems, pointer) : undefined,
    onProgress: (listed, found) => progress?.update(listed, 0, `${found} found`),
  });
  progress?.stop();
  warnOfChoice(context, located, options);
  return located.pointer;
}

/** {@link locatePointer}, with the metadata opened. The caller closes it. */
export async function openPointer(
  context: Context,
  given: string,
  options: LatestOptions,
): Promise<{ readonly fileSystems: FileSystems; readonly pointer: ResolvedPointer; readonly source: ByteSource }> {
  const fileSystems = await context.fileSystems();
  const pointer = await locatePointer(context, fileSystems, given, options);
  return { fileSystems, pointer, source: await openMetadata(fileSystems, pointer) };
}

async function isWhole(context: Context, fileSystems: FileSystems, pointer: ResolvedPointer): Promise<boolean> {
  const { verifyCheckpoint } = await import('../operations/verify.js');
  const progress = context.progress(`Checking ${pointer.directory}`);
  const onProgress = (done: number, total: number): void => progress.update(done, total);
  const { ok, faults, error } = await verifyCheckpoint(fileSystems, pointer, { signal: context.signal, onProgress });
  progress.stop();
  if (ok) return true;
  const paths = new Set(faults.map(({ path }) => path));
  const more = paths.size > 1 ? ` (and ${paths.size - 1} more)` : '';
  const why = error?.message ?? `${faults[0]?.fault}: ${faults[0]?.path}${more}`;
  context.warn(`${pointer.directory} is not whole and was passed over: ${why}`);
  return false;
}

function warnOfChoice(context: Context, { pointer, otherJobs, unreadable }: Located, options: LatestOptions): void {
  if (unreadable.length > 0) {
    const [first = '', ...rest] = unreadable.map(({ error }) =>
      error instanceof Error ? error.message : String(error),
    );
    const more = rest.length === 0 ? '' : ` (and ${rest.length} more${context.verbose ? '' : '; --verbose tells all'})`;
    context.warn(`not everything could be read, there may be a newer one: ${first}${more}`);
    for (const message of rest) context.detail(message);
  }
  if (otherJobs.length === 0) return;
  const others = otherJobs.slice(0, SHOWN_JOBS).map(({ newest }) => newest.pointer.toString());
  const more = otherJobs.length > SHOWN_JOBS ? `, and ${otherJobs.length - SHOWN_JOBS} more` : '';
  const hint = options.job === undefined ? ' (--job picks)' : '';
  context.warn(
    `several jobs; ${pointer.directory} was written last. The newest of the others: ${others.join(', ')}${more}${hint}`,
  );
}
