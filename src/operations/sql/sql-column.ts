/**
 * Which column of a table shows values of a type. What can be shown at all is decided by the connector's
 * `org.apache.flink.state.table.KeyedStateReader`: scalars; rows out of public fields and getters; arrays out of Java collections;
 * any object as text by its `toString()`.
 */
import type { TypeDescription } from '../../format/value/type-description.js';
import { withoutTtl } from './operator-states.js';
import { isSqlIdentifier, sqlIdentifier } from './quote.js';

/** A column for values of a type. */
export interface SqlColumn {
  /** E.g. ``ROW<`name` STRING, `visits` BIGINT>``. */
  readonly sql: string;
  /**
   * A class of which Flink makes the same serializer that wrote the values; undefined if there is none, as for tuples. Where
   * `isInferred`, Flink takes it by itself.
   */
  readonly javaClass: string | undefined;
  readonly isInferred: boolean;
  /** Classes of the application that are needed. */
  readonly classes: readonly string[];
  /** What the column does not show, or not as it is. */
  readonly notes: readonly string[];
}

/** Why there is no column. */
export interface NoColumn {
  readonly reason: string;
}

/** True for a type that has a column. */
export function isColumn(found: SqlColumn | NoColumn): found is SqlColumn {
  return 'sql' in found;
}

interface BasicColumn {
  readonly sql: string;
  readonly javaClass?: string;
  readonly isInferred?: true;
  readonly note?: string;
}

/** The class of a type of SQL is what the connector takes for it if nobody says anything. */
const inferred = (sql: string, javaClass: string): BasicColumn => ({ sql, javaClass, isInferred: true });

const BASIC: Readonly<Record<string, BasicColumn>> = {
  Boolean: inferred('BOOLEAN', 'java.lang.Boolean'),
  Byte: inferred('TINYINT', 'java.lang.Byte'),
  Short: inferred('SMALLINT', 'java.lang.Short'),
  Integer: inferred('INT', 'java.lang.Integer'),
  Long: inferred('BIGINT', 'java.lang.Long'),
  Float: inferred('FLOAT', 'java.lang.Float'),
  Double: inferred('DOUBLE', 'java.lang.Double'),
  String: inferred('STRING', 'java.lang.String'),
  'byte[]': inferred('BYTES', '[B'),
  Character: { sql: 'STRING', javaClass: 'java.lang.Character' },
  BigInteger: { sql: 'STRING', javaClass: 'java.math.BigInteger' },
  BigDecimal: {
    sql: 'STRING',
    javaClass: 'java.math.BigDecimal',
    note: 'text, because a DECIMAL would round or lose it',
  },
  Instant: { sql: 'STRING', javaClass: 'java.time.Instant', note: 'text, because the connector knows no times' },
  LocalDate: { sql: 'STRING', note: 'text, because the connector knows no times' },
  LocalTime: { sql: 'STRING', note: 'text, because the connector knows no times' },
  LocalDateTime: { sql: 'STRING', note: 'text, because the connector knows no times' },
  'java.sql.Timestamp': { sql: 'STRING', note: "text in the time zone of Flink's JVM" },
  'java.sql.Date': { sql: 'STRING', note: "text in the time zone of Flink's JVM" },
  'java.sql.Time': { sql: 'STRING', note: "text in the time zone of Flink's JVM" },
  'java.util.Date': {
    sql: 'STRING',
    javaClass: 'java.util.Date',
    note: "text in the time zone of Flink's JVM, without milliseconds",
  },
};

/** Tables nest no deeper here; snapshots may. */
const DEEPEST = 30;

/** The column of a type, for a field of this name in notes. */
export function sqlColumn(type: TypeDescription, path: string, depth = 0): SqlColumn | NoColumn {
  if (depth > DEEPEST) return { reason: `types within types, more than ${DEEPEST} deep` };
  switch (type.kind) {
    case 'basic':
      return basicColumn(type.name, path);
    case 'enum':
      return {
        ...{ sql: 'STRING', javaClass: type.javaClass, isInferred: false, classes: [type.javaClass] },
        notes: [`${path}: a constant of the enum as its toString() has it`],
      };
    case 'avro':
      return {
        ...{ sql: 'STRING', javaClass: undefined, isInferred: false, classes: avroClasses(type.javaClass) },
        notes: [
          `${path}: an Avro record as its toString(), which is JSON (see JSON_VALUE), bytes as characters; needs flink-avro on the class path`,
        ],
      };
    case 'pojo': {
      const fields = type.fields.map(({ name, type: field }) => ({ name, type: field }));
      const row = rowColumn(fields, path, depth, `the POJO ${type.javaClass}`);
      if (!isColumn(row)) return row;
      const notes = type.subclasses.length > 0 ? [`${path}: of subclasses the fields of ${type.javaClass} only`] : [];
      return {
        ...row,
        javaClass: type.javaClass,
        classes: [type.javaClass, ...type.subclasses.map(({ javaClass }) => javaClass), ...row.classes],
        notes: [...row.notes, ...notes],
      };
    }
    case 'tuple': {
      const fields = type.parts.map((part, index) => ({ name: `f${index}`, type: part }));
      return rowColumn(fields, path, depth, 'a tuple');
    }
    case 'list':
    case 'set': {
      const element = sqlColumn(type.element, `${path}[]`, depth + 1);
      return isColumn(element)
        ? { ...element, sql: `ARRAY<${element.sql}>`, javaClass: undefined, isInferred: false }
        : element;
    }
    case 'array':
      return { reason: 'the connector turns Java collections into arrays of SQL, but no Java arrays' };
    case 'map':
      return { reason: 'the connector shows map states, but no Java maps within values' };
    case 'row':
      return { reason: 'the connector reads fields and getters by name, which a Row has none of' };
    case 'row-data':
    case 'sql':
      return { reason: "the connector does not read the internal values of Flink's SQL" };
    case 'opaque':
      return { reason: `only ${type.serializer} knows what is in ${type.javaClass}` };
    case 'composite':
      return type.name === 'Ttl' ? ttlColumn(type, path, depth) : { reason: `no column can show ${type.name}` };
  }
}

function basicColumn(name: string, path: string): SqlColumn | NoColumn {
  const known = BASIC[name];
  if (!known)
    return { reason: name.endsWith('[]') ? 'the connector shows no Java arrays' : `no column can show ${name}` };
  const { sql, javaClass, isInferred = false, note } = known;
  return { sql, javaClass, isInferred, classes: [], notes: note === undefined ? [] : [`${path}: ${note}`] };
}

/** `TtlValue` has getters for both. */
function ttlColumn(type: TypeDescription, path: string, depth: number): SqlColumn | NoColumn {
  const inner = sqlColumn(withoutTtl(type), path, depth + 1);
  if (!isColumn(inner)) return inner;
  const sql = `ROW<\`userValue\` ${inner.sql}, \`lastAccessTimestamp\` BIGINT>`;
  return { ...inner, sql, javaClass: undefined, isInferred: false };
}

function rowColumn(
  fields: readonly { readonly name: string; readonly type: TypeDescription }[],
  path: string,
  depth: number,
  what: string,
): SqlColumn | NoColumn {
  const columns: string[] = [];
  const classes: string[] = [];
  const notes: string[] = [];
  for (const { name, type } of fields) {
    const field = `${path}.${name}`;
    const found = isSqlIdentifier(name)
      ? sqlColumn(type, field, depth + 1)
      : { reason: 'SQL has no spelling of its name' };
    if (!isColumn(found)) {
      notes.push(`${field} is left out: ${found.reason}`);
      continue;
    }
    columns.push(`${sqlIdentifier(name)} ${found.sql}`);
    classes.push(...found.classes);
    notes.push(...found.notes);
  }
  if (columns.length === 0) return { reason: `no field of ${what} can be shown` };
  return { sql: `ROW<${columns.join(', ')}>`, javaClass: undefined, isInferred: false, classes, notes };
}

/** Generic records need none. */
function avroClasses(javaClass: string): string[] {
  return javaClass.startsWith('org.apache.avro.') ? [] : [javaClass];
}
