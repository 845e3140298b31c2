import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TypeDescription } from '../../src/format/value/type-description.js';
import type { NamedState, OperatorStates } from '../../src/operations/sql/operator-states.js';
import {
  commentText,
  isSqlIdentifier,
  javaName,
  javaText,
  sqlIdentifier,
  sqlText,
} from '../../src/operations/sql/quote.js';
import { writeFor } from '../../src/operations/sql/write-sql.js';
import { javaTokens, sqlTokens, type Token } from '../support/code-tokens.js';

/** What ends, begins or escapes something in SQL or Java, among anything else. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc
    .array(
      fc.constantFrom(
        '`',
        "'",
        '"',
        '\\',
        '\\u000a',
        '\\u0022',
        '\n',
        '\r',
        '\t',
        '\0',
        ';',
        '--',
        '//',
        '/*',
        '*/',
        '.',
        ' ',
        'x',
        '\ud800',
        '😀',
        '\u202e',
        '\u2028',
        '${',
        '}',
        ')',
        '$&',
        '@KEY@',
        'UID',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('')),
);

const VOID: TypeDescription = { kind: 'basic', name: 'VoidNamespace' };
const STRING: TypeDescription = { kind: 'basic', name: 'String' };

interface Names {
  readonly pointer: string;
  readonly uid: string;
  readonly table: string | undefined;
  readonly states: readonly string[];
  readonly javaClass: string;
  readonly field: string;
  readonly sqlType: string;
}

const names: fc.Arbitrary<Names> = fc.record({
  pointer: hostile,
  uid: hostile,
  table: fc.option(hostile.filter(isSqlIdentifier), { nil: undefined }),
  states: fc.uniqueArray(hostile, { minLength: 8, maxLength: 8 }),
  javaClass: hostile,
  field: hostile,
  sqlType: hostile,
});

/** States of every kind, with these names wherever a file brings some. */
function operatorOf({ pointer, uid, states, javaClass, field, sqlType }: Names): OperatorStates {
  const [value = '', list = '', map = '', timers = '', elements = '', rules = '', sum = '', rows = ''] = states;
  const pojo: TypeDescription = {
    kind: 'pojo',
    javaClass,
    fields: [
      { name: field, declaringClass: javaClass, type: STRING },
      { name: 'plain', declaringClass: javaClass, type: { kind: 'enum', javaClass, constants: [field] } },
    ],
    subclasses: [{ javaClass: `${javaClass}$Sub`, type: STRING }],
  };
  const keyed = { key: STRING, namespace: VOID, mapKey: undefined, ttl: false, ownSerializer: undefined };
  const unkeyed = { key: undefined, namespace: undefined, mapKey: undefined, ttl: false, ownSerializer: undefined };
  const all: NamedState[] = [
    { ...keyed, name: value, kind: 'value', value: pojo },
    { ...keyed, name: list, kind: 'list', value: STRING },
    { ...keyed, name: map, kind: 'map', mapKey: STRING, value: pojo },
    { ...keyed, name: `_timer_state/event_${timers}`, kind: 'timers', value: undefined },
    {
      ...unkeyed,
      name: elements,
      kind: 'split-list',
      value: { kind: 'opaque', name: 'x', javaClass, serializer: 'KryoSerializer' },
    },
    { ...unkeyed, name: rules, kind: 'broadcast', key: STRING, value: pojo },
    { ...keyed, name: sum, kind: 'reducing', value: { kind: 'opaque', name: javaClass, javaClass, serializer: field } },
    { ...keyed, name: rows, kind: 'value', value: { kind: 'row-data', fields: [{ name: undefined, sqlType }] } },
  ];
  return {
    ...{ pointer, operatorId: '0'.repeat(32), uid, name: uid, backend: 'hashmap', form: 'key-groups' },
    states: all,
  };
}

const PLAIN: Names = {
  ...{ pointer: 'p', uid: 'u', table: undefined, states: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] },
  ...{ javaClass: 'C', field: 'f', sqlType: 'INT' },
};

const valuesOf = (tokens: readonly Token[], kind: Token['kind']): string[] =>
  tokens.filter((token) => token.kind === kind).map(({ value }) => value);

/** The code without names that programs are free to choose. */
const shapeOf = (tokens: readonly Token[]): string =>
  valuesOf(tokens, 'code')
    .filter((token) => !/^\w/.test(token))
    .join('');

describe('what comes out of files stays a name', () => {
  it('as an identifier, a literal, a comment and a variable', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        if (isSqlIdentifier(text)) {
          expect(sqlTokens(sqlIdentifier(text))).toEqual([{ kind: 'name', value: text }]);
        } else {
          expect(() => sqlIdentifier(text)).toThrow(RangeError);
        }
        expect(sqlTokens(sqlText(text))).toEqual([{ kind: 'text', value: text }]);
        expect(javaTokens(javaText(text))).toEqual([{ kind: 'text', value: text }]);
        expect(sqlTokens(`-- ${commentText(text)}`)).toHaveLength(1);
        expect(javaTokens(`// ${commentText(text)}`)).toHaveLength(1);
        for (const style of ['variable', 'class'] as const) {
          expect(javaName(text, style, 'fallback', new Set())).toMatch(/^[A-Za-z][A-Za-z0-9]*$/);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('in constants that are too long for a class file', () => {
    const text = `${'ab"\\\n€'.repeat(20_000)}`;
    const parts = valuesOf(javaTokens(javaText(text)), 'text');
    expect(parts.slice(1).join('')).toBe(text);
    expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThan(65_535);
  });

  it('in a statement of SQL', () => {
    fc.assert(
      fc.property(names, (given) => {
        const operator = operatorOf(given);
        fc.pre(given.states.slice(0, 3).some(isSqlIdentifier));
        const written = writeFor(operator, { release: '2.3', java: false, table: given.table });
        expect(written.language).toBe('sql');
        const tokens = sqlTokens(written.text);
        const ends = tokens.flatMap(({ kind, value }, at) => (kind === 'code' && value === ';' ? [at] : []));
        expect(ends).toHaveLength(2);
        expect(ends[1]).toBe(tokens.length - 1);
        const texts = valuesOf(tokens, 'text');
        const options = Object.fromEntries(texts.flatMap((text, at) => (at % 2 === 0 ? [[text, texts[at + 1]]] : [])));
        expect(options).toMatchObject({
          connector: 'savepoint',
          'state.path': given.pointer,
          'state.backend.type': 'hashmap',
        });
        const columns = new Map(written.columns.map(({ name, state }) => [state, name]));
        for (const state of given.states.slice(0, 3)) {
          const column = columns.get(state);
          if (column === undefined) {
            expect(written.leftOut.map((left) => left.state)).toContain(state);
          } else {
            expect(valuesOf(tokens, 'name')).toContain(column);
            expect(options[`fields.${column}.state-name`] ?? column).toBe(state);
          }
        }
        expect(new Set(written.columns.map(({ name }) => name)).size).toBe(written.columns.length);
        expect(valuesOf(tokens, 'code').filter((token) => !/^[\w.,()<>=;*]+$/.test(token))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('in a job', () => {
    const shape = shapeOf(
      javaTokens(writeFor(operatorOf(PLAIN), { release: '2.3', java: true, table: undefined }).text),
    );
    fc.assert(
      fc.property(names, (given) => {
        const written = writeFor(operatorOf(given), { release: '2.3', java: true, table: undefined });
        const tokens = javaTokens(written.text);
        expect(shapeOf(tokens)).toBe(shape);
        const texts = new Set(valuesOf(tokens, 'text'));
        for (const text of [given.pointer, ...given.states.slice(0, 3), given.javaClass, given.sqlType]) {
          expect(texts).toContain(text);
        }
      }),
      { numRuns: 300 },
    );
  });
});
