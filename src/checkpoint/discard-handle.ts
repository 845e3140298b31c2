/**
 * What discarding state deletes, handle by handle, to the letter of Flink's `discardState` methods. It knows nothing of other
 * checkpoints: a shared file goes unless a registry holds it, and files of merged and changelog state stay, whoever needs
 * them. It believes the paths in handles, `..` and foreign places included. What `ckpt discard` does is another, more careful
 * procedure.
 */
import { asError, firstOrSuppressed, IllegalStateError } from '../errors.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import type { OperatorState, SubtaskEntry } from '../model/checkpoint-metadata.js';
import type {
  AnyChannelStateHandle,
  IncrementalRemoteKeyedStateHandle,
  KeyedStateHandle,
  OperatorStateHandle,
  StreamStateHandle,
} from '../model/state-handles.js';
import { deleteFileOrEmptyDirectory } from '../storage/delete.js';
import { type Logger, SILENT_LOGGER } from './logger.js';

/** Every kind of handle. */
export type StateHandle = StreamStateHandle | KeyedStateHandle | OperatorStateHandle | AnyChannelStateHandle;

/** What discarding needs to know besides the handle. */
export interface DiscardContext {
  readonly fileSystems: FileSystems;
  /** What relative handles are relative to; undefined if there can be none. */
  readonly exclusiveDirectory: Path | undefined;
  /** Gets the failures that are swallowed; default: nobody. */
  readonly logger?: Logger | undefined;
  /** Whether a shared-state registry holds the shared files: then they are left to it. Outside a running job none does. */
  readonly sharedState: 'registered' | 'unregistered';
}

/**
 * Deletes the files that a handle owns; null owns none.
 * @throws the errors of the file system, UnknownSchemeError, InvalidPathError
 */
export async function discardState(handle: StateHandle | null, context: DiscardContext): Promise<void> {
  if (handle === null) return;
  switch (handle.type) {
    case 'FileStateHandle':
      return discardFile(Path.parse(handle.filePath), context);
    case 'RelativeFileStateHandle':
      return discardFile(resolveRelative(handle.relativePath, context), context);
    case 'KeyGroupsStateHandle':
    case 'KeyGroupsSavepointStateHandle':
    case 'OperatorStreamStateHandle':
      return discardState(handle.delegateStateHandle, context);
    case 'InputChannelStateHandle':
    case 'ResultSubpartitionStateHandle':
    case 'MergedInputChannelStateHandle':
    case 'MergedResultSubpartitionStateHandle':
      return discardState(handle.delegate, context);
    case 'IncrementalRemoteKeyedStateHandle':
      return discardIncremental(handle, context);
    // Inline: nothing to delete.
    case 'ByteStreamStateHandle':
    case 'InMemoryChangelogStateHandle':
    // Files of task managers and of the shared-state registry: they delete them.
    case 'SegmentFileStateHandle':
    case 'EmptySegmentFileStateHandle':
    case 'FileMergingOperatorStreamStateHandle':
    case 'EmptyFileMergingOperatorStreamStateHandle':
    case 'ChangelogStateHandleStreamImpl':
    case 'ChangelogStateBackendHandleImpl':
      return;
  }
}

/** A file, or an empty directory in its place. */
async function discardFile(path: Path, context: DiscardContext): Promise<void> {
  const fileSystem = await context.fileSystems.get(path);
  await deleteFileOrEmptyDirectory(fileSystem, context.fileSystems.qualify(path));
}

function resolveRelative(relativePath: string, { exclusiveDirectory }: DiscardContext): Path {
  if (exclusiveDirectory !== undefined) return exclusiveDirectory.child(relativePath);
  throw new IllegalStateError(`${relativePath}: the checkpoint is in no directory that this could be relative to`);
}

/** Each part is tried, and failures are only logged. */
async function discardIncremental(handle: IncrementalRemoteKeyedStateHandle, context: DiscardContext): Promise<void> {
  const attempt = async (part: string, handles: readonly StreamStateHandle[]) => {
    try {
      await discardAll(handles, context);
    } catch (error) {
      const { logger = SILENT_LOGGER } = context;
      logger.warn(`could not discard the ${part} state of checkpoint ${handle.checkpointId}`, error);
    }
  };
  await attempt('meta', [handle.metaStateHandle]);
  await attempt(
    'private',
    handle.privateState.map((file) => file.handle),
  );
  if (context.sharedState === 'registered') return;
  await attempt(
    'shared',
    handle.sharedState.map((file) => file.handle),
  );
}

/**
 * Discards one after another, whatever happens to the ones before.
 * @throws the first failure, the later ones as its suppressed ones
 */
async function discardAll(handles: readonly StateHandle[], context: DiscardContext): Promise<void> {
  await bestEffort(handles, (handle) => discardState(handle, context));
}

/**
 * Does something with each item, one after another, whatever happens to the ones before (Flink's
 * `StateUtil.bestEffortDiscardAllStateObjects`). Null is skipped.
 * @throws the first failure, the later ones as its suppressed ones
 */
export async function bestEffort<T>(items: Iterable<T | null>, work: (item: T) => Promise<void>): Promise<void> {
  let failure: Error | undefined;
  for (const item of items) {
    if (item === null) continue;
    try {
      await work(item);
    } catch (error) {
      failure = firstOrSuppressed(asError(error), failure);
    }
  }
  if (failure !== undefined) throw failure;
}

/** The handles of a subtask in the order in which they are discarded. A file of several channels occurs once. */
export function discardablesOf(entry: SubtaskEntry): readonly StateHandle[] {
  if (entry.finished) return [];
  const channels = new Map<string, StreamStateHandle>();
  for (const { delegate } of [...entry.inputChannelState, ...entry.resultSubpartitionState]) {
    if (delegate === null) continue;
    const identity = identityOf(delegate);
    if (!channels.has(identity)) channels.set(identity, delegate);
  }
  const own = [
    entry.managedOperatorState,
    entry.rawOperatorState,
    entry.managedKeyedState,
    entry.rawKeyedState,
  ] satisfies (StateHandle | null)[];
  return [...own.filter((handle) => handle !== null), ...channels.values()];
}

/** Equal for handles that Flink takes for equal. */
function identityOf(handle: StreamStateHandle): string {
  const { type } = handle;
  switch (type) {
    case 'ByteStreamStateHandle':
      return `${type} ${handle.handleName}`;
    case 'FileStateHandle':
      return `${type} ${handle.filePath}`;
    case 'RelativeFileStateHandle':
      return `${type} ${handle.relativePath}`;
    case 'SegmentFileStateHandle':
      return [type, handle.startPos, handle.stateSize, handle.scope, handle.logicalFileId, handle.filePath].join(' ');
    case 'EmptySegmentFileStateHandle':
      return type;
    case 'KeyGroupsStateHandle': {
      const { keyGroupRange, keyGroupOffsets, delegateStateHandle } = handle;
      return [type, keyGroupRange.startKeyGroup, keyGroupOffsets.join(), identityOf(delegateStateHandle)].join(' ');
    }
  }
}

/** The subtasks of an operator as Flink has them: of several with one index the last. */
function subtasksOf(operator: OperatorState): Iterable<SubtaskEntry> {
  return new Map(operator.subtasks.map((entry) => [entry.index, entry])).values();
}

/** All handles of an operator, see {@link discardablesOf}. Coordinator state is inline. */
export function operatorDiscardables(operator: OperatorState): readonly StateHandle[] {
  return [...subtasksOf(operator)].flatMap(discardablesOf);
}

/** Discards the state of an operator. Each subtask's failures are logged and swallowed, as Flink does: nothing is thrown. */
export async function discardOperatorState(operator: OperatorState, context: DiscardContext): Promise<void> {
  for (const entry of subtasksOf(operator)) {
    try {
      await discardAll(discardablesOf(entry), context);
    } catch (error) {
      const { logger = SILENT_LOGGER } = context;
      logger.warn(`could not discard all state of operator ${operator.operatorId}, subtask ${entry.index}`, error);
    }
  }
}
