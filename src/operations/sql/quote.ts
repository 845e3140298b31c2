/**
 * Puts names and paths into SQL and Java so that nothing in them is taken for code. They come out of files, and are not
 * trusted.
 */

/** Control and format characters, line and paragraph separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const LINE_END = /[\n\r]/;
const LONE_SURROGATE = /\p{Cs}/u;

/** True for text that a file in UTF-8 can hold: SQL is one, and has no escapes. */
export function isWritable(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** True if Flink's SQL can spell the name: its quoted identifiers go over no line end, and none is empty. */
export function isSqlIdentifier(name: string): boolean {
  return name !== '' && !LINE_END.test(name) && isWritable(name);
}

/** A quoted identifier. @throws RangeError if it has no spelling, see {@link isSqlIdentifier} */
export function sqlIdentifier(name: string): string {
  if (!isSqlIdentifier(name)) throw new RangeError(`no identifier of SQL: ${JSON.stringify(name)}`);
  return `\`${name.replaceAll('`', '``')}\``;
}

/** A character literal. Everything but the quote stands for itself in one, line ends too. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Text for a comment that ends with its line, in SQL or Java: on one line, and without what a terminal would act on. Java
 * reads a `\u` as a character even within comments, so a backslash is doubled.
 */
export function commentText(text: string): string {
  return text.replaceAll('\\', '\\\\').replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The constants of a class file hold 65,535 bytes, three for a character at most; joined constants are one constant. */
const LONGEST_LITERAL = 20_000;

/** An expression of Java with this value: a literal, or several that are joined. */
export function javaText(text: string): string {
  if (text.length <= LONGEST_LITERAL) return javaLiteral(text);
  const parts: string[] = [];
  for (let from = 0; from < text.length; from += LONGEST_LITERAL) {
    parts.push(javaLiteral(text.slice(from, from + LONGEST_LITERAL)));
  }
  return `String.join("", ${parts.join(', ')})`;
}

const JAVA_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function javaLiteral(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(UNPRINTABLE, (character) => JAVA_ESCAPES[character] ?? unicodeEscapes(character));
  return `"${escaped}"`;
}

/** Java replaces these before it reads the program; none of the characters that get here means anything to it then. */
function unicodeEscapes(character: string): string {
  let escapes = '';
  for (let i = 0; i < character.length; i++) {
    escapes += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return escapes;
}

const JAVA_RESERVED: ReadonlySet<string> = new Set(
  (
    'abstract assert boolean break byte case catch char class const continue default do double else enum extends false ' +
    'final finally float for goto if implements import instanceof int interface long native new null package private ' +
    'protected public return short static strictfp super switch synchronized this throw throws transient true try void ' +
    'volatile while var record yield sealed permits'
  ).split(' '),
);

/**
 * A name for a variable or a class that reminds of a text, of ASCII letters and digits.
 * @param fallback if nothing is left, or it means something to Java
 * @param taken names that are in use; the new one is added
 */
export function javaName(text: string, style: 'variable' | 'class', fallback: string, taken: Set<string>): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words
    .map((word, at) => (at === 0 && style === 'variable' ? lowerFirst(word) : upperFirst(word)))
    .join('');
  const usable = /^[A-Za-z][A-Za-z0-9]{0,60}$/.test(joined) && !JAVA_RESERVED.has(joined);
  const base = usable ? joined : fallback;
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}${n}`;
  taken.add(name);
  return name;
}

const lowerFirst = (word: string): string => word.charAt(0).toLowerCase() + word.slice(1);
const upperFirst = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
