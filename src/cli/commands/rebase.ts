import { UsageError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import { type MetadataTarget, targetFile } from '../../operations/metadata-target.js';
import { resolvePointer } from '../../operations/pointer.js';
import { rebaseCheckpoint } from '../../operations/rebase.js';
import { renderRebased } from '../../report/rebase.js';
import { verifyChange } from '../change.js';
import { Exit } from '../exit-code.js';
import { parseAssignment } from '../options.js';
import type { Run } from '../spec.js';

interface Options {
  readonly out?: string;
  readonly inPlace?: true;
  readonly detached?: true;
  readonly verify?: true;
}

/** Runs `ckpt rebase`. */
export const run: Run<Options> = async (context, [given = '', ...pairs], options) => {
  if ((options.out === undefined) === (options.inPlace === undefined)) {
    throw new UsageError('say where to write: --out FILE or --in-place, one of them');
  }
  const fileSystems = await context.fileSystems();
  const pointer = await resolvePointer(fileSystems, given);
  const target: MetadataTarget =
    options.out === undefined ? { kind: 'in-place' } : await targetFile(fileSystems, options.out);
  // Not `nameOf`: a prefix is what the metadata has, whatever it is mapped to.
  const prefix = (text: string): Path => fileSystems.qualify(Path.parse(text));
  const prefixes = pairs.map(parseAssignment).map((pair) => ({ old: prefix(pair.old), new: prefix(pair.new) }));
  const result = await rebaseCheckpoint(fileSystems, pointer, {
    prefixes,
    target,
    detached: options.detached,
    signal: context.signal,
  });
  for (const { old, handles } of result.prefixes) if (handles === 0) context.warn(`no path begins with ${old}`);
  if (result.leftBackup !== null) {
    context.warn(
      `${result.leftBackup} is left of an earlier run that did not end; it can go if the metadata is as wanted`,
    );
  }
  if (!result.written && result.unmatchedPaths > 0) {
    await context.emit(result, renderRebased);
    return Exit.No;
  }
  if (result.rewrittenHandles === 0) context.warn('there is no absolute path in it: nothing to change');
  const { document, exit } = await verifyChange(context, fileSystems, result, Path.parse(result.target), options);
  await context.emit(document, renderRebased);
  return exit;
};
