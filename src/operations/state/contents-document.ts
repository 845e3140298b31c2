/**
 * The document of `ckpt read --json`: state by state, as the contents documents of the corpus have it. Files hold the states of
 * a key group side by side, so what comes of each is put aside until its operator is done: in memory, then on disk.
 */
import { Spool } from '../../filesystem/spool.js';
import type { OperatorPieces } from './operators.js';
import type { ReadHandlers, ReadResult, ReadStateHead } from './read-state.js';
import type { Row } from './rows.js';

/** Of each state. */
const MEMORY_BYTES = 2 * 1024 * 1024;
/** Union lists and broadcast states up to this many bytes are sorted. */
const SORTED_BYTES = 8 * 1024 * 1024;

/** Takes text; await it. */
export type WriteText = (text: string | Uint8Array) => Promise<void>;

/** Options of {@link ContentsDocument}. */
export interface ContentsDocumentOptions {
  /** The document is that of one operator alone. */
  readonly isSingle: boolean;
}

/** Writes the document while state is read: nothing before the first operator is done. */
export class ContentsDocument implements ReadHandlers {
  private states: StateText[] = [];
  private operators = 0;
  private isBegun = false;
  private empty: string | undefined;

  constructor(
    private readonly write: WriteText,
    private readonly options: ContentsDocumentOptions,
  ) {}

  private async begin(): Promise<void> {
    if (this.isBegun) return;
    this.isBegun = true;
    await this.write(this.options.isSingle ? '{' : '{"operators":[');
  }

  beginOperator(): void {
    this.states = [];
  }

  state(head: ReadStateHead): void {
    this.states.push(new StateText(head));
  }

  async list(name: string, subtask: number): Promise<void> {
    await this.find(name)?.beginList(subtask);
  }

  async rows(rows: readonly Row[]): Promise<void> {
    for (const row of rows) await this.find(row.state, row.keyGroup === null ? 'operator' : 'keyed')?.add(row);
  }

  private find(name: string, section: ReadStateHead['section'] = 'operator'): StateText | undefined {
    return this.states.find(({ head }) => head.name === name && head.section === section);
  }

  async endOperator({ operatorId, uid }: OperatorPieces): Promise<void> {
    const { isSingle } = this.options;
    const identity = `"operatorId":${JSON.stringify(operatorId)},"uid":${JSON.stringify(uid)}`;
    if (this.states.length === 0) {
      // An operator without state is not there, unless it is all there is to be.
      this.empty = identity;
      return;
    }
    await this.begin();
    await this.write(isSingle ? identity : `${this.operators > 0 ? ',' : ''}{${identity}`);
    for (const section of ['keyed', 'operator'] as const) {
      const states = this.states.filter(({ head }) => head.section === section);
      if (states.length === 0) continue;
      await this.write(`,"${section}State":{`);
      for (const [index, state] of states.entries()) {
        if (index > 0) await this.write(',');
        await state.writeTo(this.write);
      }
      await this.write('}');
    }
    if (!isSingle) await this.write('}');
    this.operators++;
    await this.close();
  }

  /** Writes the end. */
  async end({ undecoded, unread, more, scanned }: ReadResult): Promise<void> {
    await this.begin();
    const { isSingle } = this.options;
    if (!isSingle) await this.write(']');
    else if (this.operators === 0 && this.empty !== undefined) await this.write(this.empty);
    await this.write(`,"undecoded":${JSON.stringify(undecoded)}`);
    await this.write(`,"unread":${JSON.stringify(unread)}`);
    if (more > 0) await this.write(`,"more":${more}`);
    if (scanned.length > 0) await this.write(`,"scanned":${JSON.stringify(scanned)}`);
    await this.write('}\n');
  }

  /** Frees what was put aside. Idempotent. */
  async close(): Promise<void> {
    for (const state of this.states) await state.close();
    this.states = [];
  }
}

/** What has come of one state. */
class StateText {
  private readonly spool = new Spool(MEMORY_BYTES);
  private text: string[] = [];
  private length = 0;
  private isFirst = true;
  private lists = 0;
  /** Elements that are sorted at the end; undefined once there were too many. */
  private sorted: { readonly sortKey: string; readonly text: string }[] | undefined;
  private sortedBytes = 0;

  constructor(readonly head: ReadStateHead) {
    if (head.kind === 'union-list' || head.kind === 'broadcast') this.sorted = [];
  }

  /** Another subtask begins. */
  async beginList(_subtask: number): Promise<void> {
    if (this.head.kind !== 'split-list') return;
    await this.put(this.lists++ === 0 ? '[' : '],[');
    this.isFirst = true;
  }

  async add(row: Row): Promise<void> {
    if (this.sorted !== undefined) {
      const text = rowJson(row);
      this.sorted.push({ sortKey: JSON.stringify(row.key) ?? text, text });
      this.sortedBytes += text.length;
      if (this.sortedBytes > SORTED_BYTES) await this.unsort(this.sorted);
      return;
    }
    const continues = row.part === 'middle' || row.part === 'last';
    if (!continues) {
      if (!this.isFirst) await this.put(',');
      this.isFirst = false;
    }
    await this.put(rowJson(row));
  }

  private async unsort(elements: readonly { readonly text: string }[]): Promise<void> {
    this.sorted = undefined;
    for (const { text } of elements) {
      await this.put(this.isFirst ? text : `,${text}`);
      this.isFirst = false;
    }
  }

  private async put(text: string): Promise<void> {
    this.text.push(text);
    this.length += text.length;
    if (this.length > 65536) await this.flush();
  }

  private async flush(): Promise<void> {
    await this.spool.append(Buffer.from(this.text.join('')));
    this.text = [];
    this.length = 0;
  }

  async writeTo(write: WriteText): Promise<void> {
    const { name, kind } = this.head;
    if (this.sorted) {
      const elements = this.sorted;
      elements.sort((a, b) => (a.sortKey < b.sortKey ? -1 : a.sortKey > b.sortKey ? 1 : 0));
      await this.unsort(elements);
    }
    const field = kind === 'split-list' ? 'subtasks' : kind === 'union-list' ? 'elements' : 'entries';
    await write(`${JSON.stringify(name)}:{"kind":${JSON.stringify(kind)},"${field}":[`);
    await this.flush();
    for await (const piece of this.spool.read(0, this.spool.size)) await write(piece);
    await write(this.lists > 0 ? ']]}' : ']}');
  }

  async close(): Promise<void> {
    await this.spool.close();
  }
}

/** An entry as the document has it; of a large map the piece that it is. */
export function rowJson(row: Row, entriesName: 'entries' | 'value' = 'entries'): string {
  const { kind, keyGroup, key, namespace, value, entries, timestamp, part } = row;
  if (kind === 'split-list' || kind === 'union-list') return JSON.stringify(value ?? null);
  if (kind === 'broadcast') return JSON.stringify({ key, value });
  if (entries === undefined) return JSON.stringify({ keyGroup, key, namespace, value, timestamp });
  const inside = JSON.stringify(entries).slice(1, -1);
  const head = `${JSON.stringify({ keyGroup, key, namespace }).slice(0, -1)},"${entriesName}":[`;
  switch (part) {
    case undefined:
      return `${head}${inside}]}`;
    case 'first':
      return `${head}${inside}`;
    case 'middle':
      return `,${inside}`;
    default:
      return inside === '' ? ']}' : `,${inside}]}`;
  }
}
