import { describe, expect, it } from 'vitest';
import {
  bestEffort,
  type DiscardContext,
  discardablesOf,
  discardOperatorState,
  discardState,
  type StateHandle,
} from '../../../src/checkpoint/discard-handle.js';
import {
  DirectoryNotEmptyError,
  firstOrSuppressed,
  IllegalStateError,
  InvalidPathError,
  IoError,
  suppressedOf,
  UnknownSchemeError,
} from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import { memoryStore, treeOf } from '../../support/stores.js';
import * as states from './states.js';

const EXCLUSIVE = Path.parse('memory:/job/chk-1');
const FILES = ['chk-1/a', 'chk-1/b', 'chk-1/c', 'shared/s', 'shared/t', 'taskowned/m', 'dstl/d'];

/** A store with {@link FILES}; those in `failing` cannot be deleted. */
function setUp(failing: readonly string[] = []) {
  const failures = new Map(failing.map((name) => [`/job/${name}`, new IoError(`memory:/job/${name}`, 'delete')]));
  const { memory, fileSystems } = memoryStore({
    failures: (operation, path) => (operation === 'deleteFile' ? failures.get(path.path) : undefined),
  });
  for (const name of FILES) memory.put(Path.parse(`memory:/job/${name}`), 'x');
  const logged: [string, unknown][] = [];
  const context: DiscardContext = {
    fileSystems,
    exclusiveDirectory: EXCLUSIVE,
    logger: { warn: (message, error) => logged.push([message, error]) },
    sharedState: 'unregistered',
  };
  const gone = () => FILES.filter((name) => !memory.snapshot().has(`memory:/job/${name}`));
  return { memory, context, logged, gone, failure: (name: string) => failures.get(`/job/${name}`) };
}

const S = 'memory:/job/shared/s';
const T = 'memory:/job/shared/t';
const A = states.relative('a');
const B = states.relative('b');

describe('discarding', () => {
  it.each<[string, StateHandle | null, readonly string[]]>([
    ['null', null, []],
    ['bytes in the metadata, whose name looks like a file', states.inline(S), []],
    ['a file', states.file(S), ['shared/s']],
    ['a relative file', A, ['chk-1/a']],
    ['a segment', states.segment(S), []],
    ['an empty segment', { type: 'EmptySegmentFileStateHandle' }, []],
    ['key groups', states.keyGroups(A), ['chk-1/a']],
    ['key groups of a savepoint', states.savepointKeyGroups(A), ['chk-1/a']],
    ['operator state', states.operatorState(states.file(T)), ['shared/t']],
    ['operator state in a merged file', states.mergedOperatorState(states.segment(S)), []],
    ['channel state', states.channel(A), ['chk-1/a']],
    ['merged channel state', states.mergedChannels(A), ['chk-1/a']],
    ['merged channel state without a file', states.mergedChannels(null), []],
    [
      'an incremental checkpoint',
      states.incremental(A, [states.file(S)], [states.file(T), B]),
      ['chk-1/a', 'chk-1/b', 'shared/s', 'shared/t'],
    ],
    ['a changelog', states.changelog('memory:/job/taskowned/m', 'memory:/job/dstl/d'), []],
    ['changelog files', states.changelogFiles('memory:/job/dstl/d'), []],
  ])('%s deletes what it owns', async (_, handle, expected) => {
    const { context, gone, logged } = setUp();
    await discardState(handle, context);
    expect(gone()).toEqual(expected);
    await discardState(handle, context);
    expect(logged).toEqual([]);
  });

  it('changelog bytes deletes nothing', async () => {
    const { memory, context } = setUp();
    const keyGroupRange = { startKeyGroup: 0, numberOfKeyGroups: 1 };
    const fields = { keyGroupRange, from: 0n, to: 1n, changes: [], stateHandleId: null };
    await discardState({ type: 'InMemoryChangelogStateHandle', ...fields }, context);
    expect(memory.operations).toEqual([]);
  });

  it('an incremental checkpoint leaves shared files to the registry that has them', async () => {
    const { context, gone } = setUp();
    const handle = states.incremental(A, [states.file(S)], [states.file(T), B]);
    await discardState(handle, { ...context, sharedState: 'registered' });
    expect(gone()).toEqual(['chk-1/a', 'chk-1/b', 'shared/t']);
  });

  it('an incremental checkpoint tries all parts, and logs what fails', async () => {
    const { context, gone, logged, failure } = setUp(['chk-1/a', 'chk-1/b', 'shared/t']);
    const more = [B, states.relative('c'), states.file(T)];
    await discardState(states.incremental(A, [states.file(S)], more), context);
    expect(gone()).toEqual(['chk-1/c', 'shared/s']);
    expect(logged.map(([, error]) => error)).toEqual([failure('chk-1/a'), failure('chk-1/b')]);
    expect(suppressedOf(logged[1]?.[1] as Error)).toEqual([failure('shared/t')]);
    expect(logged.map(([message]) => message)).toEqual([
      expect.stringContaining('meta state of checkpoint 1'),
      expect.stringContaining('private state of checkpoint 1'),
    ]);
  });

  it('a file deletes an empty directory in its place, and never a full one', async () => {
    const { memory, context } = setUp();
    await memory.makeDirectory(EXCLUSIVE.child('empty'));
    memory.put(EXCLUSIVE.child('full/inside'), 'x');
    await discardState(states.relative('empty'), context);
    await expect(discardState(states.relative('full'), context)).rejects.toThrow(DirectoryNotEmptyError);
    expect(await treeOf(memory, EXCLUSIVE)).toEqual(['a', 'b', 'c', 'full/', 'full/inside']);
  });

  it('a file never touches its directory', async () => {
    const { memory, context } = setUp();
    await discardState(states.file('memory:/job/dstl/d'), context);
    expect(await treeOf(memory, Path.parse('memory:/job/dstl'))).toEqual([]);
    expect((await memory.getFileStatus(Path.parse('memory:/job/dstl'))).type).toBe('directory');
  });

  it('a file that cannot be deleted fails', async () => {
    const { context, failure } = setUp(['shared/s']);
    await expect(discardState(states.keyGroups(states.file(S)), context)).rejects.toBe(failure('shared/s'));
  });

  it.each([
    ['no path', 'file::', InvalidPathError],
    ['a path in an unknown store', 'nosuch://a/b', UnknownSchemeError],
  ])('%s fails', async (_, path, error) => {
    await expect(discardState(states.file(path), setUp().context)).rejects.toThrow(error);
  });

  it('a relative file fails where nothing can be relative', async () => {
    const { context } = setUp();
    const nowhere = { ...context, exclusiveDirectory: undefined };
    await expect(discardState(A, nowhere)).rejects.toThrow(IllegalStateError);
  });
});

describe('the handles of a subtask', () => {
  it('are in the order of their discard, and a file of several channels is one', () => {
    const managedOperatorState = states.operatorState(states.inline('1'));
    const rawOperatorState = states.operatorState(states.inline('2'));
    const managedKeyedState = states.keyGroups(states.inline('3'));
    const rawKeyedState = states.keyGroups(states.inline('4'));
    const files = [
      A,
      states.file('memory:/x'),
      states.inline('5'),
      states.segment(S),
      { type: 'EmptySegmentFileStateHandle' } as const,
      states.keyGroups(B),
    ];
    const entry = states.subtask(0, {
      rawKeyedState,
      managedKeyedState,
      rawOperatorState,
      managedOperatorState,
      inputChannelState: files.map((delegate, index) => states.channel(delegate, index)),
      resultSubpartitionState: [
        states.mergedChannels(null),
        // Equal, though not the same objects.
        ...structuredClone(files).map((delegate) => states.mergedChannels(delegate)),
        states.mergedChannels(B),
      ],
    });
    expect(discardablesOf(entry)).toEqual([
      managedOperatorState,
      rawOperatorState,
      managedKeyedState,
      rawKeyedState,
      ...files,
      B,
    ]);
  });

  it('are none if it has finished', () => {
    expect(discardablesOf({ index: 0, finished: true })).toEqual([]);
  });
});

describe('the state of an operator', () => {
  it('goes as far as it can, each subtask telling of its failures', async () => {
    const { context, gone, logged, failure } = setUp(['chk-1/a', 'chk-1/b', 'shared/s']);
    const first = states.subtask(0, {
      managedOperatorState: states.operatorState(A),
      managedKeyedState: states.keyGroups(B),
      inputChannelState: [states.channel(states.relative('c'))],
    });
    const second = states.subtask(1, { rawKeyedState: states.keyGroups(states.file(S)) });
    const third = states.subtask(2, { rawOperatorState: states.operatorState(states.file(T)) });
    await discardOperatorState(states.operator(states.OPERATOR, [first, second, third]), context);
    expect(gone()).toEqual(['chk-1/c', 'shared/t']);
    expect(logged).toEqual([
      [expect.stringContaining(`${states.OPERATOR}, subtask 0`), failure('chk-1/a')],
      [expect.stringContaining(`${states.OPERATOR}, subtask 1`), failure('shared/s')],
    ]);
    expect(suppressedOf(failure('chk-1/a') as Error)).toEqual([failure('chk-1/b')]);
  });

  it('is that of the last of several subtasks with one index, as Flink reads it', async () => {
    const { context, gone } = setUp();
    const keyed = (handle: typeof A) => states.subtask(0, { managedKeyedState: states.keyGroups(handle) });
    await discardOperatorState(states.operator(states.OPERATOR, [keyed(A), keyed(B)]), context);
    expect(gone()).toEqual(['chk-1/b']);
  });

  it('needs no logger', async () => {
    const { context } = setUp(['chk-1/a']);
    const state = states.operator(states.OPERATOR, [states.subtask(0, { managedKeyedState: states.keyGroups(A) })]);
    await expect(discardOperatorState(state, { ...context, logger: undefined })).resolves.toBeUndefined();
  });
});

describe('best effort', () => {
  const errors = ['a', 'b', 'c'].map((name) => new Error(name));

  it('does everything, skips null, and throws the first failure with the others', async () => {
    const done: number[] = [];
    const work = async (index: number) => {
      done.push(index);
      if (index !== 1) throw errors[index];
    };
    await expect(bestEffort([0, null, 1, 2], work)).rejects.toBe(errors[0]);
    expect(done).toEqual([0, 1, 2]);
    expect(suppressedOf(errors[0] as Error)).toEqual([errors[2]]);
  });

  it('makes an error of whatever is thrown', async () => {
    await expect(bestEffort([1], () => Promise.reject('just text'))).rejects.toThrow('just text');
  });
});

describe('the first failure', () => {
  it('is the new one if there was none, or if it is the same', () => {
    const error = new Error('a');
    expect(firstOrSuppressed(error, undefined)).toBe(error);
    expect(firstOrSuppressed(error, error)).toBe(error);
    expect(suppressedOf(error)).toEqual([]);
  });

  it.each([
    ['of ours', () => new IoError('/a', 'delete')],
    ['of anybody', () => new Error('a')],
  ])('%s keeps the later ones in order', (_, make) => {
    const [first, second, third] = [make(), make(), make()];
    expect(firstOrSuppressed(second, first)).toBe(first);
    expect(firstOrSuppressed(third, first)).toBe(first);
    expect(suppressedOf(first)).toEqual([second, third]);
    expect(suppressedOf(second)).toEqual([]);
  });
});
