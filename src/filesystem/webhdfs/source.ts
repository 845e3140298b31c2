/** Reading a file of HDFS: each range by a request of its own, and only of the file that was opened. */
import { IoError, NotFoundError } from '../../errors.js';
import { CheckedSource } from '../checked-source.js';
import type { Path } from '../path.js';
import { readError } from '../ranges.js';
import { TransientFailure } from '../requests.js';
import { DataNodes } from './client.js';
import { ConnectionFailure, RemoteFailure, toCkptError } from './remote-failure.js';
import type { RemoteStatus } from './status.js';
import type { HdfsStore } from './store.js';

/** For this long the file that has a name is taken to be the one that had it. */
const TRUST_MILLISECONDS = 1000;

/**
 * See the file comment. A name node does not say which file a range is from, so it is asked now and then whether another one
 * has taken the name: HDFS never changes bytes of a file, and a file that is renamed away keeps its identity.
 */
export class HdfsSource extends CheckedSource {
  #checked: { readonly at: number; readonly check: Promise<void> };

  /** @param status of the file at its opening */
  constructor(
    private readonly store: HdfsStore,
    path: Path,
    private readonly status: RemoteStatus,
  ) {
    super(path, status.size);
    this.#checked = { at: performance.now(), check: Promise.resolve() };
  }

  protected async fill(
    target: Uint8Array,
    offset: number,
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (start === end) return;
    const avoid = new DataNodes();
    const reading = this.store.client.requests.run(
      `OPEN ${this.path}`,
      () => this.#attempt(target, offset, start, end, avoid, signal),
      signal,
    );
    const [read] = await Promise.allSettled([reading, this.#checkNow(signal)]);
    signal?.throwIfAborted();
    if (read.status === 'rejected') throw await this.#explain(read.reason, start, end, signal);
    await this.#checked.check;
  }

  async #attempt(
    target: Uint8Array,
    offset: number,
    start: number,
    end: number,
    avoid: DataNodes,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let at = start;
    for await (const piece of this.store.client.read(this.path, start, end - start, { signal, avoid })) {
      target.set(piece, offset + at - start);
      at += piece.byteLength;
    }
    if (at === end) return;
    const ended = new EndedEarly(`the file ends at byte ${at} by now`);
    // Whether the file or the answer was cut is seen by the status.
    const now = await this.store.findOnce(this.path);
    throw now !== undefined && now.size >= end && this.#isSame(now) ? new TransientFailure(ended) : ended;
  }

  /** Sees to it that the file under this name is the one that was opened, if the last look is too old. */
  #checkNow(signal: AbortSignal | undefined): Promise<void> {
    const now = performance.now();
    if (now - this.#checked.at > TRUST_MILLISECONDS) {
      const check = this.#check(signal);
      check.catch(() => undefined);
      this.#checked = { at: now, check };
    }
    return this.#checked.check;
  }

  async #check(_signal: AbortSignal | undefined): Promise<void> {
    // Without the signal of one reader: others wait for it too.
    const now = await this.store.status(this.path).catch((error: unknown) => {
      throw toCkptError(error, { path: this.path, action: 'read' });
    });
    if (!this.#isSame(now)) throw this.#replaced();
  }

  #isSame(now: RemoteStatus): boolean {
    return now.type === 'file' && now.identity === this.status.identity;
  }

  #replaced(): IoError {
    return new IoError(this.path.toString(), 'read', { cause: new Error('another file has taken its place') });
  }

  /** A failed read in terms of what is there now. */
  async #explain(error: unknown, start: number, end: number, signal: AbortSignal | undefined): Promise<unknown> {
    if (!(error instanceof RemoteFailure || error instanceof EndedEarly || error instanceof ConnectionFailure)) {
      return error;
    }
    const ours = toCkptError(error, { path: this.path, action: `read of bytes ${start} to ${end}` });
    if (error instanceof ConnectionFailure) return ours;
    try {
      const now = await this.store.find(this.path, signal);
      if (now === undefined) return new NotFoundError(this.path.toString(), { cause: error });
      if (!this.#isSame(now)) return this.#replaced();
      if (now.size < end) return readError(this.path, start, end, `the file ends at byte ${now.size} by now`);
    } catch {
      signal?.throwIfAborted();
    }
    return ours;
  }
}

class EndedEarly extends Error {
  override readonly name = 'EndedEarly';
}
