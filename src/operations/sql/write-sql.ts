/** `ckpt sql`: what to give to real Flink to read the state of an operator, for what one machine should not read. */
import { CkptError, StateNotFoundError } from '../../errors.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { operatorIdOfUid } from '../../format/hash/operator-id.js';
import type { SerializerSnapshot } from '../../format/keyed/serializer-snapshot.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import type { Backend } from '../inspect-result.js';
import { loadHeads } from '../state/heads.js';
import { type ListedState, listOperator, type UnreadHead } from '../state/list-states.js';
import { forEachOperator, type MetadataInput, type OperatorPieces } from '../state/operators.js';
import {
  type ConnectorRelease,
  connectorComments,
  connectorStatement,
  type LeftOut,
  type NoStatement,
  type StatementRequest,
} from './connector-statement.js';
import type { KeyedForm, NamedState, OperatorStates } from './operator-states.js';
import { NO_CHANGELOG, readerJob } from './reader-job.js';

/** What is wanted. */
export interface SqlRequest {
  /** As the metadata names the place: what Flink is to be told. */
  readonly pointer: string;
  /** Id, unique beginning of an id, uid or name. */
  readonly operator: string;
  readonly release: ConnectorRelease;
  /** A job even where SQL would do. */
  readonly java: boolean;
  readonly table: string | undefined;
  /** Only these states; all if there are none. */
  readonly states: readonly string[];
}

/** The document of `ckpt sql`. */
export interface SqlResult {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  readonly backend: Backend | null;
  readonly pointer: string;
  /** Null if Flink has no way to read any of the states. */
  readonly language: 'sql' | 'java' | null;
  /** `CREATE TABLE` without a semicolon, or the source of a Java class. */
  readonly statement: string | null;
  /** For SQL, also without a semicolon. */
  readonly query: string | null;
  /** For SQL. */
  readonly table: string | null;
  /** For SQL; `state` is null for the key. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly state: string | null }[];
  /** For Java. */
  readonly className: string | null;
  /** Why it is no SQL, or nothing at all. */
  readonly reason: string | null;
  /** Of the application, to be put on the class path. */
  readonly classes: readonly string[];
  readonly notes: readonly string[];
  readonly leftOut: readonly LeftOut[];
  readonly unread: readonly UnreadHead[];
  /** All of it with comments, as it is to be saved. */
  readonly text: string;
}

/**
 * Writes it.
 * @throws OperatorNotFoundError; StateNotFoundError; the errors of reading metadata
 */
export async function writeSql(
  fileSystems: FileSystems,
  input: MetadataInput,
  request: SqlRequest,
  signal?: AbortSignal,
): Promise<SqlResult> {
  const unread: UnreadHead[] = [];
  let operator: OperatorStates | undefined;
  const work = async (pieces: OperatorPieces): Promise<void> => {
    const { states, ...listed } = await listOperator(fileSystems, pieces, unread, signal);
    // What the user calls the operator may be the uid that older metadata does not store.
    const isUid = listed.uid === null && operatorIdOfUid(request.operator) === listed.operatorId;
    const own = await ownSerializers(fileSystems, pieces, signal);
    operator = {
      ...{ pointer: request.pointer, operatorId: listed.operatorId, name: listed.name, backend: listed.backend },
      uid: isUid ? request.operator : listed.uid,
      form: formOf(pieces),
      states: selected(states, request.states).map((state) => namedState(state, own.get(state.name))),
    };
  };
  await forEachOperator(input, request.operator, work, signal);
  if (!operator) throw new Error('no operator was visited');
  return { ...writeFor(operator, request), unread };
}

function selected(states: readonly ListedState[], wanted: readonly string[]): readonly ListedState[] {
  if (wanted.length === 0) return states;
  const names = states.map(({ name }) => name);
  for (const name of wanted) if (!names.includes(name)) throw new StateNotFoundError(name, names);
  return states.filter(({ name }) => wanted.includes(name));
}

function namedState({ name, kind, ttl, description }: ListedState, ownSerializer: string | undefined): NamedState {
  const { key, namespace, mapKey, value } = description;
  return {
    ...{ name, kind, ttl, key: key ?? undefined, namespace: namespace ?? undefined },
    ...{ mapKey: mapKey ?? undefined, value: value ?? undefined, ownSerializer },
  };
}

/** Serializers whose values are read as others are, but which Flink does not take for the same. */
const OWN =
  /(?:^|[.$])((?:External|NullAwareMap|SortedMap|LinkedList|MapView|ListView|Bitmap|(?:Boolean|Byte|Char|Double|Float|Int|Long|Short|String)Value)Serializer)Snapshot$/;

/** Those of keyed states, by the names of the states; of states that cannot be read, `listOperator` tells. */
async function ownSerializers(
  fileSystems: FileSystems,
  { subtasks }: OperatorPieces,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const keyed = subtasks.find((subtask) => subtask.keyed)?.keyed;
  if (!keyed) return found;
  try {
    for (const { header } of await loadHeads(fileSystems, keyed, signal)) {
      for (const { name, serializers } of header.states) {
        const snapshot = serializers.get('VALUE_SERIALIZER');
        const own = snapshot && ownSerializerIn(snapshot);
        if (own !== undefined) found.set(name, own);
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof CkptError || error instanceof UnknownFormatError)) throw error;
  }
  return found;
}

/** What is in a POJO does not matter: Flink makes its serializers of the class. */
function ownSerializerIn({ className, content }: SerializerSnapshot): string | undefined {
  const own = OWN.exec(className)?.[1];
  if (own !== undefined) return own;
  if (content.kind === 'ttl-aware') return ownSerializerIn(content.nested);
  if (content.kind !== 'composite') return undefined;
  for (const nested of content.nested) {
    const inner = ownSerializerIn(nested);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function formOf({ subtasks }: OperatorPieces): KeyedForm | undefined {
  return subtasks.find(({ keyed }) => keyed)?.keyed?.kind;
}

/** Chooses and writes. Pure: everything is known. */
export function writeFor(
  operator: OperatorStates,
  request: Omit<SqlRequest, 'pointer' | 'operator' | 'states'>,
): Omit<SqlResult, 'unread'> {
  const { operatorId, uid, name, backend, pointer } = operator;
  const common = { operatorId, uid, name, backend, pointer };
  const nothing = { query: null, table: null, columns: [], className: null };
  const statementRequest: StatementRequest = { operator, release: request.release, table: request.table };
  const found = request.java ? { reason: 'it was asked for', leftOut: [] } : connectorStatement(statementRequest);
  if (!('reason' in found)) {
    const { table, create, query, columns, classes, notes, leftOut } = found;
    const text = `${[...connectorComments(statementRequest, found), `${create};`].join('\n')}\n\n${query};\n`;
    return {
      ...common,
      ...{ language: 'sql', statement: create, query, table, columns, className: null },
      ...{ reason: null, classes, notes, leftOut, text },
    };
  }
  const reason = reasonText(found);
  const job = readerJob(operator, reason);
  if ('reason' in job) {
    const why = operator.states.length === 0 ? noStates(operator) : `${reason}; ${job.reason}`;
    return {
      ...common,
      ...nothing,
      language: null,
      statement: null,
      reason: why,
      classes: [],
      notes: [],
      leftOut: job.leftOut,
      text: '',
    };
  }
  const { className, source, classes, notes, leftOut } = job;
  return {
    ...common,
    ...nothing,
    className,
    language: 'java',
    statement: source,
    reason,
    classes,
    notes,
    leftOut,
    text: source,
  };
}

function noStates({ form }: OperatorStates): string {
  return form === 'changelog' ? NO_CHANGELOG : 'the operator has no named state that could be read';
}

/** The general reason, or the one that there is for a single state. */
function reasonText({ reason, leftOut }: NoStatement): string {
  const reasons = new Set(leftOut.map((left) => left.reason));
  return reasons.size === 1 ? `${reason}: ${[...reasons][0]}` : reason;
}
