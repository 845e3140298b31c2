import { type InspectInput, inspectMetadata } from '../../operations/inspect.js';
import { inspectOperator } from '../../operations/inspect-operator.js';
import { matchUids } from '../../operations/match-uids.js';
import { type InspectDocument, renderInspect } from '../../report/inspect.js';
import { Exit } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

interface Options extends LatestOptions {
  readonly uid: readonly (readonly string[])[];
}

/** Runs `ckpt inspect`. */
export const run: Run<Options> = async (context, [given = '', operator], options) => {
  const { pointer, source } = await openPointer(context, given, options);
  try {
    const { directory, metadataPath, metadata } = pointer;
    const input: InspectInput = { source, directory, metadataPath, modificationTime: metadata.modificationTime };
    const inspected = await inspectMetadata(input, context.signal);
    if (inspected.trailingBytes > 0) {
      context.warn(
        `${metadataPath}: ${inspected.trailingBytes} bytes behind the end of the metadata, which Flink ignores`,
      );
    }
    const uids = options.uid.flat();
    const document: InspectDocument = {
      ...inspected,
      ...(uids.length > 0 && { uids: matchUids(inspected.operatorStates, uids) }),
      ...(operator !== undefined && { operator: await inspectOperator(input, inspected, operator, context.signal) }),
    };
    await context.emit(document, renderInspect);
  } finally {
    await source.close();
  }
  return Exit.Ok;
};
