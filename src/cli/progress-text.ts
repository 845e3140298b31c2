import { formatCount, formatPercent } from '../report/format.js';
import { printable } from '../report/printable.js';

/** How far a piece of work is. */
export interface ProgressState {
  readonly title: string;
  readonly done: number;
  /** 0 if it is not known how much there is. */
  readonly total: number;
  /** What it is at, not escaped. */
  readonly text: string | undefined;
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
