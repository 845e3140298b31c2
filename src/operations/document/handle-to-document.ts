/** State handles as document objects: the fields that Flink's handle classes show, and `wire` for what those lose. */
import type { Path } from '../../filesystem/path.js';
import { Path as FlinkPath } from '../../filesystem/path.js';
import type {
  AnyChannelStateHandle,
  ChangelogStateBackendHandleImpl,
  ChangelogStateHandleStreamImpl,
  FileMergingOperatorStreamStateHandle,
  HandleAndLocalPath,
  IncrementalRemoteKeyedStateHandle,
  KeyedStateHandle,
  KeyGroupRange,
  OperatorStateHandle,
  RawStrings,
  StateMetaInfo,
  StreamStateHandle,
} from '../../model/state-handles.js';
import {
  keyedCheckpointedSize,
  keyedStateSize,
  operatorStateHandleSize,
  streamStateSize,
} from '../../model/state-sizes.js';
import { unmergeChannelOffsets } from './channel-offsets.js';
import { backendUuid } from './java-uuid.js';
import { type DocumentObject, type DocumentValue, int64, ValueBuilder } from './values.js';

/** Type bytes that `wire.tag` can name: forms of one class that the visible fields do not tell apart. */
export const WIRE_TAG = { changelog: 8, changelogFile: 10 } as const;

/** Flink's name for the storage of changelogs in files, which older forms imply. */
export const DEFAULT_STORAGE_IDENTIFIER = 'filesystem';

type Writable = { [key: string]: DocumentValue };

/** `{wire}` if there is anything to tell, to be spread into an object. */
export function wireOf(fields: { readonly [key: string]: DocumentValue | undefined }): DocumentObject {
  const wire: Writable = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) wire[key] = value;
  return Object.keys(wire).length > 0 ? { wire } : {};
}

/** Raw strings for `wire.utf`; undefined if there are none. */
export function rawStrings(utf: RawStrings | undefined): DocumentValue | undefined {
  if (!utf) return undefined;
  return Object.fromEntries(
    Object.entries(utf).map(([field, bytes]) => [field, Buffer.from(bytes).toString('base64')]),
  );
}

/** An object whose keys are names out of a file: `__proto__` is one like any other. */
export function nameObject(): Writable {
  return Object.create(null) as Writable;
}

/**
 * The URI inside the path that Flink makes of a stored string. Java keeps the two slashes of an empty authority
 * (`file:///a`) as long as there are no dots to resolve.
 */
function uriOf(stored: string, path: Path): string {
  const uri = path.toUriString();
  const scheme = path.scheme === undefined ? '' : `${path.scheme}:`;
  if (!stored.startsWith(`${scheme}///`)) return uri;
  const slashed = stored
    .slice(scheme.length + 2)
    .replaceAll('\\', '/')
    .replace(/\/{2,}/g, '/');
  const asItIs = slashed === path.path || slashed === `${path.path}/`;
  return asItIs ? `${scheme}//${uri.slice(scheme.length)}` : uri;
}

/** Makes documents of the handles of one metadata file. */
export class HandleDocuments {
  private readonly directoryText: string;

  /**
   * @param directory what relative handles are relative to, qualified
   * @param values how long runs of numbers and bytes are kept
   */
  constructor(
    private readonly directory: Path,
    readonly values = new ValueBuilder(),
  ) {
    this.directoryText = directory.toString();
  }

  // ---------------------------------------------------------------- stream handles

  /** A stream handle; null stays null. */
  stream(handle: StreamStateHandle | null): DocumentValue {
    switch (handle?.type) {
      case undefined:
        return null;
      case 'ByteStreamStateHandle':
        return {
          type: handle.type,
          handleName: handle.handleName,
          bytes: this.values.base64(handle.bytes),
          stateSize: handle.bytes.length,
          physicalId: handle.handleName,
          ...wireOf({ utf: rawStrings(handle.wire?.utf) }),
        };
      case 'FileStateHandle': {
        const { shown, raw, physicalId } = this.path(handle.filePath);
        const wire = wireOf({ filePath: raw, utf: rawStrings(handle.wire?.utf) });
        return { type: handle.type, filePath: shown, stateSize: int64(handle.stateSize), physicalId, ...wire };
      }
      case 'RelativeFileStateHandle': {
        const path = this.relative(handle.relativePath);
        return {
          type: handle.type,
          relativePath: handle.relativePath,
          filePath: path.shown,
          stateSize: int64(handle.stateSize),
          physicalId: path.physicalId,
          ...wireOf({ utf: rawStrings(handle.wire?.utf) }),
        };
      }
      case 'SegmentFileStateHandle': {
        const { shown, raw } = this.path(handle.filePath);
        return {
          type: handle.type,
          filePath: shown,
          startPos: int64(handle.startPos),
          stateSize: int64(handle.stateSize),
          scope: handle.scope,
          logicalFileId: handle.logicalFileId,
          physicalId: handle.logicalFileId,
          ...wireOf({ filePath: raw, utf: rawStrings(handle.wire?.utf) }),
        };
      }
      case 'EmptySegmentFileStateHandle':
        return { type: handle.type, stateSize: 0, physicalId: 'DUMMY' };
      case 'KeyGroupsStateHandle':
        return this.keyed(handle);
    }
  }

  /** What Flink's `Path` makes of a stored string; `raw` only if that is not what is stored. */
  private path(stored: string): { shown: string; raw: string | undefined; physicalId: string } {
    try {
      const path = FlinkPath.parse(stored);
      const shown = path.toString();
      if (shown === stored) return { shown, raw: undefined, physicalId: path.toUriString() };
      return { shown, raw: stored, physicalId: uriOf(stored, path) };
    } catch {
      // Flink cannot even make a path of it; shown as it is, and `verify` will find nothing there.
      return { shown: stored, raw: undefined, physicalId: stored };
    }
  }

  private relative(stored: string): { shown: string; physicalId: string } {
    try {
      const path = this.directory.child(stored);
      return { shown: path.toString(), physicalId: path.toUriString() };
    } catch {
      const shown = `${this.directoryText}/${stored}`;
      return { shown, physicalId: shown };
    }
  }

  // ---------------------------------------------------------------- operator handles

  /** An operator handle as a list of none or one. */
  operatorState(handle: OperatorStateHandle | null): DocumentValue {
    if (!handle) return [];
    const { shown, wire } = this.states(handle.stateNameToPartitionOffsets);
    const common = {
      type: handle.type,
      stateSize: int64(operatorStateHandleSize(handle)),
      stateNameToPartitionOffsets: shown,
    };
    const delegateStateHandle = this.stream(handle.delegateStateHandle);
    if (handle.type === 'OperatorStreamStateHandle')
      return [{ ...common, delegateStateHandle, ...wireOf({ states: wire }) }];
    return [{ ...common, ...this.directories(handle, wire), delegateStateHandle }];
  }

  private directories(handle: FileMergingOperatorStreamStateHandle, states: DocumentValue | undefined): DocumentObject {
    const taskOwned = this.path(handle.taskOwnedDirectory);
    const shared = this.path(handle.sharedDirectory);
    const directory = (shown: string): DocumentValue => ({
      type: 'DirectoryStreamStateHandle',
      directory: shown,
      stateSize: 0,
      physicalId: shown,
    });
    return {
      taskOwnedDirHandle: directory(taskOwned.shown),
      sharedDirHandle: directory(shared.shown),
      ...wireOf({
        states,
        taskOwnedDirectory: taskOwned.raw,
        sharedDirectory: shared.raw,
        isEmpty: handle.wire?.isEmpty,
        utf: rawStrings(handle.wire?.utf),
      }),
    };
  }

  /**
   * States by name, as Flink's map has them. Where that loses something (another order than that of the sorted names, a name
   * twice, odd bytes) `wire` lists the states of the file one by one.
   */
  private states(states: readonly StateMetaInfo[]): { shown: DocumentValue; wire: DocumentValue | undefined } {
    const shown = nameObject();
    let exact = true;
    let last: string | undefined;
    for (const state of states) {
      exact &&= (last === undefined || last < state.name) && !state.wire;
      last = state.name;
      shown[state.name] = { distributionMode: state.distributionMode, offsets: this.values.int64s(state.offsets) };
    }
    if (exact) return { shown, wire: undefined };
    const kept = new Map(states.map((state) => [state.name, state]));
    const wire = states.map((state) => ({
      name: state.name,
      ...(kept.get(state.name) === state
        ? {}
        : { distributionMode: state.distributionMode, offsets: this.values.int64s(state.offsets) }),
      ...(state.wire?.utf?.name ? { utf: Buffer.from(state.wire.utf.name).toString('base64') } : {}),
    }));
    return { shown, wire };
  }

  // ---------------------------------------------------------------- keyed handles

  /** A keyed handle as a list of none or one. */
  keyedState(handle: KeyedStateHandle | null): DocumentValue {
    return handle ? [this.keyed(handle)] : [];
  }

  private keyed(handle: KeyedStateHandle): DocumentValue {
    switch (handle.type) {
      case 'KeyGroupsStateHandle':
      case 'KeyGroupsSavepointStateHandle': {
        const range = this.range(handle.keyGroupRange);
        const size = int64(streamStateSize(handle.delegateStateHandle));
        const own = handle.type === 'KeyGroupsStateHandle' ? handle : undefined;
        return {
          type: handle.type,
          keyGroupRange: range.shown,
          keyGroupOffsets: this.values.int64s(handle.keyGroupOffsets),
          stateSize: size,
          checkpointedSize: size,
          stateHandleId: own?.stateHandleId ?? null,
          delegateStateHandle: this.stream(handle.delegateStateHandle),
          ...wireOf({ startKeyGroup: range.raw, utf: rawStrings(own?.wire?.utf) }),
        };
      }
      case 'IncrementalRemoteKeyedStateHandle':
        return this.incremental(handle);
      case 'ChangelogStateBackendHandleImpl':
        return this.changelog(handle);
      case 'InMemoryChangelogStateHandle': {
        const range = this.range(handle.keyGroupRange);
        const size = int64(keyedStateSize(handle));
        return {
          type: handle.type,
          keyGroupRange: range.shown,
          from: int64(handle.from),
          to: int64(handle.to),
          stateSize: size,
          checkpointedSize: size,
          stateHandleId: handle.stateHandleId,
          storageIdentifier: 'memory',
          changes: handle.changes.map(({ keyGroup, change }) => ({ keyGroup, change: this.values.base64(change) })),
          ...wireOf({ startKeyGroup: range.raw, utf: rawStrings(handle.wire?.utf) }),
        };
      }
      case 'ChangelogStateHandleStreamImpl':
        return this.changelogFiles(handle);
    }
  }

  /** Flink has one empty range, from 0; `raw` is the stored start of another one. */
  private range(range: KeyGroupRange): { shown: DocumentValue; raw: number | undefined } {
    const { startKeyGroup: start, numberOfKeyGroups: count } = range;
    if (count === 0) return { shown: { start: 0, end: -1 }, raw: start === 0 ? undefined : start };
    return { shown: { start, end: start + count - 1 }, raw: undefined };
  }

  private incremental(handle: IncrementalRemoteKeyedStateHandle): DocumentValue {
    const range = this.range(handle.keyGroupRange);
    const backendIdentifier = backendUuid(handle.backendIdentifier);
    const stored = handle.checkpointedSize;
    const checkpointedSize = keyedCheckpointedSize(handle);
    return {
      type: handle.type,
      checkpointId: int64(handle.checkpointId),
      backendIdentifier,
      keyGroupRange: range.shown,
      stateSize: int64(keyedStateSize(handle)),
      checkpointedSize: int64(checkpointedSize),
      stateHandleId: handle.stateHandleId,
      metaStateHandle: this.stream(handle.metaStateHandle),
      sharedState: this.localFiles(handle.sharedState),
      privateState: this.localFiles(handle.privateState),
      ...wireOf({
        startKeyGroup: range.raw,
        backendIdentifier: backendIdentifier === handle.backendIdentifier ? undefined : handle.backendIdentifier,
        checkpointedSize: stored === null || stored === checkpointedSize ? undefined : int64(stored),
        utf: rawStrings(handle.wire?.utf),
      }),
    };
  }

  private localFiles(files: readonly HandleAndLocalPath[]): DocumentValue {
    return files.map((file) => ({
      localPath: file.localPath,
      handle: this.stream(file.handle),
      ...wireOf({ utf: rawStrings(file.wire?.utf) }),
    }));
  }

  private changelog(handle: ChangelogStateBackendHandleImpl): DocumentValue {
    const range = this.range(handle.keyGroupRange);
    const { checkpointId, materializationID, checkpointedSize } = handle;
    const nulls = handle.materializedStateHandles.flatMap((part, index) => (part === null ? [index] : []));
    const shownId = checkpointId ?? materializationID;
    return {
      type: handle.type,
      checkpointId: shownId === null ? null : int64(shownId),
      materializationID: materializationID === null ? null : int64(materializationID),
      keyGroupRange: range.shown,
      stateSize: int64(keyedStateSize(handle)),
      checkpointedSize: checkpointedSize === null ? null : int64(checkpointedSize),
      stateHandleId: handle.stateHandleId,
      materializedStateHandles: handle.materializedStateHandles.flatMap((part) => (part ? [this.keyed(part)] : [])),
      nonMaterializedStateHandles: handle.nonMaterializedStateHandles.map((part) => this.keyed(part)),
      ...wireOf({
        startKeyGroup: range.raw,
        tag: checkpointId === null && materializationID !== null ? WIRE_TAG.changelog : undefined,
        nullMaterializedStateHandles: nulls.length > 0 ? nulls : undefined,
        utf: rawStrings(handle.wire?.utf),
      }),
    };
  }

  private changelogFiles(handle: ChangelogStateHandleStreamImpl): DocumentValue {
    const range = this.range(handle.keyGroupRange);
    const { checkpointedSize, storageIdentifier } = handle;
    const of114 = checkpointedSize === null;
    return {
      type: handle.type,
      keyGroupRange: range.shown,
      stateSize: int64(handle.stateSize),
      checkpointedSize: of114 ? null : int64(checkpointedSize),
      stateHandleId: handle.stateHandleId,
      storageIdentifier: storageIdentifier ?? (of114 ? null : DEFAULT_STORAGE_IDENTIFIER),
      handlesAndOffsets: handle.handlesAndOffsets.map((part) => ({
        offset: int64(part.offset),
        handle: this.stream(part.handle),
      })),
      ...wireOf({
        startKeyGroup: range.raw,
        tag: storageIdentifier === null && !of114 ? WIRE_TAG.changelogFile : undefined,
        utf: rawStrings(handle.wire?.utf),
      }),
    };
  }

  // ---------------------------------------------------------------- channel handles

  /** The channel handles of one direction. */
  channelState(handles: readonly AnyChannelStateHandle[]): DocumentValue {
    return handles.map((handle) => this.channel(handle));
  }

  private channel(handle: AnyChannelStateHandle): DocumentValue {
    switch (handle.type) {
      case 'InputChannelStateHandle':
      case 'ResultSubpartitionStateHandle':
        return {
          type: handle.type,
          subtaskIndex: handle.subtaskIndex,
          info: channelInfo(handle.type === 'InputChannelStateHandle', handle),
          offsets: this.values.int64s(handle.offsets),
          stateSize: int64(handle.stateSize),
          delegate: this.stream(handle.delegate),
        };
      default:
        return {
          type: handle.type,
          subtaskIndex: handle.subtaskIndex,
          stateSize: int64(handle.stateSize),
          delegate: this.stream(handle.delegate),
          serializedChannelOffsets: this.values.base64(handle.serializedChannelOffsets),
          unmergedHandles: this.unmerged(handle),
        };
    }
  }

  private unmerged(handle: Extract<AnyChannelStateHandle, { serializedChannelOffsets: Uint8Array }>): DocumentValue {
    const input = handle.type === 'MergedInputChannelStateHandle';
    const parts = unmergeChannelOffsets(handle.serializedChannelOffsets);
    // Flink itself decodes them only when it restores, and fails then.
    if (!parts) return null;
    return parts.map((part) => ({
      type: input ? 'InputChannelStateHandle' : 'ResultSubpartitionStateHandle',
      subtaskIndex: handle.subtaskIndex,
      info: channelInfo(input, part),
      offsets: this.values.int64s(part.offsets),
      stateSize: int64(part.stateSize),
      delegate: this.stream(handle.delegate),
    }));
  }
}

function channelInfo(
  input: boolean,
  channel: { readonly outerIndex: number; readonly innerIndex: number },
): DocumentValue {
  return input
    ? { gateIdx: channel.outerIndex, inputChannelIdx: channel.innerIndex }
    : { partitionIdx: channel.outerIndex, subPartitionIdx: channel.innerIndex };
}
