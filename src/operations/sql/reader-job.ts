/** A job for Flink's State Processor API that prints the state of an operator, whatever backend wrote it. */
import { operatorIdOfUid } from '../../format/hash/operator-id.js';
import type { TypeDescription } from '../../format/value/type-description.js';
import type { LeftOut } from './connector-statement.js';
import { JAVA_IMPORTS, JAVA_PARTS } from './java-parts.js';
import { isJavaType, type JavaType, javaType, WINDOW_SERIALIZERS } from './java-type.js';
import {
  isOperatorState,
  isWithoutNamespace,
  KEYS_TWICE,
  type NamedState,
  type OperatorStates,
  operatorText,
} from './operator-states.js';
import { commentText, javaName, javaText } from './quote.js';

/** A program. */
export interface ReaderJob {
  readonly className: string;
  readonly source: string;
  /** Classes of the application that must be on the class path. */
  readonly classes: readonly string[];
  readonly notes: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Why no program can read anything. */
export interface NoJob {
  readonly reason: string;
  readonly leftOut: readonly LeftOut[];
}

/**
 * Writes the program.
 * @param reason why it is no statement of SQL, for its comment
 */
export function readerJob(operator: OperatorStates, reason: string): ReaderJob | NoJob {
  const writer = new JobWriter(operator);
  return writer.write(reason);
}

/** What Flink 2.3 answers, and what helps. */
export const NO_CHANGELOG =
  'the State Processor API does not support a changelog; a canonical savepoint of the job, or ckpt read, does';

/** The name of the state in which window operators keep what is in a window. */
const WINDOW_CONTENTS = 'window-contents';

class JobWriter {
  private readonly streams: string[] = [];
  /** Of the reader of keyed state. */
  private readonly fields: string[] = [];
  private readonly opens: string[] = [];
  private readonly reads: string[] = [];
  private readonly classes = new Set<string>();
  private readonly notes: string[] = [];
  private readonly leftOut: LeftOut[] = [];
  private readonly names = new Set<string>(['key', 'context', 'out']);
  private key: JavaType | undefined;

  constructor(private readonly operator: OperatorStates) {}

  write(reason: string): ReaderJob | NoJob {
    const { operator, leftOut } = this;
    this.key = this.keyType();
    for (const state of operator.states) {
      const obstacle = isOperatorState(state) ? this.addOperatorState(state) : this.addKeyedState(state);
      if (obstacle !== undefined) leftOut.push({ state: state.name, kind: state.kind, reason: obstacle });
    }
    if (this.fields.length > 0) this.addKeyedReader();
    if (this.fields.length > 1 && backendClass(operator) !== 'HashMapStateBackend') this.notes.push(KEYS_TWICE);
    if (this.streams.length === 0) return { reason: 'the State Processor API can read none of the states', leftOut };
    const className = javaName(
      `Read ${operator.uid ?? operator.name ?? operator.operatorId}`,
      'class',
      'ReadState',
      new Set(['ReadState2', ...RESERVED_CLASSES]),
    );
    const body = this.body();
    const code = body + partsFor(body, this.key);
    const source = [
      ...this.comments(reason, className),
      '',
      ...importsFor(code),
      '',
      `public final class ${className} {`,
      code.replace(/^\n/, ''),
      '}',
      '',
    ].join('\n');
    return { className, source, classes: [...this.classes].sort(), notes: this.notes, leftOut };
  }

  private keyType(): JavaType | undefined {
    const key = this.operator.states.find((state) => !isOperatorState(state) && state.key)?.key;
    const found = key && javaType(key);
    return found && isJavaType(found) && !found.isSerializer ? found : undefined;
  }

  private addClasses(...types: readonly JavaType[]): void {
    for (const { classes } of types) for (const name of classes) this.classes.add(name);
  }

  private addOperatorState({ name, kind, key, value }: NamedState): string | undefined {
    const type = value && javaType(value);
    if (!type || !isJavaType(type)) return type?.reason ?? 'its type is not known';
    if (type.shown('x') !== 'x') return 'values of SQL in operator state are not taken apart';
    if (kind === 'broadcast') {
      const keyType = key && javaType(key);
      if (!keyType || !isJavaType(keyType)) return keyType?.reason ?? 'the type of its keys is not known';
      this.addClasses(type, keyType);
      this.streams.push(
        `savepoint.readBroadcastState(OPERATOR, ${javaText(name)}, ${keyType.type}, ${type.type})\n                        .map(new Entries(${javaText(name)}), Types.STRING)`,
      );
      return undefined;
    }
    this.addClasses(type);
    const read = kind === 'union-list' ? 'readUnionState' : 'readListState';
    this.streams.push(
      `savepoint.${read}(OPERATOR, ${javaText(name)}, ${type.type})\n                        .map(new Elements(${javaText(name)}), Types.STRING)`,
    );
    return undefined;
  }

  private addKeyedState(state: NamedState): string | undefined {
    const { key } = this;
    if (this.operator.form === 'changelog') return NO_CHANGELOG;
    if (!key) return `the type of the keys: ${this.keyObstacle()}`;
    switch (state.kind) {
      case 'timers':
        return this.addTimers(state, key);
      case 'priority-queue':
        return 'a queue of a backend, of no use outside it';
      case 'unknown':
        return 'the snapshot does not say of which kind it is';
      default:
        return isWithoutNamespace(state) ? this.addPlainState(state, key) : this.addNamespaces(state, key);
    }
  }

  private keyObstacle(): string {
    const key = this.operator.states.find((state) => !isOperatorState(state) && state.key)?.key;
    const found = key && javaType(key);
    return found && !isJavaType(found) ? found.reason : 'not known';
  }

  private addTimers({ name, namespace }: NamedState, key: JavaType): string | undefined {
    const found = /^_timer_state\/(event|processing)_(.*)$/s.exec(name);
    if (!found) return 'its name is not that of a timer service';
    const serializer = namespaceSerializer(namespace);
    if (serializer === undefined) return 'the type of its namespaces has no expression in Java';
    this.addClasses(key);
    const isEventTime = found[1] === 'event';
    this.streams.push(
      `read(env, new Timers(${javaText(found[2] ?? '')}, ${isEventTime}, ${javaText(name)}, keyType(), ${serializer}))`,
    );
    return undefined;
  }

  private addPlainState(state: NamedState, key: JavaType): string | undefined {
    const described = this.describe(state);
    if (typeof described === 'string') return described;
    const { field, type, open } = described;
    this.addClasses(key);
    this.fields.push(`        private transient ${type} ${field};`);
    this.opens.push(`            ${field} = getRuntimeContext().${open};`);
    this.reads.push(this.readState(state, field));
    return undefined;
  }

  private addNamespaces(state: NamedState, key: JavaType): string | undefined {
    const { kind, namespace, value } = state;
    const described = this.describe(state);
    if (typeof described === 'string') return described;
    this.addClasses(key);
    const type = value && javaType(value);
    const window = this.windowReader(state, type && isJavaType(type) ? type : undefined);
    if (window !== undefined) {
      this.streams.push(window);
      return undefined;
    }
    const serializer = namespaceSerializer(namespace);
    if (serializer === undefined) return `its namespaces are of a type that has no expression in Java`;
    const shown = type && isJavaType(type) ? type.shown('value') : 'value';
    if (shown !== 'value' && kind !== 'value')
      return 'values of SQL in lists and maps with namespaces are not taken apart';
    this.streams.push(
      `read(env, new Namespaces(${described.descriptor}, keyType(), ${serializer}, value -> ${shown}))`,
    );
    return undefined;
  }

  /** The State Processor API has a reader for the contents of windows, of operators with a uid. */
  private windowReader({ name, kind, namespace, ttl }: NamedState, type: JavaType | undefined): string | undefined {
    const { uid, operatorId } = this.operator;
    const window = namespace?.kind === 'basic' ? namespace.name : '';
    const serializer = WINDOW_SERIALIZERS[window];
    if (name !== WINDOW_CONTENTS || !serializer || ttl || !type || type.isSerializer) return undefined;
    if (uid === null || operatorIdOfUid(uid) !== operatorId || type.shown('x') !== 'x') return undefined;
    const by = javaText(uid);
    const functions: Partial<Record<NamedState['kind'], string>> = {
      list: `process(${by}, new Windows<${window}>(true)`,
      reducing: `reduce(${by}, (a, b) -> a, new Windows<${window}>(false)`,
      aggregating: `aggregate(${by}, new Accumulators(), new Windows<${window}>(false)`,
    };
    const start = functions[kind];
    if (start === undefined) return undefined;
    return `savepoint.window(${serializer})\n                        .${start}, keyType(), ${type.type}, Types.STRING)`;
  }

  /** How the state is declared; a text if it cannot be. */
  private describe({
    name,
    kind,
    value,
    mapKey,
    ttl,
    ownSerializer,
  }: NamedState):
    | { readonly field: string; readonly type: string; readonly open: string; readonly descriptor: string }
    | string {
    const type = value && javaType(value);
    if (!type || !isJavaType(type)) return type?.reason ?? 'its type is not known';
    if (ownSerializer !== undefined) return `${ownSerializer} is internal to Flink, and no TypeInformation makes one`;
    const key = kind === 'map' ? mapKey && javaType(mapKey) : undefined;
    if (kind === 'map' && !key) return 'the type of its keys is not known';
    if (key && !isJavaType(key)) return key.reason;
    if ((type.isSerializer && (ttl || kind === 'map')) || key?.isSerializer) return 'windows within its values';
    this.addClasses(type, ...(key ? [key] : []));
    if (ttl)
      this.notes.push(
        `${name}: with the time of the last access, in milliseconds; expired values are there too, because no snapshot says how long they live`,
      );
    const field = javaName(name, 'variable', 'state', this.names);
    const of = ttl ? `withTime(${type.type})` : type.type;
    const text = javaText(name);
    const made = (state: string, descriptor: string, method = `get${state}`) => ({
      ...{ field, descriptor, open: `${method}(${descriptor})` },
      type:
        state === 'MapState'
          ? 'MapState<Object, Object>'
          : state === 'AggregatingState'
            ? 'AggregatingState<Object, Object>'
            : `${state}<Object>`,
    });
    switch (kind) {
      case 'value':
        return made('ValueState', `new ValueStateDescriptor<>(${text}, ${of})`, 'getState');
      case 'list':
        return made('ListState', `new ListStateDescriptor<>(${text}, ${of})`);
      case 'reducing':
        return made('ReducingState', `new ReducingStateDescriptor<>(${text}, (a, b) -> a, ${of})`);
      case 'aggregating':
        return made('AggregatingState', `new AggregatingStateDescriptor<>(${text}, new Accumulators(), ${of})`);
      default: {
        const keyType = key?.type ?? '';
        const serializer = ttl ? `${keyType}.createSerializer(new SerializerConfigImpl())` : keyType;
        return made('MapState', `new MapStateDescriptor<>(${text}, ${serializer}, ${of})`);
      }
    }
  }

  private readState({ name, kind, value, mapKey }: NamedState, field: string): string {
    const shownBy = (type: TypeDescription | undefined) => {
      const found = type && javaType(type);
      return found && isJavaType(found) ? found.shown : (expression: string) => expression;
    };
    const shown = shownBy(value);
    const line = (what: string, expression: string): string =>
      `                out.collect(row(${javaText(name)}, ${shownKey(this.key)}, null, "${what}", ${expression}));`;
    if (kind === 'map') {
      const entries = `entries(${field}, k -> ${shownBy(mapKey)('k')}, v -> ${shown('v')})`;
      return `            if (!${field}.isEmpty()) {\n${line('entries', entries)}\n            }`;
    }
    if (kind === 'list') {
      const elements = shown('x') === 'x' ? `${field}.get()` : `each(${field}.get(), element -> ${shown('element')})`;
      return `            if (${field}.get().iterator().hasNext()) {\n${line('value', elements)}\n            }`;
    }
    const got = `${field}.${kind === 'value' ? 'value' : 'get'}()`;
    return `            if (${got} != null) {\n${line('value', shown(got))}\n            }`;
  }

  private addKeyedReader(): void {
    this.streams.unshift('savepoint.readKeyedState(OPERATOR, new KeyedStates(), keyType(), Types.STRING)');
  }

  private body(): string {
    const { operator, streams, key } = this;
    const { uid, operatorId } = operator;
    const identifier =
      uid !== null && operatorIdOfUid(uid) === operatorId
        ? `forUid(${javaText(uid)})`
        : `forUidHash(${javaText(operatorId)})`;
    const [first = '', ...others] = streams;
    const unions = others.map((stream) => `        rows = rows.union(\n                ${stream});`);
    return [
      '',
      `    private static final String POINTER = ${javaText(operator.pointer)};`,
      `    private static final OperatorIdentifier OPERATOR = OperatorIdentifier.${identifier};`,
      '',
      '    public static void main(String[] args) throws Exception {',
      '        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();',
      '        env.setRuntimeMode(RuntimeExecutionMode.BATCH);',
      ...(this.usesSavepoint()
        ? ['        SavepointReader savepoint = SavepointReader.read(env, POINTER, stateBackend());']
        : []),
      `        DataStream<String> rows =\n                ${first};`,
      ...unions,
      '        // Put a sink here for more than a look: what is printed goes to the output of the task managers.',
      '        rows.print().setParallelism(1);',
      `        env.execute(${javaText(`State of ${uid ?? operator.name ?? operatorId}`)});`,
      '    }',
      '',
      '    private static StateBackend stateBackend() {',
      `        return new ${backendClass(operator)}();`,
      '    }',
      ...(key
        ? ['', '    private static TypeInformation<Object> keyType() {', `        return ${key.type};`, '    }']
        : []),
      ...(this.fields.length > 0 ? this.keyedReader() : []),
      ...(key && key.shown('key') !== 'key'
        ? ['', '    private static Object shownKey(Object key) {', `        return ${key.shown('key')};`, '    }']
        : []),
    ].join('\n');
  }

  private usesSavepoint(): boolean {
    return this.streams.some((stream) => stream.startsWith('savepoint.'));
  }

  private keyedReader(): string[] {
    return [
      '',
      '    /** Prints the states of a key. */',
      '    private static final class KeyedStates extends KeyedStateReaderFunction<Object, String> {',
      '        private static final long serialVersionUID = 1L;',
      ...this.fields,
      '',
      '        @Override',
      '        public void open(OpenContext context) {',
      ...this.opens,
      '        }',
      '',
      '        @Override',
      '        public void readKey(Object key, Context context, Collector<String> out) throws Exception {',
      ...this.reads,
      '        }',
      '    }',
    ];
  }

  private comments(reason: string, className: string): string[] {
    const { operator, classes, notes, leftOut } = this;
    const jars = [
      'flink-state-processor-api',
      ...extraJars(operator, this.streams.join() + this.opens.join() + (this.key?.type ?? '')),
    ];
    const lines = [
      `Prints the state of operator ${operatorText(operator)}, in`,
      `${operator.pointer}, a line of JSON for each entry.`,
      `A job of the State Processor API and no SQL: ${reason}.`,
      `Needs ${jars.join(', ')} (Flink 2.3) on the class path. To try it: javac ${className}.java, java ${className}.`,
    ];
    if (classes.size > 0)
      lines.push('Must be on the class path, too:', ...[...classes].sort().map((name) => `  ${name}`));
    if (notes.length > 0) lines.push('To know:', ...notes.map((note) => `  ${note}`));
    if (leftOut.length > 0) lines.push('Left out:', ...leftOut.map(({ state, reason: why }) => `  ${state}: ${why}`));
    return lines.map((line) => `// ${commentText(line)}`);
  }
}

/** Names of the job's own classes. */
const RESERVED_CLASSES = [
  'KeyedStates',
  'Timers',
  'Namespaces',
  'NoFunction',
  'Windows',
  'Accumulators',
  'Elements',
  'Entries',
  'Show',
  ...Object.keys(JAVA_IMPORTS),
];

const shownKey = (key: JavaType | undefined): string => (key && key.shown('key') !== 'key' ? 'shownKey(key)' : 'key');

function backendClass({ backend }: OperatorStates): string {
  switch (backend) {
    case 'hashmap':
    case 'changelog':
    case null:
      return 'HashMapStateBackend';
    case 'forst':
      return 'ForStStateBackend';
    default:
      return 'EmbeddedRocksDBStateBackend';
  }
}

function extraJars(operator: OperatorStates, code: string): string[] {
  const jars: string[] = [];
  if (backendClass(operator) === 'EmbeddedRocksDBStateBackend') jars.push('flink-statebackend-rocksdb');
  if (backendClass(operator) === 'ForStStateBackend') jars.push('flink-statebackend-forst');
  if (code.includes('Avro')) jars.push('flink-avro');
  if (/rowType\(|sqlType\(/.test(code)) jars.push('flink-table-runtime');
  return jars;
}

/** An expression of type `TypeSerializer<Object>`. */
function namespaceSerializer(namespace: TypeDescription | undefined): string | undefined {
  if (!namespace) return undefined;
  if (namespace.kind === 'basic') {
    if (namespace.name === 'VoidNamespace') return 'anySerializer(VoidNamespaceSerializer.INSTANCE)';
    const known = WINDOW_SERIALIZERS[namespace.name];
    if (known !== undefined) return `anySerializer(${known})`;
  }
  const found = javaType(namespace);
  if (!isJavaType(found)) return undefined;
  return `${found.type}.createSerializer(new SerializerConfigImpl())`;
}

/** The parts that the code uses, and those that they use. */
function partsFor(body: string, key: JavaType | undefined): string {
  let code = body;
  let parts = '';
  for (const part of JAVA_PARTS) {
    if (!part.usedBy.test(code)) continue;
    const text = `\n${part.code.replaceAll('@KEY@', shownKey(key))}`;
    parts += text;
    code += text;
  }
  return parts;
}

function importsFor(code: string): string[] {
  // Texts and comments name classes that are not used.
  const bare = code.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'|\/\*\*[\s\S]*?\*\/|\/\/.*/g, ' ');
  const words = new Set(bare.match(/\b[A-Z]\w*/g) ?? []);
  return Object.entries(JAVA_IMPORTS)
    .filter(([name]) => words.has(name))
    .map(([, name]) => `import ${name};`)
    .sort();
}
