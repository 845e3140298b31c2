import { describe, expect, it } from 'vitest';
import { operatorIdOfUid } from '../../../../src/format/hash/operator-id.js';
import { classifyUid } from '../../../../src/format/hash/uid-verdict.js';
import { JOB_GRAPHS } from './job-graphs.js';

/** The verdicts of a file that stores no uids. */
function verdicts(allIds: readonly string[]): readonly string[] {
  return allIds.map((operatorId) => classifyUid({ version: 4, uid: null, operatorId, allIds }));
}

const UID = operatorIdOfUid('my-uid');
const MADE = JOB_GRAPHS.chain[3];

describe('classifyUid', () => {
  it.each([
    ['a uid that has the id', { version: 5, uid: 'my-uid', name: 'Map', operatorId: UID }, 'set'],
    ['a uid that has the id, without name', { version: 6, uid: 'my-uid', name: null, operatorId: UID }, 'set'],
    ['a uid with another id', { version: 6, uid: 'my-uid', name: 'Map', operatorId: MADE }, 'mismatch'],
    ['no uid but a name', { version: 5, uid: null, name: 'Map', operatorId: UID }, 'not-set'],
    ['an empty uid but a name', { version: 6, uid: '', name: 'Map', operatorId: MADE }, 'not-set'],
    ['no uid, name not asked for', { version: 5, uid: null, operatorId: UID }, 'not-set'],
    ['neither uid nor name', { version: 5, uid: null, name: null, operatorId: UID }, 'unknown'],
    ['neither, but an id made by Flink', { version: 6, uid: '', name: '', operatorId: MADE }, 'not-set'],
    ['an old file', { version: 4, uid: null, name: null, operatorId: UID }, 'unknown'],
    ['an old file with an id made by Flink', { version: 2, uid: null, operatorId: MADE }, 'not-set'],
    ['an old file with a uid from elsewhere', { version: 3, uid: 'my-uid', operatorId: UID }, 'set'],
  ] as const)('%s', (_, evidence, verdict) => {
    expect(classifyUid({ ...evidence, allIds: [UID, MADE] })).toBe(verdict);
  });
});

describe('ids made by Flink', () => {
  it.each(['chain', 'connect', 'long', 'fan', 'sources'] as const)('are all found: %s', (job) => {
    expect(new Set(verdicts(JOB_GRAPHS[job]))).toEqual(new Set(['not-set']));
  });

  it('are found in any order of the file', () => {
    expect(new Set(verdicts([...JOB_GRAPHS.connect].reverse()))).toEqual(new Set(['not-set']));
  });

  it('of three inputs are unknown, and then so is the one behind it', () => {
    const ids = JOB_GRAPHS.union;
    expect(ids.filter((_, i) => verdicts(ids)[i] === 'unknown')).toEqual([ids[2], ids[3]]);
  });

  it('do not make a parent that has a uid look like a child', () => {
    // The map has the uid "m"; the id of the reduce is made of the map's, and the test for that works both ways.
    const [sink, reduce, map, source] = JOB_GRAPHS.mixed;
    expect([operatorIdOfUid('m'), operatorIdOfUid('src')]).toEqual([map, source]);
    expect(verdicts([sink, reduce, map, source])).toEqual(['not-set', 'unknown', 'unknown', 'unknown']);
  });

  it('are told from their parents where positions leave one order only', () => {
    // source (position 0) -> map (1) -> reduce (2) -> sink (3): without the source, map or reduce may be the first.
    const [sink, reduce, map] = JOB_GRAPHS.chain;
    expect(verdicts([sink, reduce, map])).toEqual(['not-set', 'unknown', 'unknown']);
  });

  it('are not seen in hashes of uids', () => {
    const ids = Array.from({ length: 300 }, (_, i) => operatorIdOfUid(`operator-${i}`));
    expect(new Set(verdicts(ids))).toEqual(new Set(['unknown']));
    expect(verdicts([...ids, MADE]).filter((verdict) => verdict === 'not-set')).toHaveLength(1);
  });

  it('are looked for in large files among sources only', () => {
    const ids = Array.from({ length: 100_000 }, (_, i) => operatorIdOfUid(`operator-${i}`));
    const found = verdicts([...ids, ...JOB_GRAPHS.chain]);
    expect(found.slice(-4)).toEqual(['unknown', 'unknown', 'unknown', 'not-set']);
  });

  it('survive ids that are none', () => {
    expect(verdicts(['', 'x'.repeat(32), MADE.toUpperCase(), MADE, MADE])).toEqual([
      'unknown',
      'unknown',
      'unknown',
      'not-set',
      'not-set',
    ]);
    expect(verdicts([])).toEqual([]);
  });
});
