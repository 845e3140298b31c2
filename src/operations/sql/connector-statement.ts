/** The statement for Flink's SQL connector for savepoints (`flink-state-processor-api`), as far as it can read a state. */

import { operatorIdOfUid } from '../../format/hash/operator-id.js';
import type { TypeDescription } from '../../format/value/type-description.js';
import {
  isOperatorState,
  isWithoutNamespace,
  KEYS_TWICE,
  type NamedState,
  type OperatorStates,
  operatorText,
} from './operator-states.js';
import { commentText, isSqlIdentifier, isWritable, sqlIdentifier, sqlText } from './quote.js';
import { isColumn, type NoColumn, type SqlColumn, sqlColumn } from './sql-column.js';

/** Releases of the connector that differ. */
export const CONNECTOR_RELEASES = ['2.1', '2.2', '2.3'] as const;
/** One of {@link CONNECTOR_RELEASES}. */
export type ConnectorRelease = (typeof CONNECTOR_RELEASES)[number];

/** A state that is not in the statement. */
export interface LeftOut {
  readonly state: string;
  readonly kind: NamedState['kind'];
  readonly reason: string;
}

/** What to write. */
export interface StatementRequest {
  readonly operator: OperatorStates;
  readonly release: ConnectorRelease;
  /** Name of the table; undefined for that of the operator. */
  readonly table: string | undefined;
}

/** A statement, in two parts as `TableEnvironment.executeSql` wants them: without semicolons. */
export interface ConnectorStatement {
  readonly table: string;
  readonly create: string;
  readonly query: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly state: string | null }[];
  /** Classes that must be on the class path. */
  readonly classes: readonly string[];
  readonly notes: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Why the connector cannot be used. */
export interface NoStatement {
  readonly reason: string;
  readonly leftOut: readonly LeftOut[];
}

/** Writes the statement, or says why there is none. */
export function connectorStatement(request: StatementRequest): ConnectorStatement | NoStatement {
  const { operator, release } = request;
  const leftOut: LeftOut[] = [];
  const reason = obstacle(operator, release);
  if (reason !== undefined) return { reason, leftOut };
  const keyed = operator.states.filter((state) => !isOperatorState(state));
  if (keyed.length === 0) return { reason: 'the connector reads keyed state only, and there is none', leftOut };
  const key = keyed.find((state) => state.key)?.key;
  const keyColumn = key && columnOfKey(key);
  if (!keyColumn || !isColumn(keyColumn)) {
    return { reason: `the connector cannot read the keys: ${keyColumn?.reason ?? 'their type is not known'}`, leftOut };
  }
  const states: StateColumn[] = [];
  // A column gets its serializer from the state of its name: no other one may have it.
  const taken = new Set(operator.states.map(({ name }) => name));
  for (const state of operator.states) {
    const found = stateColumn(state, release);
    if (isColumn(found)) states.push({ ...found, state, name: columnName(state.name, taken) });
    else leftOut.push({ state: state.name, kind: state.kind, reason: found.reason });
  }
  // With another name than its state, a column gets its type from SQL alone: then a class must be named.
  const usable = states.filter((column) => {
    if (column.name === column.state.name || canBeNamed(column)) return true;
    leftOut.push({ state: column.state.name, kind: column.state.kind, reason: 'SQL has no spelling of its name' });
    return false;
  });
  if (usable.length === 0) return { reason: 'the connector can read none of the states', leftOut };
  return statement(request, { ...keyColumn, name: unusedName('key', taken) }, usable, leftOut);
}

/** What keeps the connector from reading any state of the operator. */
function obstacle({ form, backend }: OperatorStates, release: ConnectorRelease): string | undefined {
  if (form === undefined) return 'the connector reads keyed state only, and there is none';
  if (form === 'changelog') return 'the connector cannot read a changelog';
  if (form === 'key-groups') return undefined;
  if (backend !== 'rocksdb') return 'the connector cannot read the files of ForSt';
  if (release !== '2.3') return undefined;
  return 'the connector of Flink 2.3 refuses the files of RocksDB (Unsupported KeyedStateHandle type), those of 2.1 and 2.2 read them: --flink 2.2';
}

interface StateColumn extends SqlColumn {
  readonly name: string;
  readonly state: NamedState;
  readonly stateType: 'VALUE' | 'LIST' | 'MAP';
  /** Of the keys of a map. */
  readonly mapKey: SqlColumn | undefined;
  /** Of an element or a value, without ARRAY and MAP around. */
  readonly item: SqlColumn;
}

function columnOfKey(key: TypeDescription): SqlColumn | NoColumn {
  const column = sqlColumn(key, 'key');
  if (!isColumn(column) || column.javaClass !== undefined) return column;
  return { reason: 'a key must be of a class that tells Flink its type; others need a factory of TypeInformation' };
}

function stateColumn(state: NamedState, release: ConnectorRelease): Omit<StateColumn, 'name' | 'state'> | NoColumn {
  const { kind, name, value, mapKey } = state;
  if (isOperatorState(state)) return { reason: 'operator state; the connector reads keyed state' };
  if (kind !== 'value' && kind !== 'list' && kind !== 'map')
    return { reason: `the connector does not read ${kindText(kind)}` };
  if (!isWithoutNamespace(state))
    return { reason: 'it has namespaces, as of windows; the connector reads what has none' };
  if (!value) return { reason: 'its type is not known' };
  if (!isWritable(name)) return { reason: 'its name has half a character (a lone surrogate), which SQL cannot spell' };
  const item = sqlColumn(value, name);
  if (!isColumn(item)) return item;
  if (release !== '2.3' && item.javaClass === undefined) {
    return { reason: `the connector of Flink ${release} needs a class that tells Flink the type, and there is none` };
  }
  if (kind === 'value') {
    if (item.sql.startsWith('ARRAY<'))
      return { reason: 'the connector takes arrays for list states, and this is a list in a value state' };
    return { ...item, stateType: 'VALUE', mapKey: undefined, item };
  }
  if (kind === 'list') return { ...item, sql: `ARRAY<${item.sql}>`, stateType: 'LIST', mapKey: undefined, item };
  const key = mapKey ? sqlColumn(mapKey, `key of ${name}`) : { reason: 'the type of its keys is not known' };
  if (!isColumn(key)) return key;
  if (release !== '2.3' && key.javaClass === undefined) {
    return { reason: `the connector of Flink ${release} needs a class for the keys of the map, and there is none` };
  }
  return {
    ...{
      sql: `MAP<${key.sql}, ${item.sql}>`,
      stateType: 'MAP',
      mapKey: key,
      item,
      javaClass: undefined,
      isInferred: false,
    },
    classes: [...key.classes, ...item.classes],
    notes: [...key.notes, ...item.notes],
  };
}

function kindText(kind: NamedState['kind']): string {
  return kind === 'timers' ? 'timers' : `${kind} states`;
}

function canBeNamed({ item, mapKey }: StateColumn): boolean {
  return item.javaClass !== undefined && (mapKey === undefined || mapKey.javaClass !== undefined);
}

function columnName(name: string, taken: Set<string>): string {
  if (isSqlIdentifier(name)) return name;
  return unusedName('state', taken);
}

function unusedName(base: string, taken: Set<string>): string {
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base} ${n}`;
  taken.add(name);
  return name;
}

function statement(
  { operator, release, table: wanted }: StatementRequest,
  key: SqlColumn & { readonly name: string },
  states: readonly StateColumn[],
  leftOut: readonly LeftOut[],
): ConnectorStatement {
  const table =
    wanted ??
    [operator.uid, operator.name].find((name) => name !== null && isSqlIdentifier(name)) ??
    operator.operatorId;
  const classes = [...new Set([key, ...states].flatMap((column) => column.classes))].sort();
  const twice = release === '2.3' && states.length > 1 && backendType(operator) !== 'hashmap' ? [KEYS_TWICE] : [];
  const notes = [...key.notes, ...states.flatMap((column) => [...column.notes, ...ttlNotes(column)]), ...twice];
  const options = [
    ['connector', 'savepoint'],
    ['state.backend.type', backendType(operator)],
    ['state.path', operator.pointer],
    operatorOption(operator),
    ...(key.isInferred || key.javaClass === undefined ? [] : [[`fields.${key.name}.value-class`, key.javaClass]]),
    ...states.flatMap((column) => stateOptions(column, release)),
  ];
  const columns = [
    { name: key.name, type: key.sql, state: null },
    ...states.map(({ name, sql, state }) => ({ name, type: sql, state: state.name })),
  ];
  const lines = [
    ...columns.map(({ name, type }) => `  ${sqlIdentifier(name)} ${type},`),
    `  PRIMARY KEY (${sqlIdentifier(key.name)}) NOT ENFORCED`,
  ];
  const assignments = options.map(([name = '', value = '']) => `  ${sqlText(name)} = ${sqlText(value)}`);
  return {
    table,
    create: `CREATE TABLE ${sqlIdentifier(table)} (\n${lines.join('\n')}\n) WITH (\n${assignments.join(',\n')}\n)`,
    query: `SELECT * FROM ${sqlIdentifier(table)}`,
    ...{ columns, classes, notes, leftOut },
  };
}

function ttlNotes({ state }: StateColumn): string[] {
  return state.ttl
    ? [
        `${state.name}: with the time of the last access, in milliseconds; expired values are there too, because no snapshot says how long they live`,
      ]
    : [];
}

/** Heap state is read as such; what any backend can read, by the one that needs no memory for it. */
function backendType({ backend }: OperatorStates): string {
  return backend === 'hashmap' ? 'hashmap' : 'rocksdb';
}

/** The uid where Flink makes this id of it. */
function operatorOption({ uid, operatorId }: OperatorStates): [name: string, value: string] {
  return uid !== null && operatorIdOfUid(uid) === operatorId
    ? ['operator.uid', uid]
    : ['operator.uid.hash', operatorId];
}

function stateOptions({ name, state, stateType, item, mapKey }: StateColumn, release: ConnectorRelease): string[][] {
  const renamed = name !== state.name;
  const options: string[][] = [];
  if (renamed) options.push([`fields.${name}.state-name`, state.name]);
  options.push([`fields.${name}.state-type`, stateType]);
  if (!renamed && release === '2.3') return options;
  const needsClass = ({ isInferred, javaClass }: SqlColumn): boolean => !isInferred && javaClass !== undefined;
  if (mapKey && needsClass(mapKey)) options.push([`fields.${name}.key-class`, mapKey.javaClass ?? '']);
  if (needsClass(item)) options.push([`fields.${name}.value-class`, item.javaClass ?? '']);
  return options;
}

/** What stands above the statement. */
export function connectorComments({ operator, release }: StatementRequest, statement: ConnectorStatement): string[] {
  const { classes, notes, leftOut } = statement;
  const comments = [
    `Keyed state of operator ${operatorText(operator)}, in ${operator.pointer}`,
    `For Flink ${release} with flink-state-processor-api on the class path.`,
  ];
  if (classes.length > 0) comments.push('Must be on the class path, too:', ...classes.map((name) => `  ${name}`));
  if (notes.length > 0) comments.push('To know:', ...notes.map((note) => `  ${note}`));
  if (leftOut.length > 0) {
    comments.push('Left out (ckpt sql --java --state NAME writes a job that reads it):');
    comments.push(...leftOut.map(({ state, reason }) => `  ${state}: ${reason}`));
  }
  return comments.map((comment) => `-- ${commentText(comment)}`);
}
