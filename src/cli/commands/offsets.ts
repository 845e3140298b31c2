import { UsageError } from '../../errors.js';
import { readOffsets } from '../../operations/offsets/offsets.js';
import { resetFile } from '../../operations/offsets/reset-file.js';
import type { OffsetsResult } from '../../operations/offsets/result.js';
import { renderOffsets } from '../../report/offsets.js';
import type { Context } from '../context.js';
import { Exit, type ExitCode } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

interface Options extends LatestOptions {
  readonly csv?: true;
}

/** Runs `ckpt offsets`. */
export const run: Run<Options> = async (context, [given = '', operator], options) => {
  if (options.csv && context.json) throw new UsageError('--csv does not go with --json');
  const { fileSystems, pointer, source } = await openPointer(context, given, options);
  try {
    const { directory, metadataPath } = pointer;
    const result = await readOffsets(fileSystems, { source, directory, metadataPath }, operator, context.signal);
    if (options.csv) return await printCsv(context, result);
    await context.emit(result, renderOffsets);
    return result.unread.length > 0 ? Exit.No : Exit.Ok;
  } finally {
    await source.close();
  }
};

async function printCsv(context: Context, { sources, unread }: OffsetsResult): Promise<ExitCode> {
  const { lines, left } = resetFile(sources);
  await context.stream.pipe(lines.map((line) => `${line}\n`));
  for (const { topic, partition, sentinel, assigned } of left) {
    const why = sentinel ?? (assigned ? 'no reader has it' : 'not yet given to a reader');
    context.warn(`no offset of partition ${partition} of ${topic}: ${why}`);
  }
  for (const { path, reason } of unread) context.warn(`${path}: ${reason}`);
  return left.length > 0 || unread.length > 0 ? Exit.No : Exit.Ok;
}
