/** State handles out of their document objects: the reverse of `handle-to-document.ts`. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { decodeModifiedUtf8 } from '../../bytes/modified-utf8.js';
import { InvalidPathError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import {
  type AnyChannelStateHandle,
  type ByteStreamStateHandle,
  type ChangelogStateHandle,
  DISTRIBUTION_MODES,
  type HandleAndLocalPath,
  type KeyedStateHandle,
  type KeyGroupRange,
  type KeyGroupsStateHandle,
  type OperatorStateHandle,
  type RawStrings,
  SCOPES,
  type StateMetaInfo,
  type StreamStateHandle,
} from '../../model/state-handles.js';
import { keyedStateSize } from '../../model/state-sizes.js';
import type { DocumentNode } from './document-node.js';
import { DEFAULT_STORAGE_IDENTIFIER, WIRE_TAG } from './handle-to-document.js';
import { backendUuid } from './java-uuid.js';

const keys = (...names: string[]): ReadonlySet<string> => new Set(names);

const SIZES = ['stateSize', 'checkpointedSize'];
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  ByteStreamStateHandle: keys('type', 'handleName', 'bytes', 'stateSize', 'physicalId', 'wire'),
  FileStateHandle: keys('type', 'filePath', 'stateSize', 'physicalId', 'wire'),
  RelativeFileStateHandle: keys('type', 'relativePath', 'filePath', 'stateSize', 'physicalId', 'wire'),
  SegmentFileStateHandle: keys(
    'type',
    'filePath',
    'startPos',
    'stateSize',
    'scope',
    'logicalFileId',
    'physicalId',
    'wire',
  ),
  EmptySegmentFileStateHandle: keys('type', 'stateSize', 'physicalId'),
  KeyGroupsStateHandle: keys(
    'type',
    'keyGroupRange',
    'keyGroupOffsets',
    ...SIZES,
    'stateHandleId',
    'delegateStateHandle',
    'wire',
  ),
  KeyGroupsSavepointStateHandle: keys(
    'type',
    'keyGroupRange',
    'keyGroupOffsets',
    ...SIZES,
    'stateHandleId',
    'delegateStateHandle',
    'wire',
  ),
  IncrementalRemoteKeyedStateHandle: keys(
    'type',
    'checkpointId',
    'backendIdentifier',
    'keyGroupRange',
    ...SIZES,
    'stateHandleId',
    'metaStateHandle',
    'sharedState',
    'privateState',
    'wire',
  ),
  ChangelogStateBackendHandleImpl: keys(
    'type',
    'checkpointId',
    'materializationID',
    'keyGroupRange',
    ...SIZES,
    'stateHandleId',
    'materializedStateHandles',
    'nonMaterializedStateHandles',
    'wire',
  ),
  InMemoryChangelogStateHandle: keys(
    'type',
    'keyGroupRange',
    'from',
    'to',
    ...SIZES,
    'stateHandleId',
    'storageIdentifier',
    'changes',
    'wire',
  ),
  ChangelogStateHandleStreamImpl: keys(
    'type',
    'keyGroupRange',
    ...SIZES,
    'stateHandleId',
    'storageIdentifier',
    'handlesAndOffsets',
    'wire',
  ),
  OperatorStreamStateHandle: keys('type', 'stateSize', 'stateNameToPartitionOffsets', 'delegateStateHandle', 'wire'),
  FileMergingOperatorStreamStateHandle: keys(
    'type',
    'stateSize',
    'stateNameToPartitionOffsets',
    'taskOwnedDirHandle',
    'sharedDirHandle',
    'delegateStateHandle',
    'wire',
  ),
  EmptyFileMergingOperatorStreamStateHandle: keys(
    'type',
    'stateSize',
    'stateNameToPartitionOffsets',
    'taskOwnedDirHandle',
    'sharedDirHandle',
    'delegateStateHandle',
    'wire',
  ),
  InputChannelStateHandle: keys('type', 'subtaskIndex', 'info', 'offsets', 'stateSize', 'delegate'),
  ResultSubpartitionStateHandle: keys('type', 'subtaskIndex', 'info', 'offsets', 'stateSize', 'delegate'),
  MergedInputChannelStateHandle: keys(
    'type',
    'subtaskIndex',
    'stateSize',
    'delegate',
    'serializedChannelOffsets',
    'unmergedHandles',
  ),
  MergedResultSubpartitionStateHandle: keys(
    'type',
    'subtaskIndex',
    'stateSize',
    'delegate',
    'serializedChannelOffsets',
    'unmergedHandles',
  ),
};
const LOCAL_FILE = keys('localPath', 'handle', 'wire');
const HANDLE_AND_OFFSET = keys('offset', 'handle');
const CHANGE = keys('keyGroup', 'change');
const DIRECTORY = keys('type', 'directory', 'stateSize', 'physicalId');
const RANGE = keys('start', 'end');
const META_INFO = keys('distributionMode', 'offsets');
const WIRE_STATE = keys('name', 'distributionMode', 'offsets', 'utf');

function typeOf<T extends string>(node: DocumentNode, types: readonly T[]): T {
  const type = node.at('type').oneOf(types);
  const fields = FIELDS[type];
  if (fields) node.object(fields);
  return type;
}

/** The `wire` of an object, checked to have no other fields than these; undefined if there is none. */
export function wireNode(node: DocumentNode, ...fields: string[]): DocumentNode | undefined {
  return node.at('wire').optional((wire) => wire.object(new Set(fields)));
}

/**
 * The raw strings of a `wire`, as something to be spread into its model.
 * @param texts the strings that are stored, by field; null where none is
 */
export function rawStringsOf(
  wire: DocumentNode | undefined,
  texts: Readonly<Record<string, string | null>>,
): { utf: RawStrings } | Record<string, never> {
  const node = wire?.at('utf');
  if (!node || node.missing) return {};
  const utf: Record<string, Uint8Array> = Object.create(null) as Record<string, Uint8Array>;
  for (const field of node.keys()) {
    utf[field] = rawString(node.at(field), Object.hasOwn(texts, field) ? (texts[field] ?? null) : null);
  }
  return { utf };
}

/** The bytes of a string, checked to be those of its text. */
function rawString(node: DocumentNode, text: string | null): Uint8Array {
  if (text === null) node.refuse('no such string is stored here');
  const bytes = node.bytes();
  if (textOf(bytes) !== text) node.refuse(`are not the bytes of ${JSON.stringify(text)}, which the document shows`);
  return bytes;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decodeModifiedUtf8(bytes, 0, bytes.length);
  } catch (error) {
    if (error instanceof ByteFormatError) return undefined;
    throw error;
  }
}

function withRawStrings(
  wire: DocumentNode | undefined,
  texts: Readonly<Record<string, string | null>>,
): { wire: { utf: RawStrings } } | Record<string, never> {
  const raw = rawStringsOf(wire, texts);
  return raw.utf ? { wire: { utf: raw.utf } } : {};
}

/** The stored path: the one in `wire` if Flink shows it as the visible one, else the visible one itself. */
function storedPath(visible: DocumentNode, wire: DocumentNode | undefined): string {
  const shown = visible.string();
  if (!wire || wire.missing) return shown;
  const stored = wire.string();
  const path = shownPath(wire, stored);
  if (path !== shown) wire.refuse(`is the path ${path}, which contradicts the visible ${shown}`);
  return stored;
}

function shownPath(wire: DocumentNode, stored: string): string {
  try {
    return Path.parse(stored).toString();
  } catch (error) {
    if (error instanceof InvalidPathError) wire.refuse(error.message);
    throw error;
  }
}

const STREAM_TYPES = [
  'ByteStreamStateHandle',
  'FileStateHandle',
  'RelativeFileStateHandle',
  'SegmentFileStateHandle',
  'EmptySegmentFileStateHandle',
  'KeyGroupsStateHandle',
] as const;

/** A stream handle. */
export function streamFromDocument(node: DocumentNode): StreamStateHandle {
  const type = typeOf(node, STREAM_TYPES);
  switch (type) {
    case 'ByteStreamStateHandle':
      return byteStreamFromDocument(node);
    case 'FileStateHandle': {
      const wire = wireNode(node, 'filePath', 'utf');
      const filePath = storedPath(node.at('filePath'), wire?.at('filePath'));
      return { type, filePath, stateSize: node.at('stateSize').int64(), ...withRawStrings(wire, { filePath }) };
    }
    case 'RelativeFileStateHandle': {
      const relativePath = node.at('relativePath').string();
      const raw = withRawStrings(wireNode(node, 'utf'), { relativePath });
      return { type, relativePath, stateSize: node.at('stateSize').int64(), ...raw };
    }
    case 'SegmentFileStateHandle':
      return segmentFromDocument(node);
    case 'EmptySegmentFileStateHandle':
      return { type };
    case 'KeyGroupsStateHandle':
      return keyGroupsFromDocument(node);
  }
}

/** Inline bytes, the only form of coordinator state. */
export function byteStreamFromDocument(node: DocumentNode): ByteStreamStateHandle {
  const type = typeOf(node, ['ByteStreamStateHandle']);
  const handleName = node.at('handleName').string();
  const raw = withRawStrings(wireNode(node, 'utf'), { handleName });
  return { type, handleName, bytes: node.at('bytes').bytes(), ...raw };
}

function segmentFromDocument(node: DocumentNode): Extract<StreamStateHandle, { type: 'SegmentFileStateHandle' }> {
  const wire = wireNode(node, 'filePath', 'utf');
  const filePath = storedPath(node.at('filePath'), wire?.at('filePath'));
  const logicalFileId = node.at('logicalFileId').string();
  return {
    type: 'SegmentFileStateHandle',
    filePath,
    startPos: node.at('startPos').int64(),
    stateSize: node.at('stateSize').int64(),
    scope: node.at('scope').oneOf(SCOPES),
    logicalFileId,
    ...withRawStrings(wire, { filePath, logicalFileId }),
  };
}

// ---------------------------------------------------------------- keyed handles

const CHANGELOG_TYPES = ['InMemoryChangelogStateHandle', 'ChangelogStateHandleStreamImpl'] as const;
const KEYED_TYPES = [
  'KeyGroupsStateHandle',
  'KeyGroupsSavepointStateHandle',
  'IncrementalRemoteKeyedStateHandle',
  'ChangelogStateBackendHandleImpl',
  ...CHANGELOG_TYPES,
] as const;

/** A keyed handle. */
export function keyedFromDocument(node: DocumentNode): KeyedStateHandle {
  const type = typeOf(node, KEYED_TYPES);
  switch (type) {
    case 'KeyGroupsStateHandle':
      return keyGroupsFromDocument(node);
    case 'KeyGroupsSavepointStateHandle': {
      const { keyGroupRange, keyGroupOffsets, delegateStateHandle } = keyGroupsFromDocument(node);
      if (!node.at('stateHandleId').missing && node.at('stateHandleId').value !== null) {
        node.at('stateHandleId').refuse('a canonical savepoint stores none: expected null');
      }
      return { type, keyGroupRange, keyGroupOffsets, delegateStateHandle };
    }
    case 'IncrementalRemoteKeyedStateHandle':
      return incrementalFromDocument(node);
    case 'ChangelogStateBackendHandleImpl':
      return changelogFromDocument(node);
    default:
      return changelogPartFromDocument(node);
  }
}

function rangeFromDocument(node: DocumentNode, wire: DocumentNode | undefined): KeyGroupRange {
  node.object(RANGE);
  const start = node.at('start').int32();
  const end = node.at('end').int32();
  const raw = wire?.at('startKeyGroup');
  if (end >= start) {
    if (raw && !raw.missing) raw.refuse('contradicts the visible keyGroupRange, which is not empty');
    return { startKeyGroup: start, numberOfKeyGroups: end - start + 1 };
  }
  if (start !== 0 || end !== -1) node.refuse(`the empty range is {"start":0,"end":-1}, found ${start} to ${end}`);
  return { startKeyGroup: raw?.optional((value) => value.int32()) ?? 0, numberOfKeyGroups: 0 };
}

function keyGroupsFromDocument(node: DocumentNode): KeyGroupsStateHandle {
  const wire = wireNode(node, 'startKeyGroup', 'utf');
  const stateHandleId = stringOrNull(node.at('stateHandleId'));
  return {
    type: 'KeyGroupsStateHandle',
    keyGroupRange: rangeFromDocument(node.at('keyGroupRange'), wire),
    keyGroupOffsets: node.at('keyGroupOffsets').int64s(),
    stateHandleId,
    delegateStateHandle: streamFromDocument(node.at('delegateStateHandle')),
    ...withRawStrings(wire, { stateHandleId }),
  };
}

function stringOrNull(node: DocumentNode): string | null {
  return node.nullable((value) => value.string());
}

function int64OrNull(node: DocumentNode): bigint | null {
  return node.nullable((value) => value.int64());
}

function incrementalFromDocument(node: DocumentNode): KeyedStateHandle {
  const wire = wireNode(node, 'startKeyGroup', 'backendIdentifier', 'checkpointedSize', 'utf');
  const shownId = node.at('backendIdentifier').string();
  const rawId = wire?.at('backendIdentifier');
  const backendIdentifier = rawId?.optional((value) => value.string()) ?? shownId;
  if (rawId && !rawId.missing && backendUuid(backendIdentifier) !== shownId) {
    rawId.refuse(`is the UUID ${backendUuid(backendIdentifier)}, which contradicts the visible ${shownId}`);
  }
  const stateHandleId = stringOrNull(node.at('stateHandleId'));
  const rawSize = wire?.at('checkpointedSize').optional((value) => value.int64());
  if (rawSize !== undefined && (rawSize !== -1n || stateHandleId === null)) {
    wire?.at('checkpointedSize').refuse('contradicts the visible checkpointedSize: only -1 (unknown) stands here');
  }
  const handle: KeyedStateHandle = {
    type: 'IncrementalRemoteKeyedStateHandle',
    checkpointId: node.at('checkpointId').int64(),
    backendIdentifier,
    keyGroupRange: rangeFromDocument(node.at('keyGroupRange'), wire),
    // The form without an id has no checkpointed size either; the visible one is derived then.
    checkpointedSize: stateHandleId === null ? null : (rawSize ?? node.at('checkpointedSize').int64()),
    stateHandleId,
    metaStateHandle: streamFromDocument(node.at('metaStateHandle')),
    sharedState: node.at('sharedState').list(localFileFromDocument),
    privateState: node.at('privateState').list(localFileFromDocument),
    ...withRawStrings(wire, { backendIdentifier, stateHandleId }),
  };
  const size = keyedStateSize(handle);
  if (rawSize !== undefined && node.at('checkpointedSize').int64() !== size) {
    const reason = `says that it is not known, and then the visible one must be the stateSize, ${size}`;
    wire?.at('checkpointedSize').refuse(reason);
  }
  return handle;
}

function localFileFromDocument(node: DocumentNode): HandleAndLocalPath {
  node.object(LOCAL_FILE);
  const handle = streamFromDocument(node.at('handle'));
  const localPath = node.at('localPath').string();
  return { localPath, handle, ...withRawStrings(wireNode(node, 'utf'), { localPath }) };
}

/** Checks the `tag` of a `wire`. @returns true if it is there */
function hasTag(wire: DocumentNode | undefined, tag: number): boolean {
  const node = wire?.at('tag');
  if (!node || node.missing) return false;
  if (node.int32() !== tag) node.refuse(`expected ${tag}, the one other form of this handle`);
  return true;
}

function changelogFromDocument(node: DocumentNode): KeyedStateHandle {
  const wire = wireNode(node, 'startKeyGroup', 'tag', 'nullMaterializedStateHandles', 'utf');
  const materializationID = int64OrNull(node.at('materializationID'));
  const checkpointId = int64OrNull(node.at('checkpointId'));
  const older = hasTag(wire, WIRE_TAG.changelog);
  if (older && checkpointId !== materializationID) {
    wire
      ?.at('tag')
      .refuse(
        `this form takes the materialization id for the checkpoint id, which contradicts the visible checkpointId ${checkpointId}`,
      );
  }
  if ((checkpointId === null) !== (materializationID === null)) {
    node.at('checkpointId').refuse('is null exactly if the materializationID is');
  }
  const stateHandleId = stringOrNull(node.at('stateHandleId'));
  return {
    type: 'ChangelogStateBackendHandleImpl',
    keyGroupRange: rangeFromDocument(node.at('keyGroupRange'), wire),
    checkpointedSize: int64OrNull(node.at('checkpointedSize')),
    materializedStateHandles: withNulls(node.at('materializedStateHandles').list(keyedFromDocument), wire),
    nonMaterializedStateHandles: node.at('nonMaterializedStateHandles').list(changelogPartFromDocument),
    materializationID,
    checkpointId: older ? null : checkpointId,
    stateHandleId,
    ...withRawStrings(wire, { stateHandleId }),
  };
}

/** Puts the null entries back that Flink skips. */
function withNulls(handles: KeyedStateHandle[], wire: DocumentNode | undefined): (KeyedStateHandle | null)[] {
  const result: (KeyedStateHandle | null)[] = [...handles];
  wire?.at('nullMaterializedStateHandles').optional((node) =>
    node.list((item) => {
      const index = item.int32();
      if (index < 0 || index > result.length) item.refuse(`no place ${index} in a list of ${result.length}`);
      result.splice(index, 0, null);
    }),
  );
  return result;
}

function changelogPartFromDocument(node: DocumentNode): ChangelogStateHandle {
  const type = typeOf(node, CHANGELOG_TYPES);
  const stateHandleId = stringOrNull(node.at('stateHandleId'));
  if (type === 'InMemoryChangelogStateHandle') {
    const wire = wireNode(node, 'startKeyGroup', 'utf');
    return {
      type,
      keyGroupRange: rangeFromDocument(node.at('keyGroupRange'), wire),
      from: node.at('from').int64(),
      to: node.at('to').int64(),
      changes: node.at('changes').list((item) => {
        item.object(CHANGE);
        return { keyGroup: item.at('keyGroup').int32(), change: item.at('change').bytes() };
      }),
      stateHandleId,
      ...withRawStrings(wire, { stateHandleId }),
    };
  }
  const wire = wireNode(node, 'startKeyGroup', 'tag', 'utf');
  const storage = stringOrNull(node.at('storageIdentifier'));
  const older = hasTag(wire, WIRE_TAG.changelogFile);
  if (older && storage !== DEFAULT_STORAGE_IDENTIFIER) {
    wire
      ?.at('tag')
      .refuse(
        `this form means ${DEFAULT_STORAGE_IDENTIFIER}, which contradicts the visible storageIdentifier ${storage}`,
      );
  }
  const checkpointedSize = int64OrNull(node.at('checkpointedSize'));
  if ((storage === null) !== (checkpointedSize === null)) {
    node.at('storageIdentifier').refuse('is null exactly if the checkpointedSize is');
  }
  const storageIdentifier = older ? null : storage;
  return {
    type,
    keyGroupRange: rangeFromDocument(node.at('keyGroupRange'), wire),
    handlesAndOffsets: node.at('handlesAndOffsets').list((item) => {
      item.object(HANDLE_AND_OFFSET);
      return { offset: item.at('offset').int64(), handle: item.at('handle').nullable(streamFromDocument) };
    }),
    stateSize: node.at('stateSize').int64(),
    checkpointedSize,
    stateHandleId,
    storageIdentifier,
    ...withRawStrings(wire, { stateHandleId, storageIdentifier }),
  };
}

// ---------------------------------------------------------------- operator handles

const OPERATOR_TYPES = [
  'OperatorStreamStateHandle',
  'FileMergingOperatorStreamStateHandle',
  'EmptyFileMergingOperatorStreamStateHandle',
] as const;

/** An operator handle. */
export function operatorHandleFromDocument(node: DocumentNode): OperatorStateHandle {
  const type = typeOf(node, OPERATOR_TYPES);
  const states = node.at('stateNameToPartitionOffsets');
  const delegate = node.at('delegateStateHandle');
  const delegateStateHandle = streamFromDocument(delegate);
  if (type === 'OperatorStreamStateHandle') {
    const wire = wireNode(node, 'states');
    return { type, stateNameToPartitionOffsets: statesFromDocument(states, wire), delegateStateHandle };
  }
  if (
    delegateStateHandle.type !== 'SegmentFileStateHandle' &&
    delegateStateHandle.type !== 'EmptySegmentFileStateHandle'
  ) {
    return delegate.at('type').refuse('a merged operator state lies in a segment');
  }
  const wire = wireNode(node, 'states', 'taskOwnedDirectory', 'sharedDirectory', 'isEmpty', 'utf');
  const isEmpty = wire?.at('isEmpty').optional((value) => value.int32());
  if (isEmpty !== undefined && type === 'FileMergingOperatorStreamStateHandle')
    wire?.at('isEmpty').refuse(`contradicts the visible type ${type}`);
  const taskOwnedDirectory = storedPath(directoryNode(node.at('taskOwnedDirHandle')), wire?.at('taskOwnedDirectory'));
  const sharedDirectory = storedPath(directoryNode(node.at('sharedDirHandle')), wire?.at('sharedDirectory'));
  const raw = rawStringsOf(wire, { taskOwnedDirectory, sharedDirectory });
  const more = { ...raw, ...(isEmpty === undefined ? {} : { isEmpty }) };
  return {
    type,
    stateNameToPartitionOffsets: statesFromDocument(states, wire),
    taskOwnedDirectory,
    sharedDirectory,
    delegateStateHandle,
    ...(Object.keys(more).length > 0 ? { wire: more } : {}),
  };
}

function directoryNode(node: DocumentNode): DocumentNode {
  return node.object(DIRECTORY).at('directory');
}

/** In the order of `wire.states`, or sorted by name, which is what its absence says. */
function statesFromDocument(visible: DocumentNode, wire: DocumentNode | undefined): StateMetaInfo[] {
  const metaInfo = (name: string, node: DocumentNode): StateMetaInfo => ({
    name,
    distributionMode: node.at('distributionMode').oneOf(DISTRIBUTION_MODES),
    offsets: node.at('offsets').int64s(),
  });
  const shown = visible.keys();
  const listed = wire?.at('states');
  if (!listed || listed.missing) {
    return shown.sort(byCodeUnits).map((name) => metaInfo(name, visible.at(name).object(META_INFO)));
  }
  const items = listed.list((item) => item.object(WIRE_STATE));
  const names = items.map((item) => item.at('name').string());
  for (const name of shown)
    if (!names.includes(name)) listed.refuse(`the visible state ${JSON.stringify(name)} is not in it`);
  return items.map((item, index) => {
    const name = names[index] ?? '';
    const own = visible.at(name);
    const isLast = names.lastIndexOf(name) === index;
    if (isLast && own.missing) item.refuse(`there is no visible state ${JSON.stringify(name)}`);
    if (isLast && !(item.at('distributionMode').missing && item.at('offsets').missing))
      item.refuse('the offsets of this state are the visible ones');
    const state = isLast ? metaInfo(name, own.object(META_INFO)) : metaInfo(name, item);
    const utf = item.at('utf').optional((value) => rawString(value, name));
    return utf ? { ...state, wire: { utf: { name: utf } } } : state;
  });
}

/** The order of `java.lang.String.compareTo`. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// ---------------------------------------------------------------- channel handles

const CHANNEL_TYPES = {
  input: ['InputChannelStateHandle', 'MergedInputChannelStateHandle'],
  output: ['ResultSubpartitionStateHandle', 'MergedResultSubpartitionStateHandle'],
} as const;
const INPUT_INFO = keys('gateIdx', 'inputChannelIdx');
const OUTPUT_INFO = keys('partitionIdx', 'subPartitionIdx');

/** A channel handle of one direction. */
export function channelFromDocument(node: DocumentNode, direction: 'input' | 'output'): AnyChannelStateHandle {
  const type = typeOf(node, CHANNEL_TYPES[direction]);
  const stateSize = node.at('stateSize').int64();
  if (type === 'MergedInputChannelStateHandle' || type === 'MergedResultSubpartitionStateHandle') {
    return {
      type,
      subtaskIndex: node.at('subtaskIndex').int32(),
      stateSize,
      delegate: node.at('delegate').nullable(streamFromDocument),
      serializedChannelOffsets: node.at('serializedChannelOffsets').bytes(),
    };
  }
  const info = node.at('info').object(direction === 'input' ? INPUT_INFO : OUTPUT_INFO);
  return {
    type,
    subtaskIndex: node.at('subtaskIndex').nullable((value) => value.int32()),
    outerIndex: info.at(direction === 'input' ? 'gateIdx' : 'partitionIdx').int32(),
    innerIndex: info.at(direction === 'input' ? 'inputChannelIdx' : 'subPartitionIdx').int32(),
    offsets: node.at('offsets').int64s(),
    stateSize,
    delegate: streamFromDocument(node.at('delegate')),
  };
}
