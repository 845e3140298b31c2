import { InvalidPathError, UsageError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import { createSavepoint, type SavepointResult } from '../../operations/savepoint.js';
import type { Renderer } from '../../report/view.js';
import { Exit } from '../exit-code.js';
import type { Run } from '../spec.js';

interface Options {
  readonly jobId: string;
  readonly targetDirectory?: string;
}

/** The path alone, so that a script can take it. */
const renderSavepoint: Renderer<SavepointResult> = ({ savepointDirectory }) => `${savepointDirectory}\n`;

/** Runs `ckpt savepoint`. */
export const run: Run<Options> = async (context, _args, options) => {
  const target = options.targetDirectory ?? (await context.configuration()).savepointDirectory;
  const result = await createSavepoint(await context.fileSystems(), parseTarget(target), options.jobId);
  await context.emit(result, renderSavepoint);
  return Exit.Ok;
};

function parseTarget(text: string | undefined): Path | undefined {
  try {
    return text === undefined ? undefined : Path.parse(text);
  } catch (error) {
    if (error instanceof InvalidPathError) throw new UsageError(`--target-directory: ${error.message}`, error.data);
    throw error;
  }
}
