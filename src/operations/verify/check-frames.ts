/** Checks channel and changelog files, which many handles share: each is walked once, then every offset is looked up. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ChangeSets } from '../../format/changelog/change-sets.js';
import { CHANNEL_LENGTH_BYTES, ChannelBlocks } from '../../format/channel/channel-file.js';
import { SnappyFrames } from '../../format/compress/snappy-framing.js';
import { pushAll, type StateBytes } from '../state/state-bytes.js';
import type { FrameMap } from './frame-map.js';
import { type ChannelBlocksOf, type CheckResult, SOUND } from './state-task.js';
import { UncompressedPart } from './uncompressed-part.js';

/** Notes every block of a channel file. @throws ByteFormatError; the errors of reading */
export async function walkChannelFile(bytes: StateBytes, map: FrameMap): Promise<void> {
  await pushAll(bytes, 0, bytes.size, new ChannelBlocks((offset, length) => map.add(offset, length)));
}

/** Notes every set of changes of a changelog file, by its offset. @throws ByteFormatError; the errors of reading */
export async function walkChangelogFile(bytes: StateBytes, map: FrameMap): Promise<void> {
  if (bytes.size === 0) throw new ByteFormatError(0, 'a flag for compression', 'the end of the file');
  const [flag] = await bytes.read(0, 1);
  const sets = new ChangeSets((offset) => map.add(offset, 0));
  if (flag === 0) {
    await located(1, () => pushAll(bytes, 1, bytes.size, sets));
  } else if (flag === 1) {
    const target = new UncompressedPart(sets, 1);
    await pushAll(bytes, 1, bytes.size, new SnappyFrames({ offset: 1, target }));
  } else {
    throw new ByteFormatError(0, 'a flag for compression (0 or 1)', `${flag}`);
  }
}

/** Adds what stands before the bytes to the offset of an error in them. */
async function located(before: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ByteFormatError)) throw error;
    throw new ByteFormatError(error.offset + before, error.reading, error.found);
  }
}

/** @throws ByteFormatError if an offset is no block, or the blocks have another size than the metadata says */
export function checkChannels(
  map: FrameMap,
  channels: readonly ChannelBlocksOf[] | undefined,
  size: number,
): CheckResult {
  if (channels === undefined) throw new ByteFormatError(0, 'the offsets of channels in the metadata', 'other bytes');
  let sum = 0;
  for (const channel of channels) {
    let bytes = 0;
    for (const offset of channel.offsets) {
      const length = map.lengthAt(offset);
      if (length === undefined) {
        if (map.overflown) return { kind: 'unjudged', what: 'channel states with too many blocks' };
        throw new ByteFormatError(offset, 'a block of channel state', 'something else');
      }
      bytes += CHANNEL_LENGTH_BYTES + length;
    }
    if (bytes !== channel.size) {
      throw new ByteFormatError(channel.offsets[0] ?? 0, `${channel.size} bytes of one channel`, `${bytes}`);
    }
    sum += bytes;
  }
  if (sum !== size) throw new ByteFormatError(0, `${size} bytes of channel state`, `${sum}`);
  return SOUND;
}

/** @throws ByteFormatError if no set of changes starts there */
export function checkChangelogOffset(map: FrameMap, offset: number): CheckResult {
  if (map.lengthAt(offset) !== undefined) return SOUND;
  if (map.overflown) return { kind: 'unjudged', what: 'changelogs with too many sets of changes' };
  throw new ByteFormatError(offset, 'the start of a set of changes', 'something else');
}
