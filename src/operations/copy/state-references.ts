/**
 * Paths inside the contents of operator state: write-ahead sinks keep the handles of their files there, file sinks the names
 * of files in progress. The metadata does not name them, so a copy neither takes them along nor changes them.
 */
import type { OperatorHead, SubtaskEntry } from '../../model/checkpoint-metadata.js';
import type { OperatorStateHandle } from '../../model/state-handles.js';

/** A path found in state. */
export interface StateReference {
  /** As it stands there. */
  readonly path: string;
  readonly operatorId: string;
  readonly subtask: number;
}

/** A URI with a path, or what looks like one: enough to tell a person where to look. */
const URI = /[A-Za-z][A-Za-z0-9+.-]{1,20}:\/[\x21-\x7e]{2,1024}/g;
const MOST_FOUND = 1000;

/** Looks through operator state that is in the metadata itself. */
export class StateReferences {
  private readonly all: StateReference[] = [];
  private readonly told = new Set<string>();

  get found(): readonly StateReference[] {
    return this.all;
  }

  look(entry: SubtaskEntry, head: OperatorHead): void {
    if (entry.finished) return;
    for (const handle of [entry.managedOperatorState, entry.rawOperatorState]) this.lookInto(handle, entry.index, head);
  }

  private lookInto(handle: OperatorStateHandle | null, subtask: number, head: OperatorHead): void {
    const delegate = handle?.delegateStateHandle;
    if (delegate?.type !== 'ByteStreamStateHandle') return;
    const text = Buffer.from(delegate.bytes.buffer, delegate.bytes.byteOffset, delegate.bytes.length).toString(
      'latin1',
    );
    for (const [path] of text.matchAll(URI)) {
      const key = `${head.operatorId} ${subtask} ${path}`;
      if (this.told.has(key) || this.all.length >= MOST_FOUND) continue;
      this.told.add(key);
      this.all.push({ path, operatorId: head.operatorId, subtask });
    }
  }
}
