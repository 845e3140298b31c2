/**
 * Goes through a metadata file for a verification: every mention of a file, and with `deep` every piece of state with what
 * its bytes should be. Both wait until the pass pauses.
 */
import type { Path } from '../../filesystem/path.js';
import { Tag } from '../../format/metadata/tags.js';
import {
  type ChannelHandleView,
  type KeyedHandleView,
  type OperatorHandleView,
  type OperatorView,
  Role,
  Slot,
  type StreamHandleView,
} from '../../format/metadata/visitor.js';
import { unmergeChannelOffsets } from '../document/channel-offsets.js';
import { type FileReference, ReferenceVisitor } from '../file-references.js';
import { type FileLooks, fileNameOf } from './file-looks.js';
import { OffsetList } from './offset-list.js';
import { expectationOf, type Mention } from './reference-check.js';
import type { ChannelBlocksOf, StateForm, StateSource, StateTask } from './state-task.js';

/** Inline bytes beyond this are not collected: Flink puts at most 1 MiB in one handle. */
const MAX_INLINE_BYTES = 16 * 1024 * 1024;

/** What gets the announced bytes. */
type Receiver = 'inline' | 'channel-offsets' | 'nobody';

/** See the file comment. */
export class VerifyVisitor extends ReferenceVisitor {
  /** Since the last pause. */
  mentions: Mention[] = [];
  tasks: StateTask[] = [];
  trailingBytes = 0;
  /** Paths with a `..`. */
  climbing = 0;
  private operatorName: string | null = null;
  private maxParallelism = 0;
  private readonly offsetList = new OffsetList();
  private keyed: { slot: Slot; tag: number; firstKeyGroup: number } | undefined;
  private operatorSlot: Slot = Slot.ManagedOperator;
  private changelogOffset = 0;
  private channelSource: StateSource | undefined;
  /** Of a merged handle; undefined for bytes that are none. */
  private channels: readonly ChannelBlocksOf[] | undefined;
  private inStreamKeyGroups = 0;
  private receiver: Receiver = 'nobody';
  private received: Uint8Array[] = [];
  private left = 0;
  private inline: { readonly name: string; readonly role: Role; readonly localName: string } | undefined;
  private source: StateSource | undefined;

  constructor(
    own: Path,
    private readonly looks: FileLooks,
    private readonly options: { readonly deep: boolean },
  ) {
    super(own);
  }

  override beginOperator(view: OperatorView): void {
    super.beginOperator(view);
    this.operatorName = view.name.text() || view.uid.text() || null;
    this.maxParallelism = view.maxParallelism;
  }

  override trailing(length: number): void {
    this.trailingBytes = length;
  }

  protected reference(reference: FileReference): void {
    const { path, operatorId, subtask } = reference;
    if (reference.climbs) this.climbing++;
    const file = fileNameOf(path);
    const number = this.looks.numberOf(file);
    const expectation = expectationOf(reference);
    const { operatorName } = this;
    this.mentions.push({ number, file, path, expectation, operatorId, operatorName, subtask });
    this.source = {
      kind: 'file',
      path,
      number,
      start: expectation.rule === 'segment' ? expectation.start : 0,
      length: expectation.rule === 'segment' ? expectation.bytes : -1,
    };
  }

  // ---------------------------------------------------------------- where a stream handle stands

  override beginOperatorHandle(view: OperatorHandleView): void {
    super.beginOperatorHandle(view);
    this.operatorSlot = view.slot;
    this.offsetList.clear();
  }

  override beginKeyedHandle(view: KeyedHandleView): void {
    super.beginKeyedHandle(view);
    this.keyed = { slot: view.slot, tag: view.tag, firstKeyGroup: view.range.start };
    this.offsetList.clear();
  }

  override beginChannelHandle(view: ChannelHandleView): void {
    super.beginChannelHandle(view);
    this.offsetList.clear();
    this.channelSource = undefined;
  }

  override endChannelHandle(view: ChannelHandleView): void {
    super.endChannelHandle(view);
    if (this.channelSource === undefined) return;
    const size = view.size.toNumber();
    const channels = view.merged ? this.channels : [{ offsets: this.offsetList.take(), size }];
    this.add(this.channelSource, { kind: 'channel', channels, size });
  }

  override beginStreamKeyGroups(): void {
    this.inStreamKeyGroups++;
  }

  override endStreamKeyGroups(): void {
    this.inStreamKeyGroups--;
  }

  override offsets(bytes: Uint8Array, start: number, count: number): void {
    if (this.options.deep && this.inStreamKeyGroups === 0) this.offsetList.addBigEndian(bytes, start, count);
  }

  // ---------------------------------------------------------------- stream handles

  override streamHandle(view: StreamHandleView): void {
    this.source = undefined;
    super.streamHandle(view);
    if (!this.options.deep) return;
    const { role } = view;
    this.changelogOffset = role === Role.ChangelogFile ? view.changelogOffset.toNumber() : 0;
    const localName = role === Role.Shared || role === Role.Private ? view.localPath.text() : '';
    if (view.tag === Tag.ByteStream) this.beginInline(view, localName);
    else if (this.source !== undefined) this.stateIn(this.source, role, localName);
  }

  private beginInline(view: StreamHandleView, localName: string): void {
    this.left = view.dataLength;
    this.received = [];
    this.receiver = 'nobody';
    // The state of a coordinator is in a form of its own, and empty bytes are no file.
    if (view.role === Role.Coordinator || view.dataLength === 0) return;
    const name = view.path.text();
    if (view.dataLength > MAX_INLINE_BYTES) {
      this.add({ kind: 'inline', name, bytes: new Uint8Array(0) }, { kind: 'unknown', what: 'huge inline states' });
      return;
    }
    this.receiver = 'inline';
    this.inline = { name, role: view.role, localName };
  }

  override channelOffsets(length: number): void {
    this.left = length;
    this.received = [];
    this.channels = undefined;
    this.receiver = this.options.deep && length <= MAX_INLINE_BYTES ? 'channel-offsets' : 'nobody';
  }

  override data(bytes: Uint8Array, start: number, end: number): void {
    if (this.receiver === 'nobody') return;
    this.received.push(Uint8Array.prototype.slice.call(bytes, start, end));
    this.left -= end - start;
    if (this.left > 0) return;
    const whole = this.received.length === 1 ? this.received[0] : Buffer.concat(this.received);
    const { receiver } = this;
    this.receiver = 'nobody';
    this.received = [];
    if (whole === undefined) return;
    if (receiver === 'channel-offsets') {
      this.channels = unmergeChannelOffsets(whole)?.map(({ offsets, stateSize }) => ({
        offsets: Float64Array.from(offsets, Number),
        size: Number(stateSize),
      }));
    } else if (this.inline) {
      const { name, role, localName } = this.inline;
      this.stateIn({ kind: 'inline', name, bytes: whole }, role, localName);
    }
  }

  private stateIn(source: StateSource, role: Role, localName: string): void {
    switch (role) {
      case Role.Coordinator:
        break;
      case Role.OperatorDelegate:
        this.add(source, {
          kind: this.operatorSlot === Slot.RawOperator ? 'raw' : 'operator',
          offsets: this.offsetList.take(),
        });
        break;
      case Role.KeyGroupsDelegate:
        this.add(source, this.keyGroupsForm());
        break;
      case Role.Meta:
        this.add(source, { kind: 'keyed-meta' });
        break;
      case Role.Shared:
      case Role.Private:
        this.add(source, { kind: 'local', name: localName });
        break;
      case Role.ChangelogFile:
        this.add(source, { kind: 'changelog', offset: this.changelogOffset });
        break;
      case Role.ChannelDelegate:
        this.channelSource = source;
        break;
    }
  }

  private keyGroupsForm(): StateForm {
    const { keyed } = this;
    if (this.inStreamKeyGroups > 0 || keyed === undefined) {
      return { kind: 'unknown', what: 'key-group handles in place of streams' };
    }
    const offsets = this.offsetList.take();
    if (keyed.slot === Slot.RawKeyed) return { kind: 'raw', offsets };
    const form = keyed.tag === Tag.SavepointKeyGroups ? 'unified' : 'unknown';
    return {
      kind: 'keyed',
      form,
      firstKeyGroup: keyed.firstKeyGroup,
      offsets,
      maxParallelism: this.maxParallelism,
    };
  }

  private add(source: StateSource, form: StateForm): void {
    const { operatorId, operatorName, subtask } = this;
    this.tasks.push({ source, form, operatorId, operatorName, subtask });
  }
}
