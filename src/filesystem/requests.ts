/**
 * Requests to a remote store: several at once but not too many, and again where that may help. A store says which failures
 * pass by wrapping them in a {@link TransientFailure}; everything else is final.
 */
import { setMaxListeners } from 'node:events';
import pLimit, { type LimitFunction } from 'p-limit';
import pRetry from 'p-retry';

/** Requests under way at once to one store, unless something else is asked for. */
export const DEFAULT_REQUESTS = 32;
const ATTEMPTS = 6;
const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 10_000;

/** A failure that another attempt may not meet: throttling, a server's own error, a connection that broke. */
export class TransientFailure extends Error {
  override readonly name = 'TransientFailure';
  /** What the store asked to wait, in ms. */
  readonly retryAfter: number | undefined;

  /** @param cause what to throw when no attempt is left */
  constructor(
    override readonly cause: Error,
    options: { readonly retryAfter?: number | undefined } = {},
  ) {
    super(cause.message, { cause });
    this.retryAfter = options.retryAfter;
  }
}

/** A request that failed and is made again: for whoever wants to know with `--verbose`. */
export interface RetriedRequest {
  /** Method and place, without a query, a header or a credential. */
  readonly request: string;
  /** What happened, without a secret. */
  readonly reason: string;
  /** 1 for the first one. */
  readonly attempt: number;
  /** Least time until the next one, as the store asked for, in ms; 0 if it did not. */
  readonly pause: number;
}

/** Settings of {@link StoreRequests}. */
export interface RequestOptions {
  /** Requests at once; default {@link DEFAULT_REQUESTS}. */
  readonly concurrency?: number | undefined;
  /** Attempts in all, at least 1; default 6: with the pauses between them some seconds. */
  readonly attempts?: number | undefined;
  /** Before the second attempt, in ms; doubles from one to the next, with jitter. For tests. */
  readonly firstPause?: number | undefined;
  readonly onRetry?: ((retried: RetriedRequest) => void) | undefined;
  /** See `FileSystemSettings.interrupt`. */
  readonly interrupt?: AbortSignal | undefined;
}

/** See the file comment. One for each store. */
export class StoreRequests {
  readonly #limit: LimitFunction;
  readonly #options: RequestOptions;

  constructor(options: RequestOptions = {}) {
    this.#options = options;
    this.#limit = pLimit(Math.max(1, options.concurrency ?? DEFAULT_REQUESTS));
  }

  /** Requests at once. */
  get concurrency(): number {
    return this.#limit.concurrency;
  }

  /**
   * Makes a request as soon as there is room for it, up to several times.
   * @param what method and place for {@link RetriedRequest}
   * @param work makes it once; must be able to run again
   * @throws what `work` throws; of a {@link TransientFailure} its cause; the reason of the signal
   */
  run<T>(what: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { interrupt } = this.#options;
    const result = this.#run(what, work, signal);
    return interrupt ? unlessInterrupted(result, interrupt) : result;
  }

  async #run<T>(what: string, work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { attempts = ATTEMPTS, firstPause = FIRST_PAUSE_MILLISECONDS, onRetry, interrupt } = this.#options;
    let asked = 0;
    // One signal stops all requests that are under way: more listeners than the ten that Node takes for a leak.
    if (signal) setMaxListeners(0, signal);
    try {
      return await pRetry(
        async () => {
          // Before the room is taken: others go on while this one waits.
          if (asked > 0) await pause(asked, signal);
          asked = 0;
          return this.#limit(() => {
            signal?.throwIfAborted();
            interrupt?.throwIfAborted();
            return work();
          });
        },
        {
          retries: attempts - 1,
          minTimeout: firstPause,
          maxTimeout: LONGEST_PAUSE_MILLISECONDS,
          randomize: true,
          ...(signal && { signal }),
          shouldRetry: ({ error }) => error instanceof TransientFailure,
          onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => {
            if (!(error instanceof TransientFailure) || retriesLeft === 0) return;
            asked = Math.min(error.retryAfter ?? 0, LONGEST_PAUSE_MILLISECONDS);
            onRetry?.({ request: what, reason: error.message, attempt: attemptNumber, pause: asked });
          },
        },
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof TransientFailure ? error.cause : error;
    }
  }
}

/** Ends with the reason of the signal at once, whatever the request does. */
function unlessInterrupted<T>(result: Promise<T>, interrupt: AbortSignal): Promise<T> {
  setMaxListeners(0, interrupt);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(interrupt.reason);
    if (interrupt.aborted) stop();
    interrupt.addEventListener('abort', stop, { once: true });
    result.then(resolve, reject).finally(() => interrupt.removeEventListener('abort', stop));
  });
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  await sleep(milliseconds, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted());
}
