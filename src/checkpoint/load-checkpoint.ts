/**
 * Checkpoints from outside a job: loading one from its pointer, and disposing of one the way `flink savepoint -d` does.
 * Origin: Flink `Checkpoints`.
 */

import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { readCheckpointProperties } from '../format/java/properties.js';
import { loadMetadata, parseMetadata } from '../format/metadata/model-reader.js';
import type { CheckpointMetadata } from '../model/checkpoint-metadata.js';
import { type CheckpointProperties, forSavepoint } from '../model/checkpoint-properties.js';
import type { CompletedCheckpointStorageLocation } from '../storage/checkpoint-storage.js';
import { resolveCheckpointPointer } from '../storage/resolve.js';
import { CompletedCheckpoint } from './completed-checkpoint.js';
import type { Logger } from './logger.js';

/** How a checkpoint is loaded. */
export interface LoadCheckpointOptions {
  readonly fileSystems: FileSystems;
  /** Of the job that takes it over; the file does not say whose it was. */
  readonly jobId: string;
  /** What it is to be from now on; default: a savepoint, which is never discarded by itself. */
  readonly properties?: CheckpointProperties;
  /** Gets the failures that are swallowed when it is discarded; default: nobody. */
  readonly logger?: Logger | undefined;
}

/**
 * Loads the checkpoint or savepoint at a pointer. The times are 0: no file has them.
 * @throws what {@link resolveCheckpointPointer} throws; NotMetadataError, UnsupportedVersionError, CorruptMetadataError
 */
export async function loadCheckpoint(pointer: string, options: LoadCheckpointOptions): Promise<CompletedCheckpoint> {
  const storageLocation = await resolveCheckpointPointer(options.fileSystems, pointer);
  const metadata = await loadCheckpointMetadata(storageLocation, options.fileSystems);
  const { propertiesBlock } = metadata;
  const stored = propertiesBlock === null ? null : readCheckpointProperties(propertiesBlock, 0).properties;
  return new CompletedCheckpoint({
    jobId: options.jobId,
    checkpointId: metadata.checkpointId,
    timestamp: 0,
    completionTimestamp: 0,
    operatorStates: metadata.operatorStates,
    masterHookStates: metadata.masterStates,
    properties: options.properties ?? forSavepoint({ forced: false, formatType: 'NATIVE' }),
    restoredProperties: stored ?? undefined,
    storageLocation,
    fileSystems: options.fileSystems,
    logger: options.logger,
  });
}

/** Reads the metadata that a location has, wherever it keeps it. */
export async function loadCheckpointMetadata(
  location: CompletedCheckpointStorageLocation,
  fileSystems: FileSystems,
): Promise<CheckpointMetadata> {
  const { metadataHandle } = location;
  if (metadataHandle.type === 'ByteStreamStateHandle') {
    return parseMetadata(metadataHandle.bytes, location.externalPointer);
  }
  const path = fileSystems.qualify(Path.parse(metadataHandle.filePath));
  const source = await (await fileSystems.get(path)).open(path);
  try {
    return await loadMetadata(source, path.toString());
  } finally {
    await source.close();
  }
}

/**
 * Discards the checkpoint or savepoint at a pointer the way Flink does: no look at other checkpoints that use its files, none
 * at a job that does. Metadata that cannot be read is not deleted.
 * @throws what {@link loadCheckpoint} throws; the failures of {@link CompletedCheckpoint.discard}
 */
export async function disposeSavepoint(
  pointer: string,
  options: Pick<LoadCheckpointOptions, 'fileSystems' | 'logger'>,
): Promise<void> {
  const checkpoint = await loadCheckpoint(pointer, { ...options, jobId: '0'.repeat(32) });
  await checkpoint.discard();
}
