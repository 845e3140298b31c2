/**
 * The one question that `ckpt` asks.
 */
import { createInterface } from 'node:readline';
import { RefusedError } from '../errors.js';

/** The ends of a conversation with a person. */
export interface ConfirmTerminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean | undefined };
  readonly signal: AbortSignal;
}

/** Whether there is somebody to ask: both ends must be a terminal. */
export function canAsk(terminal: ConfirmTerminal): boolean {
  return terminal.input.isTTY === true && terminal.output.isTTY === true;
}

/**
 * Asks a question that is answered with yes or no. Anything but `y` or `yes` is no, and so is the end of the input.
 * @returns false without asking if there is no terminal
 * @throws the reason of the signal if it is aborted before there is an answer
 */
export async function confirm(question: string, terminal: ConfirmTerminal): Promise<boolean> {
  terminal.signal.throwIfAborted();
  if (!canAsk(terminal)) return false;
  // `terminal: false` leaves the line discipline alone, so that Ctrl-C still arrives as a signal.
  const reader = createInterface({ input: terminal.input, output: terminal.output, terminal: false });
  const onAbort = (): void => reader.close();
  terminal.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await new Promise<string>((resolve) => {
      reader.once('close', () => resolve(''));
      reader.question(`${question} [y/N] `, resolve);
    });
    terminal.signal.throwIfAborted();
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    terminal.signal.removeEventListener('abort', onAbort);
    reader.close();
  }
}

/** Asks a question; see {@link confirm}. */
export interface Asker {
  readonly canAsk: boolean;
  confirm(question: string): Promise<boolean>;
}

/**
 * What stands between a plan and carrying it out: `--yes`, or a person who says yes.
 * @throws RefusedError if there is no terminal to ask on, or if the answer is no
 */
export async function requireConfirmation(
  asker: Asker,
  question: string,
  options: { readonly yes?: boolean },
): Promise<void> {
  if (options.yes === true) return;
  if (!asker.canAsk) {
    throw new RefusedError(
      'there is no terminal to ask on; say --yes to go on without a question, nothing was changed',
      {
        reason: 'no-terminal',
      },
    );
  }
  if (!(await asker.confirm(question))) {
    throw new RefusedError('not confirmed, nothing was changed', { reason: 'not-confirmed' });
  }
}
