/** The elements of some lists of operator state, of one operator: for what decodes the state of sources and sinks. */
import type { FileSystems } from '../../filesystem/registry.js';
import type { StateValue } from '../../format/value/value-serializer.js';
import type { OperatorPieces } from './operators.js';
import { openState, sourceName } from './state-source.js';
import { located, reasonOf } from './walk-errors.js';
import { OperatorWalk, openOperatorFile } from './walk-operator.js';

/** An element of a list. */
export interface ListElement {
  readonly state: string;
  readonly subtask: number;
  readonly value: StateValue;
}

/** A file that could not be read to its end. */
export interface UnreadList {
  readonly operatorId: string;
  readonly subtask: number;
  readonly path: string;
  readonly reason: string;
}

/**
 * Goes through the lists of these names, subtask by subtask. Files without any of them are not opened.
 * @param onUnread told of files that cannot be read, or only in part
 */
export async function* listElements(
  fileSystems: FileSystems,
  { operatorId, subtasks }: OperatorPieces,
  names: ReadonlySet<string>,
  onUnread: (unread: UnreadList) => void,
  signal?: AbortSignal,
): AsyncGenerator<ListElement, void> {
  for (const { index, operator: piece } of subtasks) {
    if (!piece?.states.some(({ name }) => names.has(name))) continue;
    try {
      const { bytes, close } = await openState(fileSystems, piece.source, signal);
      try {
        const { header, states } = await openOperatorFile(bytes, piece);
        const walk = new OperatorWalk(bytes, piece, header.compressed);
        for (const state of states) {
          if (!names.has(state.name) || state.kind === 'broadcast') continue;
          for await (const entries of walk.entries(state, () => {})) {
            for (const { value } of entries) yield { state: state.name, subtask: index, value };
          }
        }
      } finally {
        await close();
      }
    } catch (error) {
      signal?.throwIfAborted();
      const reason = reasonOf(located(error, piece.source));
      onUnread({ operatorId, subtask: index, path: sourceName(piece.source), reason });
    }
  }
}
