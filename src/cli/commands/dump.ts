import { dumpMetadata } from '../../operations/dump.js';
import { Exit } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

/** Runs `ckpt dump`. */
export const run: Run<LatestOptions & { readonly pretty?: true }> = async (context, [given = ''], options) => {
  const { pointer, source } = await openPointer(context, given, options);
  try {
    const { directory, metadataPath } = pointer;
    const input = { source, location: metadataPath.toString(), externalPointer: directory.toString(), directory };
    await dumpMetadata(input, (text) => context.stream.write(text), { pretty: options.pretty, signal: context.signal });
  } finally {
    await source.close();
  }
  return Exit.Ok;
};
