import { describe, expect, it } from 'vitest';
import { OperatorNotFoundError } from '../../../src/errors.js';
import { operatorIdOfUid } from '../../../src/format/hash/operator-id.js';
import { describeOperator, findOperator, type NamedOperator } from '../../../src/operations/find-operator.js';

const operator = (operatorId: string, uid: string | null = null, name: string | null = null): NamedOperator => ({
  operatorId,
  uid,
  name,
});
const id = (digits: string): string => digits.padEnd(32, '0');

const operators = [
  operator(id('abc1'), 'abc2', 'Window'),
  operator(id('abc2'), null, 'Map'),
  operator(id('abd'), 'sink', 'Map'),
  operator(operatorIdOfUid('my-uid')),
  operator(id('beef'), 'ABC1', 'abd'),
];

function errorOf(wanted: string, among: readonly NamedOperator[] = operators): OperatorNotFoundError {
  try {
    findOperator(among, wanted);
  } catch (error) {
    if (error instanceof OperatorNotFoundError) return error;
    throw error;
  }
  throw new Error('it was found');
}

describe('findOperator', () => {
  it.each([
    [id('abc2'), 1],
    [id('ABC2'), 1],
    ['abc2', 0],
    ['ABC2', 1],
    ['sink', 2],
    ['my-uid', 3],
    ['Window', 0],
    ['abd', 4],
    ['ABD', 2],
    ['abc1', 0],
    ['ABC1', 4],
    ['bee', 4],
    [id('beef').slice(0, 31), 4],
  ])('%j is number %i: ids, uids, names, beginnings of ids, in this order', (wanted, index) => {
    expect(findOperator(operators, wanted)).toBe(index);
  });

  it('refuses what several are', () => {
    expect(errorOf('Map')).toMatchObject({
      message: `operator "Map": 2 operators fit: ${id('abc2')} (Map), ${id('abd')} (Map, uid sink)`,
      data: { operator: 'Map', nearby: [id('abc2'), id('abd')] },
    });
    expect(errorOf('ab').message).toContain('3 operators fit');
    const twice = [operator(id('a')), operator(id('a'))];
    expect(errorOf(id('a'), twice).message).toContain('2 entries of the metadata have this id');
    const many = Array.from({ length: 20 }, (_, index) => operator(id(`a${index}`)));
    expect(errorOf('a', many).message).toMatch(/20 operators fit: .*, and 12 more$/);
  });

  it('says what may have been meant, or what there is', () => {
    expect(errorOf('Windo').message).toBe(
      `operator "Windo": not in this metadata; did you mean ${id('abc1')} (Window, uid abc2)?`,
    );
    expect(errorOf('quite another').message).toContain('not in this metadata; it has ');
    expect(errorOf('x', []).message).toContain('it has no operators');
    const many = Array.from({ length: 20 }, (_, index) => operator(id(`a${index}`), null, `operator ${index}`));
    expect(errorOf('quite another', many).message).toBe('operator "quite another": not in this metadata');
    expect(errorOf('x y z', [operator(id('a'))]).message).toContain(
      'neither an id in this metadata nor the uid of one',
    );
  });

  it('finds no operator by a uid that its id is not made of', () => {
    expect(errorOf('my-uid', [operator(operatorIdOfUid('my-uid'), 'another')]).data.operator).toBe('my-uid');
  });
});

it.each([
  [operator('1'), '1'],
  [operator('1', 'u'), '1 (uid u)'],
  [operator('1', null, 'n'), '1 (n)'],
  [operator('1', 'u', 'n'), '1 (n, uid u)'],
])('describeOperator of %o is %j', (one, text) => {
  expect(describeOperator(one)).toBe(text);
});
