/** What the commands that write metadata have in common at their end. */
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { ChangeResult } from '../operations/change-result.js';
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
