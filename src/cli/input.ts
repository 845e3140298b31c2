/**
 * Standard input as commands read it.
 */
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { UsageError } from '../errors.js';

/**
 * The bytes of a stream, whatever its chunks are.
 * @throws the reason of the signal, as soon as it is aborted: whoever waits for input that never comes is not stuck
 */
export async function* readBytes(stream: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  signal.throwIfAborted();
  const onAbort = (): void => {
    stream.destroy(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const chunk of stream) {
      if (chunk instanceof Uint8Array) yield chunk;
      else if (typeof chunk === 'string') yield Buffer.from(chunk, 'utf8');
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The lines of a stream of UTF-8, without their ends (`\n` or `\r\n`). An end of line at the very end starts no further line.
 * @throws UsageError if the bytes are no UTF-8, or like {@link readBytes}
 */
export async function* readLines(stream: Readable, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // A line that comes in many chunks is joined once, not once a chunk.
  let begun: string[] = [];
  for await (const bytes of readBytes(stream, signal)) {
    const [first = '', ...more] = decode(decoder, bytes).split('\n');
    begun.push(first);
    for (const next of more) {
      yield withoutReturn(begun.join(''));
      begun = [next];
    }
  }
  begun.push(decode(decoder));
  const last = begun.join('');
  if (last !== '') yield withoutReturn(last);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw new UsageError('standard input is not UTF-8 text', {}, { cause: error });
  }
}
