/** A savepoint made out of a retained checkpoint, or of another savepoint: a copy in a directory named as Flink names them. */
import { NotFoundError, UsageError } from '../errors.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { readCheckpointProperties, writeCheckpointProperties } from '../format/java/properties.js';
import { visitMetadata } from '../format/metadata/read.js';
import { Tag } from '../format/metadata/tags.js';
import { type KeyedHandleView, MetadataVisitor } from '../format/metadata/visitor.js';
import { forSavepoint, isSavepoint, type SavepointFormatType } from '../model/checkpoint-properties.js';
import { type CopyOptions, type CopyResult, copyCheckpoint, identityOf } from './copy/copy.js';
import { canContinue } from './copy/marker.js';
import { isJobId, jobIdOf, savepointJobIdPrefix } from './layout.js';
import { openMetadata, type ResolvedPointer } from './pointer.js';
import { createSavepoint, type SavepointResult } from './savepoint.js';

/** What a marker calls the change of the properties. */
const CHANGES = 'savepoint';

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
 *   holds a copy that was begun, which the next call with the same arguments continues
 */
export async function savepointFrom(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path | undefined,
  jobId: string | undefined,
  options: CopyOptions,
): Promise<SavepointFromResult> {
  const formatType = await formatTypeOf(fileSystems, pointer, options.signal);
  const job = jobId ?? jobIdFor(pointer.directory);
  const made =
    (await findBegun(fileSystems, pointer, target, job, options)) ?? (await createSavepoint(fileSystems, target, job));
  const directory = fileSystems.qualify(Path.parse(made.savepointDirectory));
  const copied = await copyCheckpoint(fileSystems, pointer, directory, {
    ...options,
    changes: CHANGES,
    rewriter: () => ({ properties: (block) => asSavepoint(block, formatType) }),
  });
  return { ...copied, ...made };
}

/** A directory that an interrupted run for the same checkpoint has made and not filled. */
async function findBegun(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  target: Path | undefined,
  jobId: string,
  options: CopyOptions,
): Promise<SavepointResult | undefined> {
  if (!target) return undefined;
  const parent = fileSystems.qualify(target);
  const identity = { ...(await identityOf(fileSystems, pointer)), changes: CHANGES };
  try {
    for await (const entries of (await fileSystems.get(parent)).list(parent)) {
      for (const { name } of entries) {
        if (savepointJobIdPrefix(name) !== jobId.slice(0, 6)) continue;
        const directory = parent.entry(name);
        if (!(await canContinue(fileSystems, directory, identity, options.now()))) continue;
        return { savepointDirectory: directory.toString(), attempts: 0 };
      }
    }
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  return undefined;
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
