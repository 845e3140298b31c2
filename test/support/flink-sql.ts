/** Runs what `ckpt sql` wrote in real Flink, and compares the rows with what real Flink finds in the state. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CorpusPointer } from './corpus.js';
import { runWithFlink } from './flink-lab.js';
import { runCkpt } from './run-ckpt.js';

// biome-ignore lint/suspicious/noExplicitAny: documents of any form are compared
type Json = any;

/** A document of `ckpt sql --json`, with what it was made of. */
export interface WrittenSql {
  readonly id: string;
  readonly operatorId: string;
  readonly language: 'sql' | 'java' | null;
  readonly statement: string | null;
  readonly query: string | null;
  readonly reason: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly state: string | null }[];
  readonly leftOut: readonly { readonly state: string; readonly reason: string }[];
}

/** What Flink made of it. */
export interface SqlAnswer {
  readonly id: string;
  readonly rows?: readonly Json[];
  readonly error?: string;
}

/** The statement or program for an operator. @param id names it in the answers */
export async function writtenSql(
  id: string,
  pointer: string,
  operator: string,
  options: readonly string[] = [],
): Promise<WrittenSql> {
  const { stdout, stderr } = await runCkpt(['sql', '--json', pointer, operator, ...options]);
  const document = JSON.parse(stdout);
  if (document.error) throw new Error(`${id}: ${stderr}`);
  return { ...document, id };
}

/** Runs all of them in one JVM. @param classDirectory an empty directory */
export async function runInFlink(
  written: readonly WrittenSql[],
  classDirectory: string,
): Promise<ReadonlyMap<string, SqlAnswer>> {
  const requests = written.filter(({ statement }) => statement !== null);
  const input = requests.map(({ id, language, statement, query }) =>
    JSON.stringify({ id, language, statement, query }),
  );
  const lines = await runWithFlink('flinklab.state.RunStatements', [], {
    input: `${input.join('\n')}\n`,
    classDirectory,
  });
  const answers = lines.map((line) => JSON.parse(line) as SqlAnswer);
  return new Map(answers.map((answer) => [answer.id, answer]));
}

/** The pointer where Flink finds all its files: itself, or a copy in a directory that does not exist yet. */
export async function readablePointer(
  { case: { mapping }, directory, externalPointer }: CorpusPointer,
  copy: string,
): Promise<string> {
  const verified = await runCkpt(['verify', '--json', directory]);
  if (verified.exitCode === 0) return directory;
  const map = `${mapping.uri}=${mapping.directory}`;
  const copied = await runCkpt(['copy', externalPointer, copy, '--map', map]);
  if (copied.exitCode !== 0) throw new Error(copied.stderr);
  return copy;
}

/** The operators of a `contents.json` document; undefined if there is none for the pointer. */
export function contentsOf({ case: { directory: root, mapping }, directory }: CorpusPointer): Json[] | undefined {
  const name = directory.slice(mapping.directory.length + 1).replaceAll('/', '.');
  try {
    return JSON.parse(readFileSync(join(root, `${name}.contents.json`), 'utf8')).operators;
  } catch {
    return undefined;
  }
}

/** What differs between the answer and the contents of the operator; nothing is left out that the document does not name. */
export function differences(written: WrittenSql, { rows, error }: SqlAnswer, operator: Json): string[] {
  if (error !== undefined || !rows) return [error ?? 'no rows'];
  return written.language === 'sql'
    ? sqlDifferences(written, rows, operator)
    : javaDifferences(written, rows, operator);
}

function sqlDifferences({ columns, leftOut }: WrittenSql, rows: readonly Json[], operator: Json): string[] {
  const found: string[] = [];
  const key = columns.find(({ state }) => state === null)?.name ?? '';
  const byKey = new Map<string, Json>(rows.map((row) => [keyText(row[key]), row]));
  // Flink 2.3 returns keys twice: see KEYS_TWICE.
  if (new Set(rows.map((row) => JSON.stringify(row))).size !== byKey.size) found.push('a key came with two values');
  const shown = columns.filter(({ state }) => state !== null);
  const missing = Object.keys(operator.keyedState ?? {}).filter(
    (name) => !shown.some(({ state }) => state === name) && !leftOut.some(({ state }) => state === name),
  );
  if (missing.length > 0) found.push(`neither read nor named: ${missing}`);
  const keys = new Set<string>();
  for (const { name, state } of shown) {
    const { entries, kind } = operator.keyedState[state ?? ''] ?? { entries: [] };
    const expected = new Map<string, Json>(
      entries.map((entry: Json) => [keyText(entry.key), kind === 'map' ? { entries: entry.entries } : entry.value]),
    );
    for (const text of expected.keys()) keys.add(text);
    for (const [text, row] of byKey) {
      const value = row[name];
      const wanted = expected.get(text);
      const isNothing = value === null || (kind !== 'value' && Object.keys(value).length === 0);
      if (!(wanted === undefined ? isNothing : fits(value, wanted))) {
        found.push(`${state} of ${text}: ${JSON.stringify(value)} for ${JSON.stringify(wanted)}`);
      }
    }
  }
  for (const text of keys) if (!byKey.has(text)) found.push(`no row of key ${text}`);
  return found.slice(0, 5);
}

/** A key as text: a tuple or POJO by its parts. */
function keyText(key: Json): string {
  if (key === null || typeof key !== 'object') return String(key);
  return Object.values(key).map(keyText).join('|');
}

/** True if a value of SQL shows what the document has. Fields that cannot be shown are not in the row; times are text. */
function fits(value: Json, wanted: Json): boolean {
  if (value === null || wanted === null) return value === wanted;
  if (typeof value !== 'object')
    return scalarText(value) === scalarText(wanted) || isJsonOf(value, wanted) || isBytesOf(value, wanted);
  if (Array.isArray(value))
    return Array.isArray(wanted) && value.length === wanted.length && value.every((v, i) => fits(v, wanted[i]));
  if (!Array.isArray(wanted) && wanted.entries) {
    const entries = wanted.entries as Json[];
    const shown = new Map(Object.entries(value).map(([key, part]) => [scalarText(key), part]));
    return (
      Object.keys(value).length === entries.length &&
      entries.every((entry) => fits(shown.get(keyText(entry.key)) ?? null, entry.value))
    );
  }
  if ('userValue' in value)
    return value.lastAccessTimestamp === wanted.lastAccess && fits(value.userValue, wanted.value);
  return Object.entries(value).every(([name, part]) => {
    const other = Array.isArray(wanted) ? wanted[Number(name.slice(1))] : wanted[name];
    return other !== undefined && fits(part, other);
  });
}

/** An Avro record comes as text of JSON. */
function isJsonOf(text: Json, wanted: Json): boolean {
  if (typeof text !== 'string' || typeof wanted !== 'object') return false;
  try {
    return fits(JSON.parse(text), wanted);
  } catch {
    return false;
  }
}

/** Within that, bytes are characters. */
function isBytesOf(text: Json, wanted: Json): boolean {
  return typeof text === 'string' && Buffer.from(text, 'latin1').toString('base64') === wanted;
}

/** Numbers as such; of times, the digits. */
function scalarText(value: Json): string {
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Math.fround(value));
  const text = String(value);
  // The enum of the corpus has a constant whose toString() is another text.
  if (text === 'grün') return 'GREEN';
  return /^\d{4}-\d\d-\d\d[T ]/.test(text)
    ? text
        .replace(/[TZ ]/g, ' ')
        .trim()
        .replace(/(\.\d*?)0+$/, '$1')
    : text;
}

function javaDifferences({ leftOut }: WrittenSql, rows: readonly Json[], operator: Json): string[] {
  const found: string[] = [];
  const wanted = new Map<string, string[]>();
  const isLeftOut = (state: string): boolean => leftOut.some((left) => left.state === state);
  for (const [state, { kind, entries }] of Object.entries<Json>(operator.keyedState ?? {})) {
    if (isLeftOut(state) || state.startsWith('raw:')) continue;
    const texts = entries.map(({ keyGroup, ...entry }: Json) => lineText({ ...entry, state }));
    if (kind !== 'timers' || texts.length > 0) wanted.set(state, texts);
  }
  for (const [state, { kind, subtasks, elements, entries }] of Object.entries<Json>(operator.operatorState ?? {})) {
    if (isLeftOut(state)) continue;
    const nowhere = { state, namespace: null };
    const texts =
      kind === 'broadcast'
        ? entries.map((entry: Json) => lineText({ ...nowhere, ...entry }))
        : (elements ?? subtasks.flat()).map((value: Json) => lineText({ ...nowhere, key: null, value }));
    wanted.set(state, texts);
  }
  const got = new Map<string, string[]>();
  for (const row of rows) {
    const lines = got.get(row.state) ?? [];
    const text = lineText(row);
    // Of keyed state Flink 2.3 returns keys twice: see KEYS_TWICE.
    if (!(operator.keyedState?.[row.state] && lines.includes(text))) got.set(row.state, [...lines, text]);
  }
  for (const state of new Set([...wanted.keys(), ...got.keys()])) {
    const expected = (wanted.get(state) ?? []).sort();
    const printed = (got.get(state) ?? []).sort();
    if (expected.length !== printed.length) found.push(`${state}: ${printed.length} lines for ${expected.length}`);
    const at = printed.findIndex((line, i) => !agrees(JSON.parse(line), JSON.parse(expected[i] ?? 'null')));
    if (at >= 0) found.push(`${state}: ${printed[at]} for ${expected[at]}`);
  }
  return found.slice(0, 5);
}

/** The same, but that a job takes apart what the document has as the bytes of an object, and Avro writes bytes as characters. */
function agrees(printed: Json, wanted: Json): boolean {
  if (wanted === null || typeof wanted !== 'object') {
    return (
      printed === wanted ||
      (typeof printed === 'string' && Buffer.from(printed, 'latin1').toString('base64') === wanted)
    );
  }
  if ('@object' in wanted) return printed !== null && typeof printed === 'object';
  if (printed === null || typeof printed !== 'object' || Array.isArray(printed) !== Array.isArray(wanted)) return false;
  const names = Object.keys(wanted);
  return (
    names.length === Object.keys(printed).length &&
    names.every((name) => name in printed && agrees(printed[name], wanted[name]))
  );
}

function lineText(line: Json): string {
  return JSON.stringify(plain(line));
}

/** Names in order, entries of maps too; without what only the document says: of which class a value is, what its bytes are. */
function plain(value: Json): Json {
  if (value === null || typeof value !== 'object')
    return typeof value === 'number' && !Number.isInteger(value) ? Math.fround(value) : value;
  if (Array.isArray(value)) {
    const parts = value.map(plain);
    const isMap =
      parts.length > 0 &&
      value.every((part) => part !== null && typeof part === 'object' && 'key' in part && 'value' in part);
    return isMap ? parts.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : parts;
  }
  if ('@opaque' in value || '@text' in value) return { '@object': value['@opaque'] ?? value['@class'] };
  const names = Object.keys(value).filter((name) => name !== '@class');
  return Object.fromEntries(names.sort().map((name) => [name, plain(value[name])]));
}
