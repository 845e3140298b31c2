/** Replaces handles deep inside a subtask's state. What is not replaced stays the very same object. */
import type { OperatorSubtaskState, SubtaskEntry } from './checkpoint-metadata.js';
import type {
  AnyChannelStateHandle,
  ChangelogStateBackendHandleImpl,
  ChangelogStateHandle,
  HandleAndLocalPath,
  KeyedStateHandle,
  OperatorStateHandle,
  StreamStateHandle,
} from './state-handles.js';

/** Where in a subtask's state a stream handle stands. */
export type HandlePlace =
  | 'operator-state'
  | 'key-groups'
  | 'incremental-meta'
  | 'incremental-shared'
  | 'incremental-private'
  | 'changelog-file'
  | 'channel-state';

/** What to put in the place of handles; whatever returns its argument changes nothing. */
export interface HandleMapper {
  /**
   * A handle that is not itself made of another one.
   * @param inChangelog true inside a handle of the changelog backend
   */
  stream(handle: StreamStateHandle, place: HandlePlace, inChangelog: boolean): StreamStateHandle;
  /** An operator handle, its delegate mapped already; null takes it away. */
  operator?(handle: OperatorStateHandle): OperatorStateHandle | null;
  /** A keyed handle, what is inside it mapped already. */
  keyed?<T extends KeyedStateHandle>(handle: T, inChangelog: boolean): T;
}

/** A list with each item mapped; the same list if no item changed. */
function mapList<T>(items: readonly T[], map: (item: T) => T): readonly T[] {
  let changed: T[] | undefined;
  items.forEach((item, index) => {
    const mapped = map(item);
    if (mapped === item) return;
    changed ??= [...items];
    changed[index] = mapped;
  });
  return changed ?? items;
}

/** An object with some fields replaced; the same object if they are what they were. */
function replace<T extends object>(object: T, fields: Partial<T>): T {
  const keys = Object.keys(fields) as (keyof T)[];
  return keys.every((key) => object[key] === fields[key]) ? object : { ...object, ...fields };
}

class Mapping {
  private changelogs = 0;

  constructor(private readonly mapper: HandleMapper) {}

  stream(handle: StreamStateHandle, place: HandlePlace): StreamStateHandle {
    if (handle.type !== 'KeyGroupsStateHandle') return this.mapper.stream(handle, place, this.changelogs > 0);
    return replace(handle, { delegateStateHandle: this.stream(handle.delegateStateHandle, place) });
  }

  operator(handle: OperatorStateHandle | null): OperatorStateHandle | null {
    if (!handle) return handle;
    const delegateStateHandle = this.stream(handle.delegateStateHandle, 'operator-state');
    // A merged handle with another kind of delegate is made whole by `mapper.operator`.
    const mapped = replace(handle, { delegateStateHandle } as Partial<OperatorStateHandle>);
    return this.mapper.operator ? this.mapper.operator(mapped) : mapped;
  }

  private files(files: readonly HandleAndLocalPath[], place: HandlePlace): readonly HandleAndLocalPath[] {
    return mapList(files, (file) => replace(file, { handle: this.stream(file.handle, place) }));
  }

  private changelogPart(handle: ChangelogStateHandle): ChangelogStateHandle {
    if (handle.type === 'InMemoryChangelogStateHandle') return handle;
    return replace(handle, {
      handlesAndOffsets: mapList(handle.handlesAndOffsets, (part) =>
        part.handle ? replace(part, { handle: this.stream(part.handle, 'changelog-file') }) : part,
      ),
    });
  }

  keyed(handle: KeyedStateHandle | null): KeyedStateHandle | null {
    const mapped = this.keyedParts(handle);
    return mapped && this.mapper.keyed ? this.mapper.keyed(mapped, this.changelogs > 0) : mapped;
  }

  private keyedParts(handle: KeyedStateHandle | null): KeyedStateHandle | null {
    if (!handle) return null;
    switch (handle.type) {
      case 'KeyGroupsStateHandle':
        return replace(handle, { delegateStateHandle: this.stream(handle.delegateStateHandle, 'key-groups') });
      case 'KeyGroupsSavepointStateHandle':
        return replace(handle, { delegateStateHandle: this.stream(handle.delegateStateHandle, 'key-groups') });
      case 'IncrementalRemoteKeyedStateHandle':
        return replace(handle, {
          metaStateHandle: this.stream(handle.metaStateHandle, 'incremental-meta'),
          sharedState: this.files(handle.sharedState, 'incremental-shared'),
          privateState: this.files(handle.privateState, 'incremental-private'),
        });
      case 'ChangelogStateBackendHandleImpl':
        return this.changelog(handle);
      default:
        return this.changelogPart(handle);
    }
  }

  private changelog(handle: ChangelogStateBackendHandleImpl): ChangelogStateBackendHandleImpl {
    this.changelogs++;
    const mapped = replace(handle, {
      materializedStateHandles: mapList(handle.materializedStateHandles, (part) => this.keyed(part)),
      nonMaterializedStateHandles: mapList(handle.nonMaterializedStateHandles, (part) => this.changelogPart(part)),
    });
    this.changelogs--;
    return mapped;
  }

  channel(handle: AnyChannelStateHandle): AnyChannelStateHandle {
    if (!handle.delegate) return handle;
    return replace(handle, {
      delegate: this.stream(handle.delegate, 'channel-state'),
    } as Partial<AnyChannelStateHandle>);
  }
}

/** A subtask with its handles mapped; the same object if nothing changed. */
export function mapSubtaskHandles(entry: SubtaskEntry, mapper: HandleMapper): SubtaskEntry {
  if (entry.finished) return entry;
  const mapping = new Mapping(mapper);
  const fields: Partial<OperatorSubtaskState> = {
    managedOperatorState: mapping.operator(entry.managedOperatorState),
    rawOperatorState: mapping.operator(entry.rawOperatorState),
    managedKeyedState: mapping.keyed(entry.managedKeyedState),
    rawKeyedState: mapping.keyed(entry.rawKeyedState),
    inputChannelState: mapList(entry.inputChannelState, (handle) => mapping.channel(handle)),
    resultSubpartitionState: mapList(entry.resultSubpartitionState, (handle) => mapping.channel(handle)),
  };
  return replace(entry, fields);
}
