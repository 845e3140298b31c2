/**
 * Takes a metadata document apart while it comes in: operators and their subtasks one by one, everything else as whole
 * values. Keys may come in any order; what depends on the order is the consumer's.
 */
import { Tokenizer, TokenType } from '@streamparser/json';
import { InvalidDocumentError } from '../../errors.js';
import { DocumentNode } from './document-node.js';

/** Called in the order of the document. May throw: {@link parseDocument} stops and passes it on. */
export interface DocumentConsumer {
  /** A field of the document other than `operatorStates`. */
  rootField(name: string, node: DocumentNode): void;
  beginOperators(): void;
  beginOperator(path: string): void;
  /** A field of an operator other than `subtasks`. */
  operatorField(name: string, node: DocumentNode): void;
  subtask(node: DocumentNode): void;
  endOperator(): void;
}

type Container =
  | { kind: 'object'; value: Record<string, unknown>; key: string | undefined }
  | { kind: 'array'; value: unknown[] };

/** Deeper documents than any metadata makes are refused: they would only fill memory. */
const MAX_DEPTH = 512;

/** Builds one JSON value from tokens. `__proto__` is a key like any other; a key twice in one object is refused. */
class ValueAssembler {
  private readonly stack: Container[] = [];
  private done = false;
  value: unknown;

  /** @returns true when the value is complete */
  token(type: TokenType, value: unknown, refuse: (reason: string) => never): boolean {
    switch (type) {
      case TokenType.LEFT_BRACE:
        this.open({ kind: 'object', value: Object.create(null) as Record<string, unknown>, key: undefined }, refuse);
        break;
      case TokenType.LEFT_BRACKET:
        this.open({ kind: 'array', value: [] }, refuse);
        break;
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        this.close();
        break;
      case TokenType.COLON:
      case TokenType.COMMA:
      case TokenType.SEPARATOR:
        break;
      default:
        this.scalar(type, value, refuse);
    }
    return this.done;
  }

  private open(container: Container, refuse: (reason: string) => never): void {
    if (this.stack.length >= MAX_DEPTH) refuse(`more than ${MAX_DEPTH} levels`);
    this.stack.push(container);
  }

  private close(): void {
    const container = this.stack.pop();
    this.put(container?.value);
  }

  private scalar(type: TokenType, value: unknown, refuse: (reason: string) => never): void {
    const top = this.stack.at(-1);
    if (top?.kind === 'object' && top.key === undefined) {
      const key = String(value);
      if (key in top.value) refuse(`the key ${JSON.stringify(key)} occurs twice`);
      top.key = key;
      return;
    }
    if (type === TokenType.NUMBER && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      refuse('an integer beyond 2^53 must be a string, or it loses digits');
    }
    this.put(value);
  }

  private put(value: unknown): void {
    const top = this.stack.at(-1);
    if (!top) {
      this.value = value;
      this.done = true;
    } else if (top.kind === 'array') {
      top.value.push(value);
    } else if (top.key !== undefined) {
      top.value[top.key] = value;
      top.key = undefined;
    }
  }
}

/** What the next token is for. */
type Level = 'start' | 'root' | 'operators' | 'operator' | 'subtasks' | 'end';

class DocumentParser {
  private level: Level = 'start';
  private expect: 'key' | 'value' = 'key';
  private key = '';
  private operator = -1;
  private subtask = -1;
  private assembler: ValueAssembler | undefined;
  private structure = new StructureCheck();
  private readonly seenRoot = new Set<string>();
  private seenOperator = new Set<string>();

  constructor(private readonly consumer: DocumentConsumer) {}

  /** Where the parser is, for errors. */
  get path(): string {
    const operator = this.operator >= 0 ? `operatorStates[${this.operator}]` : 'operatorStates';
    switch (this.level) {
      case 'root':
        return this.key;
      case 'operators':
        return operator;
      case 'operator':
        return this.key === '' ? operator : `${operator}.${this.key}`;
      case 'subtasks':
        return `${operator}.subtasks[${Math.max(this.subtask, 0)}]`;
      default:
        return '';
    }
  }

  refuse(reason: string): never {
    throw new InvalidDocumentError(this.path, reason);
  }

  get complete(): boolean {
    return this.level === 'end';
  }

  token(type: TokenType, value: unknown): void {
    if (!this.structure.accept(type)) this.refuse('is not well-formed JSON');
    if (this.assembler) {
      if (!this.assembler.token(type, value, (reason) => this.refuse(reason))) return;
      const { value: whole } = this.assembler;
      this.assembler = undefined;
      this.deliver(whole);
      return;
    }
    switch (this.level) {
      case 'start':
        if (type !== TokenType.LEFT_BRACE) this.refuse('expected an object');
        this.level = 'root';
        this.expect = 'key';
        return;
      case 'root':
      case 'operator':
        this.inObject(type, value);
        return;
      case 'operators':
      case 'subtasks':
        this.inList(type, value);
        return;
      case 'end':
        this.refuse('has text behind its end');
    }
  }

  private inObject(type: TokenType, value: unknown): void {
    if (type === TokenType.COMMA) return;
    if (type === TokenType.RIGHT_BRACE) {
      this.leaveObject();
      return;
    }
    if (type === TokenType.COLON) {
      this.expect = 'value';
      return;
    }
    if (this.expect === 'key') {
      this.key = String(value);
      const seen = this.level === 'root' ? this.seenRoot : this.seenOperator;
      if (seen.has(this.key)) this.refuse('occurs twice');
      seen.add(this.key);
      return;
    }
    this.expect = 'key';
    const list = this.level === 'root' ? 'operatorStates' : 'subtasks';
    if (this.key === list && type === TokenType.LEFT_BRACKET) {
      this.enterList();
      return;
    }
    if (this.key === list) this.refuse('expected a list');
    this.startValue(type, value);
  }

  private enterList(): void {
    if (this.level === 'root') {
      this.level = 'operators';
      this.operator = -1;
      this.consumer.beginOperators();
    } else {
      this.level = 'subtasks';
      this.subtask = -1;
    }
  }

  private leaveObject(): void {
    if (this.level === 'root') {
      this.level = 'end';
    } else {
      this.key = '';
      this.consumer.endOperator();
      this.level = 'operators';
    }
  }

  private inList(type: TokenType, value: unknown): void {
    if (type === TokenType.COMMA) return;
    if (type === TokenType.RIGHT_BRACKET) {
      this.level = this.level === 'operators' ? 'root' : 'operator';
      return;
    }
    if (this.level === 'subtasks') {
      this.subtask++;
      this.startValue(type, value);
      return;
    }
    this.operator++;
    if (type !== TokenType.LEFT_BRACE) this.refuse('expected an object');
    this.level = 'operator';
    this.expect = 'key';
    this.key = '';
    this.seenOperator = new Set();
    this.consumer.beginOperator(`operatorStates[${this.operator}]`);
  }

  private startValue(type: TokenType, value: unknown): void {
    const assembler = new ValueAssembler();
    if (assembler.token(type, value, (reason) => this.refuse(reason))) this.deliver(assembler.value);
    else this.assembler = assembler;
  }

  private deliver(value: unknown): void {
    const node = DocumentNode.root(value, this.path);
    if (this.level === 'subtasks') this.consumer.subtask(node);
    else if (this.level === 'operator') this.consumer.operatorField(this.key, node);
    else this.consumer.rootField(this.key, node);
  }
}

/** Whether tokens follow each other as JSON has them: the tokenizer checks only each for itself. */
class StructureCheck {
  private readonly open: ('object' | 'array')[] = [];
  private state: 'value' | 'first-key' | 'key' | 'colon' | 'after' | 'first-item' | 'end' = 'value';

  accept(type: TokenType): boolean {
    switch (type) {
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        if (!this.takesValue()) return false;
        this.open.push(type === TokenType.LEFT_BRACE ? 'object' : 'array');
        this.state = type === TokenType.LEFT_BRACE ? 'first-key' : 'first-item';
        return true;
      case TokenType.RIGHT_BRACE:
        return (this.state === 'first-key' || this.state === 'after') && this.open.pop() === 'object' && this.leave();
      case TokenType.RIGHT_BRACKET:
        return (this.state === 'first-item' || this.state === 'after') && this.open.pop() === 'array' && this.leave();
      case TokenType.COLON:
        if (this.state !== 'colon') return false;
        this.state = 'value';
        return true;
      case TokenType.COMMA:
        if (this.state !== 'after') return false;
        this.state = this.open.at(-1) === 'object' ? 'key' : 'value';
        return true;
      case TokenType.STRING:
        if (this.state === 'first-key' || this.state === 'key') {
          this.state = 'colon';
          return true;
        }
        return this.takesValue() && this.leave();
      default:
        return this.takesValue() && this.leave();
    }
  }

  private takesValue(): boolean {
    return this.state === 'value' || this.state === 'first-item';
  }

  private leave(): true {
    this.state = this.open.length === 0 ? 'end' : 'after';
    return true;
  }
}

/**
 * The tokenizer decodes strings in pieces and takes a U+FEFF at the start of any piece for a byte order mark, which it drops.
 * It has no option for that, so its decoder is replaced.
 */
function keepByteOrderMarks(tokenizer: Tokenizer): void {
  const { bufferedString } = tokenizer as unknown as { bufferedString: { decoder: unknown } };
  bufferedString.decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
}

/**
 * Parses a document from pieces of its UTF-8 text.
 * @param onPause called between pieces, to let a slow consumer catch up
 * @throws InvalidDocumentError; what the consumer throws
 */
export async function parseDocument(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  consumer: DocumentConsumer,
  onPause: () => Promise<void> = async () => {},
): Promise<void> {
  const parser = new DocumentParser(consumer);
  const tokenizer = new Tokenizer();
  keepByteOrderMarks(tokenizer);
  // Errors are kept and thrown from here: the tokenizer would go on after its own.
  let failure: { readonly error: unknown } | undefined;
  tokenizer.onToken = ({ token, value }) => {
    if (failure) return;
    try {
      parser.token(token, value);
    } catch (error) {
      failure = { error };
    }
  };
  tokenizer.onError = (error) => {
    failure ??= { error: new InvalidDocumentError(parser.path, `is not JSON: ${error.message}`, { cause: error }) };
  };
  for await (const chunk of chunks) {
    tokenizer.write(chunk);
    if (failure) throw failure.error;
    await onPause();
  }
  if (!parser.complete) {
    throw new InvalidDocumentError(parser.path, 'the text ends in the middle of the document');
  }
}
