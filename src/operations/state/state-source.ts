/** Where the bytes of a piece of state are, and how to get at them. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { StreamStateHandle } from '../../model/state-handles.js';
import { type StateBytes, stateInFile, stateInMemory } from './state-bytes.js';

/** A file or a part of one, or bytes of the metadata itself. */
export type StateSource =
  | {
      readonly kind: 'file';
      readonly path: string;
      /** Where the segment starts in a merged file; 0 for whole files. */
      readonly start: number;
      /** Bytes of the segment; -1 for whole files: as many as there are. */
      readonly length: number;
    }
  | { readonly kind: 'inline'; readonly name: string; readonly bytes: Uint8Array };

type FileSource = Extract<StateSource, { kind: 'file' }>;

/** An opened piece of state. */
export interface OpenState {
  readonly bytes: StateBytes;
  /** Frees it. Idempotent. Must be called. */
  close(): Promise<void>;
}

/** Opens files. @throws NotFoundError, PermissionError and the like; ByteFormatError if a segment is not within its file */
export async function openStateFile(
  fileSystems: FileSystems,
  { path, start, length }: FileSource,
  signal?: AbortSignal,
): Promise<OpenState> {
  const parsed = fileSystems.qualify(Path.parse(path));
  const source = await (await fileSystems.get(parsed)).open(parsed);
  const end = start + Math.max(0, length);
  if (end > source.size) {
    await source.close();
    const left = Math.max(0, source.size - start);
    throw new ByteFormatError(left, `a segment of ${end - start} bytes`, 'the end of the file');
  }
  return { bytes: stateInFile(source, start, length, signal), close: () => source.close() };
}

/** Opens a piece of state, wherever it is. @throws as {@link openStateFile} */
export async function openState(
  fileSystems: FileSystems,
  source: StateSource,
  signal?: AbortSignal,
): Promise<OpenState> {
  if (source.kind === 'file') return openStateFile(fileSystems, source, signal);
  return { bytes: stateInMemory(source.bytes), close: async () => {} };
}

/** What errors and documents call the piece. */
export function sourceName(source: StateSource): string {
  return source.kind === 'file' ? source.path : source.name;
}

/**
 * Where the bytes of a handle are; undefined if it stands for none.
 * @param own directory of the metadata file, for relative handles
 */
export function sourceOf(handle: StreamStateHandle, own: Path): StateSource | undefined {
  switch (handle.type) {
    case 'ByteStreamStateHandle':
      return { kind: 'inline', name: handle.handleName, bytes: handle.bytes };
    case 'FileStateHandle':
      return { kind: 'file', path: handle.filePath, start: 0, length: -1 };
    case 'RelativeFileStateHandle':
      return { kind: 'file', path: own.child(handle.relativePath).toString(), start: 0, length: -1 };
    case 'SegmentFileStateHandle':
      return {
        kind: 'file',
        path: handle.filePath,
        start: Number(handle.startPos),
        length: Number(handle.stateSize),
      };
    case 'EmptySegmentFileStateHandle':
      return undefined;
    case 'KeyGroupsStateHandle':
      return sourceOf(handle.delegateStateHandle, own);
  }
}
