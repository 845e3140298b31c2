/**
 * Text from files is untrusted: an operator name may hold escape sequences that move the cursor, line ends that forge a
 * row, or marks that reverse the reading direction.
 */

// Control and format characters (among them direction marks and zero-width ones), line and paragraph separators, lone
// surrogates, and every blank that is not the plain one.
const escaped = String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}|^ | $`;
const anythingToEscape = new RegExp(`${escaped}|\\\\`, 'u');
const toEscape = new RegExp(`\\\\(?=[nrtxu\\\\]|${escaped})|${escaped}`, 'gu');

const shortForms: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/**
 * The text with everything that a terminal would act on, or that could not be seen, as an escape: `\n`, `\x1b`,
 * `\u{202e}`, and a blank at either end as `\x20`. A backslash is doubled only where it would read as such an escape, so
 * different texts always look different.
 */
export function printable(text: string): string {
  return anythingToEscape.test(text) ? text.replace(toEscape, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  const short = shortForms[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
