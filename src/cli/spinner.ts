import type { Writable } from 'node:stream';
import ora from 'ora';
import { formatCount, formatPercent } from '../report/format.js';
import { printable } from '../report/printable.js';
import type { ProgressState } from './progress.js';

/** A line that moves. */
export interface Spinner {
  /** Clears the line; the next frame draws it again. */
  clear(): void;
  stop(): void;
}

/** Shows a state, asked for with every frame, on a terminal. Keeps no process alive. */
export function startSpinner(stream: Writable, state: () => ProgressState): Spinner {
  const spinner = ora({
    // Asked for by every frame, so that telling of a step costs next to nothing.
    prefixText: () => progressText(state()),
    stream,
    color: false,
    // Standard input is left alone: a question may be asked on it.
    discardStdin: false,
  });
  spinner.start();
  return {
    clear: () => {
      spinner.clear();
    },
    stop: () => {
      spinner.stop();
    },
  };
}

/** The text of a progress line: `Deleting files 12/4,000 (0.3%) chk-7/abc`. */
export function progressText(state: ProgressState): string {
  const { title, done, total, text } = state;
  const words = [title];
  if (total > 0) words.push(`${formatCount(done)}/${formatCount(total)} (${formatPercent(done, total)})`);
  else if (done > 0) words.push(formatCount(done));
  if (text !== undefined) words.push(printable(text));
  return words.join(' ');
}
