/**
 * Paths inside the contents of operator state: write-ahead sinks keep the handles of their files there, file sinks the names
 * of files in progress. The metadata does not name them, so a copy neither takes them along nor changes them.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError } from '../../errors.js';
import { readChunks } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { OperatorHead, SubtaskEntry } from '../../model/checkpoint-metadata.js';
import type { OperatorStateHandle } from '../../model/state-handles.js';
import { StateStream } from '../gc/state-search.js';
import { PathFinder } from './path-finder.js';

/** A path found in state. */
export interface StateReference {
  /** As it stands there. */
  readonly path: string;
  readonly operatorId: string;
  /** Null for the state of the operator's coordinator. */
  readonly subtask: number | null;
}

/** What a search came to. */
export interface StateReferenceReport {
  /** Paths inside the contents of operator state: no metadata names them, and they are not copied or changed. */
  readonly stateReferences: readonly StateReference[];
  /** State that could not be searched, and why; or that not all paths are listed. */
  readonly unsearchedState: readonly string[];
}

const MOST_FOUND = 10_000;

type Place = Pick<StateReference, 'operatorId' | 'subtask'>;

interface StatePiece extends Place {
  readonly path: string;
  readonly isRelative: boolean;
  readonly start: number;
  /** Undefined: up to the end of the file. */
  readonly length: number | undefined;
}

/** Looks through operator state: inline while the metadata goes by, in files afterwards. */
export class StateReferences {
  private readonly found: StateReference[] = [];
  private readonly unsearched: string[] = [];
  private readonly told = new Set<string>();
  private readonly pieces = new Map<string, StatePiece>();

  /** @param own directory of the metadata, qualified */
  constructor(private readonly own: Path) {}

  get report(): StateReferenceReport {
    return { stateReferences: this.found, unsearchedState: this.unsearched };
  }

  lookAtOperator({ operatorId, coordinatorState }: OperatorHead): void {
    if (coordinatorState) this.lookInto(coordinatorState, { operatorId, subtask: null });
  }

  look(entry: SubtaskEntry, { operatorId }: OperatorHead): void {
    if (entry.finished) return;
    for (const handle of [entry.managedOperatorState, entry.rawOperatorState]) {
      if (handle) this.lookInto(handle.delegateStateHandle, { operatorId, subtask: entry.index });
    }
  }

  private lookInto(handle: OperatorStateHandle['delegateStateHandle'], place: Place): void {
    switch (handle.type) {
      case 'ByteStreamStateHandle':
        this.searching(place, 'inline state', (stream) => stream.push(handle.bytes, 0, handle.bytes.length));
        break;
      case 'FileStateHandle':
        this.note({ ...place, path: handle.filePath, isRelative: false, start: 0, length: undefined });
        break;
      case 'RelativeFileStateHandle':
        this.note({ ...place, path: handle.relativePath, isRelative: true, start: 0, length: undefined });
        break;
      case 'SegmentFileStateHandle': {
        const { filePath: path, startPos, stateSize } = handle;
        this.note({ ...place, path, isRelative: false, start: Number(startPos), length: Number(stateSize) });
        break;
      }
      default:
    }
  }

  private note(piece: StatePiece): void {
    const key = `${piece.start} ${piece.length ?? ''} ${piece.isRelative} ${piece.path}`;
    if (!this.pieces.has(key)) this.pieces.set(key, piece);
  }

  /**
   * Searches the files of which it has been told. What cannot be read or understood is part of the report.
   * @throws the signal's reason
   */
  async searchFiles(fileSystems: FileSystems, signal?: AbortSignal): Promise<void> {
    for (const piece of this.pieces.values()) {
      signal?.throwIfAborted();
      try {
        const path = piece.isRelative ? this.own.child(piece.path) : Path.parse(piece.path);
        const source = await (await fileSystems.get(path)).open(path);
        try {
          const stream = this.streamFor(piece);
          const { start, length } = piece;
          const end = length === undefined ? source.size : start + length;
          for await (const chunk of readChunks(source, { start, end, signal })) stream.push(chunk, 0, chunk.length);
          stream.finish();
        } finally {
          await source.close();
        }
      } catch (error) {
        signal?.throwIfAborted();
        this.fail(piece.path, error);
      }
    }
    this.pieces.clear();
  }

  private searching(place: Place, where: string, search: (stream: StateStream) => void): void {
    try {
      const stream = this.streamFor(place);
      search(stream);
      stream.finish();
    } catch (error) {
      this.fail(`${where} of operator ${place.operatorId}`, error);
    }
  }

  private fail(where: string, error: unknown): void {
    const isExpected = error instanceof CkptError || error instanceof ByteFormatError || error instanceof RangeError;
    if (!isExpected) throw error;
    this.unsearched.push(`${where}: ${error.message}`);
  }

  private streamFor({ operatorId, subtask }: Place): StateStream {
    return new StateStream({ begin: () => new PathFinder((path) => this.tell({ path, operatorId, subtask })) });
  }

  private tell(reference: StateReference): void {
    const key = `${reference.operatorId} ${reference.subtask} ${reference.path}`;
    if (this.told.has(key)) return;
    if (this.found.length < MOST_FOUND) {
      this.told.add(key);
      this.found.push(reference);
    } else if (this.found.length === MOST_FOUND && !this.unsearched.includes(TOO_MANY)) this.unsearched.push(TOO_MANY);
  }
}

const TOO_MANY = `there are more than ${MOST_FOUND} paths, of which these are the first`;
