/** The metadata file of a checkpoint that has just been taken: Flink's `Checkpoints.storeCheckpointMetadata`. */
import { writeCheckpointProperties } from '../format/java/properties.js';
import { writeMetadata } from '../format/metadata/metadata-encoder.js';
import { Since } from '../format/metadata/tags.js';
import type { MasterState, OperatorState } from '../model/checkpoint-metadata.js';
import type { CheckpointProperties } from '../model/checkpoint-properties.js';

/** The version that Flink 2.1 to 2.3 write. */
const NEWEST_VERSION = 6;

/** What is stored. */
export interface CheckpointContents {
  readonly checkpointId: bigint;
  readonly masterStates: readonly MasterState[];
  readonly operatorStates: readonly OperatorState[];
  readonly properties: CheckpointProperties;
}

/**
 * The bytes of the metadata file. What older versions have no place for and no restore needs is left out: names, uids,
 * properties.
 * @throws UnwritableMetadataError if a version cannot hold the state, or there is no such version
 */
export function encodeCheckpoint(contents: CheckpointContents, version = NEWEST_VERSION): Uint8Array {
  const { checkpointId, masterStates, operatorStates, properties } = contents;
  return writeMetadata({
    version,
    layout: 'current',
    checkpointId,
    masterStates,
    operatorStates:
      version >= Since.names ? operatorStates : operatorStates.map((state) => ({ ...state, name: null, uid: null })),
    propertiesBlock: version >= Since.properties ? writeCheckpointProperties(properties) : null,
    trailingBytes: new Uint8Array(0),
  });
}
