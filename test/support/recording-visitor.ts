import { createHash } from 'node:crypto';
import { Utf8Slice } from '../../src/bytes/byte-reader.js';
import {
  type ChannelHandleView,
  type HandleList,
  type KeyedHandleView,
  type MasterStateView,
  type MergedDirectoriesView,
  MetadataVisitor,
  type OperatorHandleView,
  type OperatorView,
  type RangeView,
  type Role,
  type StateMetaInfoView,
  type StreamHandleView,
  type SubtaskView,
} from '../../src/format/metadata/visitor.js';
import type { MetadataHeader } from '../../src/model/checkpoint-metadata.js';

/**
 * Writes down every call with everything that counts in it, as text. Runs of offsets and of data, which may come in any
 * number of pieces, become one line each.
 */
export class RecordingVisitor extends MetadataVisitor {
  private readonly lines: string[] = [];
  private run: { readonly kind: string; length: number; readonly hash: ReturnType<typeof createHash> } | undefined;

  /** One line a call. */
  get events(): readonly string[] {
    this.endRun();
    return this.lines;
  }

  private note(call: string, ...parts: readonly unknown[]): void {
    this.endRun();
    this.lines.push(`${call} ${JSON.stringify(parts.map(copied))}`);
  }

  private piece(kind: string, bytes: Uint8Array, start: number, end: number): void {
    if (this.run?.kind !== kind) {
      this.endRun();
      this.run = { kind, length: 0, hash: createHash('sha1') };
    }
    this.run.length += end - start;
    this.run.hash.update(bytes.subarray(start, end));
  }

  private endRun(): void {
    if (this.run) this.lines.push(`${this.run.kind} of ${this.run.length} bytes ${this.run.hash.digest('hex')}`);
    this.run = undefined;
  }

  override header(header: MetadataHeader): void {
    this.note('header', header.version, header.layout, `${header.checkpointId}`);
  }
  override masterState(view: MasterStateView): void {
    this.note('masterState', view);
  }
  override operatorCount(count: number): void {
    this.note('operatorCount', count);
  }
  override beginOperator(view: OperatorView): void {
    this.note('beginOperator', view);
  }
  override subtaskCount(count: number): void {
    this.note('subtaskCount', count);
  }
  override beginSubtask(view: SubtaskView): void {
    this.note('beginSubtask', view);
  }
  override endSubtask(): void {
    this.note('endSubtask');
  }
  override endOperator(): void {
    this.note('endOperator');
  }
  override beginOperatorHandle(view: OperatorHandleView): void {
    this.note('beginOperatorHandle', view);
  }
  override stateMetaInfo(view: StateMetaInfoView): void {
    this.note('stateMetaInfo', view);
  }
  override mergedDirectories(view: MergedDirectoriesView): void {
    this.note('mergedDirectories', view);
  }
  override endOperatorHandle(): void {
    this.note('endOperatorHandle');
  }
  override beginKeyedHandle(view: KeyedHandleView): void {
    const { slot, tag, depth, range, checkpointId, from, to } = view;
    const incremental = tag === 5 || tag === 11;
    const more = incremental ? [checkpointId, view.backendIdentifier] : tag === 9 ? [from, to] : [];
    this.note('beginKeyedHandle', slot, tag, depth, range, ...more);
  }
  override beginList(list: HandleList, count: number): void {
    this.note('beginList', list, count);
  }
  override nullKeyedHandle(): void {
    this.note('nullKeyedHandle');
  }
  override stateChange(keyGroup: number, length: number): void {
    this.note('stateChange', keyGroup, length);
  }
  override endKeyedHandle(view: KeyedHandleView): void {
    this.note(
      'endKeyedHandle',
      view.tag,
      view.hasCheckpointedSize && view.checkpointedSize,
      view.hasMaterializationId && view.materializationId,
      view.hasCheckpointId && view.checkpointId,
      view.hasStateHandleId && view.stateHandleId,
      view.hasStorageIdentifier && view.storageIdentifier,
    );
  }
  override beginChannelHandle(view: ChannelHandleView): void {
    const { slot, merged, hasSubtaskIndex, subtaskIndex, outerIndex, innerIndex, offsets } = view;
    this.note(
      'beginChannelHandle',
      slot,
      merged,
      hasSubtaskIndex,
      subtaskIndex,
      ...(merged ? [] : [outerIndex, innerIndex, offsets]),
    );
  }
  override channelOffsets(length: number): void {
    this.note('channelOffsets', length);
  }
  override endChannelHandle(view: ChannelHandleView): void {
    this.note('endChannelHandle', view.size);
  }
  override streamHandle(view: StreamHandleView): void {
    this.note('streamHandle', ...streamParts(view));
  }
  override beginStreamKeyGroups(role: Role, view: StreamHandleView, range: RangeView): void {
    this.note('beginStreamKeyGroups', role, range, ...localParts(view));
  }
  override endStreamKeyGroups(): void {
    this.note('endStreamKeyGroups');
  }
  override offsets(bytes: Uint8Array, start: number, count: number): void {
    this.piece('offsets', bytes, start, start + count * 8);
  }
  override data(bytes: Uint8Array, start: number, end: number): void {
    this.piece('data', bytes, start, end);
  }
  override properties(bytes: Uint8Array, start: number, end: number): void {
    this.note('properties', Buffer.from(bytes.subarray(start, end)).toString('hex'));
  }
  override trailing(length: number): void {
    this.note('trailing', length);
  }
}

/** What a stream handle of this type and place has; the other fields of its view are left over from others. */
function streamParts(view: StreamHandleView): unknown[] {
  const { tag, role, size, path } = view;
  const common = [tag, role, ...localParts(view)];
  switch (tag) {
    case 0:
      return common;
    case 16:
      return [...common, size];
    case 15:
      return [...common, size, path, view.startPos, view.scope, view.logicalFileId];
    default:
      return [...common, size, path, ...(tag === 1 ? [view.dataLength] : [])];
  }
}

function localParts({ role, localPath, changelogOffset }: StreamHandleView): unknown[] {
  if (role === 4 || role === 5) return [localPath];
  return role === 6 ? [changelogOffset] : [];
}

/** Views and slices are used again: this is what they hold now. */
function copied(part: unknown): unknown {
  if (part instanceof Utf8Slice)
    return [part.offset, part.plain, Buffer.from(part.bytes()).toString('hex'), part.text()];
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, copied(value)]));
}
