/**
 * A checkpoint with every file it needs, in one directory of its own. The metadata comes last and atomically: until then
 * the target does not look like a checkpoint. The source is only read.
 */
import { NotFoundError, RefusedError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { type ModelConsumer, ModelVisitor } from '../../format/metadata/model-visitor.js';
import { loadMetadataHeader, visitMetadata } from '../../format/metadata/read.js';
import type { OperatorHead } from '../../model/checkpoint-metadata.js';
import { mapSubtaskHandles } from '../../model/map-handles.js';
import type { ChangeResult } from '../change-result.js';
import { METADATA_FILE } from '../layout.js';
import { createOutput } from '../output-file.js';
import { openMetadata, type ResolvedPointer } from '../pointer.js';
import { type Rewriter, rewriteMetadata } from '../rewrite.js';
import { type CopiedFiles, type CopyFilesOptions, copyFiles } from './copy-files.js';
import { CopyPlan } from './copy-plan.js';
import { COPY_MARKER, holdMarker } from './marker.js';
import { type StateReference, StateReferences } from './state-references.js';

/** How to copy. */
export interface CopyOptions extends CopyFilesOptions {
  /** Further changes to the metadata, made before the paths are. A fresh one for each pass. */
  readonly rewriter?: (() => Rewriter) | undefined;
  /** Milliseconds since the epoch; for the marker. */
  readonly now: () => number;
}

/** What would be, or was, copied. */
export interface CopyResult extends ChangeResult {
  /** Files that an earlier run had copied. */
  readonly alreadyThere: number;
  /** Paths inside the contents of operator state: no metadata names them, and they are not changed. */
  readonly stateReferences: readonly StateReference[];
}

/** What a copy will consist of. */
export interface CopyPreview {
  readonly plan: CopyPlan;
  readonly stateReferences: readonly StateReference[];
}

/**
 * Finds out what a copy consists of, without reading a state file.
 * @throws RefusedError for handles that lead out of the directory; the errors of reading metadata
 */
export async function planCopy(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path,
  options: Pick<CopyOptions, 'rewriter' | 'signal'>,
): Promise<CopyPreview> {
  const plan = new CopyPlan(pointer.directory, target);
  const references = new StateReferences();
  const rewriter = options.rewriter?.() ?? {};
  let head: OperatorHead | null = null;
  const consumer: ModelConsumer = {
    beginOperator(operator) {
      head = rewriter.operator ? rewriter.operator(operator) : operator;
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
  return { plan, stateReferences: references.found };
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
  await refuseNested(fileSystems, pointer.directory, target);
  const { plan, stateReferences } = await planCopy(fileSystems, pointer, target, options);
  for (const parent of new Set(plan.files.map(({ source }) => source.parent?.toString() ?? ''))) {
    if (parent === target.toString())
      throw new RefusedError(`${target} holds files of the checkpoint itself`, { path: parent });
  }
  const marker = await openTarget(fileSystems, pointer, target, options);
  let copied: CopiedFiles;
  let metadataBytes: number;
  try {
    copied = await copyFiles(fileSystems, plan.files, target, options);
    options.signal?.throwIfAborted();
    metadataBytes = await writeMetadata(fileSystems, pointer, target, plan, options);
  } catch (error) {
    await marker.release();
    throw error;
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
    stateReferences,
  };
}

/** Refuses a target in the source or a source in the target, by name and with links resolved. */
async function refuseNested(fileSystems: FileSystems, source: Path, target: Path): Promise<void> {
  const inside = (a: Path, b: Path): boolean => a.startsWith(b) || b.startsWith(a);
  const realSource = await (await fileSystems.get(source)).resolveLinks(source);
  const realTarget = await nearestReal(fileSystems, target);
  if (!inside(source, target) && !inside(realSource, realTarget)) return;
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

async function openTarget(fileSystems: FileSystems, pointer: ResolvedPointer, target: Path, options: CopyOptions) {
  const fileSystem = await fileSystems.get(target);
  await fileSystem.makeDirectory(target);
  let isEmpty = true;
  let hasMarker = false;
  for await (const entries of fileSystem.list(target)) {
    for (const { name } of entries) {
      if (name === COPY_MARKER) hasMarker = true;
      else isEmpty = false;
    }
  }
  if (!isEmpty && !hasMarker) {
    throw new RefusedError(`${target} is not empty`, { path: target.toString() });
  }
  const source = await openMetadata(fileSystems, pointer);
  let checkpointId: bigint;
  try {
    ({ checkpointId } = await loadMetadataHeader(source, pointer.metadataPath.toString()));
  } finally {
    await source.close();
  }
  const identity = {
    source: pointer.metadataPath.toString(),
    checkpointId: checkpointId.toString(),
    metadataSize: pointer.metadata.size,
  };
  const marker = await holdMarker(fileSystems, target, identity, options.now);
  // Metadata of an earlier run that ended right before its marker went: written anew, so that it fits this run.
  await fileSystem.deleteFile(target.child(METADATA_FILE));
  return marker;
}

async function writeMetadata(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path,
  plan: CopyPlan,
  options: CopyOptions,
): Promise<number> {
  const source = await openMetadata(fileSystems, pointer);
  const writer = await createOutput(fileSystems, target.child(METADATA_FILE));
  try {
    plan.restart();
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
    await writer.commit();
    return bytes;
  } finally {
    await writer.abort();
    await source.close();
  }
}
