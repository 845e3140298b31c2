/** What is moved, in which ways, before real Flink restores it: the cases and what is known of their jobs. */
import { allCases, type CorpusCase, type CorpusPointer } from './corpus.js';

/**
 * A way to move state, and to restore what comes of it:
 * - `copy`: `ckpt copy`, restored without claiming it (the changelog backend cannot do that);
 * - `rescale`: the same copy with another parallelism;
 * - `chain`: the same copy in `CLAIM` mode; the two checkpoints that the job takes then are restored too;
 * - `rebase`: the whole tree moved, then `ckpt rebase --in-place`;
 * - `savepoint`: `ckpt savepoint --from`, restored without claiming it;
 * - `claimed-savepoint`: the same in `CLAIM` mode;
 * - `set-uid`: `ckpt edit --set-uid`, restored by a job in which the operator has the new uid;
 * - `drop`: `ckpt edit --drop`, restored by a job without that operator, which must not find its state, nor miss it.
 */
export type Move = 'copy' | 'rescale' | 'chain' | 'rebase' | 'savepoint' | 'claimed-savepoint' | 'set-uid' | 'drop';

/** A checkpoint or savepoint, and the ways to move it. */
export interface MovingCase {
  /** E.g. `unaligned chk-1`: unique within a release. */
  readonly id: string;
  /** The name of the case. */
  readonly name: string;
  readonly pointer: CorpusPointer;
  readonly moves: readonly Move[];
}

/** An operator of a case's job. */
export interface DroppedOperator {
  readonly uid: string;
  /** How the checks begin that fail without its state, and no others. */
  readonly lost: readonly string[];
  /** False if a rename would change the id of an operator without a uid: then the job still has the operator. */
  readonly renamed: boolean;
}

/** Cases whose state contents name files by absolute paths, which Flink opens: no tool can move those. */
export const STATE_NAMES_FILES: Readonly<Record<string, string>> = {
  crashed: 'the write-ahead operator keeps paths of files in taskowned/ in its operator state',
  'task-owned': 'the write-ahead operator keeps paths of files in taskowned/ in its operator state',
  pipeline: 'the file sink keeps the path of its file in progress in its operator state',
};

/** Cases that the releases here cannot restore at all, wherever they are. */
const NOT_RESTORABLE: Readonly<Record<string, string>> = {
  '1.15.4/changelog-hashmap': 'Maven has no module for the changelog in files of this release',
  '1.17.2/changelog-hashmap': 'Maven has no module for the changelog in files of this release',
};

/** Releases whose cases are moved when everything is asked for. */
const RELEASES = ['2.3.0', '1.20.5', '2.0.0', '1.17.2', '1.15.4'];

const ALL_MOVES: readonly Move[] = [
  'copy',
  'rescale',
  'chain',
  'rebase',
  'savepoint',
  'claimed-savepoint',
  'set-uid',
  'drop',
];

/** Every handle kind that these releases write, in as few restores as tell something: some two hundred seconds. */
const SELECTION: Readonly<Record<string, Readonly<Record<string, readonly Move[]>>>> = {
  '2.3.0': {
    'changelog-hashmap': ['rescale', 'chain', 'rebase', 'claimed-savepoint'],
    'changelog-memory': ['chain'],
    'changelog-rocksdb': ['chain', 'rebase', 'claimed-savepoint', 'set-uid'],
    claim: ['rescale', 'chain', 'rebase'],
    'file-merging': ['copy', 'rebase'],
    'file-merging-across': ['rescale', 'chain', 'rebase', 'claimed-savepoint', 'set-uid', 'drop'],
    'file-merging-hashmap': ['rescale', 'rebase', 'savepoint'],
    forst: ['rescale', 'chain', 'rebase', 'claimed-savepoint'],
    'hashmap-files': ['rescale', 'claimed-savepoint'],
    'hashmap-inline': ['copy', 'set-uid', 'drop'],
    'master-hook': ['copy'],
    'operator-state': ['rescale', 'savepoint', 'drop'],
    'raw-state': ['rescale', 'claimed-savepoint', 'drop'],
    'rocksdb-full': ['rescale'],
    'rocksdb-incremental': ['copy', 'rescale', 'chain', 'rebase', 'savepoint', 'claimed-savepoint', 'set-uid', 'drop'],
    'savepoint-canonical-hashmap': ['copy'],
    'savepoint-canonical-rocksdb': ['rescale', 'claimed-savepoint', 'set-uid'],
    'savepoint-native-hashmap': ['copy'],
    'savepoint-native-rocksdb': ['rescale', 'chain', 'claimed-savepoint', 'drop'],
    'task-owned': ['copy'],
    unaligned: ['rescale', 'chain', 'savepoint', 'set-uid'],
  },
  '1.20.5': {
    'changelog-hashmap': ['chain', 'rebase'],
    'changelog-memory': ['copy'],
    'changelog-rocksdb': ['chain', 'claimed-savepoint'],
    claim: ['copy', 'rebase'],
    'file-merging-across': ['copy', 'chain', 'rebase', 'set-uid'],
    'file-merging-hashmap': ['copy', 'claimed-savepoint'],
    'hashmap-inline': ['set-uid', 'drop'],
    'operator-state': ['copy'],
    'raw-state': ['copy'],
    'rocksdb-full': ['copy'],
    'rocksdb-incremental': ['copy', 'chain', 'rebase', 'savepoint', 'claimed-savepoint', 'drop'],
    'savepoint-canonical-rocksdb': ['claimed-savepoint'],
    'savepoint-native-rocksdb': ['copy', 'chain'],
    unaligned: ['copy', 'claimed-savepoint', 'set-uid'],
  },
};

const SOME_KINDS: readonly string[] = ['count of ', 'bucket-'];
const MANY_KINDS: readonly string[] = [
  ...SOME_KINDS,
  'profile visits of ',
  'list length of ',
  'sum of ',
  'tuple of ',
  'TTL state of ',
];

/**
 * What is moved, by release: the selection, or everything that is there.
 * @param only takes less of it: what it matches in `RELEASE/CASE POINTER: MOVE`
 */
export function movingCases(
  extent: 'selection' | 'everything',
  only = /^/,
): ReadonlyMap<string, readonly MovingCase[]> {
  const releases = extent === 'selection' ? Object.keys(SELECTION) : RELEASES;
  return new Map(
    releases.map((release) => {
      const cases = casesOf(release, extent).map((one) => ({
        ...one,
        moves: one.moves.filter((move) => only.test(`${release}/${one.id}: ${move}`)),
      }));
      return [release, cases.filter(({ moves }) => moves.length > 0)];
    }),
  );
}

/** The uid of the operator that is renamed; undefined if a rename would change other ids too. */
export function renamedUid(name: string): string | undefined {
  if (/operator-state/.test(name) || /^sql-/.test(name)) return undefined;
  const special: readonly (readonly [RegExp, string])[] = [
    [/^(?:big|blocks)-/, 'big-states'],
    [/^types-/, 'type-zoo'],
    [/^ttl-/, 'ttl-states'],
    [/^sessions-/, 'sessions'],
    [/^async-/, 'async-states'],
    [/^avro-/, 'avro-states'],
    [/^kafka/, 'kafka-map'],
  ];
  return special.find(([pattern]) => pattern.test(name))?.[1] ?? 'orders-keyed';
}

/** The operator that is dropped; undefined where its checks could not tell (all of them would fail, or none). */
export function droppedOperator(name: string): DroppedOperator | undefined {
  if (/operator-state/.test(name)) return { uid: 'orders-progress', lost: ['the union list'], renamed: false };
  if (/^(?:sql|types|sessions|avro|kafka|unaligned)/.test(name)) return undefined;
  const uid = renamedUid(name);
  if (uid === undefined) return undefined;
  return { uid, lost: lostWith(uid, name), renamed: true };
}

function lostWith(uid: string, name: string): readonly string[] {
  if (uid === 'big-states') return ['map entry ', 'list element of ', 'list length of '];
  if (uid === 'ttl-states') return ['plain value of ', 'TTL '];
  if (uid === 'async-states') return [...SOME_KINDS, 'sum of '];
  // The jobs of these keep every kind of keyed state.
  return /hashmap-(?:inline|files)|-(?:canonical|native)-hashmap|merging-hashmap|jobmanager|compressed-hashmap/.test(
    name,
  )
    ? MANY_KINDS
    : SOME_KINDS;
}

function casesOf(release: string, extent: 'selection' | 'everything'): MovingCase[] {
  // The full corpus comes last, and has the same cases as the repository and more.
  const byName = new Map(restorable(release).map((found) => [nameOf(found), found]));
  if (extent === 'everything') {
    return [...byName].flatMap(([name, found]) =>
      pointersOf(name, found).map((one) => movingCase(name, one, ALL_MOVES)),
    );
  }
  return Object.entries(SELECTION[release] ?? {}).flatMap(([name, moves]) => {
    const last = byName.has(name) ? pointersOf(name, byName.get(name)).at(-1) : undefined;
    return last === undefined ? [] : [movingCase(name, last, moves)];
  });
}

function movingCase(name: string, pointer: CorpusPointer, wanted: readonly Move[]): MovingCase {
  const moves = wanted.filter((move) => {
    if (move === 'rescale') return pointer.case.flinkVersion === '2.3.0';
    if (move === 'set-uid') return renamedUid(name) !== undefined;
    return move !== 'drop' || droppedOperator(name) !== undefined;
  });
  return { id: `${name} ${pointer.directory.slice(pointer.directory.lastIndexOf('/') + 1)}`, name, pointer, moves };
}

function restorable(release: string): CorpusCase[] {
  return allCases().filter(
    (found) =>
      found.flinkVersion === release &&
      found.mapping.uri.startsWith('file:') &&
      !found.label.includes('rewritten-v2') &&
      NOT_RESTORABLE[`${release}/${nameOf(found)}`] === undefined,
  );
}

function nameOf({ label }: CorpusCase): string {
  return label.slice(label.lastIndexOf('/') + 1);
}

/** The last checkpoint, then the last savepoint of each form. */
function pointersOf(name: string, found: CorpusCase | undefined): CorpusPointer[] {
  const pointers = found?.pointers ?? [];
  const checkpoints = pointers.filter(({ kind }) => kind === 'checkpoint');
  const newest = Math.max(...checkpoints.map(({ checkpointId }) => checkpointId));
  const savepoints = pointers.filter(({ kind }) => kind === 'savepoint');
  // What comes before a savepoint here is the plain checkpoint of another case.
  const last = name.startsWith('savepoint-') ? [] : checkpoints.filter(({ checkpointId }) => checkpointId === newest);
  return [...last, ...savepoints];
}
