/**
 * How far a long piece of work has come, for somebody who watches: one line on standard error, gone when the work is done.
 */
import type { Writable } from 'node:stream';
import type { Ora } from 'ora';
import type { ProgressState } from './progress-text.js';

/** One piece of work. Cheap enough to be told of every step. */
export interface Progress {
  /**
   * How far it is.
   * @param total 0 if it is not known how much there is
   * @param text what it is at, for example a path; escaped here
   */
  update(done: number, total: number, text?: string): void;
  /** Takes the line away. Idempotent. */
  stop(): void;
}

/** Shows progress, one piece of work at a time. Other output may be written meanwhile: the line moves out of its way. */
export interface ProgressDisplay {
  /** Starts a piece of work; the one before is stopped. `title` says what is done: `Deleting files`. */
  start(title: string): Progress;
  stop(): void;
}

/** Work that is over sooner than this never shows a line, in milliseconds. */
const delay = 250;

const silent: Progress = { update: () => undefined, stop: () => undefined };

/** The display that shows nothing. */
export const noProgress: ProgressDisplay = { start: () => silent, stop: () => undefined };

/** A display on a terminal; what draws it is loaded when there is something to show. */
export function terminalProgress(stream: Writable): ProgressDisplay {
  let current: TerminalProgress | undefined;
  return {
    start(title) {
      current?.stop();
      current = new TerminalProgress(stream, title);
      return current;
    },
    stop() {
      current?.stop();
      current = undefined;
    },
  };
}

class TerminalProgress implements Progress {
  readonly #timer: NodeJS.Timeout;
  #state: ProgressState;
  #show: (() => void) | undefined;
  #spinner: Ora | undefined;
  #stopped = false;

  constructor(stream: Writable, title: string) {
    this.#state = { title, done: 0, total: 0, text: undefined };
    this.#timer = setTimeout(() => {
      // A line that cannot be shown must not fail the work.
      this.#start(stream).catch(() => undefined);
    }, delay);
    this.#timer.unref();
  }

  update(done: number, total: number, text?: string): void {
    this.#state = { title: this.#state.title, done, total, text };
    this.#show?.();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#spinner?.stop();
  }

  async #start(stream: Writable): Promise<void> {
    const [{ default: ora }, { progressText }] = await Promise.all([import('ora'), import('./progress-text.js')]);
    if (this.#stopped) return;
    // Standard input is left alone: a question may be asked on it.
    const spinner = ora({ text: progressText(this.#state), stream, color: false, discardStdin: false });
    this.#show = () => {
      spinner.text = progressText(this.#state);
    };
    this.#spinner = spinner.start();
  }
}
