/** Draws what a command prints on a terminal as an SVG: `tsx scripts/terminal-svg.ts OUT.svg COLUMNS TITLE -- COMMAND...`. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [out = '', columns = '80', title = '', , ...command] = process.argv.slice(2);
const CELL = { width: 8.43, height: 18 };
const PADDING = 16;
const BAR = 30;
const COLOURS: Readonly<Record<string, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#79c0ff',
};
const PLAIN = '#e6edf3';

/** Codes that a program for terminals may print: SGR alone is drawn. */
const SGR = new RegExp(`${String.fromCharCode(27)}\\[([0-9;]*)m`, 'g');

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function spans(line: string): string {
  let result = '';
  let fill = PLAIN;
  let bold = false;
  let dim = false;
  let at = 0;
  const add = (text: string): void => {
    if (text === '') return;
    const style = `${bold ? ' font-weight="bold"' : ''}${dim ? ' opacity="0.6"' : ''}`;
    result += `<tspan fill="${fill}"${style}>${escapeText(text)}</tspan>`;
  };
  for (const match of line.matchAll(SGR)) {
    add(line.slice(at, match.index));
    at = match.index + match[0].length;
    for (const code of (match[1] ?? '').split(';')) {
      if (code === '1') bold = true;
      else if (code === '2') dim = true;
      else if (code === '22') bold = dim = false;
      else if (code === '39' || code === '0') fill = PLAIN;
      else fill = COLOURS[code] ?? fill;
    }
  }
  add(line.slice(at));
  return result;
}

const [program = '', ...args] = command;
const shell = `stty cols ${columns} rows 200; exec "$0" "$@"`;
const printed = execFileSync(
  'script',
  [
    '-qec',
    ['bash', '-c', shell, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '),
    '/dev/null',
  ],
  {
    encoding: 'utf8',
    env: { ...process.env, TERM: 'xterm-256color', FORCE_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const lines = printed.replaceAll('\r', '').trimEnd().split('\n');
const width = Math.ceil(Number(columns) * CELL.width + 2 * PADDING);
const height = lines.length * CELL.height + 2 * PADDING + BAR;
const text = lines
  .map((line, i) => `<text x="${PADDING}" y="${BAR + PADDING + (i + 0.75) * CELL.height}">${spans(line)}</text>`)
  .join('\n');
writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escapeText(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<text x="${PADDING}" y="21" font-family="monospace" font-size="13" fill="#8b949e">$ ${escapeText(title)}</text>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
${text}
</g>
</svg>
`,
);
