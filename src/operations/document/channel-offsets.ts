/** The offsets of the channels that a merged channel handle holds. Origin: Flink `AbstractMergedChannelStateHandle`. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';

/** Where the data of one channel is in the delegate. */
export interface ChannelOffsets {
  /** Gate or partition. */
  readonly outerIndex: number;
  /** Channel or subpartition. */
  readonly innerIndex: number;
  readonly stateSize: bigint;
  readonly offsets: BigInt64Array;
}

const LEAST_CHANNEL_BYTES = 20;

/** Decodes `serializedChannelOffsets`; undefined if the bytes are something else. */
export function unmergeChannelOffsets(bytes: Uint8Array): ChannelOffsets[] | undefined {
  try {
    const reader = ByteReader.over(bytes);
    const channels: ChannelOffsets[] = [];
    const count = reader.readCount('number of channels', LEAST_CHANNEL_BYTES);
    for (let i = 0; i < count; i++) {
      const outerIndex = reader.readI32('gate or partition index');
      const innerIndex = reader.readI32('channel or subpartition index');
      const stateSize = reader.readBigInt64('size');
      const offsets = new BigInt64Array(reader.readCount('number of offsets', 8));
      for (let k = 0; k < offsets.length; k++) offsets[k] = reader.readBigInt64('offset');
      channels.push({ outerIndex, innerIndex, stateSize, offsets });
    }
    return channels;
  } catch (error) {
    if (error instanceof ByteFormatError) return undefined;
    throw error;
  }
}
