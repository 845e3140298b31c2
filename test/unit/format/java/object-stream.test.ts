import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { isJavaObject, javaField } from '../../../../src/format/java/java-value.js';
import { MAX_JAVA_NESTING, readJavaObject } from '../../../../src/format/java/object-stream.js';
import { fixturesDirectory } from '../../../support/paths.js';
import { describeJavaValue } from './describe-java-value.js';

interface JavaStream {
  readonly name: string;
  readonly end: number;
  readonly stream: string;
  readonly value: unknown;
}

const streams: readonly JavaStream[] = JSON.parse(
  readFileSync(join(fixturesDirectory(), 'java-object-streams', 'streams.json'), 'utf8'),
);

describe('streams written by Java', () => {
  it('are there', () => {
    expect(streams.length).toBeGreaterThan(300);
  });

  it.each(streams)('$name', ({ stream, end, value }) => {
    const bytes = Buffer.from(stream, 'base64');
    const read = readJavaObject(bytes);
    expect(read.end).toBe(end);
    expect(describeJavaValue(read.value)).toEqual(value);
  });

  it('are found at any place in the bytes', () => {
    for (const { stream, end, value } of streams.slice(0, 50)) {
      const bytes = new Uint8Array(Buffer.concat([Buffer.from('before'), Buffer.from(stream, 'base64')]));
      const read = readJavaObject(bytes.subarray(2), 4);
      expect(read.end).toBe(end + 4);
      expect(describeJavaValue(read.value)).toEqual(value);
    }
  });

  it('fail wherever they are cut', () => {
    for (const { name, stream, end } of streams.slice(-60)) {
      const bytes = Buffer.from(stream, 'base64');
      for (let cut = 0; cut < end; cut += end > 1000 ? 7 : 1) {
        expect(() => readJavaObject(bytes.subarray(0, cut)), `${name} cut at ${cut}`).toThrow(ByteFormatError);
      }
    }
  });
});

/** The parts of hand-made streams; hex strings. */
const HEADER = 'aced0005';
const utf = (text: string) => length16(Buffer.byteLength(text)) + Buffer.from(text).toString('hex');
const length16 = (length: number) => length.toString(16).padStart(4, '0');
const classDescriptor = (name: string, flags: string, fields = '0000', superclass = '70') =>
  `72${utf(name)}0000000000000001${flags}${fields}78${superclass}`;
const reference = (handle: number) => `71${(0x7e0000 + handle).toString(16).padStart(8, '0')}`;
const read = (...hex: string[]) => readJavaObject(Buffer.from(hex.join(''), 'hex'));

describe('readJavaObject', () => {
  it('reads null, and says where it ends', () => {
    expect(read(HEADER, '70', 'ffff')).toEqual({ value: null, end: 5 });
  });

  it('reads a reset before the object', () => {
    expect(read(HEADER, '7979', '74', utf('a'))).toEqual({ value: 'a', end: 10 });
  });

  it('reads a string with a 64-bit length', () => {
    expect(read(HEADER, '7c', '0000000000000003', 'c080', '61').value).toBe('\0a');
  });

  it('joins blocks and drops empty ones', () => {
    const object = read(
      HEADER,
      '73',
      classDescriptor('A', '03'),
      '770101',
      '7700',
      '7a000000020203',
      '70',
      '7700',
      '78',
    ).value;
    expect(isJavaObject(object) && object.classData[0]?.annotations).toEqual([
      { kind: 'block-data', bytes: Uint8Array.of(1, 2, 3) },
      null,
    ]);
  });

  it('lets an object refer to itself', () => {
    const object = read(
      HEADER,
      '73',
      classDescriptor('A', '02', `0001${'4c'}${utf('me')}74${utf('LA;')}`),
      reference(2),
    ).value;
    expect(isJavaObject(object) && javaField(object, 'me')).toBe(object);
  });

  it('takes the field of the most derived class', () => {
    const field = (name: string) => `0001${'42'}${utf(name)}`;
    const base = classDescriptor('Base', '02', field('x'));
    const object = read(HEADER, '73', classDescriptor('Leaf', '02', field('x'), base), '01', '02').value;
    expect(isJavaObject(object) && [javaField(object, 'x'), javaField(object, 'y')]).toEqual([2, undefined]);
    expect(isJavaObject(object) && object.classData.map((data) => data.descriptor.name)).toEqual(['Base', 'Leaf']);
  });

  it('keeps what annotates a class', () => {
    const object = read(
      HEADER,
      '73',
      '72',
      utf('A'),
      '0000000000000001',
      '02',
      '0000',
      '74',
      utf('url'),
      '78',
      '70',
    ).value;
    expect(isJavaObject(object) && object.descriptor.annotations).toEqual(['url']);
  });

  const arrays = (depth: number) =>
    `${HEADER}75${classDescriptor('[LA;', '02')}00000001${`75${reference(0)}00000001`.repeat(depth - 1)}70`;
  const objects = (depth: number) =>
    `${HEADER}73${classDescriptor('A', '03')}${`73${reference(0)}`.repeat(depth - 1)}${'78'.repeat(depth)}`;
  const superclasses = (depth: number) => `${HEADER}${`72${utf('A')}0000000000000001${'02'}000078`.repeat(depth)}70`;
  const descriptors = (depth: number) =>
    `${HEADER}${`73${'72'}${utf('A')}0000000000000001${'02'}0000`.repeat(depth)}${'7870'.repeat(depth)}`;

  it.each([
    ['arrays', arrays, MAX_JAVA_NESTING],
    ['objects', objects, MAX_JAVA_NESTING],
    ['superclasses', superclasses, MAX_JAVA_NESTING],
    ['class descriptors', descriptors, MAX_JAVA_NESTING / 2],
  ])('bounds the nesting of %s', (_, make, most) => {
    expect(() => read(make(most))).not.toThrow();
    expect(() => read(make(most + 1))).toThrow(/nesting deeper than 500 levels/);
    expect(() => read(make(200_000))).toThrow(ByteFormatError);
  });

  it('spends nothing on empty superclasses for each object', () => {
    // 400 classes without fields above 900,000 objects: 360 million entries if each object listed them.
    const tower = `${`72${utf('A')}0000000000000001${'02'}000078`.repeat(400)}70`;
    const count = 900_000;
    const head = `${HEADER}75${classDescriptor('[LA;', '02')}${count.toString(16).padStart(8, '0')}73${tower}`;
    const { value } = read(head, `73${reference(2)}`.repeat(count - 1));
    expect(value).toMatchObject({ kind: 'array', elements: { length: count } });
  });

  it.each([
    ['objects', `73${reference(0)}78`],
    ['runs of primitives', '77010070'],
    ['empty strings', '740000'],
  ])('bounds the number of %s', (_, part) => {
    const stream = (count: number) => read(HEADER, '73', classDescriptor('A', '03'), part.repeat(count), '78');
    expect(() => stream(900_000)).not.toThrow();
    expect(() => stream(1_000_000)).toThrow(/found more than 1000000 parts of it/);
  });

  it.each([
    ['nothing', '', 0, 'the end of the file'],
    ['another file', '4960672d00000003', 0, '0x4960'],
    ['another version', 'aced000670', 2, '0x0006'],
    ['only a header', HEADER, 4, 'the end of the file'],
    ['an unknown tag', `${HEADER}6f`, 4, '0x6f'],
    ['a tag beyond the last', `${HEADER}7f`, 4, '0x7f'],
    ['primitive data', `${HEADER}770101`, 4, 'primitive data'],
    ['the end of an annotation', `${HEADER}78`, 4, 'the end of an annotation'],
    ['an exception of the writer', `${HEADER}7b73`, 4, 'an exception that ended the writing of the stream'],
    [
      'a reset within an object',
      `${HEADER}75${classDescriptor('[LA;', '02')}0000000179`,
      29,
      'a reset within an object',
    ],
    ['a reference to nothing', `${HEADER}${reference(0)}`, 5, '0x7e0000, which names nothing so far'],
    ['a reference below the first', `${HEADER}71007dffff`, 5, '0x7dffff, which names nothing so far'],
    ['a negative reference', `${HEADER}71ffffffff`, 5, '0xffffffff, which names nothing so far'],
    ['an object without class', `${HEADER}7370`, 5, 'none'],
    [
      'an object of a string',
      `${HEADER}75${classDescriptor('[LA;', '02')}000000027400007371007e0002`,
      33,
      'a reference to something else',
    ],
    [
      'a class that is its own superclass',
      `${HEADER}73${classDescriptor('A', '02', '0000', reference(0))}`,
      21,
      'a reference to one that is not complete yet',
    ],
    [
      'an object within the descriptor of its class',
      `${HEADER}73${'72'}${utf('A')}0000000000000001${'02'}000073${reference(0)}`,
      21,
      'a reference to one that is not complete yet',
    ],
    ['more fields than bytes', `${HEADER}72${utf('A')}0000000000000001${'02'}ffff42`, 17, '65535 where 1 bytes remain'],
    ['an unknown field type', `${HEADER}72${utf('A')}0000000000000001${'02'}000158000161`, 19, '"X"'],
    [
      'a primitive after an object field',
      `${HEADER}72${utf('A')}0000000000000001${'02'}00024c00016174000142${'42'}000162`,
      27,
      'a primitive after it',
    ],
    [
      'a field type that is no string',
      `${HEADER}72${utf('A')}0000000000000001${'02'}00014c000161${reference(0)}`,
      23,
      'a reference to something else',
    ],
    ['a field without type', `${HEADER}72${utf('A')}0000000000000001${'02'}00014c00016170`, 23, '0x70'],
    [
      'more elements than bytes',
      `${HEADER}75${classDescriptor('[J', '02')}7fffffff`,
      23,
      '2147483647, which needs 17179869176 bytes where 0 remain',
    ],
    [
      'a negative number of elements',
      `${HEADER}75${classDescriptor('[LA;', '02')}ffffffff`,
      25,
      'the negative number -1',
    ],
    ['an array of no array class', `${HEADER}75${classDescriptor('A', '02')}00000000`, 5, '"A"'],
    ['an array of an unknown type', `${HEADER}75${classDescriptor('[V', '02')}00000000`, 5, '"[V"'],
    ['a string longer than the input', `${HEADER}7c000000010000000061`, 5, '4294967296 where 1 bytes remain'],
    ['a string of negative length', `${HEADER}7cffffffffffffffff61`, 5, '18446744073709551615 where 1 bytes remain'],
    ['a string that is not modified UTF-8', `${HEADER}740001f0`, 7, 'byte 0xf0, which is not modified UTF-8'],
    [
      'a long block beyond the end',
      `${HEADER}73${classDescriptor('A', '03')}7a7fffffff`,
      23,
      '2147483647, which needs 2147483647 bytes where 0 remain',
    ],
    [
      'an externalizable object of protocol version 1',
      `${HEADER}73${classDescriptor('A', '04')}00`,
      5,
      'an externalizable one of protocol version 1',
    ],
    ['an enum constant without name', `${HEADER}7e${classDescriptor('A', '12')}70`, 22, '0x70'],
    [
      'interfaces beyond the end',
      `${HEADER}73${'7d'}7fffffff`,
      6,
      '2147483647, which needs 4294967294 bytes where 0 remain',
    ],
  ])('refuses %s', (_, hex, offset, found) => {
    const error = caught(() => read(hex));
    expect(error).toBeInstanceOf(ByteFormatError);
    expect(error).toMatchObject({ offset, found });
  });
});

function caught(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
