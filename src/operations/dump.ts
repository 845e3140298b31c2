/** The whole of a metadata file as one JSON document, streamed. */
import type { RangedBytes } from '../bytes/byte-reader.js';
import type { Path } from '../filesystem/path.js';
import { type ModelConsumer, ModelVisitor } from '../format/metadata/model-visitor.js';
import { AMBIGUOUS_VERSION, visitMetadata } from '../format/metadata/read.js';
import type { MasterState, OperatorHead, SubtaskEntry } from '../model/checkpoint-metadata.js';
import { HandleDocuments } from './document/handle-to-document.js';
import { jsonText, lineBreak } from './document/json-text.js';
import {
  masterStateDocument,
  type OverwrittenSubtask,
  operatorDocument,
  subtaskDocument,
} from './document/metadata-to-document.js';
import { propertiesParts } from './document/properties-document.js';
import { type DocumentObject, type DocumentValue, int64 } from './document/values.js';
import { operatorSizes, SizeSummaryVisitor } from './size-summary.js';

/** A metadata file that was opened. */
export interface DumpInput {
  readonly source: RangedBytes;
  /** Names the file in errors. */
  readonly location: string;
  /** As the document shows it: the directory, qualified. */
  readonly externalPointer: string;
  /** What relative handles are relative to. */
  readonly directory: Path;
}

/** Options of {@link dumpMetadata}. */
export interface DumpOptions {
  /** Indent the document. */
  readonly pretty?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Takes the next piece of text; the dump waits for it. */
export type TextSink = (text: string) => Promise<void>;

const PIECE = 256 * 1024;
const TRAILING_STEP = 3 * 256 * 1024;

/** Something to print that the decoder has reported. */
type Item =
  | { readonly kind: 'master'; readonly state: MasterState }
  | { readonly kind: 'operators' }
  | { readonly kind: 'operator'; readonly head: OperatorHead }
  | { readonly kind: 'subtask'; readonly entry: SubtaskEntry }
  | { readonly kind: 'operatorEnd' };

/**
 * Prints the document: the fields of real Flink's own loader, named and nested as its classes are, and in `wire` what exact
 * writing needs beyond them. The file is read twice: the first pass finds out sizes and whether it is sound, so nothing is
 * printed of a file that is not.
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError; the errors of `source` and `write`
 */
export async function dumpMetadata(input: DumpInput, write: TextSink, options: DumpOptions = {}): Promise<void> {
  const { source, location } = input;
  const { signal } = options;
  const summary = new SizeSummaryVisitor();
  await visitMetadata(source, location, summary, { signal });
  const hidden = await loadOverwritten(input, summary, signal);
  const printer = new DumpPrinter(input, summary, hidden, write, options.pretty === true);
  const queue = new ItemQueue();
  await visitMetadata(source, location, new ModelVisitor(queue), {
    signal,
    onPause: async () => {
      for (const item of queue.take()) await printer.print(item);
    },
  });
  await printer.end();
}

class ItemQueue implements ModelConsumer {
  private items: Item[] = [];

  take(): Item[] {
    const { items } = this;
    this.items = [];
    return items;
  }

  masterState(state: MasterState): void {
    this.items.push({ kind: 'master', state });
  }
  operatorCount(): void {
    this.items.push({ kind: 'operators' });
  }
  beginOperator(head: OperatorHead): void {
    this.items.push({ kind: 'operator', head });
  }
  subtask(entry: SubtaskEntry): void {
    this.items.push({ kind: 'subtask', entry });
  }
  endOperator(): void {
    this.items.push({ kind: 'operatorEnd' });
  }
}

/** Reads the subtask entries that later ones replace: by operator, in the order of the file. Mostly there are none. */
async function loadOverwritten(
  input: DumpInput,
  summary: SizeSummaryVisitor,
  signal: AbortSignal | undefined,
): Promise<Map<number, OverwrittenSubtask[]>> {
  const found = new Map<number, OverwrittenSubtask[]>();
  if (summary.operators.every((operator) => operator.overwritten.length === 0)) return found;
  let operator = -1;
  let position = 0;
  let wanted = new Set<number>();
  const consumer: ModelConsumer = {
    beginOperator() {
      operator++;
      position = 0;
      wanted = new Set(summary.operators[operator]?.overwritten);
    },
    subtask(entry) {
      if (wanted.has(position)) found.set(operator, [...(found.get(operator) ?? []), { position, entry }]);
      position++;
    },
  };
  await visitMetadata(input.source, input.location, new ModelVisitor(consumer), { signal });
  return found;
}

/** Turns items into text: the frame of the document by hand, what is inside by the printers. */
class DumpPrinter {
  private text = '';
  private firstOfList = true;
  private operator = -1;
  private position = 0;
  private wanted = new Set<number>();

  constructor(
    private readonly input: DumpInput,
    private readonly summary: SizeSummaryVisitor,
    private readonly hidden: ReadonlyMap<number, readonly OverwrittenSubtask[]>,
    private readonly write: TextSink,
    private readonly pretty: boolean,
  ) {
    this.begin();
  }

  private begin(): void {
    const { metadata, propertiesBlock } = this.summary;
    this.text = '{';
    this.field('externalPointer', this.input.externalPointer, 1, '');
    this.field('version', metadata.version, 1);
    this.field('checkpointId', int64(metadata.checkpointId), 1);
    this.field('properties', propertiesParts(propertiesBlock).properties, 1);
    this.openList('masterStates', 1);
  }

  async print(item: Item): Promise<void> {
    switch (item.kind) {
      case 'master': {
        const documents = new HandleDocuments(this.input.directory);
        await this.listItem(masterStateDocument(item.state, documents), documents.values.long, 2);
        break;
      }
      case 'operators':
        await this.rest();
        break;
      case 'operator':
        await this.beginOperator(item.head);
        break;
      case 'subtask':
        if (!this.wanted.has(this.position++)) {
          const documents = new HandleDocuments(this.input.directory);
          await this.listItem(subtaskDocument(item.entry, documents), documents.values.long, 4);
        }
        break;
      case 'operatorEnd':
        this.closeList(3);
        this.text += `${lineBreak({ pretty: this.pretty }, 2)}}`;
        this.firstOfList = false;
        break;
    }
    if (this.text.length > PIECE) await this.flush();
  }

  /** Everything between the master states and the operators. */
  private async rest(): Promise<void> {
    this.closeList(1);
    const { operators, metadata, propertiesBlock, trailingBytes } = this.summary;
    const sizes = operators.map(operatorSizes);
    const total = (pick: 'stateSize' | 'checkpointedSize'): bigint =>
      BigInt.asIntN(
        64,
        sizes.reduce((sum, size) => sum + size[pick], 0n),
      );
    this.field('stateSize', int64(total('stateSize')), 1);
    this.field('checkpointedSize', int64(total('checkpointedSize')), 1);
    const wire: { [key: string]: DocumentValue } = {};
    // Said even where it is the usual one: under this version number nothing else tells.
    if (metadata.version === AMBIGUOUS_VERSION) wire.layout = metadata.layout;
    const block = propertiesParts(propertiesBlock).wire;
    if (block) wire.properties = Buffer.from(block).toString('base64');
    if (trailingBytes > 0) await this.trailingWire(wire);
    else if (Object.keys(wire).length > 0) this.field('wire', wire, 1);
    this.openList('operatorStates', 1);
  }

  /** The `wire` of the document with the bytes after the end, which may be many. */
  private async trailingWire(wire: { [key: string]: DocumentValue }): Promise<void> {
    const { source } = this.input;
    const options = { pretty: this.pretty };
    this.text += `,${this.key('wire', 1)}{`;
    let separator = '';
    for (const [key, value] of Object.entries(wire)) {
      this.field(key, value, 2, separator);
      separator = ',';
    }
    this.text += `${separator}${this.key('trailingBytes', 2)}"`;
    for (let at = source.size - this.summary.trailingBytes; at < source.size; at += TRAILING_STEP) {
      const bytes = Buffer.alloc(Math.min(TRAILING_STEP, source.size - at));
      await source.readInto(bytes, 0, at, at + bytes.length);
      this.text += bytes.toString('base64');
      await this.flush();
    }
    this.text += `"${lineBreak(options, 1)}}`;
  }

  private async beginOperator(head: OperatorHead): Promise<void> {
    this.operator++;
    this.position = 0;
    const summary = this.summary.operators[this.operator];
    if (!summary) throw new Error('the file changed between two passes');
    this.wanted = new Set(summary.overwritten);
    const documents = new HandleDocuments(this.input.directory);
    const document = operatorDocument(head, summary, this.hidden.get(this.operator) ?? [], documents);
    this.text += `${this.firstOfList ? '' : ','}${lineBreak({ pretty: this.pretty }, 2)}{`;
    let separator = '';
    for (const [key, value] of Object.entries(document)) {
      this.text += `${separator}${this.key(key, 3)}`;
      await this.value(value, documents.values.long, 3);
      separator = ',';
    }
    this.openList('subtasks', 3);
  }

  /** The rest of the document. */
  async end(): Promise<void> {
    this.closeList(1);
    this.text += `${lineBreak({ pretty: this.pretty }, 0)}}\n`;
    await this.flush();
  }

  private key(key: string, depth: number): string {
    return `${lineBreak({ pretty: this.pretty }, depth)}${JSON.stringify(key)}:${this.pretty ? ' ' : ''}`;
  }

  private field(key: string, value: DocumentValue, depth: number, separator = ','): void {
    this.text += `${separator}${this.key(key, depth)}`;
    for (const piece of jsonText(value, { pretty: this.pretty, depth })) this.text += piece;
  }

  private openList(key: string, depth: number): void {
    this.text += `,${this.key(key, depth)}[`;
    this.firstOfList = true;
  }

  private closeList(depth: number): void {
    this.text += `${this.firstOfList ? '' : lineBreak({ pretty: this.pretty }, depth)}]`;
  }

  private async listItem(item: DocumentObject, long: boolean, depth: number): Promise<void> {
    this.text += `${this.firstOfList ? '' : ','}${lineBreak({ pretty: this.pretty }, depth)}`;
    this.firstOfList = false;
    await this.value(item, long, depth);
  }

  /** What holds no long arrays goes the fast way. */
  private async value(value: DocumentValue, long: boolean, depth: number): Promise<void> {
    if (!long && !this.pretty) {
      this.text += JSON.stringify(value);
      return;
    }
    for (const piece of jsonText(value, { pretty: this.pretty, depth })) {
      this.text += piece;
      if (this.text.length > PIECE) await this.flush();
    }
  }

  private async flush(): Promise<void> {
    const { text } = this;
    this.text = '';
    await this.write(text);
  }
}
