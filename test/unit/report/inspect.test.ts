import { describe, expect, it } from 'vitest';
import type { InspectedOperator } from '../../../src/operations/inspect-result.js';
import { type InspectDocument, renderInspect } from '../../../src/report/inspect.js';
import { describeRetention } from '../../../src/report/retention.js';
import { describeSkew, isSkewed, skewOf } from '../../../src/report/skew.js';
import { loadStyle, plainStyle } from '../../../src/report/style.js';
import { renderTitle } from '../../../src/report/title.js';
import type { View } from '../../../src/report/view.js';
import { textWidth } from '../../../src/report/wrap.js';

const JOB = '0123456789abcdef0123456789abcdef';

const operator = (more: Partial<InspectedOperator> = {}): InspectedOperator => ({
  operatorId: 'a'.repeat(32),
  uid: null,
  name: null,
  parallelism: 1,
  maxParallelism: 128,
  finished: false,
  stateSize: 0,
  checkpointedSize: 0,
  keyedStateSize: 0,
  operatorStateSize: 0,
  channelStateSize: 0,
  coordinatorStateSize: 0,
  backend: null,
  files: 0,
  subtasks: 0,
  finishedSubtasks: 0,
  largestSubtask: null,
  smallestSubtask: null,
  uidVerdict: 'unknown',
  hasState: true,
  ...more,
});

const document = (more: Partial<InspectDocument> = {}): InspectDocument => ({
  pointer: `file:/root/${JOB}/chk-7`,
  metadataPath: `file:/root/${JOB}/chk-7/_metadata`,
  metadataSize: 2048,
  time: '2026-11-30T12:00:00.500Z',
  jobId: JOB,
  version: 6,
  flinkVersions: '2.1 – 2.3',
  checkpointId: 7,
  kind: 'checkpoint',
  formatType: null,
  incremental: false,
  unaligned: false,
  changelog: false,
  fileMerging: false,
  relocatable: 'inline',
  directories: [],
  stateSize: 0,
  checkpointedSize: 0,
  inlineBytes: 0,
  fileBytes: 0,
  files: 0,
  properties: null,
  masterStates: [],
  operatorStates: [],
  trailingBytes: 0,
  ...more,
});

const view = (more: Partial<View> = {}): View => ({
  style: plainStyle,
  width: Number.POSITIVE_INFINITY,
  now: Date.parse('2026-11-30T12:05:00Z'),
  verbose: false,
  ...more,
});

const render = (more: Partial<InspectDocument>, where = view()): string =>
  [...renderInspect(document(more), where)].join('');

/** The value of a line of the header. */
function field(text: string, label: string): string | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${label}  `));
  return line?.slice(label.length).trim();
}

describe('the header', () => {
  it('of a checkpoint with nothing in it', () => {
    expect(render({})).toBe(
      [
        `file:/root/${JOB}/chk-7`,
        'Checkpoint id  7',
        'Kind           checkpoint',
        'Written        2026-11-30T12:00:00Z (4 min ago)',
        `Job            ${JOB}`,
        'Flink          2.1 – 2.3 (derived from metadata version 6)',
        'Full size      0 bytes',
        'Added by it    0 bytes',
        'In files       none: everything is inside the metadata',
        'Metadata       2 KiB in _metadata',
        'Can be moved   yes: everything is inside the metadata',
        'Retention      the metadata has no properties',
        '',
        'No operators.',
        '',
      ].join('\n'),
    );
  });

  it.each<[Partial<InspectDocument>, string]>([
    [{ kind: 'savepoint', formatType: 'CANONICAL' }, 'savepoint, canonical'],
    [{ kind: 'savepoint', formatType: 'NATIVE', changelog: true }, 'savepoint, native, changelog'],
    [{ incremental: true, unaligned: true, fileMerging: true }, 'checkpoint, incremental, unaligned, file merging'],
    [{ kind: 'unknown', version: 3 }, 'checkpoint by its name (metadata version 3 does not say)'],
    [{ kind: 'unknown', version: 6 }, 'checkpoint by its name (the metadata does not say)'],
    [
      { kind: 'unknown', version: 2, pointer: 'file:/x/savepoint-ab' },
      'savepoint by its name (metadata version 2 does not say)',
    ],
    [{ kind: 'unknown', version: 2, pointer: 'file:/x' }, 'checkpoint or savepoint (metadata version 2 does not say)'],
  ])('says the kind of %j', (more, kind) => {
    expect(field(render(more), 'Kind')).toBe(kind);
  });

  it('says where the bytes are', () => {
    const own = { uri: `file:/root/${JOB}/chk-7`, role: 'exclusive', files: 2, bytes: 1024 } as const;
    const shared = { uri: `file:/root/${JOB}/shared`, role: 'shared', files: 3, bytes: 4096 } as const;
    const one = render({ files: 2, fileBytes: 1024, directories: [own], inlineBytes: 10, relocatable: 'relative' });
    expect(field(one, 'In files')).toBe('1 KiB in 2 files, all exclusive');
    expect(field(one, 'Inline')).toBe('10 B inside the metadata');
    const both = render({ files: 5, fileBytes: 5120, directories: [own, shared], relocatable: 'foreign' });
    expect(field(both, 'In files')).toBe('5 KiB in 5 files: exclusive 1 KiB in 2, shared 4 KiB in 3');
    expect(field(both, 'Can be moved')).toMatch(/^not by itself: it refers to 1 other directory \(below\)/);
  });

  it('names metadata that is not where it belongs by its path', () => {
    expect(field(render({ metadataPath: 'file:/elsewhere/m' }), 'Metadata')).toBe('2 KiB in file:/elsewhere/m');
  });

  it('tells a copy by the names of its job or of itself, and writes a mapping that can be typed', () => {
    const at = (uri: string, pointer?: string) =>
      field(
        render({
          directories: [{ uri, role: 'foreign', files: 1, bytes: 1 }],
          relocatable: 'foreign',
          ...(pointer !== undefined && { pointer, jobId: null }),
        }),
        'Looks copied',
      );
    expect(at(`s3://b/a=b/${JOB}/shared`)).toBe(
      String.raw`from s3://b/a=b: its files are named there; --map s3://b/a\=b=file:/root looks them up here`,
    );
    expect(at('s3://b/savepoint-1', 'file:/x/savepoint-1')).toContain('--map s3://b=file:/x looks');
    expect(at(`file:/root/${JOB}/elsewhere`)).toBeUndefined();
    expect(at('s3://b/other/shared')).toBeUndefined();
  });

  it('shows deviating values of max parallelism, without filling the header with names', () => {
    const usual = [operator(), operator(), operator()];
    const few = [operator({ maxParallelism: 64, name: 'Small', backend: 'rocksdb' })];
    const long = [operator({ maxParallelism: 32, name: 'N'.repeat(100), operatorId: 'b'.repeat(32) })];
    const many = Array.from({ length: 6 }, () => operator({ maxParallelism: 16 }));
    expect(field(render({ operatorStates: usual }), 'Max parallelism')).toBe('128');
    expect(field(render({ operatorStates: [...few, ...usual, ...long] }), 'Max parallelism')).toBe(
      `128 (3 operators), 64 (Small), 32 (${'b'.repeat(32)}, no keyed state)`,
    );
    const ids = usual.map(({ operatorId }) => operatorId).join(', ');
    expect(field(render({ operatorStates: [...usual, ...many] }), 'Max parallelism')).toBe(
      `16 (6 operators), 128 (${ids}, no keyed state)`,
    );
    expect(field(render({ operatorStates: [...usual, ...many, ...usual, ...usual] }), 'Max parallelism')).toBe(
      '128 (9 operators), 16 (6 operators, no keyed state)',
    );
  });
});

describe('operators', () => {
  const table = (operators: readonly InspectedOperator[], more: Partial<InspectDocument> = {}): string =>
    render({ operatorStates: operators, stateSize: 100, ...more }).split('Max parallelism')[1] ?? '';

  it('are sorted by size, big numbers as well', () => {
    const text = table([
      operator({ name: 'small', stateSize: 5 }),
      operator({ name: 'huge', stateSize: '9007199254740993' }),
      operator({ name: 'middle', stateSize: 50 }),
    ]);
    expect(text.match(/^(huge|middle|small)/gm)).toEqual(['huge', 'middle', 'small']);
    expect(text).toContain('3 operators, the biggest first\n');
  });

  it('are named by name, else uid, else id, each shown once', () => {
    const ids = ['1', '2', '3'].map((digit) => digit.repeat(32));
    const text = table([
      operator({ operatorId: ids[0] ?? '', name: 'Window', uid: 'w' }),
      operator({ operatorId: ids[1] ?? '', uid: 'only-uid' }),
      operator({ operatorId: ids[2] ?? '' }),
    ]);
    for (const once of ['Window', 'only-uid', ...ids]) expect(text.split(once)).toHaveLength(2);
    expect(text).toMatch(/^Window .* w +1{32}$/m);
  });

  it('of old versions have a note on names', () => {
    expect(table([operator()], { version: 4 })).toContain('Names and uids are not stored');
    expect(table([operator()], { version: 5 })).not.toContain('Names and uids are not stored');
  });
});

describe('uids', () => {
  it('tell matched ones without state apart', () => {
    const text = render({
      operatorStates: [
        operator({ operatorId: '1'.repeat(32), name: 'A' }),
        operator({ operatorId: '2'.repeat(32), hasState: false }),
        operator({ operatorId: '3'.repeat(32) }),
      ],
      uids: {
        matched: [
          { uid: 'a', operatorId: '1'.repeat(32) },
          { uid: 'b', operatorId: '2'.repeat(32) },
        ],
        uidsWithoutState: ['c'],
        operatorsWithoutUid: ['3'.repeat(32)],
      },
    });
    expect(text.split('\nUids\n')[1]).toBe(
      [
        'Result             Uid  Operator',
        `matched            a    ${'1'.repeat(32)} (A)`,
        `matched, no state  b    ${'2'.repeat(32)}`,
        'not found          c',
        `no uid given            ${'3'.repeat(32)}`,
        '',
      ].join('\n'),
    );
  });
});

it('colours change no word and no line', async () => {
  const style = await loadStyle({ color: true });
  const more = {
    relocatable: 'foreign',
    trailingBytes: 3,
    operatorStates: [operator(), operator({ hasState: false })],
  } as const;
  for (const width of [30, 80, Number.POSITIVE_INFINITY]) {
    const colored = render(more, view({ style, width }));
    expect(colored).toContain('\u001b[');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(colored.replace(/\u001b\[\d+m/g, '')).toBe(render(more, view({ width })));
  }
});

describe('skew', () => {
  const of = (sizes: readonly number[], more: Partial<InspectedOperator> = {}): number | undefined => {
    const largest = Math.max(...sizes);
    return skewOf(
      operator({
        subtasks: sizes.length,
        stateSize: sizes.reduce((sum, size) => sum + size, 0),
        largestSubtask: { index: sizes.indexOf(largest), bytes: largest },
        ...more,
      }),
    );
  };

  it('compares the biggest with the average of the others', () => {
    expect(of([10, 10])).toBe(1);
    expect(of([10, 30])).toBe(3);
    expect(of([10, 30, 20, 0])).toBe(3);
    expect(of([10, 0, 0])).toBe(Infinity);
    expect(of([10, 30, 0], { finishedSubtasks: 1 })).toBe(3);
    expect(of([10, 30], { stateSize: 140, coordinatorStateSize: 100 })).toBe(3);
  });

  it('is none where there is nothing to compare', () => {
    expect(of([10])).toBeUndefined();
    expect(of([0, 0])).toBeUndefined();
    expect(of([10, 0], { finishedSubtasks: 1 })).toBeUndefined();
    expect(skewOf(operator({ subtasks: 2 }))).toBeUndefined();
  });

  it('is worth a look from three times on', () => {
    expect([undefined, 1, 2.9, 3, Infinity].map(isSkewed)).toEqual([false, false, false, true, true]);
    expect([1.04, 97, Infinity].map(describeSkew)).toEqual(['1.0× the others', '97.0× the others', 'has all of it']);
  });
});

describe('retention', () => {
  const flags = (kept: string, gone: string, discardSubsumed = true) => ({
    discardSubsumed,
    ...Object.fromEntries(
      kept
        .split(' ')
        .filter(Boolean)
        .map((end) => [`discard${end}`, false]),
    ),
    ...Object.fromEntries(
      gone
        .split(' ')
        .filter(Boolean)
        .map((end) => [`discard${end}`, true]),
    ),
  });

  it.each([
    [
      flags('Cancelled Failed Suspended', 'Finished'),
      'kept when the job is cancelled, fails or is suspended; deleted by Flink when newer ones replace it or the job finishes',
    ],
    [
      flags('Failed', 'Cancelled Suspended Finished'),
      'kept when the job fails; deleted by Flink when newer ones replace it or the job is cancelled, is suspended or finishes',
    ],
    [
      flags('', 'Cancelled Failed Suspended Finished'),
      'deleted by Flink when newer ones replace it or the job ends in any way',
    ],
    [flags('Cancelled Failed Suspended Finished', '', false), 'kept until somebody deletes it'],
    [flags('Cancelled Failed Suspended Finished', ''), 'kept until newer ones replace it, however the job ends'],
    [
      flags('Cancelled Failed Suspended', 'Finished', false),
      'kept when the job is cancelled, fails or is suspended; deleted by Flink when the job finishes',
    ],
    [{}, 'the properties in the metadata are of an unknown form; dump has their bytes'],
    [null, 'the metadata has no properties'],
  ])('of %j', (properties, text) => {
    expect(describeRetention({ properties, version: 6 })).toBe(text);
    expect(describeRetention({ properties, version: 3 })).toBeUndefined();
  });
});

it('a title takes as many lines as it needs', async () => {
  expect(renderTitle('3 operators', view(), ', the biggest first')).toBe('3 operators, the biggest first\n');
  const narrow = renderTitle('3 operators', view({ width: 16 }), ', the biggest first');
  expect(narrow.split('\n').every((line) => textWidth(line) <= 16)).toBe(true);
  expect(narrow.replaceAll('\n', ' ').trim()).toBe('3 operators, the biggest first');
});
