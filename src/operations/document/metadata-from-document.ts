/** The parts of a metadata document around its handles, back into the model. */
import { isDeepStrictEqual } from 'node:util';
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { readCheckpointProperties, writeCheckpointProperties } from '../../format/java/properties.js';
import { Since } from '../../format/metadata/tags.js';
import type { MasterState, MetadataLayout, OperatorHead, SubtaskEntry } from '../../model/checkpoint-metadata.js';
import {
  type CheckpointProperties,
  POST_CHECKPOINT_ACTIONS,
  SAVEPOINT_FORMAT_TYPES,
  SHARING_FILES_STRATEGIES,
  type SnapshotType,
} from '../../model/checkpoint-properties.js';
import type { DocumentNode } from './document-node.js';
import {
  byteStreamFromDocument,
  channelFromDocument,
  keyedFromDocument,
  operatorHandleFromDocument,
  rawStringsOf,
  wireNode,
} from './handle-from-document.js';
import { propertiesParts } from './properties-document.js';

const keys = (...names: string[]): ReadonlySet<string> => new Set(names);

const MASTER_STATE = keys('name', 'version', 'size', 'bytes', 'wire');
const SUBTASK = keys(
  'index',
  'finished',
  'stateSize',
  'checkpointedSize',
  'managedOperatorState',
  'rawOperatorState',
  'managedKeyedState',
  'rawKeyedState',
  'inputChannelState',
  'resultSubpartitionState',
  'upstreamOutputBufferState',
  'wire',
);
const OPERATOR = keys(
  'operatorId',
  'uid',
  'name',
  'parallelism',
  'maxParallelism',
  'finished',
  'stateSize',
  'checkpointedSize',
  'coordinatorState',
  'subtasks',
  'wire',
);
/** Fields of the document itself, `operatorStates` aside. */
export const ROOT_FIELDS = keys(
  'externalPointer',
  'readByFlink',
  'version',
  'checkpointId',
  'properties',
  'masterStates',
  'stateSize',
  'checkpointedSize',
  'wire',
);

/** A master state. */
export function masterStateFromDocument(node: DocumentNode): MasterState {
  node.object(MASTER_STATE);
  const name = node.at('name').string();
  const raw = rawStringsOf(wireNode(node, 'utf'), { name });
  return {
    name,
    version: node.at('version').int32(),
    bytes: node.at('bytes').bytes(),
    ...(raw.utf ? { wire: { utf: raw.utf } } : {}),
  };
}

/** A subtask. */
export function subtaskFromDocument(node: DocumentNode): SubtaskEntry {
  node.object(SUBTASK);
  const index = node.at('index').int32();
  node.at('upstreamOutputBufferState').optional((upstream) => {
    if (upstream.list(() => 0).length > 0)
      upstream.refuse('no version of the format stores it: expected an empty list');
  });
  if (node.at('finished').boolean()) {
    const filled = [...SUBTASK].find((field) => field.endsWith('State') && node.at(field).list(() => 0).length > 0);
    if (filled) node.at(filled).refuse('a finished subtask has no state');
    wireNode(node);
    return { index, finished: true };
  }
  const managedOperatorState = node.at('managedOperatorState').single(operatorHandleFromDocument);
  const rawOperatorState = node.at('rawOperatorState').single(operatorHandleFromDocument);
  const wire = wireNode(node, 'duration', 'managedOperatorStatePresence', 'rawOperatorStatePresence');
  const presence = (field: 'managedOperatorStatePresence' | 'rawOperatorStatePresence'): Record<string, number> => {
    const item = wire?.at(field);
    const value = item?.optional((number) => number.int32());
    if (value === undefined) return {};
    const state = field === 'managedOperatorStatePresence' ? managedOperatorState : rawOperatorState;
    if ((value !== 0) !== (state !== null))
      item?.refuse(`contradicts the visible state, which is ${state ? '' : 'not '}there`);
    return { [field]: value };
  };
  const duration = wire?.at('duration').optional((item) => item.int64());
  const more = {
    ...(duration === undefined ? {} : { duration }),
    ...presence('managedOperatorStatePresence'),
    ...presence('rawOperatorStatePresence'),
  };
  return {
    index,
    finished: false,
    managedOperatorState,
    rawOperatorState,
    managedKeyedState: node.at('managedKeyedState').single(keyedFromDocument),
    rawKeyedState: node.at('rawKeyedState').single(keyedFromDocument),
    inputChannelState: node.at('inputChannelState').list((item) => channelFromDocument(item, 'input')),
    resultSubpartitionState: node.at('resultSubpartitionState').list((item) => channelFromDocument(item, 'output')),
    ...(Object.keys(more).length > 0 ? { wire: more } : {}),
  };
}

/** An operator without its subtasks, and the entries that Flink does not see. */
export interface OperatorParts {
  readonly head: OperatorHead;
  /** By position in the file, ascending. */
  readonly overwritten: ReadonlyMap<number, SubtaskEntry>;
}

/** An operator from all its fields except `subtasks`. */
export function operatorFromDocument(node: DocumentNode): OperatorParts {
  node.object(OPERATOR);
  const wire = wireNode(node, 'chainLength', 'subtaskCount', 'overwrittenSubtasks', 'utf');
  const chainLength = wire?.at('chainLength').optional((item) => item.int32());
  const subtaskCount = wire?.at('subtaskCount').optional((item) => item.int32());
  const overwritten = new Map<number, SubtaskEntry>();
  wire?.at('overwrittenSubtasks').optional((list) =>
    list.list((item) => {
      item.object(keys('position', 'subtask'));
      const position = item.at('position').int32();
      if (overwritten.has(position)) item.at('position').refuse(`${position} occurs twice`);
      overwritten.set(position, subtaskFromDocument(item.at('subtask')));
    }),
  );
  const name = (field: 'uid' | 'name'): string | null => node.at(field).nullable((item) => item.string()) || null;
  const texts = { name: name('name'), uid: name('uid') };
  const finished = node.at('finished').boolean();
  if (subtaskCount !== undefined && (subtaskCount >= 0 || !finished)) {
    const reason = finished ? 'must be negative' : 'contradicts the visible finished: false';
    wire?.at('subtaskCount').refuse(reason);
  }
  const more = {
    ...rawStringsOf(wire, texts),
    ...(chainLength === undefined ? {} : { chainLength }),
    ...(subtaskCount === undefined ? {} : { subtaskCount }),
  };
  const head: OperatorHead = {
    operatorId: node.at('operatorId').string(),
    ...texts,
    parallelism: node.at('parallelism').int32(),
    maxParallelism: node.at('maxParallelism').int32(),
    finished,
    coordinatorState: node.at('coordinatorState').nullable(byteStreamFromDocument),
    ...(Object.keys(more).length > 0 ? { wire: more } : {}),
  };
  return { head, overwritten };
}

/** The layout that the `wire` of the document names. */
export function layoutFromDocument(wire: DocumentNode | undefined): MetadataLayout {
  return wire?.at('layout').optional((item) => item.oneOf(['current', '1.14', '1.11'] as const)) ?? 'current';
}

/** The properties block to write: null before version 4. */
export function propertiesFromDocument(
  node: DocumentNode,
  wire: DocumentNode | undefined,
  version: number,
): Uint8Array | null {
  const raw = wire?.at('properties');
  if (raw && !raw.missing) {
    if (version < Since.properties) raw.refuse(`version ${version} has no properties`);
    const block = raw.bytes();
    checkBlock(raw, block);
    if (!isDeepStrictEqual(plain(propertiesParts(block).properties), plain(node.value ?? null))) {
      raw.refuse('contradicts the visible properties');
    }
    return block;
  }
  if (version < Since.properties) {
    if (node.value !== null && !node.missing) node.refuse(`version ${version} has no properties: expected null`);
    return null;
  }
  return writeCheckpointProperties(node.nullable(visibleProperties));
}

function checkBlock(raw: DocumentNode, block: Uint8Array): void {
  try {
    if (readCheckpointProperties(block, 0).end !== block.length) raw.refuse('has bytes behind its end');
  } catch (error) {
    if (!(error instanceof ByteFormatError)) throw error;
    raw.refuse(error.message);
  }
}

/** Without prototypes, which differ between parsed and made objects. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function visibleProperties(node: DocumentNode): CheckpointProperties {
  node.object(
    keys(
      'checkpointType',
      'forced',
      'discardSubsumed',
      'discardFinished',
      'discardCancelled',
      'discardFailed',
      'discardSuspended',
      'unclaimed',
    ),
  );
  const flag = (name: string): boolean => node.at(name).boolean();
  return {
    checkpointType: snapshotType(node.at('checkpointType')),
    forced: flag('forced'),
    discardSubsumed: flag('discardSubsumed'),
    discardFinished: flag('discardFinished'),
    discardCancelled: flag('discardCancelled'),
    discardFailed: flag('discardFailed'),
    discardSuspended: flag('discardSuspended'),
    unclaimed: flag('unclaimed'),
  };
}

function snapshotType(node: DocumentNode): SnapshotType {
  const kind = node.at('class').oneOf(['CheckpointType', 'SavepointType'] as const);
  const name = node.at('name').string();
  if (kind === 'CheckpointType') {
    return { kind, name, sharingFilesStrategy: node.at('sharingFilesStrategy').oneOf(SHARING_FILES_STRATEGIES) };
  }
  return {
    kind,
    name,
    sharingFilesStrategy: node.at('sharingFilesStrategy').oneOf(['NO_SHARING'] as const),
    formatType: node.at('formatType').oneOf(SAVEPOINT_FORMAT_TYPES),
    postCheckpointAction: node.at('postCheckpointAction').oneOf(POST_CHECKPOINT_ACTIONS),
  };
}
