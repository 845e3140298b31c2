/** Verifies checkpoints, given one by one or by directories above them, and tells what breaks which. */
import { asError, CkptError, IllegalStateError, NotFoundError } from '../../errors.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { verifyCheckpoint } from '../verify.js';
import { type BrokenFile, brokenFiles } from './broken-files.js';
import { DeepChecks } from './deep-checks.js';
import { FileLooks } from './file-looks.js';
import { addPlaces, findElsewhere, missingPaths, placesAround } from './find-elsewhere.js';
import { type MovedTree, movedTree } from './moved-tree.js';
import { type CheckpointVerification, failedVerification } from './result.js';
import { type Argument, comparePaths, type RootScan, type Target } from './targets.js';

/** Metadata files that are read at once; while one waits for the store another one is decoded. */
const CONCURRENT_CHECKPOINTS = 4;

/** How a root is. */
export interface RootResult {
  readonly root: string;
  /** Those with metadata. */
  readonly checkpoints: number;
  readonly whole: number;
  /** Directories named like checkpoints that have no metadata. */
  readonly incomplete: readonly string[];
  /** Checkpoints that were discarded while this went on. */
  readonly vanished: readonly string[];
}

/** What {@link verifyAll} comes to. */
export interface VerifyResult {
  readonly ok: boolean;
  /** In the order of the arguments, below a root by path. */
  readonly pointers: readonly CheckpointVerification[];
  readonly roots: readonly RootResult[];
  /** Every file with a fault, and the checkpoints that need it. */
  readonly brokenFiles: readonly BrokenFile[];
  /** The one change of names that would explain all missing files of which another place is known; else null. */
  readonly moved: MovedTree | null;
}

/** Options of {@link verifyAll}. */
export interface VerifyAllOptions {
  /** Open the files and check their contents. */
  readonly deep?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
  /** Told of each checkpoint as soon as all is known of it. */
  readonly onResult?: ((result: CheckpointVerification) => void | Promise<void>) | undefined;
}

/** How far it is. */
export interface VerifyProgress {
  /** Checkpoints. */
  readonly done: number;
  readonly total: number;
  /** Distinct files that were looked at, and pieces of state that were opened. */
  readonly files: number;
  readonly opened: number;
}

/**
 * Verifies everything that the arguments mean. Each checkpoint is verified once, each file looked at once. A checkpoint below
 * a root whose metadata vanishes meanwhile is no fault: a running job discards its checkpoints.
 * @throws the signal's reason; what the callbacks throw
 */
export async function verifyAll(
  fileSystems: FileSystems,
  args: readonly Argument[],
  options: VerifyAllOptions = {},
): Promise<VerifyResult> {
  return new VerifyAll(fileSystems, args, options).run();
}

class VerifyAll {
  private readonly looks: FileLooks;
  private readonly deep: DeepChecks | undefined;
  private readonly targets: readonly Target[];
  private readonly scans: readonly RootScan[];
  private readonly results = new Map<string, CheckpointVerification>();
  private readonly vanished = new Set<string>();
  private readonly waiting = new Set<string>();
  private done = 0;
  /** Pieces that the checkpoints that are done had opened; those of the others. */
  private opened = 0;
  private readonly opening = new Map<string, number>();

  constructor(
    private readonly fileSystems: FileSystems,
    args: readonly Argument[],
    private readonly options: VerifyAllOptions,
  ) {
    this.looks = new FileLooks(fileSystems);
    this.deep = options.deep ? new DeepChecks(fileSystems) : undefined;
    this.scans = args.flatMap((argument) => (argument.kind === 'root' ? [argument.scan] : []));
    this.targets = distinct(args);
  }

  async run(): Promise<VerifyResult> {
    const { targets, scans, options } = this;
    const { signal } = options;
    await this.addUnlistable();
    await forEachConcurrently(targets, (target) => this.verify(target), {
      // Checks of contents run several at once by themselves.
      concurrency: this.deep ? 1 : CONCURRENT_CHECKPOINTS,
      signal,
    });
    signal?.throwIfAborted();
    await this.findMissing();
    const pointers = this.inOrder();
    const broken = brokenFiles(pointers);
    return {
      ok: pointers.every(({ ok }) => ok),
      pointers,
      roots: scans.map((scan) => this.rootResult(scan)),
      brokenFiles: broken,
      moved: movedTree(broken),
    };
  }

  private async verify(target: Target): Promise<void> {
    const { fileSystems, options, looks, deep } = this;
    const key = target.metadataPath.toString();
    let result: CheckpointVerification | undefined;
    try {
      result = await verifyCheckpoint(fileSystems, target, {
        signal: options.signal,
        looks,
        deep,
        onProgress: (_files, opened) => this.progress(key, opened),
      });
    } catch (error) {
      if (!(error instanceof CkptError) || options.signal?.aborted) throw error;
      result = failedVerification(target.directory.toString(), key, looks.placeOf(key), error);
    }
    this.done++;
    this.opened += result.opened;
    this.opening.delete(key);
    this.progress(key, 0);
    if (!result.ok && target.root !== null && (await this.hasVanished(target))) {
      this.vanished.add(key);
      return;
    }
    this.results.set(key, result);
    if (result.faults.some(({ fault }) => fault === 'missing')) this.waiting.add(key);
    else await options.onResult?.(result);
  }

  /** True if the metadata is not there any more, so that nothing is broken. */
  private async hasVanished({ metadataPath }: Target): Promise<boolean> {
    try {
      await (await this.fileSystems.get(metadataPath)).getFileStatus(metadataPath);
      return false;
    } catch (error) {
      return error instanceof NotFoundError;
    }
  }

  /** A directory that cannot be listed counts as metadata that cannot be read. */
  private async addUnlistable(): Promise<void> {
    for (const { unlistable } of this.scans) {
      for (const { path, error } of unlistable) {
        if (!(error instanceof CkptError)) throw asError(error);
        const key = path.toString();
        if (this.results.has(key)) continue;
        const result = failedVerification(key, key, this.looks.placeOf(key), error);
        this.results.set(key, result);
        await this.options.onResult?.(result);
      }
    }
  }

  /** Looks for missing files elsewhere, once for all. */
  private async findMissing(): Promise<void> {
    const { waiting, options } = this;
    if (waiting.size === 0) return;
    const waited = [...waiting].map((key) => this.resultOf(key));
    const singles = this.targets.filter(
      ({ root, metadataPath }) => root === null && waiting.has(metadataPath.toString()),
    );
    const places = [
      ...this.scans.map(({ root }) => root),
      ...singles.flatMap(({ directory }) => placesAround(directory)),
    ];
    const found = await findElsewhere(this.fileSystems, missingPaths(waited), places, options.signal);
    for (const result of waited) {
      addPlaces(result, found);
      await options.onResult?.(result);
    }
  }

  private resultOf(key: string): CheckpointVerification {
    const result = this.results.get(key);
    if (!result) throw new IllegalStateError(`no result for ${key}`);
    return result;
  }

  private inOrder(): CheckpointVerification[] {
    const pointers = this.targets.flatMap(({ metadataPath }) => this.results.get(metadataPath.toString()) ?? []);
    const known = new Set(pointers.map(({ metadataPath }) => metadataPath));
    const unlistable = [...this.results.values()].filter(({ metadataPath }) => !known.has(metadataPath));
    return [...pointers, ...unlistable.sort((a, b) => comparePaths(a.pointer, b.pointer))];
  }

  private rootResult({ root, targets, incomplete }: RootScan): RootResult {
    const keys = targets.map(({ metadataPath }) => metadataPath.toString());
    const vanished = targets.filter(({ metadataPath }) => this.vanished.has(metadataPath.toString()));
    return {
      root: root.toString(),
      checkpoints: keys.length - vanished.length,
      whole: keys.filter((key) => this.results.get(key)?.ok).length,
      incomplete: incomplete.map(String).sort(comparePaths),
      vanished: vanished.map(({ directory }) => directory.toString()),
    };
  }

  private progress(key: string, opened: number): void {
    if (!this.options.onProgress) return;
    if (opened > 0) this.opening.set(key, opened);
    let sum = this.opened;
    for (const count of this.opening.values()) sum += count;
    this.options.onProgress({ done: this.done, total: this.targets.length, files: this.looks.files, opened: sum });
  }
}

/** Each metadata file once; one that was given by itself counts as given. */
function distinct(args: readonly Argument[]): Target[] {
  const targets = new Map<string, Target>();
  for (const argument of args) {
    for (const target of argument.kind === 'root' ? argument.scan.targets : [argument.target]) {
      const key = target.metadataPath.toString();
      if (!targets.has(key) || target.root === null) targets.set(key, target);
    }
  }
  return [...targets.values()];
}
