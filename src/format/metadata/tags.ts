/** The numbers of the metadata format. Origin: Flink `Checkpoints`, `MetadataV2V3SerializerBase`, `ChannelStateHandleSerializerV2`. */

/** First four bytes of every metadata file. */
export const METADATA_MAGIC = 0x4960672d;
/** In front of every master state (as a signed 32-bit number). */
export const MASTER_STATE_MAGIC = 0xc96b1696 | 0;

/** Type bytes of handles: one number space for stream, operator and keyed position. */
export const Tag = {
  Null: 0,
  ByteStream: 1,
  File: 2,
  KeyGroups: 3,
  OperatorState: 4,
  Incremental: 5,
  RelativeFile: 6,
  SavepointKeyGroups: 7,
  Changelog: 8,
  ChangelogBytes: 9,
  ChangelogFile: 10,
  IncrementalV2: 11,
  KeyGroupsV2: 12,
  ChangelogFileV2: 13,
  ChangelogV2: 14,
  Segment: 15,
  EmptySegment: 16,
  MergedOperatorState: 17,
} as const;

/** Type bytes of channel handles, version 6 and later. */
export const ChannelTag = { Input: 1, Result: 2, MergedInput: 3, MergedResult: 4 } as const;

/** Versions from which on a part of the format exists. */
export const Since = { coordinator: 3, channels: 3, properties: 4, names: 5, channelTags: 6 } as const;
