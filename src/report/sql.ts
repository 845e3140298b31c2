/** The text of `ckpt sql`: what is to be saved, or why there is nothing. */
import type { SqlResult } from '../operations/sql/write-sql.js';
import { printable } from './printable.js';

/** Renders it as it is: everything in it is quoted for SQL or Java, not for terminals. */
export function* renderSql({ text, reason, leftOut }: SqlResult): Generator<string> {
  if (text !== '') {
    yield text;
    return;
  }
  yield `${printable(`Flink has no way to read it: ${reason}`)}\n`;
  for (const left of leftOut) yield `  ${printable(`${left.state}: ${left.reason}`)}\n`;
}

/** What is said where it went to a file. */
export function* renderSavedSql(result: SqlResult & { readonly target: string }): Generator<string> {
  if (result.text === '') yield* renderSql(result);
  else
    yield `${result.language === 'sql' ? 'SQL' : `Java class ${result.className}`} written to ${printable(result.target)}\n`;
}
