/** Metadata files put together field by field, for what no real Flink has written for us. */
import { counted, hex, i8, i32, i64, i64s, join, lengthed, utf } from './byte-builder.js';

type Text = string | Uint8Array;
type Int64 = number | bigint;

/** The properties block that says null. */
export const NULL_PROPERTIES = hex('aced000570');

/** A whole file. */
export function metadataFile(
  version: number,
  parts: {
    readonly checkpointId?: Int64;
    readonly masterStates?: readonly Uint8Array[];
    readonly operators?: readonly Uint8Array[];
    readonly properties?: Uint8Array;
    readonly trailing?: Uint8Array;
  } = {},
): Uint8Array {
  return join(
    hex('4960672d'),
    i32(version),
    i64(parts.checkpointId ?? 7),
    counted(parts.masterStates ?? []),
    counted(parts.operators ?? []),
    version >= 4 ? (parts.properties ?? NULL_PROPERTIES) : join(),
    parts.trailing ?? join(),
  );
}

/** A master state. */
export function masterState(name: Text, version: number, bytes: Uint8Array): Uint8Array {
  const rest = join(i32(version), utf(name), lengthed(bytes));
  return join(hex('c96b1696'), lengthed(rest));
}

/** An operator; `count` replaces the number of its subtasks. */
export function operator(
  version: number,
  parts: {
    readonly name?: Text;
    readonly uid?: Text;
    readonly id?: string;
    readonly parallelism?: number;
    readonly maxParallelism?: number;
    readonly chainLength?: number;
    readonly coordinator?: Uint8Array;
    readonly count?: number;
    readonly subtasks?: readonly Uint8Array[];
  } = {},
): Uint8Array {
  const subtasks = parts.subtasks ?? [];
  return join(
    version >= 5 ? join(utf(parts.name ?? ''), utf(parts.uid ?? '')) : join(),
    hex(parts.id ?? '00112233445566778899aabbccddeeff'),
    i32(parts.parallelism ?? 4),
    i32(parts.maxParallelism ?? 128),
    version === 2 ? i32(parts.chainLength ?? 1) : (parts.coordinator ?? nothing),
    i32(parts.count ?? subtasks.length),
    ...subtasks,
  );
}

/** A subtask entry with state; what is not given is absent. `present` makes an operator handle of a slot. */
export function subtask(
  version: number,
  parts: {
    readonly index?: number;
    readonly duration?: Int64;
    readonly legacyStates?: number;
    readonly managedOperator?: Uint8Array;
    readonly rawOperator?: Uint8Array;
    readonly managedKeyed?: Uint8Array;
    readonly rawKeyed?: Uint8Array;
    readonly inputs?: readonly Uint8Array[];
    readonly outputs?: readonly Uint8Array[];
  } = {},
): Uint8Array {
  return join(
    i32(parts.index ?? 0),
    version === 2 ? join(i64(parts.duration ?? -1), i32(parts.legacyStates ?? 0)) : join(),
    parts.managedOperator ?? i32(0),
    parts.rawOperator ?? i32(0),
    parts.managedKeyed ?? nothing,
    parts.rawKeyed ?? nothing,
    version >= 3 ? join(counted(parts.inputs ?? []), counted(parts.outputs ?? [])) : join(),
  );
}

/** The entry of a subtask that had finished. */
export const finishedSubtask = (index: number): Uint8Array => i32(-1 - index);

/** A presence number and an operator handle. */
export const present = (handle: Uint8Array, presence = 1): Uint8Array => join(i32(presence), handle);

// ---------------------------------------------------------------- stream handles

/** The null handle of every position. */
export const nothing = i8(0);

/** Type 1. */
export const inline = (name: Text, bytes: Uint8Array): Uint8Array => join(i8(1), utf(name), lengthed(bytes));

/** Type 2. */
export const file = (path: Text, size: Int64): Uint8Array => join(i8(2), i64(size), utf(path));

/** Type 6. */
export const relative = (path: Text, size: Int64): Uint8Array => join(i8(6), utf(path), i64(size));

/** Type 15. */
export function segment(path: Text, start: Int64, length: Int64, scope: number, logicalId: Text): Uint8Array {
  return join(i8(15), i64(start), i64(length), i32(scope), utf(path), utf(logicalId));
}

/** Type 16. */
export const emptySegment = i8(16);

/** Type 3, both as a stream and as a keyed handle. */
export function keyGroups(first: number, offsets: readonly Int64[], delegate: Uint8Array): Uint8Array {
  return join(i8(3), i32(first), i32(offsets.length), i64s(offsets), delegate);
}

// ---------------------------------------------------------------- operator handles

/** A named operator state. Mode 0 split, 1 union, 2 broadcast. */
export function state(name: Text, mode: number, offsets: readonly Int64[]): Uint8Array {
  return join(utf(name), i8(mode), i32(offsets.length), i64s(offsets));
}

/** Type 4. */
export function operatorHandle(states: readonly Uint8Array[], delegate: Uint8Array): Uint8Array {
  return join(i8(4), counted(states), delegate);
}

/** Type 17. */
export function mergedOperatorHandle(
  states: readonly Uint8Array[],
  directories: { readonly taskOwned: Text; readonly shared: Text },
  isEmpty: number,
  delegate: Uint8Array,
): Uint8Array {
  return join(i8(17), counted(states), utf(directories.taskOwned), utf(directories.shared), i8(isEmpty), delegate);
}

// ---------------------------------------------------------------- keyed handles

/** First key group and their number. */
export const range = (first: number, count: number): Uint8Array => join(i32(first), i32(count));

/** Type 12. */
export function keyGroupsV2(first: number, offsets: readonly Int64[], delegate: Uint8Array, id: Text): Uint8Array {
  return join(i8(12), range(first, offsets.length), i64s(offsets), delegate, utf(id));
}

/** Type 7. */
export function savepointKeyGroups(first: number, offsets: readonly Int64[], delegate: Uint8Array): Uint8Array {
  return join(i8(7), range(first, offsets.length), i64s(offsets), delegate);
}

/** A file of a RocksDB instance. */
export const localFile = (name: Text, handle: Uint8Array): Uint8Array => join(utf(name), handle);

interface IncrementalParts {
  readonly checkpointId?: Int64;
  readonly backend?: Text;
  readonly range?: Uint8Array;
  readonly meta?: Uint8Array;
  readonly shared?: readonly Uint8Array[];
  readonly private?: readonly Uint8Array[];
}

/** A backend identifier that is a UUID. */
export const BACKEND = '1f8a7b3c-0d4e-4f6a-9b2c-5e7d8f901a2b';

/** Type 5. */
export function incremental(parts: IncrementalParts = {}): Uint8Array {
  return join(
    i8(5),
    i64(parts.checkpointId ?? 7),
    utf(parts.backend ?? BACKEND),
    parts.range ?? range(0, 64),
    parts.meta ?? relative('meta', 100),
    counted(parts.shared ?? []),
    counted(parts.private ?? []),
  );
}

/** Type 11. */
export function incrementalV2(
  parts: IncrementalParts & { readonly checkpointedSize?: Int64; readonly id?: Text } = {},
): Uint8Array {
  return join(
    i8(11),
    i64(parts.checkpointId ?? 7),
    utf(parts.backend ?? BACKEND),
    parts.range ?? range(0, 64),
    i64(parts.checkpointedSize ?? 50),
    parts.meta ?? relative('meta', 100),
    counted(parts.shared ?? []),
    counted(parts.private ?? []),
    utf(parts.id ?? 'incremental-id'),
  );
}

interface ChangelogParts {
  readonly range?: Uint8Array;
  readonly materialized?: readonly Uint8Array[];
  readonly nonMaterialized?: readonly Uint8Array[];
}

/** Type 8 in the form of Flink 1.14. */
export function changelogOf114(parts: ChangelogParts = {}): Uint8Array {
  return join(
    i8(8),
    parts.range ?? range(0, 2),
    counted(parts.materialized ?? []),
    counted(parts.nonMaterialized ?? []),
  );
}

interface ChangelogPartsOf115 extends ChangelogParts {
  readonly checkpointedSize?: Int64;
  readonly materializationId?: Int64;
  readonly id?: Text;
}

/** Type 8 in the form of Flink 1.15. */
export function changelogOf115(parts: ChangelogPartsOf115 = {}): Uint8Array {
  return join(
    i8(8),
    parts.range ?? range(0, 2),
    i64(parts.checkpointedSize ?? 30),
    counted(parts.materialized ?? []),
    counted(parts.nonMaterialized ?? []),
    i64(parts.materializationId ?? 3),
    utf(parts.id ?? 'changelog-id'),
  );
}

/** Type 14. */
export function changelogV2(parts: ChangelogPartsOf115 & { readonly checkpointId?: Int64 } = {}): Uint8Array {
  return join(
    i8(14),
    parts.range ?? range(0, 2),
    i64(parts.checkpointedSize ?? 30),
    counted(parts.materialized ?? []),
    counted(parts.nonMaterialized ?? []),
    i64(parts.materializationId ?? 3),
    i64(parts.checkpointId ?? 9),
    utf(parts.id ?? 'changelog-id'),
  );
}

interface ChangelogBytesParts {
  readonly range?: Uint8Array;
  readonly from?: Int64;
  readonly to?: Int64;
  readonly changes?: readonly (readonly [keyGroup: number, change: Uint8Array])[];
}

/** Type 9 in the form of Flink 1.14. */
export function changelogBytesOf114(parts: ChangelogBytesParts = {}): Uint8Array {
  const changes = (parts.changes ?? []).map(([keyGroup, change]) => join(i32(keyGroup), lengthed(change)));
  return join(i8(9), parts.range ?? range(0, 2), i64(parts.from ?? 1), i64(parts.to ?? 2), counted(changes));
}

/** Type 9 since Flink 1.15. */
export function changelogBytes(parts: ChangelogBytesParts & { readonly id?: Text } = {}): Uint8Array {
  return join(changelogBytesOf114(parts), utf(parts.id ?? 'changes-id'));
}

interface ChangelogFileParts {
  readonly range?: Uint8Array;
  readonly files?: readonly (readonly [offset: Int64, handle: Uint8Array])[];
  readonly size?: Int64;
}

/** Type 10 in the form of Flink 1.14; `type` for the forms that begin like it. */
export function changelogFilesOf114(parts: ChangelogFileParts = {}, type = 10): Uint8Array {
  const files = (parts.files ?? []).map(([offset, handle]) => join(i64(offset), handle));
  return join(i8(type), parts.range ?? range(0, 2), counted(files), i64(parts.size ?? 12));
}

/** Type 10 in the form of Flink 1.15. */
export function changelogFilesOf115(
  parts: ChangelogFileParts & { readonly checkpointedSize?: Int64; readonly id?: Text } = {},
): Uint8Array {
  return join(changelogFilesOf114(parts), i64(parts.checkpointedSize ?? 10), utf(parts.id ?? 'files-id'));
}

/** Type 13. */
export function changelogFilesV2(
  parts: ChangelogFileParts & {
    readonly checkpointedSize?: Int64;
    readonly id?: Text;
    readonly storage?: Text;
  } = {},
): Uint8Array {
  return join(
    changelogFilesOf114(parts, 13),
    i64(parts.checkpointedSize ?? 10),
    utf(parts.id ?? 'files-id'),
    utf(parts.storage ?? 'filesystem'),
  );
}

// ---------------------------------------------------------------- channel handles

/** A channel handle before version 6, or its rest after the type byte. Without subtask index it is one of Flink 1.11. */
export function channel(
  subtaskIndex: number | null,
  info: readonly [outer: number, inner: number],
  offsets: readonly Int64[],
  size: Int64,
  delegate: Uint8Array,
): Uint8Array {
  return join(
    subtaskIndex === null ? join() : i32(subtaskIndex),
    i32(info[0]),
    i32(info[1]),
    i32(offsets.length),
    i64s(offsets),
    i64(size),
    delegate,
  );
}

/** A merged channel handle with its type byte (3 input, 4 output). */
export function mergedChannel(
  type: number,
  subtaskIndex: number,
  size: Int64,
  delegate: Uint8Array,
  blob: Uint8Array,
): Uint8Array {
  return join(i8(type), i32(subtaskIndex), i64(size), delegate, lengthed(blob));
}

/** The blob of a merged channel handle. */
export function channelBlob(
  channels: readonly (readonly [outer: number, inner: number, size: Int64, offsets: readonly Int64[]])[],
): Uint8Array {
  return counted(
    channels.map(([outer, inner, size, offsets]) =>
      join(i32(outer), i32(inner), i64(size), i32(offsets.length), i64s(offsets)),
    ),
  );
}
