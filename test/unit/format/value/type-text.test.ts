import { expect, it } from 'vitest';
import { serializerOf } from '../../../../src/format/value/serializer-of.js';
import { flinkValues, snapshotOf } from '../../../support/flink-values.js';

const TYPES: Readonly<Record<string, string>> = {
  string: 'String',
  long: 'Long',
  bytes: 'byte[]',
  'boxed-longs': 'Long[]',
  'list-of-lists': 'List<List<Integer>>',
  'linked-list': 'List<Long>',
  set: 'Set<String>',
  map: 'Map<String, Long>',
  'tuple-2': 'Tuple2<String, Integer>',
  'tuple-nested': 'Tuple2<Tuple2<Double, String>, Instant>',
  either: 'Either<String, Long>',
  nullable: 'Nullable<Integer>',
  row: 'Row<Long, Integer, String, Row<Integer, String>>',
  timer: 'Timer<String, TimeWindow>',
  enum: 'Enum WriteValues$Color',
  pojo: 'Pojo WriteValues$Shape',
  avro: 'Avro lab.Node',
  'sql-numbers':
    'ROW<BOOLEAN NOT NULL, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(10, 2), DECIMAL(38, 10)>',
  'sql-texts': 'ROW<CHAR(3), VARCHAR(20), STRING, BINARY(2), BYTES, VARBINARY(5)>',
  'sql-times':
    'ROW<DATE, TIME(3), TIMESTAMP(3), TIMESTAMP(6), TIMESTAMP_LTZ(3), TIMESTAMP_LTZ(9), INTERVAL YEAR(2) TO MONTH, INTERVAL DAY(2) TO SECOND(6)>',
  'sql-nested':
    'ROW<ROW<`a` INT NOT NULL, `b``c` STRING>, ARRAY<INT>, ARRAY<VARCHAR(10)>, MAP<STRING, DOUBLE>, MULTISET<BIGINT>>',
  'sql-raw': "ROW<RAW('java.lang.String', '...')>",
  'sql-structured': "ROW<STRUCTURED<'WriteValues$Point', `x` INT NOT NULL, `y` INT>>",
  'raw-value': 'RAW<String>',
  'map-data': 'MAP<INT, ROW<`a` INT NOT NULL, `b``c` STRING>>',
  'decimal-data-large': 'DECIMAL(38, 10)',
};

it('types are told as text', () => {
  const types = flinkValues().map((flink) => [flink.name, serializerOf(snapshotOf(flink)).type] as const);
  for (const [name, type] of types) if (TYPES[name] !== undefined) expect([name, type]).toEqual([name, TYPES[name]]);
  for (const name of Object.keys(TYPES)) expect(types.map(([found]) => found)).toContain(name);
});

it('POJOs are told with their fields and subclasses', () => {
  const pojo = flinkValues().find(({ name }) => name === 'pojo');
  expect(pojo && serializerOf(snapshotOf(pojo)).description).toMatchObject({
    kind: 'pojo',
    javaClass: 'WriteValues$Shape',
    fields: [
      { name: 'center', declaringClass: 'WriteValues$Shape', type: { kind: 'pojo', javaClass: 'WriteValues$Point' } },
      { name: 'color', type: { kind: 'enum', constants: ['RED', 'GREEN', 'BLUE'] } },
      { name: 'generic', type: { kind: 'pojo', fields: [{ name: 'value', type: { kind: 'basic', name: 'String' } }] } },
      { name: 'longs', type: { kind: 'basic', name: 'long[]' } },
      { name: 'name' },
      { name: 'texts', type: { name: 'Nullable', parts: [{ kind: 'list', element: { name: 'Nullable' } }] } },
    ],
    subclasses: [{ javaClass: 'WriteValues$Square' }, { javaClass: 'WriteValues$Circle' }],
  });
});
