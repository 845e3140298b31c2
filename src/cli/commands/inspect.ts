import { type InspectInput, inspectMetadata } from '../../operations/inspect.js';
import type { inspectOperator } from '../../operations/inspect-operator.js';
import type { InspectResult } from '../../operations/inspect-result.js';
import type { UidMatches } from '../../operations/match-uids.js';
import type { InspectDocument } from '../../report/inspect.js';
import { Exit } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

type InspectOperator = typeof inspectOperator;

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
      ...(uids.length > 0 && { uids: await match(inspected, uids) }),
      ...(operator !== undefined && { operator: await detail(input, inspected, operator, context.signal) }),
    };
    await context.emit(document, { load: async () => (await import('../../report/inspect.js')).renderInspect });
  } finally {
    await source.close();
  }
  return Exit.Ok;
};

// What most calls do not need is loaded when it is needed: the start is half of the time.

async function match(inspected: InspectResult, uids: readonly string[]): Promise<UidMatches> {
  return (await import('../../operations/match-uids.js')).matchUids(inspected.operatorStates, uids);
}

async function detail(...args: Parameters<InspectOperator>): ReturnType<InspectOperator> {
  return (await import('../../operations/inspect-operator.js')).inspectOperator(...args);
}
