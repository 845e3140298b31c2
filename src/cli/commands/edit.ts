import { UsageError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type EditPlan, type EditResult, editMetadata, planEdits } from '../../operations/edit.js';
import { targetFile } from '../../operations/metadata-target.js';
import { type ResolvedPointer, resolvePointer } from '../../operations/pointer.js';
import { renderEdited } from '../../report/edit.js';
import { verifyChange, warnOfReferences } from '../change.js';
import type { Context } from '../context.js';
import { integerParser } from '../options.js';
import type { Run } from '../spec.js';
import { storeTime } from '../store-time.js';

type Assignment = { readonly old: string; readonly new: string };

interface Options {
  readonly setUid: readonly Assignment[];
  readonly setOperatorId: readonly Assignment[];
  readonly drop: readonly string[];
  readonly keep: readonly string[];
  readonly setMaxParallelism: readonly Assignment[];
  readonly out?: string;
  readonly copy?: string;
  readonly verify?: true;
}

/** Runs `ckpt edit`. */
export const run: Run<Options> = async (context, [given = ''], options) => {
  if ((options.out === undefined) === (options.copy === undefined)) {
    throw new UsageError('say where to write: --out FILE or --copy DIR, one of them');
  }
  const parseCount = integerParser({ minimum: 1 });
  const fileSystems = await context.fileSystems();
  const pointer = await resolvePointer(fileSystems, given);
  const plan = await planEdits(
    fileSystems,
    pointer,
    {
      ...options,
      setMaxParallelism: options.setMaxParallelism.map((pair) => ({ operator: pair.old, value: parseCount(pair.new) })),
    },
    context.signal,
  );
  const result =
    options.copy === undefined
      ? await editMetadata(fileSystems, pointer, plan, await targetFile(fileSystems, options.out ?? ''), context.signal)
      : await copyEdited(context, fileSystems, pointer, plan, fileSystems.qualify(Path.parse(options.copy)));
  const { document, exit } = await verifyChange(context, fileSystems, result, Path.parse(result.target), options);
  await context.emit(document, renderEdited);
  return exit;
};

async function copyEdited(
  context: Context,
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  plan: EditPlan,
  target: Path,
): Promise<EditResult> {
  const { copyCheckpoint } = await import('../../operations/copy/copy.js');
  const copied = await copyCheckpoint(fileSystems, pointer, target, {
    rewriter: () => plan.rewriter(),
    changes: JSON.stringify(plan.operators),
    signal: context.signal,
    now: await storeTime(context, fileSystems, [target]),
  });
  warnOfReferences(context, copied);
  return { ...copied, operators: plan.operators };
}
