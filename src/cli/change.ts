/** What the commands that write metadata have in common at their end. */
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { ChangeResult } from '../operations/change-result.js';
import type { StateReferenceReport } from '../operations/copy/state-references.js';
import type { Context } from './context.js';
import { Exit, type ExitCode } from './exit-code.js';

/** Checks what was written, if `--verify` was given: a result that is not whole is exit 1. */
export async function verifyChange<T extends ChangeResult>(
  context: Context,
  fileSystems: FileSystems,
  result: T,
  written: Path,
  options: { readonly verify?: true },
): Promise<{ readonly document: T; readonly exit: ExitCode }> {
  if (!options.verify) return { document: result, exit: Exit.Ok };
  const [{ resolvePointer }, { verifyCheckpoint }] = await Promise.all([
    import('../operations/pointer.js'),
    import('../operations/verify.js'),
  ]);
  const pointer = await resolvePointer(fileSystems, written.toString());
  const { ok, faults, error } = await verifyCheckpoint(fileSystems, pointer, { signal: context.signal });
  if (!ok) {
    const [first] = faults;
    context.warn(
      `${written} is not whole: ${error?.message ?? `${faults.length} faults, the first: ${first?.path} is ${first?.fault}`}`,
    );
  }
  return { document: { ...result, verified: ok }, exit: ok ? Exit.Ok : Exit.No };
}

const WARNED_OF = 10;

/** Warns of paths inside operator state, where the result itself has no place for them. */
export function warnOfReferences(context: Context, { stateReferences, unsearchedState }: StateReferenceReport): void {
  for (const { path, operatorId } of stateReferences.slice(0, WARNED_OF)) {
    context.warn(`the state of operator ${operatorId} names ${path}, which is not copied`);
  }
  const hidden = stateReferences.length - WARNED_OF;
  if (hidden > 0) context.warn(`operator state names ${hidden} more paths; --json lists all`);
  for (const reason of unsearchedState.slice(0, WARNED_OF)) context.warn(`not searched for paths: ${reason}`);
}
