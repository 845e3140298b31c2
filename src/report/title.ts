import type { View } from './view.js';
import { wrapText } from './wrap.js';

/**
 * A line that says what follows, with an optional note in a lesser colour behind it; on as many lines as it needs.
 * @param title printable text
 */
export function renderTitle(title: string, view: View, note = ''): string {
  const { style, width } = view;
  const lines = wrapText(title + note, width);
  if (lines.length === 1) return `${style.title(title)}${note === '' ? '' : style.muted(note)}\n`;
  return lines.map((line) => `${style.title(line.trimEnd())}\n`).join('');
}
