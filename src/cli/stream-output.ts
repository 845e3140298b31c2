import { jsonLine } from '../report/json.js';
import type { Output } from './output.js';

/** Standard output for results that come piece by piece. Every method fails with `OutputClosed` if nobody reads any more. */
export interface StreamOutput {
  /** Raw text or bytes. Await it: that is the backpressure. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** All chunks, one after the other. */
  pipe(chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>): Promise<void>;
  /** One value as a line of JSON. */
  jsonLine(value: unknown): Promise<void>;
  /** Each value as a line of JSON. */
  jsonLines(values: Iterable<unknown> | AsyncIterable<unknown>): Promise<void>;
}

/** Makes it. */
export function streamOutput(output: Output): StreamOutput {
  const write = (chunk: string | Uint8Array): Promise<void> => output.write(chunk);
  return {
    write,
    async pipe(chunks) {
      for await (const chunk of chunks) await write(chunk);
    },
    jsonLine: (value) => write(jsonLine(value)),
    async jsonLines(values) {
      for await (const value of values) await write(jsonLine(value));
    },
  };
}
