/**
 * Checks that a checkpoint is whole: its metadata reads to the last byte, and every file that it names is there and as long
 * as recorded. What lies outside Flink's own files (tables, topics, transactions) is not in the metadata and not looked at.
 */
import { CkptError, MetadataError, NotFoundError } from '../errors.js';
import { forEachConcurrently } from '../filesystem/limit.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { visitMetadata } from '../format/metadata/read.js';
import { type FileReference, ReferenceVisitor } from './file-references.js';
import { openMetadata, type ResolvedPointer } from './pointer.js';

/** What can be wrong with a file. */
export type FaultKind = 'missing' | 'too-short' | 'too-long' | 'segment-outside-file' | 'unreadable' | 'corrupt';

/** Something wrong with a file, for one subtask that needs it. */
export interface VerifyFault {
  readonly fault: FaultKind;
  /** As the metadata names it, qualified. */
  readonly path: string;
  /** Where it was looked up; differs from `path` only if it is mapped. */
  readonly lookedUpAt: string;
  readonly operatorId: string;
  /** Null for state of the coordinator. */
  readonly subtask: number | null;
  /** What should be there: bytes, or for `corrupt` a description. */
  readonly expected: number | string | null;
  readonly found: number | string | null;
  /** Another place below the root where a file of this name lies; null if none is known. */
  readonly foundAt: string | null;
}

/** The state of one checkpoint. */
export interface CheckpointVerification {
  readonly pointer: string;
  readonly ok: boolean;
  /** Distinct files looked at. */
  readonly files: number;
  /** Their bytes. */
  readonly bytes: number;
  readonly warnings: readonly string[];
  /** Why the metadata itself cannot be read; null if it can. */
  readonly error: CkptError | null;
  readonly faults: readonly VerifyFault[];
}

/** What is known of one file after a look. */
export type FileLook =
  | { readonly kind: 'file'; readonly size: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Options of {@link verifyCheckpoint}. */
export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Looks at files; give one to several calls so that each file is looked at once. */
  readonly files?: FileLooks | undefined;
  /** Told how many files were looked at, of how many. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

const CONCURRENCY = 32;

/** Looks at files, each only once. */
export class FileLooks {
  private readonly known = new Map<string, FileLook>();

  constructor(private readonly fileSystems: FileSystems) {}

  /** The look at a file, if it was taken. */
  get(path: string): FileLook | undefined {
    return this.known.get(path);
  }

  async look(path: string): Promise<FileLook> {
    const known = this.known.get(path);
    if (known) return known;
    const look = await this.take(path);
    this.known.set(path, look);
    return look;
  }

  private async take(text: string): Promise<FileLook> {
    try {
      const path = Path.parse(text);
      const status = await (await this.fileSystems.get(path)).getFileStatus(path);
      if (status.type === 'file') return { kind: 'file', size: status.size };
      return { kind: 'unreadable', reason: `is a ${status.type}` };
    } catch (error) {
      if (error instanceof NotFoundError) return { kind: 'missing' };
      if (error instanceof CkptError) return { kind: 'unreadable', reason: error.message };
      throw error;
    }
  }

  /** Where a path is really looked up. */
  placeOf(path: string): string {
    try {
      return this.fileSystems.lookUp(Path.parse(path)).toString();
    } catch {
      return path;
    }
  }

  /** The first byte of a file, or undefined if it has none or cannot be read. */
  async firstByte(text: string): Promise<number | undefined> {
    try {
      const path = Path.parse(text);
      const source = await (await this.fileSystems.get(path)).open(path);
      try {
        return source.size === 0 ? undefined : (await source.read(0, 1))[0];
      } finally {
        await source.close();
      }
    } catch (error) {
      if (error instanceof CkptError) return undefined;
      throw error;
    }
  }
}

/** What one mention of a file says about its length. */
type Expectation =
  | { readonly rule: 'exact'; readonly bytes: number }
  | { readonly rule: 'at-least'; readonly bytes: number }
  | { readonly rule: 'changelog'; readonly bytes: number }
  | { readonly rule: 'any' };

function expectationOf(reference: FileReference): Expectation {
  if (reference.kind === 'segment') return { rule: 'at-least', bytes: reference.startPos + reference.size };
  if (reference.size < 0) return { rule: 'any' };
  return { rule: reference.changelog ? 'changelog' : 'exact', bytes: reference.size };
}

/** The distinct files of a metadata file. */
class FileCollector extends ReferenceVisitor {
  readonly paths = new Set<string>();
  trailingBytes = 0;

  protected reference(reference: FileReference): void {
    this.paths.add(reference.path);
  }

  override trailing(length: number): void {
    this.trailingBytes = length;
  }
}

/** Compares every mention of a file with the look at it. */
class FaultFinder extends ReferenceVisitor {
  readonly faults: VerifyFault[] = [];
  /** Changelog files that are longer or shorter than an uncompressed one would be. */
  readonly oddChangelogs = new Set<string>();
  private readonly told = new Set<string>();

  constructor(
    own: Path,
    private readonly files: FileLooks,
    /** First bytes of odd changelog files. */
    private readonly compression: ReadonlyMap<string, number | undefined>,
  ) {
    super(own);
  }

  protected reference(reference: FileReference): void {
    const look = this.files.get(reference.path);
    if (!look) throw new Error(`the metadata changed between two passes: ${reference.path}`);
    const found = this.judge(reference, look);
    if (!found) return;
    const { path, operatorId, subtask } = reference;
    const key = `${found.fault} ${found.expected} ${operatorId} ${subtask} ${path}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.faults.push({
      ...found,
      path,
      lookedUpAt: this.files.placeOf(path),
      operatorId,
      subtask: subtask < 0 ? null : subtask,
      foundAt: null,
    });
  }

  private judge(
    reference: FileReference,
    look: FileLook,
  ): Pick<VerifyFault, 'fault' | 'expected' | 'found'> | undefined {
    const expectation = expectationOf(reference);
    const bytes = expectation.rule === 'any' ? null : expectation.bytes;
    if (look.kind === 'missing') return { fault: 'missing', expected: bytes, found: null };
    if (look.kind === 'unreadable') return { fault: 'unreadable', expected: bytes, found: look.reason };
    const { size } = look;
    switch (expectation.rule) {
      case 'exact':
        return size === expectation.bytes ? undefined : lengthFault(expectation.bytes, size);
      case 'at-least':
        return size >= expectation.bytes
          ? undefined
          : { fault: 'segment-outside-file', expected: expectation.bytes, found: size };
      case 'changelog':
        return this.judgeChangelog(reference.path, expectation.bytes, size);
      case 'any':
        return undefined;
    }
  }

  /**
   * A changelog file begins with a byte that says whether the rest is compressed; the recorded size is that of the rest
   * before compression. So only an uncompressed file has a length that can be checked.
   */
  private judgeChangelog(
    path: string,
    recorded: number,
    size: number,
  ): Pick<VerifyFault, 'fault' | 'expected' | 'found'> | undefined {
    if (size === recorded + 1) return undefined;
    if (!this.compression.has(path)) {
      this.oddChangelogs.add(path);
      return undefined;
    }
    const flag = this.compression.get(path);
    return flag === undefined || flag === 0 ? lengthFault(recorded + 1, size) : undefined;
  }
}

function lengthFault(expected: number, found: number): Pick<VerifyFault, 'fault' | 'expected' | 'found'> {
  return { fault: found < expected ? 'too-short' : 'too-long', expected, found };
}

/**
 * Verifies one checkpoint. Faults are results, not errors: they do not stop the check, and metadata that cannot be read is
 * one as well.
 * @throws the signal's reason; I/O errors of the metadata file itself
 */
export async function verifyCheckpoint(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  options: VerifyOptions = {},
): Promise<CheckpointVerification> {
  const { signal, files = new FileLooks(fileSystems), onProgress } = options;
  const location = pointer.metadataPath.toString();
  const result = { pointer: pointer.directory.toString(), files: 0, bytes: 0, warnings: [] as string[] };
  const source = await openMetadata(fileSystems, pointer);
  try {
    const collector = new FileCollector(pointer.directory);
    await visitMetadata(source, location, collector, { signal });
    if (collector.trailingBytes > 0) {
      result.warnings.push(`${collector.trailingBytes} bytes behind the end of the metadata, which Flink ignores`);
    }
    await lookAtAll(collector.paths, files, result, { signal, onProgress });
    signal?.throwIfAborted();
    const faults = await findFaults(source, pointer, files, signal);
    return { ...result, ok: faults.length === 0, error: null, faults };
  } catch (error) {
    if (error instanceof MetadataError) return { ...result, ok: false, error, faults: [] };
    throw error;
  } finally {
    await source.close();
  }
}

async function lookAtAll(
  paths: ReadonlySet<string>,
  files: FileLooks,
  result: { files: number; bytes: number },
  options: Pick<VerifyOptions, 'signal' | 'onProgress'>,
): Promise<void> {
  await forEachConcurrently(
    paths,
    async (path) => {
      const look = await files.look(path);
      result.files++;
      if (look.kind === 'file') result.bytes += look.size;
      options.onProgress?.(result.files, paths.size);
    },
    { concurrency: CONCURRENCY, ...(options.signal && { signal: options.signal }) },
  );
}

async function findFaults(
  source: Parameters<typeof visitMetadata>[0],
  pointer: ResolvedPointer,
  files: FileLooks,
  signal: AbortSignal | undefined,
): Promise<VerifyFault[]> {
  const location = pointer.metadataPath.toString();
  const compression = new Map<string, number | undefined>();
  const first = new FaultFinder(pointer.directory, files, compression);
  await visitMetadata(source, location, first, { signal });
  if (first.oddChangelogs.size === 0) return first.faults;
  for (const path of first.oddChangelogs) compression.set(path, await files.firstByte(path));
  const second = new FaultFinder(pointer.directory, files, compression);
  await visitMetadata(source, location, second, { signal });
  return second.faults;
}
