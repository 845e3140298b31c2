/** The named keyed states of an operator, from the head of one state file: the metadata does not name them. */
import type { FileSystems } from '../filesystem/registry.js';
import { type ListedState, listOperator, type UnreadHead } from './state/list-states.js';
import { forEachOperator, type MetadataInput, type OperatorPieces } from './state/operators.js';

/** What `ckpt inspect <pointer> <operator>` says of a keyed state. `ckpt states` says more, and looks at all subtasks. */
export type KeyedStateSummary = Pick<
  ListedState,
  'name' | 'kind' | 'keyType' | 'namespaceType' | 'mapKeyType' | 'valueType' | 'ttl'
>;

/** Keyed states of an operator. */
export interface KeyedStates {
  readonly keyedStates: readonly KeyedStateSummary[];
  /** Why they are not known, although there is keyed state; null if they are. */
  readonly keyedStatesUnread: string | null;
}

/**
 * Reads the head of the first subtask's keyed state. A file that cannot be read is no failure: the metadata is all the same.
 * @param operatorId id of the operator
 * @throws the errors of reading metadata; the signal's reason
 */
export async function inspectKeyedStates(
  fileSystems: FileSystems,
  input: MetadataInput,
  operatorId: string,
  signal?: AbortSignal,
): Promise<KeyedStates> {
  let found: KeyedStates = { keyedStates: [], keyedStatesUnread: null };
  await forEachOperator(
    input,
    operatorId,
    async (operator) => {
      found = await lookAt(fileSystems, operator, signal);
    },
    signal,
  );
  return found;
}

async function lookAt(
  fileSystems: FileSystems,
  operator: OperatorPieces,
  signal: AbortSignal | undefined,
): Promise<KeyedStates> {
  const first = operator.subtasks.find(({ keyed }) => keyed !== undefined);
  if (!first) return { keyedStates: [], keyedStatesUnread: null };
  const unread: UnreadHead[] = [];
  const subtask = { ...first, rawKeyed: undefined, operator: undefined };
  const { states } = await listOperator(fileSystems, { ...operator, subtasks: [subtask] }, unread, signal);
  return {
    keyedStates: states.map(({ name, kind, keyType, namespaceType, mapKeyType, valueType, ttl }) => ({
      ...{ name, kind, keyType, namespaceType, mapKeyType, valueType, ttl },
    })),
    keyedStatesUnread: unread[0]?.reason ?? null,
  };
}
