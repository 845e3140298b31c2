import { CkptError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { diffCheckpoints } from '../../operations/diff/diff.js';
import { type ResolvedPointer, resolvePointer } from '../../operations/pointer.js';
import { renderDiff } from '../../report/diff.js';
import type { Context } from '../context.js';
import { Exit, exitCodeOf } from '../exit-code.js';
import type { Run } from '../spec.js';

/** Runs `ckpt diff`. */
export const run: Run = async (context, [old = '', new_ = '']) => {
  const fileSystems = await context.fileSystems();
  const [first, second] = await resolveBoth(context, fileSystems, old, new_);
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
