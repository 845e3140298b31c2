/**
 * A checkpoint with every file it needs, in one directory of its own. The metadata comes last and atomically: until then
 * the target does not look like a checkpoint. The source is only read.
 */
import {
  AlreadyExistsError,
  FileSystemError,
  IoError,
  NotFoundError,
  RefusedError,
  WrongFileTypeError,
} from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { isTemporaryName } from '../../filesystem/temporary-name.js';
import { type ModelConsumer, ModelVisitor } from '../../format/metadata/model-visitor.js';
import { loadMetadataHeader, visitMetadata } from '../../format/metadata/read.js';
import type { OperatorHead } from '../../model/checkpoint-metadata.js';
import { mapSubtaskHandles } from '../../model/map-handles.js';
import { comparedPath } from '../area/file-keys.js';
import type { ChangeResult } from '../change-result.js';
import { METADATA_FILE } from '../layout.js';
import { createOutput } from '../output-file.js';
import { openMetadata, type ResolvedPointer } from '../pointer.js';
import { type Rewriter, rewriteMetadata } from '../rewrite.js';
import { type CopiedFiles, type CopyFilesOptions, checkCopied, copyFiles } from './copy-files.js';
import { CopyPlan } from './copy-plan.js';
import { COPY_MARKER, type CopyIdentity, type HeldMarker, holdMarker } from './marker.js';
import { type StateReferenceReport, StateReferences } from './state-references.js';

/** How to copy. */
export interface CopyOptions extends CopyFilesOptions {
  /** Further changes to the metadata, made before the paths are. A fresh one for each pass. */
  readonly rewriter?: (() => Rewriter) | undefined;
  /** Those changes in words, the same for the same changes: a copy with other ones is not continued. */
  readonly changes?: string | undefined;
  /** Milliseconds since the epoch; for the marker. */
  readonly now: () => number;
}

/** What would be, or was, copied. */
export interface CopyResult extends ChangeResult, StateReferenceReport {
  /** Files that an earlier run had copied. */
  readonly alreadyThere: number;
}

/** What a copy will consist of. */
export interface CopyPreview {
  readonly plan: CopyPlan;
  readonly found: StateReferenceReport;
}

/**
 * Finds out what a copy consists of, of state files it reads those with operator state.
 * @throws RefusedError for handles that lead out of the directory; the errors of reading metadata
 */
export async function planCopy(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path,
  options: Pick<CopyOptions, 'rewriter' | 'signal'>,
): Promise<CopyPreview> {
  const plan = new CopyPlan(pointer.directory, target);
  const references = new StateReferences(pointer.directory);
  const rewriter = options.rewriter?.() ?? {};
  let head: OperatorHead | null = null;
  const consumer: ModelConsumer = {
    beginOperator(operator) {
      head = rewriter.operator ? rewriter.operator(operator) : operator;
      if (head) references.lookAtOperator(head);
    },
    subtask(entry) {
      if (!head) return;
      references.look(entry, head);
      mapSubtaskHandles(rewriter.subtask?.(entry, head) ?? entry, plan);
    },
  };
  const source = await openMetadata(fileSystems, pointer);
  try {
    await visitMetadata(source, pointer.metadataPath.toString(), new ModelVisitor(consumer), {
      signal: options.signal,
    });
  } finally {
    await source.close();
  }
  await references.searchFiles(fileSystems, options.signal);
  return { plan, found: references.report };
}

/**
 * Copies a checkpoint into a directory: made if missing, taken if empty, continued if a copy of the same checkpoint was
 * begun there.
 * @throws RefusedError if the target has anything else, lies in the source or around it; the errors of `planCopy` and
 *   `copyFiles`: the target then has no metadata, and a second run continues
 */
export async function copyCheckpoint(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path,
  options: CopyOptions,
): Promise<CopyResult> {
  await checkTarget(fileSystems, pointer, target);
  const { plan, found } = await planCopy(fileSystems, pointer, target, options);
  const marker = await openTarget(fileSystems, pointer, target, options);
  let copied: CopiedFiles;
  let metadataBytes: number;
  try {
    copied = await copyFiles(fileSystems, plan.files, target, options);
    options.signal?.throwIfAborted();
    await checkCopied(fileSystems, plan.files, target, options.signal);
    metadataBytes = await writeMetadata(fileSystems, pointer, target, plan, marker, options);
  } catch (error) {
    await marker.release();
    throw asFailure(error, target);
  }
  await marker.remove();
  return {
    source: pointer.directory.toString(),
    target: target.toString(),
    files: copied.files + 1,
    bytes: copied.bytes + metadataBytes,
    rewrittenHandles: plan.rewrittenHandles,
    prefixes: [],
    verified: null,
    alreadyThere: copied.alreadyThere,
    ...found,
  };
}

/**
 * Refuses a target that no copy can go to, without a change to it: in the source or around it, by name and with links
 * resolved, or with something in it that is not of a copy.
 * @throws RefusedError
 */
export async function checkTarget(
  fileSystems: FileSystems,
  { directory }: ResolvedPointer,
  target: Path,
): Promise<void> {
  await refuseNested(fileSystems, directory, target);
  const fileSystem = await fileSystems.get(target);
  let isEmpty = true;
  let hasMarker = false;
  try {
    for await (const entries of fileSystem.list(target)) {
      for (const { name } of entries) {
        if (name === COPY_MARKER) hasMarker = true;
        else if (!isTemporaryName(name)) isEmpty = false;
      }
    }
  } catch (error) {
    if (error instanceof NotFoundError) return;
    if (error instanceof WrongFileTypeError) throw new AlreadyExistsError(target.toString(), { cause: error });
    throw asFailure(error, target);
  }
  if (isEmpty || hasMarker) return;
  throw new RefusedError(`${target} is not empty`, { path: target.toString() });
}

/** What the target or the source refuses on the way is no wrong pointer. */
function asFailure(error: unknown, target: Path): unknown {
  const isFailure =
    error instanceof FileSystemError && !(error instanceof IoError || error instanceof AlreadyExistsError);
  return isFailure ? new IoError(target.toString(), 'copying', { cause: error }) : error;
}

async function refuseNested(fileSystems: FileSystems, source: Path, target: Path): Promise<void> {
  const inside = (a: Path, b: Path): boolean => a.startsWith(b) || b.startsWith(a);
  const realSource = await (await fileSystems.get(source)).resolveLinks(source);
  const realTarget = await nearestReal(fileSystems, target);
  const isNested =
    inside(comparedPath(source), comparedPath(target)) || inside(comparedPath(realSource), comparedPath(realTarget));
  if (!isNested) return;
  throw new RefusedError(`source ${source} and target ${target} lie inside each other`, {
    source: source.toString(),
    target: target.toString(),
  });
}

/** The path with the links of its existing part resolved. */
async function nearestReal(fileSystems: FileSystems, path: Path): Promise<Path> {
  try {
    return await (await fileSystems.get(path)).resolveLinks(path);
  } catch (error) {
    const { parent } = path;
    if (!(error instanceof NotFoundError) || !parent) throw error;
    return (await nearestReal(fileSystems, parent)).entry(path.name);
  }
}

/** What tells one checkpoint from another in a marker. */
export async function identityOf(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
): Promise<Omit<CopyIdentity, 'changes'>> {
  const source = await openMetadata(fileSystems, pointer);
  try {
    const { checkpointId } = await loadMetadataHeader(source, pointer.metadataPath.toString());
    return {
      source: pointer.metadataPath.toString(),
      checkpointId: checkpointId.toString(),
      metadataSize: pointer.metadata.size,
    };
  } finally {
    await source.close();
  }
}

async function openTarget(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path,
  options: CopyOptions,
): Promise<HeldMarker> {
  const identity = { ...(await identityOf(fileSystems, pointer)), changes: options.changes ?? '' };
  const fileSystem = await fileSystems.get(target);
  let marker: HeldMarker | undefined;
  try {
    await fileSystem.makeDirectory(target);
    marker = await holdMarker(fileSystems, target, identity, options.now);
    // Metadata of an earlier run that ended right before its marker went: written anew, so that it fits this run.
    await fileSystem.deleteFile(target.child(METADATA_FILE));
    return marker;
  } catch (error) {
    await marker?.release();
    throw asFailure(error, target);
  }
}

async function writeMetadata(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path,
  plan: CopyPlan,
  marker: HeldMarker,
  options: CopyOptions,
): Promise<number> {
  const source = await openMetadata(fileSystems, pointer);
  const writer = await createOutput(fileSystems, target.child(METADATA_FILE));
  try {
    plan.repeat();
    const rewriter = options.rewriter?.() ?? {};
    const { bytes } = await rewriteMetadata(
      source,
      pointer.metadataPath.toString(),
      writer,
      {
        ...rewriter,
        subtask: (entry, head) => mapSubtaskHandles(rewriter.subtask?.(entry, head) ?? entry, plan),
      },
      options.signal,
    );
    // A source that was discarded meanwhile may have been incomplete when its last files were read.
    await (await fileSystems.get(pointer.metadataPath)).getFileStatus(pointer.metadataPath);
    await marker.check();
    await writer.commit();
    return bytes;
  } finally {
    await writer.abort();
    await source.close();
  }
}
