/**
 * What a copy consists of: each distinct file with a name of its own in one flat directory, and the handles that then name
 * them relative to it, so that the result can be moved on by anything; except what the changelog backend hands on. All
 * forms were chosen by what real Flink restores, and restores again after further checkpoints of a job that claimed the
 * copy: see test/flink/copy.test.ts.
 */
import { createHash } from 'node:crypto';
import { CkptError, InvalidPathError, RefusedError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { HandleMapper, HandlePlace } from '../../model/map-handles.js';
import type {
  KeyedStateHandle,
  OperatorStateHandle,
  SegmentFileStateHandle,
  StreamStateHandle,
} from '../../model/state-handles.js';
import { METADATA_FILE, TOMBSTONE_FILE } from '../layout.js';
import { COPY_MARKER } from './marker.js';

/** A file to be written. */
export interface CopyFile {
  /** The file the bytes come from, qualified. */
  readonly source: Path;
  /** First byte. */
  readonly start: number;
  /** Number of bytes, or undefined for all up to the end. */
  readonly length: number | undefined;
  /** Length of the whole file as recorded; undefined where nothing is recorded that it must equal. */
  readonly recorded: number | undefined;
  /** Name in the target directory. */
  readonly name: string;
}

const RESERVED: readonly string[] = [METADATA_FILE, TOMBSTONE_FILE, COPY_MARKER];
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/;

/** The metadata names other files than it did a moment ago. */
export class MetadataChangedError extends CkptError {
  readonly code = 'METADATA_CHANGED';
  override readonly category = 'failed';
  readonly data: { readonly path: string };
  constructor(path: string) {
    super(`the metadata in ${path} has changed since its files were copied`);
    this.data = { path };
  }
}

/**
 * Maps handles to those of the copy and collects their files. The same handles in the same order give the same names: a
 * second run continues a first one, and a second pass writes what the first has planned.
 */
export class CopyPlan implements HandleMapper {
  readonly files: CopyFile[] = [];
  /** Handles that name another path than before. */
  rewrittenHandles = 0;
  private isComplete = false;
  private readonly names = new Map<string, string>();
  private readonly taken = new Set<string>(RESERVED);

  /**
   * @param own directory of the metadata, qualified
   * @param target directory of the copy, qualified
   */
  constructor(
    private readonly own: Path,
    private readonly target: Path,
  ) {}

  /** Counts anew, for a second pass over the same metadata: the names stay, and nothing can be added any more. */
  repeat(): void {
    this.rewrittenHandles = 0;
    this.isComplete = true;
  }

  stream(handle: StreamStateHandle, place: HandlePlace, inChangelog: boolean): StreamStateHandle {
    switch (handle.type) {
      case 'FileStateHandle': {
        const name = this.whole(this.parse(handle.filePath), handle.stateSize, place);
        return this.named(name, handle.stateSize, inChangelog);
      }
      case 'RelativeFileStateHandle': {
        const source = named(handle.relativePath, () => this.own.child(handle.relativePath));
        if (!source.startsWith(this.own)) {
          throw new RefusedError(
            `a handle names ${source} as "${handle.relativePath}" in ${this.own}: it leads out of the directory`,
            {
              path: source.toString(),
            },
          );
        }
        const name = this.whole(source, handle.stateSize, place);
        const unchanged = name === handle.relativePath && !inChangelog;
        return unchanged ? handle : this.named(name, handle.stateSize, inChangelog);
      }
      case 'SegmentFileStateHandle':
        return this.named(this.segment(handle), handle.stateSize, inChangelog);
      default:
        return handle;
    }
  }

  /**
   * Operator state of a merged file becomes plain: its segment is a file of its own, its directories belong to nobody. The
   * placeholder for no state goes: Flink would try to read a header from it.
   */
  operator(handle: OperatorStateHandle): OperatorStateHandle | null {
    if (handle.type === 'OperatorStreamStateHandle') return handle;
    const { stateNameToPartitionOffsets, delegateStateHandle } = handle;
    if (delegateStateHandle.type === 'EmptySegmentFileStateHandle') return null;
    return { type: 'OperatorStreamStateHandle', stateNameToPartitionOffsets, delegateStateHandle };
  }

  /**
   * The shared files of an incremental handle become private ones, as in a full checkpoint. A job that goes on from a copy
   * in CLAIM mode would name shared files again in its next incremental checkpoint, by the same relative path, which means
   * nothing there; private files it uploads anew.
   */
  keyed<T extends KeyedStateHandle>(handle: T, inChangelog: boolean): T {
    if (handle.type !== 'IncrementalRemoteKeyedStateHandle' || handle.sharedState.length === 0 || inChangelog)
      return handle;
    return { ...handle, sharedState: [], privateState: [...handle.sharedState, ...handle.privateState] };
  }

  private parse(path: string): Path {
    const parsed = named(path, () => Path.parse(path));
    return parsed.scheme === undefined ? named(path, () => Path.parse(`file:${parsed}`)) : parsed;
  }

  /**
   * A changelog backend hands all its handles on to every checkpoint until the next materialization: only absolute paths
   * mean the same there.
   */
  private named(name: string, stateSize: bigint, inChangelog: boolean): StreamStateHandle {
    this.rewrittenHandles++;
    if (!inChangelog) return { type: 'RelativeFileStateHandle', relativePath: name, stateSize };
    return { type: 'FileStateHandle', filePath: this.target.child(name).toString(), stateSize };
  }

  private whole(source: Path, stateSize: bigint, place: HandlePlace): string {
    const key = source.toString();
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const name = this.nameFor(key, source.name);
    // A changelog file has a byte in front of what is counted, and may be compressed.
    const isRecorded = stateSize >= 0n && place !== 'changelog-file';
    this.files.push({
      source,
      start: 0,
      length: undefined,
      recorded: isRecorded ? Number(stateSize) : undefined,
      name,
    });
    return name;
  }

  private segment(handle: SegmentFileStateHandle): string {
    const source = this.parse(handle.filePath);
    const key = `${source}#${handle.startPos}+${handle.stateSize}`;
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const name = this.nameFor(key, handle.logicalFileId);
    const length = Number(handle.stateSize);
    this.files.push({ source, start: Number(handle.startPos), length, recorded: undefined, name });
    return name;
  }

  /** The wanted name, or one made of the key where that is taken or no plain name. */
  private nameFor(key: string, wanted: string): string {
    if (this.isComplete) throw new MetadataChangedError(this.own.toString());
    const digest = createHash('sha256').update(key).digest('hex');
    let name = SAFE_NAME.test(wanted) ? wanted : digest.slice(0, 32);
    for (let length = 8; this.taken.has(name); length += 8)
      name = `${SAFE_NAME.test(wanted) ? wanted : 'file'}-${digest.slice(0, length)}`;
    this.taken.add(name);
    this.names.set(key, name);
    return name;
  }
}

/** @throws RefusedError if the metadata has a path that is none: no wrong use, nobody has typed it */
function named(path: string, parse: () => Path): Path {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidPathError)) throw error;
    throw new RefusedError(`a handle names no file: ${error.message}`, { path }, { cause: error });
  }
}
