import fc from 'fast-check';
import { decodeModifiedUtf8, encodeModifiedUtf8 } from '../../src/bytes/modified-utf8.js';
import { writeCheckpointProperties } from '../../src/format/java/properties.js';
import type {
  CheckpointMetadata,
  MasterState,
  MetadataLayout,
  OperatorState,
  SubtaskEntry,
} from '../../src/model/checkpoint-metadata.js';
import { forCheckpoint, forSavepoint } from '../../src/model/checkpoint-properties.js';
import {
  type AnyChannelStateHandle,
  type ChangelogStateHandle,
  DISTRIBUTION_MODES,
  type HandleAndLocalPath,
  type KeyedStateHandle,
  type KeyGroupRange,
  type KeyGroupsStateHandle,
  METADATA_KEY_GROUP,
  type OperatorStateHandle,
  type RawStrings,
  SCOPES,
  type SegmentFileStateHandle,
  type StreamStateHandle,
} from '../../src/model/state-handles.js';

const I32_MIN = -(2 ** 31);
const I32_MAX = 2 ** 31 - 1;
const i32 = fc.oneof(fc.integer({ min: -3, max: 300 }), fc.integer({ min: I32_MIN, max: I32_MAX }));
const i64 = fc.oneof(fc.bigInt({ min: -3n, max: 300n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const fileSize = fc.oneof(fc.bigInt({ min: -1n, max: 300n }), fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }));
const sequenceNumber = fc.oneof(fc.bigInt({ min: 0n, max: 99n }), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }));
const keyGroup = fc.integer({ min: METADATA_KEY_GROUP, max: I32_MAX });
const bytes = fc.uint8Array({ maxLength: 24 });
const offsets = (count: fc.Arbitrary<number> = fc.nat(4)): fc.Arbitrary<BigInt64Array> =>
  count.chain((n) => fc.array(i64, { minLength: n, maxLength: n })).map((values) => BigInt64Array.from(values));

/** Text with everything that a name can have: lone surrogates, zeros, byte order marks, names of JavaScript's own. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.array(fc.nat(0xffff), { maxLength: 5 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('__proto__', 'constructor', 'toString', '2', '10', '1', '\ufeff', '\0', '\ud800', 'wire', ''),
);
const path = fc.oneof(
  fc.constantFrom(
    'file:/a/b',
    's3://bucket/k',
    'file:///a//b/',
    'C:\\x',
    '::',
    '%20',
    '..',
    '/',
    'a:b',
    'hdfs://h:1/x/../y',
  ),
  text.filter((string) => string !== ''),
);
const backend = fc.oneof(
  fc.uuid(),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
  text,
);

/** Encodings of a text that Java reads and would not write: some of its letters the long way. */
function longEncoding(string: string): Uint8Array {
  const parts = [...string].map((character, i) => {
    const usual = encodeModifiedUtf8(character);
    const [first] = usual;
    return usual.length === 1 && first !== undefined && i % 2 === 0
      ? Uint8Array.of(0xc0 | (first >> 6), 0x80 | (first & 0x3f))
      : usual;
  });
  return new Uint8Array(Buffer.concat(parts));
}

/** Some objects get raw bytes for a string of theirs, in `wire`. */
function withRaw<T extends object>(handle: fc.Arbitrary<T>, ...fields: (keyof T & string)[]): fc.Arbitrary<T> {
  return fc.tuple(handle, fc.nat(7)).map(([value, dice]) => {
    if (dice !== 0) return value;
    const utf: Record<string, Uint8Array> = Object.create(null);
    for (const field of fields) {
      const string: unknown = value[field];
      if (typeof string !== 'string') continue;
      const raw = longEncoding(string);
      if (raw.length !== encodeModifiedUtf8(string).length && decodeModifiedUtf8(raw, 0, raw.length) === string)
        utf[field] = raw;
    }
    if (Object.keys(utf).length === 0) return value;
    const wire = 'wire' in value ? (value.wire as object) : {};
    return { ...value, wire: { utf: utf as RawStrings, ...wire } };
  });
}

const filledRange: fc.Arbitrary<KeyGroupRange> = fc.record({
  startKeyGroup: fc.nat(300),
  numberOfKeyGroups: fc.integer({ min: 1, max: 4 }),
});
const range: fc.Arbitrary<KeyGroupRange> = fc.oneof(
  filledRange,
  i32.map((startKeyGroup) => ({ startKeyGroup, numberOfKeyGroups: 0 })),
);

const segment: fc.Arbitrary<SegmentFileStateHandle> = withRaw(
  fc.record({
    type: fc.constant('SegmentFileStateHandle' as const),
    filePath: path,
    startPos: i64,
    stateSize: i64,
    scope: fc.constantFrom(...SCOPES),
    logicalFileId: text,
  }),
  'filePath',
  'logicalFileId',
);
const emptySegment = fc.constant({ type: 'EmptySegmentFileStateHandle' as const });
const byteStream = withRaw(
  fc.record({ type: fc.constant('ByteStreamStateHandle' as const), handleName: text, bytes }),
  'handleName',
);

function keyGroups(delegate: fc.Arbitrary<StreamStateHandle>, id: fc.Arbitrary<string | null>) {
  return withRaw<KeyGroupsStateHandle>(
    range.chain((keyGroupRange) =>
      fc.record({
        type: fc.constant('KeyGroupsStateHandle' as const),
        keyGroupRange: fc.constant(keyGroupRange),
        keyGroupOffsets: offsets(fc.constant(keyGroupRange.numberOfKeyGroups)),
        stateHandleId: id,
        delegateStateHandle: delegate,
      }),
    ),
    'stateHandleId',
  );
}

const { stream } = fc.letrec<{ stream: StreamStateHandle }>((tie) => ({
  stream: fc.oneof(
    { maxDepth: 2 },
    byteStream,
    withRaw(
      fc.record({ type: fc.constant('FileStateHandle' as const), filePath: path, stateSize: fileSize }),
      'filePath',
    ),
    withRaw(
      fc.record({ type: fc.constant('RelativeFileStateHandle' as const), relativePath: path, stateSize: fileSize }),
      'relativePath',
    ),
    segment,
    emptySegment,
    keyGroups(tie('stream'), fc.constant(null)),
  ),
}));

const localFile: fc.Arbitrary<HandleAndLocalPath> = withRaw(
  fc.record({ localPath: text, handle: stream }),
  'localPath',
);

const metaInfo = withRaw(
  fc.record({ name: text, distributionMode: fc.constantFrom(...DISTRIBUTION_MODES), offsets: offsets() }),
  'name',
);

const operatorHandle: fc.Arbitrary<OperatorStateHandle> = fc.oneof(
  fc.record({
    type: fc.constant('OperatorStreamStateHandle' as const),
    stateNameToPartitionOffsets: fc.array(metaInfo, { maxLength: 4 }),
    delegateStateHandle: stream,
  }),
  withRaw(
    fc
      .record({
        type: fc.constantFrom(
          'FileMergingOperatorStreamStateHandle' as const,
          'EmptyFileMergingOperatorStreamStateHandle' as const,
        ),
        stateNameToPartitionOffsets: fc.array(metaInfo, { maxLength: 3 }),
        taskOwnedDirectory: path,
        sharedDirectory: path,
        delegateStateHandle: fc.oneof(segment, emptySegment),
        isEmpty: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 255 })),
      })
      .map(({ isEmpty, ...handle }) =>
        isEmpty > 1 && handle.type === 'EmptyFileMergingOperatorStreamStateHandle'
          ? { ...handle, wire: { isEmpty } }
          : handle,
      ),
    'taskOwnedDirectory',
    'sharedDirectory',
  ),
);

/** Fields that exist in the forms of some releases only. */
interface Form {
  readonly layout: MetadataLayout;
}

function changelogPart({ layout }: Form): fc.Arbitrary<ChangelogStateHandle> {
  const of114 = layout === '1.14';
  const inMemory = withRaw(
    fc.record({
      type: fc.constant('InMemoryChangelogStateHandle' as const),
      keyGroupRange: range,
      from: sequenceNumber,
      to: sequenceNumber,
      changes: fc.array(fc.record({ keyGroup, change: bytes }), { maxLength: 3 }),
      stateHandleId: of114 ? fc.constant(null) : text,
    }),
    'stateHandleId',
  );
  const files = {
    type: fc.constant('ChangelogStateHandleStreamImpl' as const),
    keyGroupRange: range,
    handlesAndOffsets: fc.array(fc.record({ offset: i64, handle: fc.option(stream) }), { maxLength: 3 }),
    stateSize: i64,
  };
  const newer = { ...files, checkpointedSize: i64, stateHandleId: text };
  const nothing = fc.constant(null);
  return fc.oneof(
    inMemory,
    withRaw(fc.record({ ...newer, storageIdentifier: text }), 'stateHandleId', 'storageIdentifier'),
    // The older type of the two has one form in each layout.
    of114
      ? fc.record({ ...files, checkpointedSize: nothing, stateHandleId: nothing, storageIdentifier: nothing })
      : withRaw(fc.record({ ...newer, storageIdentifier: nothing }), 'stateHandleId'),
  );
}

function keyedHandle(form: Form): fc.Arbitrary<KeyedStateHandle> {
  const of114 = form.layout === '1.14';
  const nothing = fc.constant(null);
  const incremental = {
    type: fc.constant('IncrementalRemoteKeyedStateHandle' as const),
    checkpointId: i64,
    backendIdentifier: backend,
    keyGroupRange: range,
    metaStateHandle: stream,
    sharedState: fc.array(localFile, { maxLength: 3 }),
    privateState: fc.array(localFile, { maxLength: 2 }),
  };
  const { keyed } = fc.letrec<{ keyed: KeyedStateHandle }>((tie) => {
    const changelog = {
      type: fc.constant('ChangelogStateBackendHandleImpl' as const),
      keyGroupRange: filledRange,
      materializedStateHandles: fc.array(fc.option(tie('keyed')), { maxLength: 3 }),
      nonMaterializedStateHandles: fc.array(changelogPart(form), { maxLength: 2 }),
    };
    const newer = { ...changelog, checkpointedSize: i64, materializationID: i64, stateHandleId: text };
    return {
      keyed: fc.oneof(
        { maxDepth: 2 },
        keyGroups(stream, fc.option(text)),
        range.chain((keyGroupRange) =>
          fc.record({
            type: fc.constant('KeyGroupsSavepointStateHandle' as const),
            keyGroupRange: fc.constant(keyGroupRange),
            keyGroupOffsets: offsets(fc.constant(keyGroupRange.numberOfKeyGroups)),
            delegateStateHandle: stream,
          }),
        ),
        withRaw(fc.record({ ...incremental, checkpointedSize: nothing, stateHandleId: nothing }), 'backendIdentifier'),
        withRaw(
          fc.record({ ...incremental, checkpointedSize: i64, stateHandleId: text }),
          'backendIdentifier',
          'stateHandleId',
        ),
        changelogPart(form),
        withRaw(fc.record({ ...newer, checkpointId: i64 }), 'stateHandleId'),
        of114
          ? fc.record({
              ...changelog,
              checkpointedSize: nothing,
              materializationID: nothing,
              checkpointId: nothing,
              stateHandleId: nothing,
            })
          : withRaw(fc.record({ ...newer, checkpointId: nothing }), 'stateHandleId'),
      ),
    };
  });
  return keyed;
}

function channelHandle(input: boolean, version: number, { layout }: Form): fc.Arbitrary<AnyChannelStateHandle> {
  const plain = fc.record({
    type: fc.constant(input ? ('InputChannelStateHandle' as const) : ('ResultSubpartitionStateHandle' as const)),
    subtaskIndex: layout === '1.11' ? fc.constant(null) : i32,
    outerIndex: i32,
    innerIndex: i32,
    offsets: offsets(),
    stateSize: i64,
    delegate: stream,
  });
  if (version < 6) return plain;
  const merged = fc.record({
    type: fc.constant(
      input ? ('MergedInputChannelStateHandle' as const) : ('MergedResultSubpartitionStateHandle' as const),
    ),
    subtaskIndex: i32,
    stateSize: i64,
    delegate: fc.option(stream),
    serializedChannelOffsets: bytes,
  });
  return fc.oneof(plain, merged);
}

function subtask(version: number, form: Form, parallelism: number): fc.Arbitrary<SubtaskEntry> {
  const index = fc.nat(parallelism - 1);
  const channels = (input: boolean): fc.Arbitrary<AnyChannelStateHandle[]> =>
    version < 3 ? fc.constant([]) : fc.array(channelHandle(input, version, form), { maxLength: 2 });
  const running = fc
    .record({
      index,
      finished: fc.constant(false as const),
      managedOperatorState: fc.option(operatorHandle),
      rawOperatorState: fc.option(operatorHandle),
      managedKeyedState: fc.option(keyedHandle(form)),
      rawKeyedState: fc.option(keyedHandle(form), { freq: 1 }),
      inputChannelState: channels(true),
      resultSubpartitionState: channels(false),
      odd: fc.record({ duration: i64, managed: i32, raw: i32 }),
      dice: fc.nat(3),
    })
    .map(({ odd, dice, ...entry }) => {
      if (dice > 0) return entry;
      const { duration, managed, raw } = odd;
      const wire = {
        ...(version === 2 && duration !== -1n ? { duration } : {}),
        ...(entry.managedOperatorState && managed !== 0 && managed !== 1
          ? { managedOperatorStatePresence: managed }
          : {}),
        ...(entry.rawOperatorState && raw !== 0 && raw !== 1 ? { rawOperatorStatePresence: raw } : {}),
      };
      return Object.keys(wire).length > 0 ? { ...entry, wire } : entry;
    });
  if (version < 3) return running;
  const finished = fc.record({ index, finished: fc.constant(true as const) });
  return fc.oneof({ weight: 5, arbitrary: running }, { weight: 1, arbitrary: finished });
}

function operator(version: number, form: Form): fc.Arbitrary<OperatorState> {
  const name = version < 5 ? fc.constant(null) : fc.option(text).map((string) => string || null);
  const head = fc.record({
    operatorId: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((id) => Buffer.from(id).toString('hex')),
    uid: name,
    name,
    parallelism: fc.integer({ min: 1, max: 4 }),
    maxParallelism: fc.integer({ min: 4, max: I32_MAX }),
  });
  const running = head.chain((fields) =>
    fc
      .record({
        finished: fc.constant(false),
        coordinatorState: version < 3 ? fc.constant(null) : fc.option(byteStream),
        subtasks: fc.array(subtask(version, form, fields.parallelism), { maxLength: 4 }),
        chainLength: fc.oneof(fc.constant(1), i32),
      })
      .map(({ chainLength, ...more }) => ({
        ...fields,
        ...more,
        ...(version === 2 && chainLength !== 1 ? { wire: { chainLength } } : {}),
      })),
  );
  if (version < 3) return running;
  const finished = fc
    .record({ head, subtaskCount: fc.oneof(fc.constant(-1), fc.integer({ min: I32_MIN, max: -1 })) })
    .map(({ head: fields, subtaskCount }) => ({
      ...fields,
      finished: true,
      coordinatorState: null,
      subtasks: [],
      ...(subtaskCount !== -1 ? { wire: { subtaskCount } } : {}),
    }));
  const either = fc.oneof({ weight: 6, arbitrary: running }, { weight: 1, arbitrary: finished });
  return withRaw<OperatorState>(either, 'name', 'uid');
}

const masterState: fc.Arbitrary<MasterState> = withRaw(fc.record({ name: text, version: i32, bytes }), 'name');

const propertiesBlock = fc.constantFrom(
  writeCheckpointProperties(null),
  writeCheckpointProperties(forCheckpoint('RETAIN_ON_CANCELLATION')),
  writeCheckpointProperties(forSavepoint({ forced: true, formatType: 'NATIVE' })),
  // Null after a reset of the stream: Java reads it and never writes it.
  Uint8Array.of(0xac, 0xed, 0, 5, 0x79, 0x70),
);

/** Metadata of any version and layout with everything that a file can hold, odd things included. */
export const anyMetadata: fc.Arbitrary<CheckpointMetadata> = fc
  .constantFrom<readonly [number, MetadataLayout]>(
    [2, 'current'],
    [3, 'current'],
    [3, '1.14'],
    [3, '1.11'],
    [4, 'current'],
    [5, 'current'],
    [6, 'current'],
  )
  .chain(([version, layout]) =>
    fc.record({
      version: fc.constant(version),
      layout: fc.constant(layout),
      checkpointId: fc.oneof(fc.bigInt({ min: 0n, max: 99n }), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })),
      masterStates: fc.array(masterState, { maxLength: 2 }),
      operatorStates: fc.array(operator(version, { layout }), { maxLength: 3 }),
      propertiesBlock: version < 4 ? fc.constant(null) : propertiesBlock,
      // Only the newest layout may have bytes behind its end.
      trailingBytes:
        layout === 'current' ? fc.oneof(fc.constant(new Uint8Array(0)), bytes) : fc.constant(new Uint8Array(0)),
    }),
  );
