import { describe, expect, it } from 'vitest';
import { nearestNames } from '../../../src/operations/near-names.js';

describe('nearestNames', () => {
  it.each([
    ['savepoint ab12cd-0123', ['savepoint-ab12cd-0123', 'chk-1'], ['savepoint-ab12cd-0123']],
    ['Savepoint-AB12cd-0123', ['savepoint-ab12cd-0123'], ['savepoint-ab12cd-0123']],
    ['_metdata', ['_metadata', '_metadata.discarding', 'other'], ['_metadata']],
    ['ordrs-keyed', ['orders-keyed', 'orders-source'], ['orders-keyed']],
    ['keyed', ['orders-keyed', 'orders-source'], ['orders-keyed']],
    ['x', ['y', 'zz'], ['y']],
    ['abcdefgh', ['quite another', 'abc'], []],
    ['', ['a', 'b'], []],
    ['--', ['a', '-'], []],
    ['窓口', ['窓口 2', 'x'], ['窓口 2']],
  ])('of %j among %j are %j', (wanted, names, expected) => {
    expect(nearestNames(wanted, names)).toEqual(expected);
  });

  it('come with the likest first, and no more than asked for', () => {
    const names = ['aaaaaa3', 'aaaaaaa', 'aaaaaa', 'aaaaa33'];
    expect(nearestNames('aaaaaa', names)).toEqual(['aaaaaa', 'aaaaaa3', 'aaaaaaa', 'aaaaa33']);
    expect(nearestNames('aaaaaa', names, 2)).toEqual(['aaaaaa', 'aaaaaa3']);
  });
});
