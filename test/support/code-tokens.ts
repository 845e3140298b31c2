/** Takes SQL and Java apart as Flink's parser and javac do, to see whether a name has become code. */

/** A piece of a program; `value` is what a name or text stands for, and the code itself for all others. */
export interface Token {
  readonly kind: 'comment' | 'name' | 'text' | 'code';
  readonly value: string;
}

const SQL = /--[^\n\r]*|`((?:[^`\n\r]|``)*)`|'((?:[^']|'')*)'|[\w.]+|\s+|[\s\S]/gu;

/** Tokens of SQL, without blanks. */
export function sqlTokens(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const [whole, name, text] of sql.matchAll(SQL)) {
    if (name !== undefined) tokens.push({ kind: 'name', value: name.replaceAll('``', '`') });
    else if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll("''", "'") });
    else if (whole.startsWith('--')) tokens.push({ kind: 'comment', value: whole });
    else if (whole.trim() !== '') tokens.push({ kind: 'code', value: whole });
  }
  return tokens;
}

/** The first step of javac: a backslash with an even number of others before it, and `u`, begins a character. */
export function withoutUnicodeEscapes(java: string): string {
  return java.replace(
    /(\\+)(u+([0-9a-fA-F]{4}))?/g,
    (whole, slashes: string, unicode: string | undefined, digits: string) =>
      unicode === undefined || slashes.length % 2 === 0
        ? whole
        : slashes.slice(1) + String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

const JAVA = /\/\/[^\n\r]*|\/\*[\s\S]*?\*\/|"((?:[^"\\\n\r]|\\[\s\S])*)"|'(?:[^'\\\n\r]|\\[\s\S])+'|\w+|\s+|[\s\S]/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Tokens of Java, without blanks. */
export function javaTokens(java: string): Token[] {
  const tokens: Token[] = [];
  for (const [whole, text] of withoutUnicodeEscapes(java).matchAll(JAVA)) {
    if (text !== undefined) {
      tokens.push({
        kind: 'text',
        value: text.replace(/\\([\s\S])/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped),
      });
    } else if (whole.startsWith('//') || whole.startsWith('/*')) tokens.push({ kind: 'comment', value: whole });
    else if (whole.trim() !== '') tokens.push({ kind: 'code', value: whole });
  }
  return tokens;
}
