/**
 * Single HTTP exchanges: with a time limit for silence, and errors that tell neither queries nor headers. By `fetch`, but for
 * bodies: a data node answers every upload with `100 Continue`, asked for or not, on which `fetch` gives up.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { ConnectionFailure } from './remote-failure.js';

/** What is sent: bytes, or a way to make them, piece by piece. */
export type RequestBody = Uint8Array | AsyncIterable<Uint8Array>;

/** One HTTP request. */
export interface Exchange {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Longest time without a byte in either direction, in ms. */
  readonly timeout: number;
}

/** An answer whose body is not read yet. It must be read or cancelled. */
export interface Answer {
  readonly status: number;
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** The pieces of the body. @throws ConnectionFailure if it breaks; the reason of the signal */
  body(): AsyncGenerator<Uint8Array, void>;
  /** Gives up on the rest. */
  cancel(): Promise<void>;
}

/** An answer of a name node is JSON of a listing at most; beyond this many bytes it is none. */
const LONGEST_TEXT = 256 * 1024 * 1024;
/** How long a server may take to want a body. */
const CONTINUE_MILLISECONDS = 1000;
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Sends a request without a body and waits for the head of the answer. Redirects are not followed.
 * @throws ConnectionFailure, or the reason of the signal
 */
export function exchange(request: Exchange): Promise<Answer> {
  return guarded(request, async (silence) => {
    const { method, url, headers } = request;
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: silence.signal,
      ...(headers !== undefined && { headers }),
    });
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      body: response.body ?? [],
      cancel: async () => response.body?.cancel(),
    };
  });
}

/**
 * Sends a request with a body, as soon as the server wants it, and waits for the head of the answer.
 * @throws ConnectionFailure, what the body throws, or the reason of the signal
 */
export function upload(request: Exchange, body: RequestBody): Promise<Answer> {
  return guarded(request, async (silence) => {
    const { request: open } =
      request.url.protocol === 'https:' ? await import('node:https') : await import('node:http');
    const sending = open(request.url, {
      method: request.method,
      signal: silence.signal,
      headers: {
        ...request.headers,
        expect: '100-continue',
        ...(body instanceof Uint8Array && { 'content-length': body.byteLength }),
      },
    });
    const answered = headOf(sending);
    try {
      const early = await wanted(sending, answered);
      const response = early ?? (await sendBody(sending, answered, body, silence));
      return {
        status: response.statusCode ?? 0,
        header: (name) => {
          const value = response.headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body: response,
        cancel: async () => {
          response.destroy();
        },
      };
    } catch (error) {
      sending.destroy();
      throw error;
    }
  });
}

/** What a body throws, to be told from what the connection does. */
class BodyFailure extends Error {
  constructor(override readonly cause: unknown) {
    super('the body cannot be made', { cause });
  }
}

function headOf(sending: ClientRequest): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve);
    // There may be more than one, none of which may end the process.
    sending.on('error', reject);
  });
  answered.catch(() => undefined);
  return answered;
}

/** Waits until the server wants the body; its answer if it does not. One that never says so gets it all the same. */
async function wanted(
  sending: ClientRequest,
  answered: Promise<IncomingMessage>,
): Promise<IncomingMessage | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const goOn = new Promise<undefined>((resolve) => {
    sending.once('continue', () => resolve(undefined));
    timer = setTimeout(() => resolve(undefined), CONTINUE_MILLISECONDS);
  });
  sending.flushHeaders();
  try {
    return await Promise.race([answered, goOn]);
  } finally {
    clearTimeout(timer);
  }
}

async function sendBody(
  sending: ClientRequest,
  answered: Promise<IncomingMessage>,
  body: RequestBody,
  silence: Silence,
): Promise<IncomingMessage> {
  const pieces = body instanceof Uint8Array ? [body] : body;
  let hasAnswer = false;
  answered.then(
    () => (hasAnswer = true),
    () => (hasAnswer = true),
  );
  for await (const piece of failing(pieces)) {
    silence.heard();
    // Nobody reads what is sent after an answer.
    if (hasAnswer) break;
    if (piece.byteLength > 0 && !sending.write(piece)) {
      await Promise.race([answered, new Promise((resolve) => sending.once('drain', resolve))]);
    }
  }
  silence.heard();
  sending.end();
  return answered;
}

async function* failing(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  try {
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await iterator.next();
      } catch (error) {
        throw new BodyFailure(error);
      }
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

interface RawAnswer extends Pick<Answer, 'status' | 'header'> {
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly cancel: () => Promise<unknown>;
}

async function guarded(request: Exchange, work: (silence: Silence) => Promise<RawAnswer>): Promise<Answer> {
  const { signal, timeout, url } = request;
  signal?.throwIfAborted();
  const silence = new Silence(timeout, signal);
  const explain = (error: unknown) => {
    silence.end();
    signal?.throwIfAborted();
    if (error instanceof BodyFailure) return error.cause;
    return silence.failure ?? asConnectionFailure(error, url.host);
  };
  try {
    const raw = await work(silence);
    silence.heard();
    return {
      status: raw.status,
      header: raw.header,
      async *body() {
        try {
          for await (const piece of raw.body) {
            silence.heard();
            yield piece;
          }
        } catch (error) {
          throw explain(error);
        } finally {
          silence.end();
        }
      },
      async cancel() {
        silence.end();
        await raw.cancel().catch(() => undefined);
      },
    };
  } catch (error) {
    throw explain(error);
  }
}

/** The whole body as text. @throws ConnectionFailure, also if it is out of all proportion */
export async function readText(answer: Answer): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body()) {
    length += piece.byteLength;
    if (length > LONGEST_TEXT) throw new ConnectionFailure('the answer has no end', true);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Aborts an exchange in which nothing moves any more. */
class Silence {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort(this.#outer?.reason);

  constructor(timeout: number, outer: AbortSignal | undefined) {
    this.#outer = outer;
    outer?.addEventListener('abort', this.#onAbort);
    this.#timer = setTimeout(() => {
      this.#controller.abort(new ConnectionFailure(`nothing was heard for ${timeout} ms`, true));
    }, timeout);
  }

  /** Set once it was too long. */
  get failure(): ConnectionFailure | undefined {
    const { reason } = this.signal;
    return reason instanceof ConnectionFailure ? reason : undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onAbort);
  }
}

function asConnectionFailure(error: unknown, place: string): ConnectionFailure {
  if (error instanceof ConnectionFailure) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = codeOf(cause);
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : (code ?? 'the connection broke');
  const shown = code === undefined || reason.includes(code) ? reason : `${reason} (${code})`;
  return new ConnectionFailure(`${place}: ${shown}`, !NEVER_SENT.has(code ?? ''), { cause });
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
