import { type InspectInput, inspectMetadata } from '../../operations/inspect.js';
import type { OperatorDetail } from '../../operations/inspect-operator.js';
import type { InspectResult } from '../../operations/inspect-result.js';
import type { UidMatches } from '../../operations/match-uids.js';
import type { InspectDocument } from '../../report/inspect.js';
import type { Context } from '../context.js';
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
      ...(uids.length > 0 && { uids: await match(inspected, uids) }),
      ...(operator !== undefined && { operator: await detail(context, input, inspected, operator) }),
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

async function detail(
  context: Context,
  input: InspectInput,
  inspected: InspectResult,
  wanted: string,
): Promise<OperatorDetail> {
  const { inspectOperator } = await import('../../operations/inspect-operator.js');
  const { inspectKeyedStates } = await import('../../operations/inspect-keyed-states.js');
  const operator = await inspectOperator(input, inspected, wanted, context.signal);
  const fileSystems = await context.fileSystems();
  return { ...operator, ...(await inspectKeyedStates(fileSystems, input, operator.operatorId, context.signal)) };
}
