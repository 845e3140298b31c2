/** Checkpoint properties as a document object, and back. */
import { readCheckpointProperties, writeCheckpointProperties } from '../../format/java/properties.js';
import type { CheckpointProperties } from '../../model/checkpoint-properties.js';
import type { DocumentValue } from './values.js';

const FLAGS = [
  'forced',
  'discardSubsumed',
  'discardFinished',
  'discardCancelled',
  'discardFailed',
  'discardSuspended',
  'unclaimed',
] as const;

/** The visible form; null for null. Parts that are not known are left out. */
export function propertiesDocument(properties: Partial<CheckpointProperties> | null): DocumentValue {
  if (!properties) return null;
  const { checkpointType: type } = properties;
  const document: { [key: string]: DocumentValue } = {};
  if (type) {
    document.checkpointType = {
      class: type.kind,
      name: type.name,
      savepoint: type.kind === 'SavepointType',
      sharingFilesStrategy: type.sharingFilesStrategy,
      ...(type.kind === 'SavepointType'
        ? { formatType: type.formatType, postCheckpointAction: type.postCheckpointAction }
        : {}),
    };
  }
  for (const flag of FLAGS) {
    const value = properties[flag];
    if (value !== undefined) document[flag] = value;
  }
  return document;
}

/** What a stored block shows, and the block itself where the visible form would be written differently. */
export interface PropertiesParts {
  readonly properties: DocumentValue;
  readonly wire: Uint8Array | undefined;
}

/** Splits a stored block; `block` is null before version 4. */
export function propertiesParts(block: Uint8Array | null): PropertiesParts {
  if (!block) return { properties: null, wire: undefined };
  const { properties, unknown } = readCheckpointProperties(block, 0);
  if (properties === undefined) return { properties: propertiesDocument(unknown?.known ?? {}), wire: block };
  const canonical = Buffer.compare(writeCheckpointProperties(properties), block) === 0;
  return { properties: propertiesDocument(properties), wire: canonical ? undefined : block };
}
