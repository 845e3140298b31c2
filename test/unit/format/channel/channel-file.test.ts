import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { ChannelBlocks } from '../../../../src/format/channel/channel-file.js';
import { i32, join, lengthed } from '../../../support/byte-builder.js';
import { pushInPieces } from '../../../support/state-bytes.js';

function blocksOf(bytes: Uint8Array, pieceBytes?: number): (readonly [number, number])[] {
  const blocks: (readonly [number, number])[] = [];
  pushInPieces(new ChannelBlocks((offset, length) => blocks.push([offset, length])), bytes, pieceBytes);
  return blocks;
}

describe('a channel state file', () => {
  const file = join(i32(0), lengthed(Buffer.from('abc')), lengthed(new Uint8Array(0)), lengthed(Buffer.from('defgh')));

  it('tells where its blocks start, in whatever pieces it comes', () => {
    for (let pieceBytes = 1; pieceBytes <= file.length; pieceBytes++) {
      expect(blocksOf(file, pieceBytes)).toEqual([
        [4, 3],
        [11, 0],
        [15, 5],
      ]);
    }
    expect(blocksOf(i32(0))).toEqual([]);
  });

  it('is refused cut off inside a block, and with another version or a negative length', () => {
    for (let length = 0; length < file.length; length++) {
      if ([4, 11, 15].includes(length)) continue;
      expect(() => blocksOf(file.subarray(0, length)), `${length} bytes`).toThrow(ByteFormatError);
    }
    expect(() => blocksOf(i32(1))).toThrow('expected version 0 of channel state at byte 0, found 1');
    expect(() => blocksOf(join(i32(0), i32(-1)))).toThrow(
      'expected the length of a block of channel state at byte 4, found -1',
    );
  });
});
