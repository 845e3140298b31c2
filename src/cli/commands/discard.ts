import { UsageError } from '../../errors.js';
import type { DiscardOptions } from '../discard-options.js';
import { outputPath, runDiscard } from '../run-discard.js';
import type { DestructiveOptions, Run } from '../spec.js';

interface Options extends DiscardOptions, DestructiveOptions {
  readonly root: readonly string[];
  readonly unreadable?: true;
}

/** Runs `ckpt discard`. */
export const run: Run<Options> = async (context, pointers, options) => {
  if (pointers.length === 0 && options.plan === undefined) throw new UsageError("missing required argument 'pointer'");
  const fileSystems = await context.fileSystems();
  const directory = (option: string) => (text: string) => outputPath(fileSystems, text, option);
  return runDiscard(context, {
    command: 'discard',
    pointers,
    targets: {
      roots: options.root.map(directory('--root')),
      allowOutside: options.allowOutside.map(directory('--allow-outside')),
    },
    plan: {
      scope: options.keepShared ? 'own-directories' : 'all',
      otherUsers: options.force ? 'ignore' : 'respect',
      job: options.jobStopped ? 'stopped' : 'may-run',
      minAge: options.minAge,
      unreadable: options.unreadable ? 'own-directory' : 'fail',
      moveTo: options.moveTo === undefined ? undefined : directory('--move-to')(options.moveTo),
    },
    options,
  });
};
