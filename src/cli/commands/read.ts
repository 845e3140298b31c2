import { UsageError } from '../../errors.js';
import { ContentsDocument } from '../../operations/state/contents-document.js';
import { keyQuery } from '../../operations/state/key-query.js';
import type { KeyRow } from '../../operations/state/key-rows.js';
import { CSV_HEADER, csvLinesOf, type Expiry, jsonLineOf } from '../../operations/state/lines.js';
import type { OperatorPieces } from '../../operations/state/operators.js';
import { type ReadHandlers, type ReadRequest, type ReadResult, readState } from '../../operations/state/read-state.js';
import { keyText, rowText } from '../../operations/state/row-text.js';
import type { Row } from '../../operations/state/rows.js';
import type { Context } from '../context.js';
import { Exit } from '../exit-code.js';
import { openPointer } from '../open-pointer.js';
import type { LatestOptions } from '../pointer-options.js';
import type { Run } from '../spec.js';

interface Options extends LatestOptions {
  readonly key?: string;
  readonly keyPrefix?: string;
  readonly whereKey?: string;
  readonly namespace?: string;
  readonly limit?: number;
  readonly keysOnly?: true;
  readonly count?: true;
  readonly csv?: true;
  readonly byKey?: true;
  /** Milliseconds. */
  readonly ttl?: number;
}

const SHOWN_WARNINGS = 20;

/** Where rows go: handlers for what comes, and what to do when all has come. */
interface RowOutput {
  readonly handlers: ReadHandlers;
  finish(result: ReadResult): Promise<void>;
  close?(): Promise<void>;
}

/** Runs `ckpt read`. */
export const run: Run<Options> = async (context, [given = '', operator, state], options) => {
  if (options.csv && (context.json || context.jsonl))
    throw new UsageError('--csv goes with neither --json nor --jsonl');
  if (options.byKey && operator === undefined) throw new UsageError('--by-key is about one operator: name it');
  const request: ReadRequest = {
    operator,
    state,
    query: keyQuery(options),
    mode: options.count ? 'count' : options.keysOnly ? 'keys' : 'values',
    limit: options.limit,
    byKey: options.byKey,
  };
  const { fileSystems, pointer, source } = await openPointer(context, given, options);
  const output = await outputOf(context, options, operator !== undefined);
  try {
    const { directory, metadataPath } = pointer;
    const input = { source, directory, metadataPath };
    const result = await readState(fileSystems, input, request, output.handlers, context.signal);
    await output.finish(result);
    tell(context, result);
    return result.undecoded.length > 0 || result.unread.length > 0 ? Exit.No : Exit.Ok;
  } finally {
    await output.close?.();
    await source.close();
  }
};

async function outputOf(context: Context, options: Options, isSingle: boolean): Promise<RowOutput> {
  const expiry = options.ttl === undefined ? undefined : { timeToLive: options.ttl, now: context.clock.now() };
  if (options.byKey) return keysOutput(context);
  if (options.count) return countOutput(context);
  if (options.csv) return csvOutput(context);
  if (context.jsonl) return linesOutput(context, expiry);
  if (context.json) return documentOutput(context, isSingle);
  return tableOutput(context, expiry);
}

function countOutput(context: Context): RowOutput {
  return {
    handlers: {},
    async finish(result) {
      const { counts, entries, undecoded, unread, scanned } = result;
      const document = { ...result, states: counts, entries, undecoded, unread, scanned };
      if (context.jsonl) await context.stream.jsonLines(counts);
      else if (context.json) {
        await context.emit({ states: counts, entries, undecoded, unread, scanned }, () => '');
      } else {
        const { renderCounts } = await import('../../report/read.js');
        await context.emit(document, renderCounts);
      }
    },
  };
}

function documentOutput(context: Context, isSingle: boolean): RowOutput {
  const document = new ContentsDocument((text) => context.stream.write(text), { isSingle });
  return { handlers: document, finish: (result) => document.end(result), close: () => document.close() };
}

/** Keys with their states as columns. */
async function keysOutput(context: Context): Promise<RowOutput> {
  const report = await import('../../report/read.js');
  const view = await context.view();
  const names: string[] = [];
  let keys = 0;
  let waiting: KeyRow[] = [];
  const flush = async (): Promise<void> => {
    const rows = waiting;
    waiting = [];
    await context.stream.write(report.renderKeys(rows.map(keyText), names, view));
  };
  return {
    handlers: {
      state({ name }) {
        names.push(name);
      },
      async beginOperator({ operatorId, uid, name }) {
        if (context.json) {
          const identity = JSON.stringify({ operatorId, uid }).slice(0, -1);
          await context.stream.write(`${identity},"keys":[`);
        } else if (!context.jsonl)
          await context.stream.write(report.renderOperatorTitle({ operatorId, uid, name }, view));
      },
      async keys(rows, { operatorId, uid }) {
        if (context.jsonl) await context.stream.jsonLines(rows.map((row) => ({ operatorId, uid, ...row })));
        else if (context.json) {
          const text = rows.map((row) => JSON.stringify(row)).join(',');
          await context.stream.write(keys > 0 ? `,${text}` : text);
        } else {
          waiting.push(...rows);
          if (waiting.length >= report.TABLE_ROWS) await flush();
        }
        keys += rows.length;
      },
    },
    async finish(result) {
      const { undecoded, unread, scanned, more } = result;
      if (context.json) {
        await context.stream.write(`],${JSON.stringify({ undecoded, unread, scanned, more }).slice(1)}\n`);
      } else if (!context.jsonl) {
        await flush();
        await context.stream.write(report.renderReadEnd(result, view, 'key'));
      } else if (more > 0) context.info(`${more} more keys`);
    },
  };
}

function linesOutput(context: Context, expiry: Expiry | undefined): RowOutput {
  return {
    handlers: {
      async rows(rows, operator) {
        await context.stream.write(rows.map((row) => jsonLineOf(row, operator, expiry)).join(''));
      },
    },
    async finish({ more }) {
      if (more > 0) context.info(`${more} more entries`);
    },
  };
}

function csvOutput(context: Context): RowOutput {
  let isBegun = false;
  const begin = async (): Promise<void> => {
    if (!isBegun) await context.stream.write(CSV_HEADER);
    isBegun = true;
  };
  return {
    handlers: {
      async rows(rows, operator) {
        await begin();
        await context.stream.write(rows.map((row) => csvLinesOf(row, operator)).join(''));
      },
    },
    async finish({ more }) {
      await begin();
      if (more > 0) context.info(`${more} more entries`);
    },
  };
}

async function tableOutput(context: Context, expiry: Expiry | undefined): Promise<RowOutput> {
  const report = await import('../../report/read.js');
  const view = await context.view();
  let waiting: Row[] = [];
  let titled: OperatorPieces | undefined;
  const flush = async (operator: OperatorPieces): Promise<void> => {
    if (waiting.length === 0) return;
    const rows = waiting;
    waiting = [];
    if (titled !== operator) {
      const title = report.renderOperatorTitle(operator, view);
      await context.stream.write(titled ? `\n${title}` : title);
      titled = operator;
    }
    await context.stream.write(
      report.renderRows(
        rows.map((row) => rowText(row, expiry)),
        view,
      ),
    );
  };
  return {
    handlers: {
      async rows(rows, operator) {
        for (const row of rows) {
          waiting.push(row);
          if (waiting.length >= report.TABLE_ROWS) await flush(operator);
        }
      },
      endOperator: flush,
    },
    async finish(result) {
      await context.stream.write(report.renderReadEnd(result, view));
    },
  };
}

/** What is not among the rows. */
function tell(context: Context, { undecoded, unread, scanned }: ReadResult): void {
  for (const { operatorId, reason } of scanned) {
    context.info(`all key groups of operator ${operatorId} were read for the key: ${reason}`);
  }
  const warnings = [
    ...undecoded.map(({ operatorId, state, entries, reason }) => {
      const count = entries === null ? 'an unknown number of entries' : `${entries} entries`;
      return `${count} of state ${state} of operator ${operatorId} could not be decoded: ${reason}`;
    }),
    ...unread.map(
      ({ operatorId, subtask, reason }) =>
        `state of operator ${operatorId}, subtask ${subtask}, could not be read: ${reason}`,
    ),
  ];
  const shown = context.verbose ? warnings : warnings.slice(0, SHOWN_WARNINGS);
  for (const warning of shown) context.warn(warning);
  if (shown.length < warnings.length) context.warn(`${warnings.length - shown.length} more; --verbose tells all`);
}
