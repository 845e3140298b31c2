/** A savepoint made out of a retained checkpoint, or of another savepoint: a copy in a directory named as Flink names them. */
import { UsageError } from '../errors.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { readCheckpointProperties, writeCheckpointProperties } from '../format/java/properties.js';
import { visitMetadata } from '../format/metadata/read.js';
import { Tag } from '../format/metadata/tags.js';
import { type KeyedHandleView, MetadataVisitor } from '../format/metadata/visitor.js';
import { forSavepoint, isSavepoint, type SavepointFormatType } from '../model/checkpoint-properties.js';
import { type CopyOptions, type CopyResult, copyCheckpoint } from './copy/copy.js';
import { isJobId, jobIdOf, savepointJobIdPrefix } from './layout.js';
import { openMetadata, type ResolvedPointer } from './pointer.js';
import { createSavepoint, type SavepointResult } from './savepoint.js';

/** The document of `ckpt savepoint --from`. */
export interface SavepointFromResult extends SavepointResult, CopyResult {}

/** The only form of keyed state that every backend reads. */
class FormatVisitor extends MetadataVisitor {
  formatType: SavepointFormatType = 'CANONICAL';

  override beginKeyedHandle(view: KeyedHandleView): void {
    if (view.tag !== Tag.SavepointKeyGroups) this.formatType = 'NATIVE';
  }
}

/**
 * Makes a savepoint directory and fills it with a copy. The properties become those of a savepoint where the version of the
 * metadata has any: Flink then never deletes it by itself.
 * @param jobId undefined takes it from the pointer
 * @throws UsageError if nothing tells the job id; the errors of `createSavepoint` and `copyCheckpoint`: then the directory
 *   holds a copy that was begun, which `ckpt copy` to it continues
 */
export async function savepointFrom(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path | undefined,
  jobId: string | undefined,
  options: CopyOptions,
): Promise<SavepointFromResult> {
  const formatType = await formatTypeOf(fileSystems, pointer, options.signal);
  const made = await createSavepoint(fileSystems, target, jobId ?? jobIdFor(pointer.directory));
  const directory = fileSystems.nameOf(Path.parse(made.savepointDirectory));
  const copied = await copyCheckpoint(fileSystems, pointer, directory, {
    ...options,
    rewriter: () => ({ properties: (block) => asSavepoint(block, formatType) }),
  });
  return { ...copied, ...made };
}

/** The job id in the path; of a savepoint only its beginning is there, which is all that the new name needs. */
function jobIdFor(directory: Path): string {
  const prefix = savepointJobIdPrefix(directory.name);
  const jobId = jobIdOf(directory) ?? prefix?.padEnd(32, '0');
  if (jobId === undefined || !isJobId(jobId)) {
    throw new UsageError(`the path ${directory} does not tell the job id: give --job-id`);
  }
  return jobId;
}

async function formatTypeOf(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  signal: AbortSignal | undefined,
): Promise<SavepointFormatType> {
  const visitor = new FormatVisitor();
  const source = await openMetadata(fileSystems, pointer);
  try {
    await visitMetadata(source, pointer.metadataPath.toString(), visitor, { signal });
  } finally {
    await source.close();
  }
  return visitor.formatType;
}

function asSavepoint(block: Uint8Array, formatType: SavepointFormatType): Uint8Array {
  const { properties } = readCheckpointProperties(block, 0);
  if (properties && isSavepoint(properties)) return block;
  return writeCheckpointProperties(forSavepoint({ forced: true, formatType }));
}
