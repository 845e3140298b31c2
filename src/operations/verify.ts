/**
 * Checks that a checkpoint is whole: its metadata reads to the last byte, and every file that it names is there and as long
 * as recorded; on request also that the files contain what they should. What lies outside Flink's own files (tables, topics,
 * transactions) is not in the metadata and not looked at.
 */
import { MetadataError } from '../errors.js';
import type { ByteSource } from '../filesystem/file-system.js';
import type { FileSystems } from '../filesystem/registry.js';
import { visitMetadata } from '../format/metadata/read.js';
import type { ResolvedPointer } from './pointer.js';
import type { DeepChecks } from './verify/deep-checks.js';
import { FileLooks } from './verify/file-looks.js';
import { ReferenceCheck } from './verify/reference-check.js';
import { type CheckpointVerification, failedVerification, type VerifyCounts } from './verify/result.js';
import type { CheckResult, StateTask } from './verify/state-task.js';
import { VerifyVisitor } from './verify/verify-visitor.js';

export type { CheckpointVerification, VerifyFault } from './verify/result.js';

/** Which metadata file, and what its relative handles are relative to. */
type VerifiedPointer = Pick<ResolvedPointer, 'directory' | 'metadataPath'>;

/** Options of {@link verifyCheckpoint}. */
export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Looks at files; give one to several calls so that each file is looked at once. */
  readonly looks?: FileLooks | undefined;
  /** Open the files and check their contents. Give one to several calls so that each file is opened once. */
  readonly deep?: DeepChecks | undefined;
  /** Told how many files were looked at, and how many pieces of state opened, when there are more of them. */
  readonly onProgress?: ((files: number, opened: number) => void) | undefined;
}

/**
 * Verifies one checkpoint. Faults are results, not errors: they do not stop the check, and metadata that cannot be read is
 * one as well. Memory does not grow with the state: some 30 bytes for each file, and the faults.
 * @throws the signal's reason; the errors of opening the metadata file and of reading it
 */
export async function verifyCheckpoint(
  fileSystems: FileSystems,
  pointer: VerifiedPointer,
  options: VerifyOptions = {},
): Promise<CheckpointVerification> {
  const { metadataPath } = pointer;
  const source = await (await fileSystems.get(metadataPath)).open(metadataPath);
  const run = new VerifyRun(fileSystems, pointer, options);
  try {
    return await run.verify(source);
  } finally {
    await source.close();
  }
}

class VerifyRun {
  private readonly looks: FileLooks;
  private readonly check: ReferenceCheck;
  private readonly visitor: VerifyVisitor;
  private opened = 0;
  private readonly told = new Set<string>();
  /** How many pieces could not be judged, by what they are. */
  private readonly unjudged = new Map<string, number>();

  constructor(
    fileSystems: FileSystems,
    private readonly pointer: VerifiedPointer,
    private readonly options: VerifyOptions,
  ) {
    this.looks = options.looks ?? new FileLooks(fileSystems);
    this.check = new ReferenceCheck(this.looks);
    this.visitor = new VerifyVisitor(pointer.directory, this.looks, { deep: options.deep !== undefined });
  }

  async verify(source: ByteSource): Promise<CheckpointVerification> {
    const { pointer, check } = this;
    const { signal } = this.options;
    const location = pointer.metadataPath.toString();
    const named = { pointer: pointer.directory.toString(), metadataPath: location };
    try {
      await visitMetadata(source, location, this.visitor, { signal, onPause: () => this.settle() });
    } catch (error) {
      if (!(error instanceof MetadataError)) throw error;
      return failedVerification(named.pointer, location, this.looks.placeOf(location), error);
    }
    signal?.throwIfAborted();
    const { faults } = check;
    return { ...named, ...this.counts(), ok: faults.length === 0, warnings: this.warnings(), error: null, faults };
  }

  /** Looks at what came up since the last pause. */
  private async settle(): Promise<void> {
    const { visitor, check, options } = this;
    const { mentions, tasks } = visitor;
    visitor.mentions = [];
    visitor.tasks = [];
    await check.judgeAll(mentions, options.signal);
    options.onProgress?.(check.files, this.opened);
    await options.deep?.checkAll(
      tasks.filter((task) => this.canOpen(task)),
      (task, result) => this.note(task, result),
      options.signal,
    );
  }

  /** False for a file of which a fault was told already. */
  private canOpen({ source, form }: StateTask): boolean {
    if (source.kind === 'inline') return true;
    const look = this.looks.get(source.number);
    if (look.kind !== 'file') return false;
    if (source.length >= 0) return source.start >= 0 && source.start + source.length <= look.size;
    if (form.kind === 'changelog') return true;
    return !this.check.hasLengthFault(source.number);
  }

  private note(task: StateTask, result: CheckResult): void {
    this.opened++;
    this.options.onProgress?.(this.check.files, this.opened);
    switch (result.kind) {
      case 'sound':
        break;
      case 'corrupt':
        this.tell(task, 'corrupt', result.expected, result.found);
        break;
      case 'unreadable':
        this.tell(task, 'unreadable', null, result.reason);
        break;
      case 'unjudged':
        this.unjudged.set(result.what, (this.unjudged.get(result.what) ?? 0) + 1);
    }
  }

  private tell(task: StateTask, fault: 'corrupt' | 'unreadable', expected: string | null, found: string): void {
    const { source, operatorId, subtask } = task;
    const isInline = source.kind === 'inline';
    const location = this.pointer.metadataPath.toString();
    const places = isInline
      ? { path: location, lookedUpAt: this.looks.placeOf(location) }
      : this.looks.placesOf(source.number, source.path);
    const inline = isInline ? ` (inline bytes ${source.name})` : '';
    const verdict = { fault, expected: expected && `${expected}${inline}`, found };
    // Results of several pieces come mixed.
    const key = `${operatorId} ${subtask} ${places.path} ${verdict.expected}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.check.add(task, verdict, places);
  }

  private counts(): VerifyCounts {
    const { files, bytes, unknownSizes, mergedFiles } = this.check;
    return { files, bytes, unknownSizes, mergedFiles, opened: this.opened };
  }

  private warnings(): string[] {
    const { visitor, check } = this;
    const warnings: string[] = [];
    const add = (count: number, one: string, many: string): void => {
      if (count > 0) warnings.push(count === 1 ? one : `${count} ${many}`);
    };
    add(
      visitor.trailingBytes,
      'one byte behind the end of the metadata, which Flink ignores',
      'bytes behind the end of the metadata, which Flink ignores',
    );
    add(
      check.unknownSizes,
      'one file has no recorded length: only that it exists was checked',
      'files have no recorded length: only that they exist was checked',
    );
    add(
      check.compressedChangelogs,
      'one changelog file is compressed: its length is recorded nowhere',
      'changelog files are compressed: their lengths are recorded nowhere',
    );
    add(
      visitor.climbing,
      'one path in the metadata has a "..", which no Flink writes',
      'paths in the metadata have a "..", which no Flink writes',
    );
    for (const [what, count] of this.unjudged) warnings.push(`not judged: ${count} × ${what}`);
    return warnings;
  }
}
