import { renderResolved } from '../../report/resolve.js';
import { Exit } from '../exit-code.js';
import { locatePointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

/** Runs `ckpt resolve`. */
export const run: Run<LatestOptions> = async (context, [given = ''], options) => {
  const pointer = await locatePointer(context, await context.fileSystems(), given, options);
  const directory = pointer.directory.toString();
  const document = {
    pointer: given,
    externalPointer: directory,
    metadataPath: pointer.metadataPath.toString(),
    directory,
  };
  await context.emit(document, renderResolved);
  return Exit.Ok;
};
