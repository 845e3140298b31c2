/**
 * Whether operator state names files in its own way: write-ahead sinks keep handles there, and no handle of the metadata
 * mentions their files. Reads the state of operators and of their coordinators, inline and in files, uncompressed or in
 * snappy frames.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError } from '../../errors.js';
import { readChunks } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { SNAPPY_STREAM_HEADER, SnappyFrames } from '../../format/compress/snappy-framing.js';
import { visitMetadata } from '../../format/metadata/read.js';
import { Tag } from '../../format/metadata/tags.js';
import { MetadataVisitor, Role, type StreamHandleView } from '../../format/metadata/visitor.js';
import { DirectoryTable } from '../directory-table.js';
import type { NameSearch, NameStream } from './name-search.js';
import type { MetadataUser } from './users.js';

/** What a search came to. */
export interface StateSearchResult {
  /** Names were looked for in all state; if not, one that was not found may be in what could not be read. */
  readonly isComplete: boolean;
  /** State that could not be searched: where it is, and why. */
  readonly failures: readonly { readonly path: string; readonly error: unknown }[];
}

/** A piece of a state file. */
interface StatePiece {
  readonly path: string;
  readonly start: number;
  /** Undefined: up to the end of the file. */
  readonly length: number | undefined;
}

/**
 * Looks for the names in the operator state of these metadata files.
 * @throws the signal's reason
 */
export async function searchState(
  fileSystems: FileSystems,
  users: Iterable<MetadataUser>,
  search: NameSearch,
  signal?: AbortSignal,
): Promise<StateSearchResult> {
  const failures: { path: string; error: unknown }[] = [];
  const seen = new Set<string>();
  for (const { pointer, metadataPath, hasOperatorState } of users) {
    if (!hasOperatorState) continue;
    try {
      await searchMetadata(fileSystems, metadataPath, pointer, { search, seen, failures, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof CkptError)) throw error;
      failures.push({ path: metadataPath.toString(), error });
    }
  }
  return { isComplete: failures.length === 0, failures };
}

interface SearchContext {
  readonly search: NameSearch;
  readonly seen: Set<string>;
  readonly failures: { path: string; error: unknown }[];
  readonly signal: AbortSignal | undefined;
}

async function searchMetadata(
  fileSystems: FileSystems,
  metadataPath: Path,
  directory: Path,
  context: SearchContext,
): Promise<void> {
  const { search, seen, failures, signal } = context;
  const source = await (await fileSystems.get(metadataPath)).open(metadataPath);
  try {
    const visitor = new StateVisitor(directory, search);
    await visitMetadata(source, metadataPath.toString(), visitor, {
      signal,
      onPause: async () => {
        for (const error of visitor.takeFailures()) failures.push({ path: metadataPath.toString(), error });
        for (const piece of visitor.takePieces()) {
          const key = `${piece.start} ${piece.length ?? ''} ${piece.path}`;
          if (seen.has(key)) continue;
          seen.add(key);
          await searchPiece(fileSystems, piece, context);
        }
      },
    });
  } finally {
    await source.close();
  }
}

async function searchPiece(fileSystems: FileSystems, piece: StatePiece, context: SearchContext): Promise<void> {
  const { search, failures, signal } = context;
  try {
    const path = Path.parse(piece.path);
    const source = await (await fileSystems.get(path)).open(path);
    try {
      const stream = new StateStream(search);
      const { start } = piece;
      const end = piece.length === undefined ? source.size : start + piece.length;
      for await (const chunk of readChunks(source, { start, end, signal })) stream.push(chunk, 0, chunk.length);
      stream.finish();
    } finally {
      await source.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    const isExpected = error instanceof CkptError || error instanceof ByteFormatError || error instanceof RangeError;
    if (!isExpected) throw error;
    failures.push({ path: piece.path, error });
  }
}

/** Searches inline state as it goes by, and collects the files of the rest. */
class StateVisitor extends MetadataVisitor {
  private readonly table: DirectoryTable;
  private pieces: StatePiece[] = [];
  private failures: unknown[] = [];
  private inline: StateStream | undefined;
  private left = 0;

  constructor(
    directory: Path,
    private readonly search: NameSearch,
  ) {
    super();
    this.table = new DirectoryTable(directory);
  }

  takePieces(): readonly StatePiece[] {
    const { pieces } = this;
    this.pieces = [];
    return pieces;
  }

  takeFailures(): readonly unknown[] {
    const { failures } = this;
    this.failures = [];
    return failures;
  }

  override streamHandle(view: StreamHandleView): void {
    this.inline = undefined;
    if (view.role !== Role.OperatorDelegate && view.role !== Role.Coordinator) return;
    switch (view.tag) {
      case Tag.ByteStream:
        this.inline = new StateStream(this.search);
        this.left = view.dataLength;
        break;
      case Tag.File:
        this.pieces.push({ path: this.pathOf(this.table.locate(view.path)), start: 0, length: undefined });
        break;
      case Tag.RelativeFile:
        this.pieces.push({ path: this.pathOf(this.table.locateRelative(view.path)), start: 0, length: undefined });
        break;
      case Tag.Segment: {
        const path = this.pathOf(this.table.locate(view.path));
        this.pieces.push({ path, start: view.startPos.toNumber(), length: view.size.toNumber() });
        break;
      }
      default:
    }
  }

  override data(bytes: Uint8Array, start: number, end: number): void {
    const { inline } = this;
    if (!inline) return;
    this.left -= end - start;
    try {
      inline.push(bytes, start, end);
      if (this.left > 0) return;
      inline.finish();
    } catch (error) {
      if (!(error instanceof ByteFormatError)) throw error;
      this.failures.push(error);
    }
    this.inline = undefined;
  }

  private pathOf(located: ReturnType<DirectoryTable['locate']>): string {
    const { directory, nameBytes, nameStart, nameEnd, plain } = located;
    const name = Buffer.from(nameBytes.subarray(nameStart, nameEnd)).toString(plain ? 'latin1' : 'utf8');
    return `${this.table.directories[directory]?.path ?? ''}/${name}`;
  }
}

/**
 * One piece of state: what it holds as it is, and from the header of a snappy stream on also what its frames hold. That is
 * all of the state: before that header there are names of states and serializers.
 */
export class StateStream {
  private readonly plain: NameStream;
  private readonly inner: NameStream;
  private frames: SnappyFrames | undefined;
  /** The end of what was seen, in case the header of the frames is cut in two. */
  private rest = Buffer.alloc(0);

  constructor(search: Pick<NameSearch, 'begin'>) {
    this.plain = search.begin();
    this.inner = search.begin();
  }

  /** @throws ByteFormatError if frames are damaged: what they hold could not be searched */
  push(bytes: Uint8Array, start: number, end: number): void {
    this.plain.push(bytes, start, end);
    if (this.frames) {
      this.frames.push(bytes, start, end);
      return;
    }
    const seen = Buffer.concat([this.rest, bytes.subarray(start, end)]);
    const header = seen.indexOf(SNAPPY_STREAM_HEADER);
    if (header < 0) {
      this.rest = Buffer.from(seen.subarray(Math.max(0, seen.length - SNAPPY_STREAM_HEADER.length + 1)));
      return;
    }
    this.frames = new SnappyFrames({ target: this.inner });
    this.frames.push(seen, header, seen.length);
  }

  finish(): void {
    this.plain.finish();
    this.frames?.finish();
  }
}
