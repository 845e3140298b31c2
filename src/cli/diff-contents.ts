import type { FileSystems } from '../filesystem/registry.js';
import { diffContents } from '../operations/contents-diff/diff-contents.js';
import type { ResolvedPointer } from '../operations/pointer.js';
import { renderContentsDiff } from '../report/contents-diff.js';
import type { Context } from './context.js';
import { Exit, type ExitCode } from './exit-code.js';

/** What `ckpt diff --contents` may be told. */
export interface ContentsOptions {
  readonly limit: number;
  readonly state?: string;
}

/** Runs `ckpt diff --contents`. */
export async function runContentsDiff(
  context: Context,
  fileSystems: FileSystems,
  old: ResolvedPointer,
  new_: ResolvedPointer,
  { limit, state }: ContentsOptions,
): Promise<ExitCode> {
  const progress = context.progress('Comparing state');
  const result = await diffContents(fileSystems, old, new_, {
    limit,
    state,
    signal: context.signal,
    onOperator: (done, total) => progress.update(done, total, 'operators'),
  });
  progress.stop();
  await context.emit(result, renderContentsDiff);
  return result.same ? Exit.Ok : Exit.No;
}
