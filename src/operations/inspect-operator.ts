/** One operator in full: its subtasks as `dump` shows them, and its named operator states. */

import { type ModelConsumer, ModelVisitor } from '../format/metadata/model-visitor.js';
import { visitMetadata } from '../format/metadata/read.js';
import type { SubtaskEntry } from '../model/checkpoint-metadata.js';
import type { DistributionMode, OperatorStateHandle } from '../model/state-handles.js';
import { HandleDocuments } from './document/handle-to-document.js';
import { subtaskDocument } from './document/metadata-to-document.js';
import { type DocumentObject, ValueBuilder } from './document/values.js';
import { findOperator } from './find-operator.js';
import type { InspectInput } from './inspect.js';
import type { KeyedStates } from './inspect-keyed-states.js';
import type { InspectedOperator, InspectResult } from './inspect-result.js';

/** A named state of an operator. */
export interface NamedState {
  readonly name: string;
  readonly kind: 'managed-operator' | 'raw-operator';
  readonly distributionMode: DistributionMode;
  /** Elements of lists, or one for each copy of a broadcast state; over all subtasks. */
  readonly partitions: number;
  /** Subtasks that have it. */
  readonly subtasks: number;
}

/** The `operator` of `ckpt inspect <pointer> <operator>`. */
export interface OperatorDetail extends Omit<InspectedOperator, 'subtasks'> {
  readonly namedStates: readonly NamedState[];
  /** Undefined where nobody has looked into a state file. */
  readonly keyedStates?: KeyedStates['keyedStates'];
  readonly keyedStatesUnread?: KeyedStates['keyedStatesUnread'];
  /** As in `dump`. */
  readonly subtasks: readonly DocumentObject[];
}

/**
 * Looks at one operator of a file that was inspected.
 * @param wanted id, unique beginning of an id, uid or name
 * @throws OperatorNotFoundError; the errors of reading metadata
 */
export async function inspectOperator(
  input: InspectInput,
  inspected: InspectResult,
  wanted: string,
  signal?: AbortSignal,
): Promise<OperatorDetail> {
  const index = findOperator(inspected.operatorStates, wanted);
  const operator = inspected.operatorStates[index];
  if (!operator) throw new Error('an operator was found where there is none');
  const subtasks = await loadSubtasks(input, index, signal);
  const documents = new HandleDocuments(input.directory, new ValueBuilder(true));
  return {
    ...operator,
    namedStates: namedStates(subtasks),
    subtasks: subtasks.map((entry) => subtaskDocument(entry, documents)),
  };
}

/** The subtasks of an operator as Flink sees them: of an index that occurs twice the last. */
async function loadSubtasks(
  input: InspectInput,
  wanted: number,
  signal: AbortSignal | undefined,
): Promise<SubtaskEntry[]> {
  const byIndex = new Map<number, SubtaskEntry>();
  let operator = -1;
  const consumer: ModelConsumer = {
    beginOperator() {
      operator++;
    },
    subtask(entry) {
      if (operator === wanted) byIndex.set(entry.index, entry);
    },
  };
  await visitMetadata(input.source, input.metadataPath.toString(), new ModelVisitor(consumer), { signal });
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

function namedStates(subtasks: readonly SubtaskEntry[]): NamedState[] {
  const states = new Map<string, { -readonly [K in keyof NamedState]: NamedState[K] }>();
  const add = (kind: NamedState['kind'], handle: OperatorStateHandle | null): void => {
    const byName = new Map(handle?.stateNameToPartitionOffsets.map((state) => [state.name, state]));
    for (const { name, distributionMode, offsets } of byName.values()) {
      const key = `${kind} ${name}`;
      const known = states.get(key);
      if (known) {
        known.partitions += offsets.length;
        known.subtasks++;
      } else {
        states.set(key, { name, kind, distributionMode, partitions: offsets.length, subtasks: 1 });
      }
    }
  };
  for (const entry of subtasks) {
    if (entry.finished) continue;
    add('managed-operator', entry.managedOperatorState);
    add('raw-operator', entry.rawOperatorState);
  }
  return [...states.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
