/** When Flink discards a checkpoint, as the properties in its metadata say. */
import type { DocumentObject } from '../operations/document/values.js';
import type { InspectResult } from '../operations/inspect-result.js';

const ENDS = [
  ['discardCancelled', 'is cancelled'],
  ['discardFailed', 'fails'],
  ['discardSuspended', 'is suspended'],
  ['discardFinished', 'finishes'],
] as const;

/** Undefined before version 4, which stores no properties. */
export function describeRetention({
  properties,
  version,
}: Pick<InspectResult, 'properties' | 'version'>): string | undefined {
  if (version < 4) return undefined;
  const flags = properties as DocumentObject | null;
  if (flags === null) return 'the metadata has no properties';
  const known = ENDS.filter(([flag]) => typeof flags[flag] === 'boolean');
  if (known.length < ENDS.length || typeof flags.discardSubsumed !== 'boolean') {
    return 'the properties in the metadata are of an unknown form; dump has their bytes';
  }
  const kept = ENDS.filter(([flag]) => flags[flag] === false).map(([, end]) => end);
  const gone = ENDS.filter(([flag]) => flags[flag] === true).map(([, end]) => end);
  const replaced = flags.discardSubsumed === true;
  if (gone.length === 0)
    return replaced ? 'kept until newer ones replace it, however the job ends' : 'kept until somebody deletes it';
  const until = replaced ? 'newer ones replace it or ' : '';
  return kept.length === 0
    ? `deleted by Flink when ${until}the job ends in any way`
    : `kept when the job ${either(kept)}; deleted by Flink when ${until}the job ${either(gone)}`;
}

function either(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
