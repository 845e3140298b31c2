import { InvalidPathError, UsageError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { createSavepoint, type SavepointResult } from '../../operations/savepoint.js';
import type { Renderer } from '../../report/view.js';
import { verifyChange, warnOfReferences } from '../change.js';
import type { Context } from '../context.js';
import { Exit, type ExitCode } from '../exit-code.js';
import { locatePointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';
import { storeTime } from '../store-time.js';

interface Options extends LatestOptions {
  readonly jobId?: string;
  readonly targetDirectory?: string;
  readonly from?: string;
  readonly verify?: true;
}

/** The path alone, so that a script can take it. */
const renderSavepoint: Renderer<SavepointResult> = ({ savepointDirectory }) => `${savepointDirectory}\n`;

/** Runs `ckpt savepoint`. */
export const run: Run<Options> = async (context, _args, options) => {
  const target = options.targetDirectory ?? (await context.configuration()).savepointDirectory;
  const fileSystems = await context.fileSystems();
  if (options.from !== undefined) return fill(context, fileSystems, parseTarget(target), options.from, options);
  if (options.jobId === undefined)
    throw new UsageError('--job-id is needed, unless --from names a checkpoint whose path has it');
  const result = await createSavepoint(fileSystems, parseTarget(target), options.jobId);
  await context.emit(result, renderSavepoint);
  return Exit.Ok;
};

async function fill(
  context: Context,
  fileSystems: FileSystems,
  target: Path | undefined,
  from: string,
  options: Options,
): Promise<ExitCode> {
  const { savepointFrom } = await import('../../operations/savepoint-from.js');
  const pointer = await locatePointer(context, fileSystems, from, options);
  const progress = context.progress('Copying');
  const result = await savepointFrom(fileSystems, pointer, target, options.jobId, {
    signal: context.signal,
    now: await storeTime(context, fileSystems, [target ?? pointer.directory]),
    onFile: ({ files, total }) => progress.update(files, total),
  });
  progress.stop();
  const { document, exit } = await verifyChange(
    context,
    fileSystems,
    result,
    Path.parse(result.savepointDirectory),
    options,
  );
  warnOfReferences(context, result);
  await context.emit(document, renderSavepoint);
  return exit;
}

function parseTarget(text: string | undefined): Path | undefined {
  try {
    return text === undefined ? undefined : Path.parse(text);
  } catch (error) {
    if (error instanceof InvalidPathError) throw new UsageError(`--target-directory: ${error.message}`, error.data);
    throw error;
  }
}
