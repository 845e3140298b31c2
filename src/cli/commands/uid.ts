import { type UidResult, uidResult } from '../../operations/uid.js';
import { renderUids } from '../../report/uid.js';
import { Exit } from '../exit-code.js';
import type { Run } from '../spec.js';

/** Runs `ckpt uid`. */
export const run: Run = async (context, args) => {
  const results: UidResult[] = [];
  for (const arg of args) {
    if (arg !== '-') {
      results.push(uidResult(arg));
      continue;
    }
    for await (const line of context.stdinLines()) {
      if (line !== '') results.push(uidResult(line));
    }
  }
  await context.emit(results, renderUids);
  return Exit.Ok;
};
