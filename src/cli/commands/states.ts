import { listStates } from '../../operations/state/list-states.js';
import { renderStates } from '../../report/states.js';
import { Exit } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

/** Runs `ckpt states`. */
export const run: Run<LatestOptions> = async (context, [given = '', operator], options) => {
  const { fileSystems, pointer, source } = await openPointer(context, given, options);
  try {
    const { directory, metadataPath } = pointer;
    const result = await listStates(fileSystems, { source, directory, metadataPath }, operator, context.signal);
    await context.emit(result, renderStates);
    return result.unread.length > 0 ? Exit.No : Exit.Ok;
  } finally {
    await source.close();
  }
};
