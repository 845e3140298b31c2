import stringWidth from 'fast-string-width';

const ascii = /^[\x20-\x7e]*$/;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Columns that a text takes on a terminal; escape codes take none, wide characters two. */
export function textWidth(text: string): number {
  return ascii.test(text) ? text.length : stringWidth(text);
}

/**
 * Breaks one line of printable text into lines of at most `width` columns, after a blank or a separator (`/ - _ . , : ; >`)
 * where there is one in the second half of the line, else anywhere between two characters. Nothing is left out: the
 * lines joined are the text. A single character wider than `width` has a line of its own.
 */
export function wrapText(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line: string[] = [];
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) {
    const segmentColumns = textWidth(segment);
    if (columns + segmentColumns > width && line.length > 0) {
      const rest = line.splice(breakPoint(line));
      lines.push(line.join(''));
      line = rest;
      columns = textWidth(rest.join(''));
    }
    line.push(segment);
    columns += segmentColumns;
  }
  lines.push(line.join(''));
  return lines;
}

/** How many characters of a full line stay on it. */
function breakPoint(line: readonly string[]): number {
  for (let length = line.length; length > line.length / 2; length--) {
    if (/^[ /\-_.,:;>]$/.test(line[length - 1] ?? '')) return length;
  }
  return line.length;
}
