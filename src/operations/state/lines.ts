/** Rows as lines of text for other programs: JSON lines and CSV. */

import { rowJson } from './contents-document.js';
import type { OperatorPieces } from './operators.js';
import { lastAccessOf, type Row, textOf } from './rows.js';

type Operator = Pick<OperatorPieces, 'operatorId' | 'uid'>;

/** Columns of CSV. A map has a line for each of its entries. */
export const CSV_HEADER =
  'operatorId,uid,state,kind,subtask,keyGroup,key,namespace,mapKey,value,timestamp,lastAccess\r\n';

/** A row as a line of JSON; of a large map a piece of it. */
export function jsonLineOf(row: Row, { operatorId, uid }: Operator, ttl?: Expiry): string {
  const { state, kind, subtask, part } = row;
  const end = part === 'first' || part === 'middle' ? '' : '\n';
  if (part === 'middle' || part === 'last') return rowJson(row) + end;
  const isOperator = row.keyGroup === null;
  const about = { operatorId, uid, state, kind, subtask, ...expiryOf(row, ttl) };
  if (!isOperator) {
    // A line has one name for what belongs to a key: that of a map are its entries, a timer is nothing but its key.
    const whole = row.kind === 'timers' ? { ...row, value: null } : row;
    return `${JSON.stringify(about).slice(0, -1)},${rowJson(whole, 'value').slice(1)}${end}`;
  }
  const { keyGroup, key = null, value } = row;
  return `${JSON.stringify({ ...about, keyGroup, key, namespace: null, value })}\n`;
}

/** How long values live, and what time it is; milliseconds. */
export interface Expiry {
  readonly timeToLive: number;
  readonly now: number;
}

/** True if a row has not been accessed for longer than values live. */
export function isExpired(row: Row, { timeToLive, now }: Expiry): boolean {
  const lastAccess = lastAccessOf(row);
  return lastAccess !== undefined && lastAccess + timeToLive <= now;
}

function expiryOf(row: Row, expiry: Expiry | undefined): { readonly expired?: boolean } {
  return expiry && row.ttl ? { expired: isExpired(row, expiry) } : {};
}

/** A row as lines of CSV. */
export function csvLinesOf(row: Row, { operatorId, uid }: Operator): string {
  const { state, kind, subtask, keyGroup, key, namespace, value, entries, timestamp } = row;
  const head = [operatorId, uid ?? '', state, kind, subtask, keyGroup ?? '', cellOf(key), cellOf(namespace)];
  const line = (mapKey: string, text: string, access: number | undefined): string =>
    `${[...head, mapKey, text, timestamp ?? '', access ?? ''].map(csvCell).join(',')}\r\n`;
  if (!entries) return line('', value === undefined ? '' : textOf(value), lastAccessOf(row));
  return entries
    .map((entry) => line(textOf(entry.key), textOf(entry.value), lastAccessOf({ ...row, entries: [entry] })))
    .join('');
}

function cellOf(value: Row['key']): string {
  return value === undefined || value === null ? '' : textOf(value);
}

function csvCell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
