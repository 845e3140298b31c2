import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { ByteReader } from '../../../../src/bytes/byte-reader.js';
import { type KeyedHeader, readKeyedHeader } from '../../../../src/format/keyed/keyed-header.js';
import { readOperatorHeader } from '../../../../src/format/operator/operator-header.js';
import { UnknownFormatError } from '../../../../src/format/unknown-format-error.js';
import { hex, i16, i32, join, lengthed, utf } from '../../../support/byte-builder.js';
import {
  composite,
  keyedHeader,
  LONG,
  listOf,
  metaInfo,
  nestedSnapshot,
  STRING,
  valueState,
} from '../../../support/state-bytes.js';

const read = (bytes: Uint8Array): KeyedHeader => readKeyedHeader(ByteReader.over(bytes));
const keyOf = (snapshot: Uint8Array) => read(keyedHeader(0, snapshot)).keySerializer;

describe('the header of keyed state', () => {
  it('tells keys, states, kinds, options and serializers, and where it ends', () => {
    const header = keyedHeader(
      1,
      STRING,
      valueState('count'),
      metaInfo('timers', 3, {}, { VALUE_SERIALIZER: listOf(LONG) }),
      metaInfo('async', 4, { KEYED_STATE_TYPE: 'MAP' }, { USER_KEY_SERIALIZER: STRING }),
    );
    const result = read(join(header, Buffer.from('the body')));
    expect(result).toMatchObject({
      version: 6,
      compressed: true,
      stateCount: 3,
      end: header.length,
      unknown: undefined,
    });
    expect(result.keySerializer?.className).toMatch(/StringSerializerSnapshot$/);
    expect(result.states.map(({ name, kind }) => [name, kind])).toEqual([
      ['count', 'keyed-value'],
      ['timers', 'priority-queue'],
      ['async', 'keyed-value-v2'],
    ]);
    expect(result.states[0]?.options).toEqual(new Map([['KEYED_STATE_TYPE', 'VALUE']]));
    expect([...(result.states[0]?.serializers.keys() ?? [])]).toEqual(['NAMESPACE_SERIALIZER', 'VALUE_SERIALIZER']);
    expect(result.states[1]?.serializers.get('VALUE_SERIALIZER')?.content).toMatchObject({
      kind: 'composite',
      outerVersion: 1,
      nested: [{ content: { kind: 'simple' } }],
    });
  });

  it('is read up to a serializer that is not known, which is named', () => {
    const own = nestedSnapshot('com.example.OwnSnapshot', 5, Buffer.from('whatever'));
    const result = read(keyedHeader(0, STRING, valueState('first'), metaInfo('own', 0, {}, { VALUE_SERIALIZER: own })));
    expect(result).toMatchObject({ stateCount: 2, end: undefined });
    expect(result.states.map(({ name }) => name)).toEqual(['first']);
    expect(result.unknown).toMatchObject({ what: 'the serializer snapshot com.example.OwnSnapshot in version 5' });
  });

  it('of another version is not known; what is no version is refused', () => {
    expect(() => read(i32(5))).toThrow(UnknownFormatError);
    expect(() => read(i32(7))).toThrow(UnknownFormatError);
    expect(() => read(i32(0))).toThrow(ByteFormatError);
    expect(() => read(hex('7fffffff'))).toThrow(ByteFormatError);
  });

  it('is refused cut off anywhere, and ends in a result for any damage', () => {
    const header = keyedHeader(0, STRING, valueState('count'));
    for (let length = 0; length < header.length; length++) {
      expect(() => read(header.subarray(0, length)), `${length} bytes`).toThrow(ByteFormatError);
    }
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(header.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }),
        (changes) => {
          const bytes = Uint8Array.from(header);
          for (const [at, value] of changes) bytes[at] = value;
          try {
            read(bytes);
          } catch (error) {
            expect(error instanceof ByteFormatError || error instanceof UnknownFormatError).toBe(true);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('snapshots of serializers', () => {
  const runtime = 'org.apache.flink.api.java.typeutils.runtime.';
  const OPTIONAL_MAP = hex('000004f2c69a3d70');
  const frame = (bytes: Uint8Array): Uint8Array => join(Buffer.of(1), lengthed(bytes));
  const absent = Buffer.of(0);

  it('of composites keep what they say of themselves', () => {
    const tuple = composite(`${runtime}TupleSerializerSnapshot`, 2, utf('org.example.Tuple2'), STRING, LONG);
    expect(keyOf(tuple)?.content).toMatchObject({
      kind: 'composite',
      outerVersion: 2,
      outer: new Uint8Array(utf('org.example.Tuple2')),
      nested: [{ content: { kind: 'simple' } }, { content: { kind: 'simple' } }],
    });
    const own = composite('com.example.OwnSnapshot', 9, Buffer.from('own'), listOf(STRING));
    expect(keyOf(own)?.content).toMatchObject({ kind: 'composite', nested: [{ content: { kind: 'composite' } }] });
  });

  it('of enums have their constants in the order of their numbers', () => {
    const content = join(utf('com.example.Colour'), i32(2), utf('RED'), utf('BLUE'));
    const name = 'org.apache.flink.api.common.typeutils.base.EnumSerializer$EnumSerializerSnapshot';
    expect(keyOf(nestedSnapshot(name, 3, content))?.content).toEqual({
      kind: 'enum',
      enumClass: 'com.example.Colour',
      constants: ['RED', 'BLUE'],
    });
  });

  it('of POJOs have frames, so that a field of an unknown serializer hides nothing', () => {
    const own = nestedSnapshot('com.example.OwnSnapshot', 5, Buffer.from('whatever'));
    const field = (name: string, snapshot: Uint8Array): Uint8Array =>
      join(utf(name), frame(join(utf('com.example.Pojo'), utf(name))), frame(snapshot));
    const content = join(
      utf('com.example.Pojo'),
      join(OPTIONAL_MAP, i32(3), field('own', own), field('text', STRING), join(utf('gone'), absent, absent)),
      join(OPTIONAL_MAP, i32(1), utf('com.example.Child'), frame(new Uint8Array(0)), frame(STRING)),
      join(OPTIONAL_MAP, i32(0)),
    );
    expect(keyOf(nestedSnapshot(`${runtime}PojoSerializerSnapshot`, 2, content))?.content).toEqual({
      kind: 'pojo',
      pojoClass: 'com.example.Pojo',
      fields: [
        {
          name: 'own',
          key: { declaringClass: 'com.example.Pojo', name: 'own' },
          value: {
            className: 'com.example.OwnSnapshot',
            version: 5,
            content: { kind: 'unknown', bytes: new Uint8Array(Buffer.from('whatever')) },
          },
        },
        { name: 'text', key: expect.anything(), value: expect.objectContaining({ content: { kind: 'simple' } }) },
        { name: 'gone', key: undefined, value: undefined },
      ],
      registeredSubclasses: [{ name: 'com.example.Child', key: new Uint8Array(0), value: expect.anything() }],
      otherSubclasses: [],
    });
  });

  it('of Avro have strings with lengths of seven bits a byte', () => {
    const name = 'org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot';
    const text = (value: string): Uint8Array => join(Buffer.of(value.length + 1), Buffer.from(value, 'latin1'));
    const content = join(text('com.example.Record'), text('{"type":"null"}'));
    const avro = { kind: 'avro', recordClass: 'com.example.Record', schema: '{"type":"null"}' };
    expect(keyOf(nestedSnapshot(name, 3, content))?.content).toEqual(avro);
    const old = join(utf('com.example.Record'), utf('{"type":"null"}'));
    expect(keyOf(nestedSnapshot(name, 2, old))?.content).toEqual(avro);
    expect(read(keyedHeader(0, nestedSnapshot(name, 4))).unknown).toBeInstanceOf(UnknownFormatError);
  });

  it('with others inside each other for ever are refused', () => {
    let deep = STRING;
    for (let depth = 0; depth < 300; depth++) deep = listOf(deep);
    expect(() => read(keyedHeader(0, deep))).toThrow('more than 200 inside each other');
  });
});

describe('the header of operator state', () => {
  const list = metaInfo('offsets', 1, { OPERATOR_STATE_DISTRIBUTION_MODE: 'UNION' }, { VALUE_SERIALIZER: LONG });
  const broadcast = metaInfo('rules', 2, {}, { KEY_SERIALIZER: STRING, VALUE_SERIALIZER: LONG });
  const states = join(i16(1), list, i16(1), broadcast);
  const readOperator = (bytes: Uint8Array) => readOperatorHeader(ByteReader.over(bytes));

  it('tells list and broadcast states; before version 6 nothing of compression', () => {
    for (const [start, compressed, version] of [
      [i32(5), false, 5],
      [join(i32(6), Buffer.of(0)), false, 6],
      [join(i32(6), Buffer.of(1)), true, 6],
    ] as const) {
      const bytes = join(start, states);
      const header = readOperator(join(bytes, Buffer.from('elements')));
      expect(header).toMatchObject({ version, compressed, end: bytes.length, unknown: undefined });
      expect(header.listStates.map(({ name }) => name)).toEqual(['offsets']);
      expect(header.broadcastStates.map(({ name, kind }) => [name, kind])).toEqual([['rules', 'broadcast']]);
    }
  });

  it('is refused cut off anywhere, and with negative numbers', () => {
    const bytes = join(i32(6), Buffer.of(0), states);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => readOperator(bytes.subarray(0, length)), `${length} bytes`).toThrow(ByteFormatError);
    }
    expect(() => readOperator(join(i32(6), Buffer.of(0), i16(-1)))).toThrow('the negative number -1');
    expect(() => readOperator(join(i32(6), Buffer.of(2)))).toThrow('whether operator state is compressed (0 or 1)');
  });
});
