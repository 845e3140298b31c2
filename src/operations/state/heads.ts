/** The heads of pieces of keyed state: which states there are and how they were written. Nothing else of them is read. */
import type { FileSystems } from '../../filesystem/registry.js';
import { type KeyedState, keyedState } from '../../format/entries/named-state.js';
import { firstOffset } from '../../format/keyed/key-group-regions.js';
import type { KeyedHeader } from '../../format/keyed/keyed-header.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { loadKeyedHeader } from './keyed-file.js';
import type { KeyedPiece, KeyGroupsPiece } from './pieces.js';
import type { StateBytes } from './state-bytes.js';
import type { StateSource } from './state-source.js';
import { withState } from './walk-errors.js';

/** A source with the header that was read from it. */
export interface SourceHead {
  readonly source: StateSource;
  readonly header: KeyedHeader;
}

/**
 * Reads the headers of a piece: one, or of a changelog those of its materialized parts.
 * @throws CorruptStateError; UnknownFormatError; the errors of reading
 */
export async function loadHeads(
  fileSystems: FileSystems,
  piece: KeyedPiece,
  signal?: AbortSignal,
): Promise<SourceHead[]> {
  switch (piece.kind) {
    case 'key-groups':
      return [await headOf(fileSystems, piece.source, (bytes) => headerEnd(bytes, piece), signal)];
    case 'incremental':
      return piece.meta ? [await headOf(fileSystems, piece.meta, ({ size }) => size, signal)] : [];
    case 'changelog': {
      const heads: SourceHead[] = [];
      for (const part of piece.materialized) heads.push(...(await loadHeads(fileSystems, part, signal)));
      return heads;
    }
  }
}

function headerEnd({ size }: StateBytes, { offsets, form }: KeyGroupsPiece): number {
  const unified = form === 'unified' || offsets.some((offset) => offset === 0);
  const first = firstOffset({ offsets, ...(unified && { absent: 0 }) }) ?? size;
  return Math.min(Math.max(first, 0), size);
}

async function headOf(
  fileSystems: FileSystems,
  source: StateSource,
  end: (bytes: StateBytes) => number,
  signal: AbortSignal | undefined,
): Promise<SourceHead> {
  return withState({ fileSystems, signal }, source, async (bytes) => {
    const header = await loadKeyedHeader(bytes, end(bytes));
    if (!header) throw new UnknownFormatError(0, 'a header of more than 32 MiB');
    return { source, header };
  });
}

/** The states of a header. @throws UnknownFormatError if it could not be read to its end */
export function statesOf(header: KeyedHeader): KeyedState[] {
  const { keySerializer, unknown } = header;
  if (unknown) throw unknown;
  if (!keySerializer) throw new UnknownFormatError(0, 'a header without a serializer of keys');
  return header.states.map((info) => keyedState(info, keySerializer));
}
