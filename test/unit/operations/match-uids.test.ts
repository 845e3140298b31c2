import { expect, it } from 'vitest';
import { operatorIdOfUid } from '../../../src/format/hash/operator-id.js';
import { matchUids } from '../../../src/operations/match-uids.js';

const operators = [
  { operatorId: operatorIdOfUid('a'), uid: null, name: null },
  { operatorId: operatorIdOfUid('b'), uid: 'b', name: 'B' },
  { operatorId: 'f'.repeat(32), uid: 'with-a-hash-of-its-own', name: null },
];

it('matches by the id that is made of a uid, each once, in the order given', () => {
  expect(matchUids(operators, ['b', 'x', 'a', 'b', 'with-a-hash-of-its-own'])).toEqual({
    matched: [
      { uid: 'b', operatorId: operatorIdOfUid('b') },
      { uid: 'a', operatorId: operatorIdOfUid('a') },
    ],
    uidsWithoutState: ['x', 'with-a-hash-of-its-own'],
    operatorsWithoutUid: ['f'.repeat(32)],
  });
});

it('of no uids has every operator without one', () => {
  expect(matchUids(operators, [])).toEqual({
    matched: [],
    uidsWithoutState: [],
    operatorsWithoutUid: operators.map(({ operatorId }) => operatorId),
  });
});

it('refuses the empty uid', () => {
  expect(() => matchUids(operators, [''])).toThrow('must not be empty');
});
