/** Writes a metadata file out of the document that `dump` prints: byte for byte the same file, streamed. */
import { InvalidDocumentError, UnwritableMetadataError } from '../errors.js';
import { Spool } from '../filesystem/spool.js';
import { MetadataEncoder } from '../format/metadata/metadata-encoder.js';
import { AMBIGUOUS_VERSION } from '../format/metadata/read.js';
import { Since } from '../format/metadata/tags.js';
import type { MetadataLayout, SubtaskEntry } from '../model/checkpoint-metadata.js';
import { DocumentNode } from './document/document-node.js';
import { type DocumentConsumer, parseDocument } from './document/document-stream.js';
import { wireNode } from './document/handle-from-document.js';
import {
  layoutFromDocument,
  masterStateFromDocument,
  operatorFromDocument,
  propertiesFromDocument,
  ROOT_FIELDS,
  subtaskFromDocument,
} from './document/metadata-from-document.js';

/** Where the file goes: appended to, with corrections of earlier bytes. An `AtomicWriter` is one. */
export interface PatchableSink {
  write(chunk: Uint8Array): Promise<void>;
  patch(position: number, bytes: Uint8Array): Promise<void>;
}

/** What was written. */
export interface AssembleResult {
  readonly bytes: number;
  readonly version: number;
  readonly operators: number;
  readonly subtasks: number;
}

/** Bytes of subtasks encoded before they are put aside. */
const SPOOL_STEP = 256 * 1024;

/**
 * See the file comment. Memory is bounded as long as `version` (and for version 3 `wire`) stand before `operatorStates`, as
 * `dump` prints them; in another order the operators are held in memory until it is known how to write them.
 *
 * @param chunks the UTF-8 text
 * @param sink receives the file; nothing in it is complete before this resolves
 * @throws InvalidDocumentError for what is no such document or contradicts itself, UnwritableMetadataError for what the
 *   format cannot hold; the errors of `chunks` and `sink`
 */
export async function assembleMetadata(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  sink: PatchableSink,
): Promise<AssembleResult> {
  const assembler = new Assembler(sink);
  try {
    await parseDocument(chunks, assembler, () => assembler.work());
    return await assembler.finish();
  } finally {
    await assembler.close();
  }
}

/** What an operator's fields and subtasks turn into, in the order of the document. */
type Task =
  | { readonly kind: 'operator'; readonly path: string }
  | { readonly kind: 'field'; readonly name: string; readonly node: DocumentNode }
  | { readonly kind: 'subtask'; readonly node: DocumentNode }
  | { readonly kind: 'end' };

class Assembler implements DocumentConsumer {
  private readonly root: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  private readonly encoder = new MetadataEncoder();
  /** Encodes subtasks apart: what comes in front of them may stand behind them in the document. */
  private readonly body = new MetadataEncoder();
  private readonly spool = new Spool();
  private tasks: Task[] = [];
  private started = false;
  private sawOperators = false;
  private version = 0;
  private layout: MetadataLayout = 'current';
  private operators = 0;
  private subtasks = 0;
  private operatorPath = '';
  private fields: Record<string, unknown> = {};
  /** Index of each subtask of the operator, and where its bytes end in the spool. */
  private indexes: number[] = [];
  private ends: number[] = [];

  constructor(private readonly sink: PatchableSink) {}

  // ---------------------------------------------------------------- what the parser reports

  rootField(name: string, node: DocumentNode): void {
    if (!ROOT_FIELDS.has(name)) node.refuse('this field is not known');
    this.root[name] = node.value;
  }

  beginOperators(): void {
    this.sawOperators = true;
    const { version, wire, checkpointId, masterStates } = this.root;
    const known = version !== undefined && checkpointId !== undefined && masterStates !== undefined;
    if (known && (version !== AMBIGUOUS_VERSION || wire !== undefined)) this.start();
  }

  beginOperator(path: string): void {
    this.tasks.push({ kind: 'operator', path });
  }

  operatorField(name: string, node: DocumentNode): void {
    this.tasks.push({ kind: 'field', name, node });
  }

  subtask(node: DocumentNode): void {
    this.tasks.push({ kind: 'subtask', node });
  }

  endOperator(): void {
    this.tasks.push({ kind: 'end' });
  }

  // ---------------------------------------------------------------- the writing

  private rootNode(name: string): DocumentNode {
    return DocumentNode.root(this.root[name], name);
  }

  private wire(): DocumentNode | undefined {
    return wireNode(DocumentNode.root(this.root), 'layout', 'properties', 'trailingBytes');
  }

  private start(): void {
    this.started = true;
    this.version = this.rootNode('version').int32();
    this.layout = layoutFromDocument(this.wire());
    const header = { version: this.version, layout: this.layout };
    this.encoder.header({ ...header, checkpointId: this.rootNode('checkpointId').int64() });
    this.encoder.masterStates(this.rootNode('masterStates').list(masterStateFromDocument));
    this.encoder.operators(undefined);
    this.body.prepare(header);
  }

  /** Does what can be done of what has been reported. */
  async work(): Promise<void> {
    if (!this.started) return;
    const { tasks } = this;
    this.tasks = [];
    for (const task of tasks) {
      if (task.kind === 'operator') this.openOperator(task.path);
      else if (task.kind === 'field') this.fields[task.name] = task.node.value;
      else if (task.kind === 'subtask') await this.encodeSubtask(task.node);
      else await this.closeOperator();
    }
    await this.flush();
  }

  private openOperator(path: string): void {
    this.operatorPath = path;
    this.fields = Object.create(null) as Record<string, unknown>;
    this.indexes = [];
    this.ends = [];
    this.spool.clear();
  }

  private async encodeSubtask(node: DocumentNode): Promise<void> {
    const entry = subtaskFromDocument(node);
    try {
      this.body.encodeSubtask(entry);
    } catch (error) {
      // Encoded apart, it does not know to which operator it belongs.
      if (error instanceof UnwritableMetadataError) throw new UnwritableMetadataError(node.path, error.data.reason);
      throw error;
    }
    this.indexes.push(entry.index);
    this.ends.push(this.spool.size + this.body.out.pending);
    if (this.body.out.pending > SPOOL_STEP) await this.spool.append(this.body.out.drain());
  }

  private async closeOperator(): Promise<void> {
    const { encoder, body, spool } = this;
    const node = DocumentNode.root(this.fields, this.operatorPath);
    const { head, overwritten } = operatorFromDocument(node);
    if (body.out.pending > 0) await spool.append(body.out.drain());
    encoder.beginOperator(head);
    const last = new Map(this.indexes.map((index, position) => [index, position]));
    this.checkNoRepetition(last);
    if (overwritten.size === 0) {
      for (const index of this.indexes) encoder.countSubtask(index);
      await this.copy(0, spool.size);
    } else {
      await this.interleave(overwritten, last, node.at('wire').at('overwrittenSubtasks'));
    }
    encoder.endOperator();
    this.operators++;
    this.subtasks += this.indexes.length + overwritten.size;
  }

  private checkNoRepetition(last: ReadonlyMap<number, number>): void {
    if (last.size === this.indexes.length) return;
    const position = this.indexes.findIndex((index, at) => last.get(index) !== at);
    throw new InvalidDocumentError(
      `${this.operatorPath}.subtasks[${position}].index`,
      `${this.indexes[position]} occurs again below: Flink keeps the last one, so the other belongs into wire.overwrittenSubtasks`,
    );
  }

  /** Puts the entries that Flink does not see back between the others. */
  private async interleave(
    overwritten: ReadonlyMap<number, SubtaskEntry>,
    last: ReadonlyMap<number, number>,
    wire: DocumentNode,
  ): Promise<void> {
    let next = 0;
    const total = this.indexes.length + overwritten.size;
    for (let position = 0; position < total; position++) {
      const hidden = overwritten.get(position);
      if (hidden) {
        if ((last.get(hidden.index) ?? -1) < next)
          wire.refuse(`no visible subtask ${hidden.index} follows position ${position}`);
        this.encoder.subtask(hidden);
      } else if (next < this.indexes.length) {
        this.encoder.countSubtask(this.indexes[next] ?? 0);
        await this.copy(next === 0 ? 0 : (this.ends[next - 1] ?? 0), this.ends[next] ?? 0);
        next++;
      } else {
        wire.refuse('a position is beyond the number of subtasks');
      }
    }
  }

  private async copy(start: number, end: number): Promise<void> {
    for await (const bytes of this.spool.read(start, end)) {
      this.encoder.out.writeBytes(bytes);
      if (this.encoder.out.pending > SPOOL_STEP) await this.flush();
    }
  }

  private async flush(): Promise<void> {
    if (this.encoder.out.pending > 0) await this.sink.write(this.encoder.out.drain());
  }

  /** Writes what is left. */
  async finish(): Promise<AssembleResult> {
    if (!this.sawOperators) throw new InvalidDocumentError('operatorStates', 'expected a list, found nothing');
    if (!this.started) this.start();
    await this.work();
    const { encoder } = this;
    encoder.operatorsEnd();
    const wire = this.wire();
    if (layoutFromDocument(wire) !== this.layout) wire?.at('layout').refuse(`version ${this.version} has one layout`);
    const block = propertiesFromDocument(this.rootNode('properties'), wire, this.version);
    encoder.properties(this.version >= Since.properties ? block : null);
    const trailing = wire?.at('trailingBytes').optional((node) => node.bytes());
    if (trailing) encoder.trailing(trailing);
    await this.flush();
    for (const { position, bytes } of encoder.out.patches) await this.sink.patch(position, bytes);
    return { bytes: encoder.out.position, version: this.version, operators: this.operators, subtasks: this.subtasks };
  }

  async close(): Promise<void> {
    await this.spool.close();
  }
}
