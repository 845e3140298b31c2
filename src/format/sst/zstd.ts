/**
 * Zstandard frames. The decoder that is there at once is slow with small blocks; the quick one is WebAssembly, which must be
 * loaded first, and is only if a frame has turned up.
 */
import { decompress } from 'fzstd';

/** Puts what a frame holds into a target of that size, and says how much it was, as far as it knows. */
type Decoder = (frame: Uint8Array, target: Uint8Array) => number;

/** Larger targets are left to the slow decoder: memory of WebAssembly never shrinks. */
const QUICK_BYTES = 16 * 1024 * 1024;

let quick: Decoder | undefined;
let isWanted = false;

/**
 * Decodes a frame.
 * @throws whatever the decoder throws at bytes that are no frame
 */
export function decompressZstd(frame: Uint8Array, target: Uint8Array): number {
  isWanted = true;
  const isSmall = frame.length <= QUICK_BYTES && target.length <= QUICK_BYTES;
  return isSmall && quick ? quick(frame, target) : decompress(frame, target).length;
}

/** True once a frame was decoded by the slow decoder while the quick one could be loaded: {@link loadQuickZstd} is worth it. */
export function wantsQuickZstd(): boolean {
  return isWanted && quick === undefined;
}

/** Loads the quick decoder. Both give the same results. */
export async function loadQuickZstd(): Promise<void> {
  const { ZSTDDecoder } = await import('zstddec');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  quick = (frame, target) => {
    if (frame.length === 0 || target.length === 0) return decompress(frame, target).length;
    // Of what is no frame it gives nothing.
    const contents = decoder.decode(frame, target.length);
    if (contents.length > target.length) throw new Error('the frame holds more than its block says');
    target.set(contents);
    return contents.length;
  };
}
