import type { Writable } from 'node:stream';
import ora from 'ora';
import { formatCount, formatPercent } from '../report/format.js';
import { printable } from '../report/printable.js';
import type { ProgressState } from './progress.js';

/** A line that moves. */
export interface Spinner {
  show(state: ProgressState): void;
  stop(): void;
}

/** Shows a state on a terminal until it is stopped. What else is written there is not disturbed. */
export function startSpinner(stream: Writable, state: ProgressState): Spinner {
  // Standard input is left alone: a question may be asked on it.
  const spinner = ora({ text: progressText(state), stream, color: false, discardStdin: false });
  spinner.start();
  return {
    show(next) {
      spinner.text = progressText(next);
    },
    stop() {
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
