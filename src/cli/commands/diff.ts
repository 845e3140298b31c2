import { CkptError, UsageError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { diffCheckpoints } from '../../operations/diff/diff.js';
import { type ResolvedPointer, resolvePointer } from '../../operations/pointer.js';
import { renderDiff } from '../../report/diff.js';
import type { Context } from '../context.js';
import { Exit, exitCodeOf } from '../exit-code.js';
import type { Run } from '../spec.js';

interface Options {
  readonly contents?: true;
  readonly limit?: number;
  readonly state?: string;
}

const SHOWN_DIFFERENCES = 5;

/** Runs `ckpt diff`. */
export const run: Run<Options> = async (context, [old = '', new_ = ''], options) => {
  if (!options.contents && (options.limit !== undefined || options.state !== undefined)) {
    throw new UsageError('--limit and --state are about what is in the state: they go with --contents');
  }
  const fileSystems = await context.fileSystems();
  const [first, second] = await resolveBoth(context, fileSystems, old, new_);
  if (options.contents) {
    const { runContentsDiff } = await import('../diff-contents.js');
    const { limit = SHOWN_DIFFERENCES, state } = options;
    return runContentsDiff(context, fileSystems, first, second, { limit, ...(state !== undefined && { state }) });
  }
  const progress = context.progress('Comparing');
  const result = await diffCheckpoints(fileSystems, first, second, { signal: context.signal });
  progress.stop();
  await context.emit(result, renderDiff);
  return result.same ? Exit.Ok : Exit.No;
};

/**
 * Resolves two pointers.
 * @throws the error of one; of two the one with the higher exit code, after the other was reported
 */
async function resolveBoth(
  context: Context,
  fileSystems: FileSystems,
  old: string,
  new_: string,
): Promise<readonly [ResolvedPointer, ResolvedPointer]> {
  const [first, second] = await Promise.all([resolved(fileSystems, old), resolved(fileSystems, new_)]);
  if (!(first instanceof CkptError) && !(second instanceof CkptError)) return [first, second];
  const failures = [first, second].filter((result) => result instanceof CkptError);
  const [worst, other] = failures.sort((a, b) => exitCodeOf(b) - exitCodeOf(a));
  if (other) context.report(other);
  throw worst;
}

async function resolved(fileSystems: FileSystems, pointer: string): Promise<ResolvedPointer | CkptError> {
  try {
    return await resolvePointer(fileSystems, pointer);
  } catch (error) {
    if (error instanceof CkptError) return error;
    throw error;
  }
}
