/** Compares two checkpoints: operators, their state, the files they name. Reads the metadata alone, in bounded memory. */
import type { ByteSource } from '../../filesystem/file-system.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { visitMetadata } from '../../format/metadata/read.js';
import { Since } from '../../format/metadata/tags.js';
import { FileKeys } from '../area/file-keys.js';
import { forEachReference } from '../area/references.js';
import { type DocumentValue, int64 } from '../document/values.js';
import { openMetadata, type ResolvedPointer } from '../pointer.js';
import { FileComparison, type Side } from './compare-files.js';
import { OperatorFactsVisitor } from './operator-facts.js';
import { type ComparedOperator, comparedOperators, type OperatorPair, pairOperators } from './pair-operators.js';
import type { Change, DiffedOperator, DiffedState, DiffResult, DiffSide } from './result.js';

/** Options of {@link diffCheckpoints}. */
export interface DiffOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Compares two checkpoints.
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError; the errors of opening and reading the metadata;
 *   the signal's reason
 */
export async function diffCheckpoints(
  fileSystems: FileSystems,
  old: ResolvedPointer,
  new_: ResolvedPointer,
  options: DiffOptions = {},
): Promise<DiffResult> {
  const { signal } = options;
  const keys = new FileKeys(fileSystems);
  const files = new FileComparison();
  const read = async (side: Side, pointer: ResolvedPointer): Promise<OperatorFactsVisitor> => {
    const source = await openMetadata(fileSystems, pointer);
    try {
      const visitor = new OperatorFactsVisitor();
      await visitMetadata(source, pointer.metadataPath.toString(), visitor, { signal });
      await readFiles(source, side, pointer);
      return visitor;
    } finally {
      await source.close();
    }
  };
  const readFiles = (source: ByteSource, side: Side, { metadataPath, directory }: ResolvedPointer): Promise<void> =>
    forEachReference(
      { source, location: metadataPath.toString(), directory },
      keys,
      { file: (reference) => files.add(side, reference) },
      signal,
    );
  const before = await read('old', old);
  const after = await read('new', new_);
  return compare(side(old, before), before, side(new_, after), after, files);
}

function compare(
  old: DiffSide,
  before: OperatorFactsVisitor,
  new_: DiffSide,
  after: OperatorFactsVisitor,
  comparison: FileComparison,
): DiffResult {
  const newOperators = comparedOperators(after);
  const { pairs, removed, added } = pairOperators(comparedOperators(before), newOperators);
  const named = before.metadata.version >= Since.names && after.metadata.version >= Since.names;
  const changes = new Map(pairs.map((pair) => [pair.new, changesOf(pair, { named })]));
  const pairOf = new Map(pairs.map((pair) => [pair.new, pair]));
  const ids = (operators: readonly ComparedOperator[]): string[] => operators.map(({ summary }) => summary.operatorId);
  const result = {
    added: ids(added),
    removed: ids(removed),
    renumbered: pairs.flatMap(({ old: { summary }, new: { summary: now }, by }) =>
      by === 'id' ? [] : [{ old: summary.operatorId, new: now.operatorId, by }],
    ),
    changed: [...masterStateChanges(before, after), ...newOperators.flatMap((operator) => changes.get(operator) ?? [])],
    files: comparison.result({ copies: before.metadata.checkpointId === after.metadata.checkpointId }),
  };
  const { files } = result;
  const sameFiles = files.added === files.relocated && files.removed === files.relocated;
  const lists = [result.added, result.removed, result.renumbered, result.changed];
  return {
    same: sameFiles && lists.every(({ length }) => length === 0),
    ...result,
    old,
    new: new_,
    operators: [
      ...newOperators.map((operator) => diffedOperator(pairOf.get(operator), operator, changes.get(operator) ?? [])),
      ...removed.map((operator) => diffedOperator(undefined, operator, [], 'removed')),
    ],
  };
}

function side({ directory }: ResolvedPointer, visitor: OperatorFactsVisitor): DiffSide {
  const { version, checkpointId } = visitor.metadata;
  const stateSize = comparedOperators(visitor).reduce((sum, { sizes }) => sum + sizes.stateSize, 0n);
  return { pointer: directory.toString(), checkpointId: int64(checkpointId), version, stateSize: int64(stateSize) };
}

const NUMBERS = ['parallelism', 'maxParallelism'] as const;
const SIZES = ['stateSize', 'keyedStateSize', 'operatorStateSize', 'channelStateSize'] as const;

/** @param named whether both metadata files store names and uids */
function changesOf(pair: OperatorPair, { named }: { readonly named: boolean }): Change[] {
  const { old, new: now } = pair;
  const changes: Change[] = [];
  const { operatorId } = now.summary;
  const note = (field: string, before: DocumentValue, after: DocumentValue): void => {
    if (before !== after) changes.push({ operatorId, field, old: before, new: after });
  };
  if (named) {
    note('uid', old.summary.uid, now.summary.uid);
    note('name', old.summary.name, now.summary.name);
  }
  for (const field of NUMBERS) note(field, old.summary[field], now.summary[field]);
  note('finished', old.summary.finished, now.summary.finished);
  note('finishedSubtasks', finishedSubtasks(old), finishedSubtasks(now));
  if (JSON.stringify(old.states) !== JSON.stringify(now.states)) {
    note('states', statesDocument(old.states), statesDocument(now.states));
  }
  const before = changes.length;
  for (const field of SIZES) note(field, int64(old.sizes[field]), int64(now.sizes[field]));
  note('coordinatorStateSize', int64(old.summary.coordinatorStateSize), int64(now.summary.coordinatorStateSize));
  // Where sizes differ, that the state does goes without saying.
  if (changes.length === before) note('stateHandles', `${old.facts.digest}`, `${now.facts.digest}`);
  return changes;
}

function statesDocument(states: readonly DiffedState[]): DocumentValue {
  return states.map(({ name, kind, distributionMode }) => ({ name, kind, distributionMode }));
}

function finishedSubtasks({ summary }: ComparedOperator): number {
  let finished = 0;
  for (const subtask of summary.subtasks.values()) if (subtask.finished) finished++;
  return finished;
}

function masterStateChanges(before: OperatorFactsVisitor, after: OperatorFactsVisitor): Change[] {
  const [old, now] = [before, after].map(({ masterStates, masterStateCount }) => ({
    states: masterStateCount,
    hash: `${masterStates}`,
  }));
  if (!old || !now || (old.hash === now.hash && old.states === now.states)) return [];
  return [{ operatorId: null, field: 'masterStates', old, new: now }];
}

function diffedOperator(
  pair: OperatorPair | undefined,
  operator: ComparedOperator,
  changes: readonly Change[],
  change: 'added' | 'removed' = 'added',
): DiffedOperator {
  const { operatorId, uid, name } = operator.summary;
  const size = operator.sizes.stateSize;
  const old = pair ? pair.old.sizes.stateSize : change === 'removed' ? size : undefined;
  const now = change === 'removed' ? undefined : size;
  const kind = pair === undefined ? change : pair.by !== 'id' ? 'renumbered' : changes.length > 0 ? 'changed' : 'same';
  return {
    operatorId,
    uid,
    name,
    change: kind,
    oldStateSize: old === undefined ? null : int64(old),
    newStateSize: now === undefined ? null : int64(now),
    growth: int64((now ?? 0n) - (old ?? 0n)),
  };
}
