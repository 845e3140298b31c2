/**
 * Standard output as commands see it: in order, with backpressure, and honest about failures. A reader that went away
 * (`| head -1`) is told apart from a disk that is full.
 */
import { fstatSync, write as writeToDescriptor } from 'node:fs';
import type { Writable } from 'node:stream';
import { IoError } from '../errors.js';

/** The reader of standard output closed its end. Not an error: the command stops early and nothing is said. */
export class OutputClosed extends Error {
  constructor(options?: ErrorOptions) {
    super('standard output was closed by its reader', options);
    this.name = 'OutputClosed';
  }
}

/** Takes one chunk after the other; resolves when it can take the next. */
export type Sink = (chunk: string | Uint8Array) => Promise<void>;

/** Chunks up to this many units are collected before they are written, as long as the event loop is busy. */
const batch = 32 * 1024;

/** An ordered, buffered stream to a sink. */
export class Output {
  readonly #sink: Sink;
  #chunks: (string | Uint8Array)[] = [];
  #size = 0;
  #started = false;
  #tail: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Whether anything was ever written. */
  get started(): boolean {
    return this.#started;
  }

  /** Whether the reader is known to be gone. */
  get closed(): boolean {
    return this.#failure instanceof OutputClosed;
  }

  /**
   * Appends; what is small goes out together, at the latest when the event loop turns. The chunk must not be changed
   * afterwards. Await it, or memory is not bounded.
   * @throws OutputClosed if the reader is gone, IoError for any other failure, then and on every later call
   */
  write(chunk: string | Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (chunk.length === 0) return Promise.resolve();
    this.#started = true;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= batch) return this.flush();
    this.#scheduled ??= setImmediate(() => {
      // A failure stays and meets the next write or flush.
      this.flush().catch(() => undefined);
    });
    return Promise.resolve();
  }

  /** Resolves when everything written so far was taken; fails like {@link write}. */
  async flush(): Promise<void> {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    this.#tail = this.#tail.then(() => this.#drain(chunks));
    await this.#tail;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #drain(chunks: readonly (string | Uint8Array)[]): Promise<void> {
    try {
      for (const chunk of merged(chunks)) {
        if (this.#failure !== undefined) return;
        await this.#sink(chunk);
      }
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }
}

/** Neighbouring texts as one. */
function* merged(chunks: readonly (string | Uint8Array)[]): Generator<string | Uint8Array, void, undefined> {
  let text = '';
  for (const chunk of chunks) {
    if (typeof chunk === 'string') {
      text += chunk;
      continue;
    }
    if (text !== '') yield text;
    text = '';
    yield chunk;
  }
  if (text !== '') yield text;
}

/** A sink for a stream of node, such as `process.stdout`. */
export function streamSink(stream: Writable): Sink {
  let failure: Error | undefined;
  // Without a listener a broken pipe would end the process with a stack trace.
  stream.on('error', (error) => {
    failure ??= error;
  });
  return (chunk) =>
    new Promise((resolve, reject) => {
      if (failure !== undefined) {
        reject(outputError(failure));
        return;
      }
      stream.write(chunk, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(outputError(error));
      });
    });
}

/**
 * A sink for a descriptor that is a regular file. Node's own stream for it takes a short write for a whole one, so that a
 * full disk would cut the output and nobody would know.
 */
export function fileSink(descriptor: number): Sink {
  return async (chunk) => {
    let rest: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
    while (rest.length > 0) rest = rest.subarray(await writeSome(descriptor, rest));
  };
}

function writeSome(descriptor: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    writeToDescriptor(descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error !== null) reject(outputError(error));
      else if (written === 0) reject(outputError(new Error('no byte was taken')));
      else resolve(written);
    });
  });
}

/** The sink that suits a standard stream, whatever it is connected to. */
export function standardSink(stream: Writable, descriptor: number): Sink {
  return isRegularFile(descriptor) ? fileSink(descriptor) : streamSink(stream);
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}

function outputError(cause: Error): Error {
  const code = 'code' in cause ? cause.code : undefined;
  const closed = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ERR_STREAM_WRITE_AFTER_END';
  return closed ? new OutputClosed({ cause }) : new IoError('standard output', 'writing', { cause });
}
