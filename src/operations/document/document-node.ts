/** A value of a document together with where it stands: reads it as what it must be, or says where it is not. */
import { InvalidDocumentError } from '../../errors.js';

const DECIMAL = /^-?(?:0|[1-9][0-9]*)$/;
const I32_MIN = -(2 ** 31);
const I32_MAX = 2 ** 31 - 1;
const SHOWN = 40;

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** See the file comment. All methods throw InvalidDocumentError. */
export class DocumentNode {
  constructor(
    readonly value: unknown,
    private readonly parent: DocumentNode | undefined,
    private readonly step: string,
  ) {}

  /** The value at the top. */
  static root(value: unknown, path = ''): DocumentNode {
    return new DocumentNode(value, undefined, path);
  }

  /** E.g. `operatorStates[3].uid`. */
  get path(): string {
    const above = this.parent?.path ?? '';
    return above !== '' && this.step !== '' && !this.step.startsWith('[') ? `${above}.${this.step}` : above + this.step;
  }

  refuse(reason: string): never {
    throw new InvalidDocumentError(this.path, reason);
  }

  private expect(what: string): never {
    this.refuse(`expected ${what}, found ${describe(this.value)}`);
  }

  /** Checks that this is an object with no other keys than these. */
  object(keys: ReadonlySet<string>): this {
    for (const key of Object.keys(this.record())) if (!keys.has(key)) this.at(key).refuse('this field is not known');
    return this;
  }

  private record(): Record<string, unknown> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.expect('an object');
    return value as Record<string, unknown>;
  }

  /** The keys of an object whose keys are data. */
  keys(): string[] {
    return Object.keys(this.record());
  }

  /** A field; its value is undefined if it is not there. */
  at(name: string): DocumentNode {
    const record = this.record();
    return new DocumentNode(Object.hasOwn(record, name) ? record[name] : undefined, this, name);
  }

  get missing(): boolean {
    return this.value === undefined;
  }

  /** What `read` makes of it, or null if it is null. */
  nullable<T>(read: (node: DocumentNode) => T): T | null {
    return this.value === null ? null : read(this);
  }

  /** What `read` makes of it, or undefined if it is not there. */
  optional<T>(read: (node: DocumentNode) => T): T | undefined {
    return this.missing ? undefined : read(this);
  }

  list<T>(read: (node: DocumentNode) => T): T[] {
    if (!Array.isArray(this.value)) this.expect('a list');
    return (this.value as unknown[]).map((item, index) => read(new DocumentNode(item, this, `[${index}]`)));
  }

  /** A list of at most one. */
  single<T>(read: (node: DocumentNode) => T): T | null {
    const items = this.list((node) => node);
    if (items.length > 1) this.refuse(`${items.length} handles where the format has room for one`);
    return items[0] ? read(items[0]) : null;
  }

  string(): string {
    if (typeof this.value !== 'string') this.expect('a string');
    return this.value;
  }

  boolean(): boolean {
    if (typeof this.value !== 'boolean') this.expect('true or false');
    return this.value;
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    return (
      choices.find((choice) => choice === this.value) ?? this.expect(choices.map((c) => JSON.stringify(c)).join(' or '))
    );
  }

  int32(): number {
    const { value } = this;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < I32_MIN || value > I32_MAX) {
      return this.expect('a 32-bit integer');
    }
    return value;
  }

  /** An integer, or its digits as a string beyond what a double holds. */
  int64(): bigint {
    const { value } = this;
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value === 'number' && Number.isInteger(value)) this.expect('a string for an integer beyond 2^53');
    if (typeof value !== 'string' || !DECIMAL.test(value)) this.expect('an integer');
    const integer = BigInt(value as string);
    return BigInt.asIntN(64, integer) === integer ? integer : this.expect('a 64-bit integer');
  }

  int64s(): BigInt64Array {
    return BigInt64Array.from(this.list((node) => node.int64()));
  }

  bytes(): Uint8Array {
    const text = this.string();
    const bytes = Buffer.from(text, 'base64');
    // Node skips what is no base64. A regular expression would overflow its stack on megabytes.
    if (bytes.toString('base64') !== text) this.expect('base64');
    return new Uint8Array(bytes);
  }
}
