/** Enums, POJOs and `Row`. Origin: Flink `EnumSerializer`, `PojoSerializer`, `RowSerializer`. */
import { type ByteReader, Utf8Slice } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { readBoolean } from './collections.js';
import { fieldsOf } from './composites.js';
import { makeSerializer } from './derived.js';
import { type TypeDescription, typeText } from './type-description.js';
import { failToWrite, type StateValue, UndecodableValueError, type ValueSerializer } from './value-serializer.js';

/** A constant by its number among the names of the snapshot. */
export function enumSerializer(javaClass: string, constants: readonly string[]): ValueSerializer {
  const description: TypeDescription = { kind: 'enum', javaClass, constants };
  const type = typeText(description);
  return makeSerializer({
    type,
    description,
    length: 4,
    read(reader) {
      const at = reader.offset;
      const index = reader.readI32('number of an enum constant');
      return constants[index] ?? reader.fail(`a constant of ${javaClass} (below ${constants.length})`, `${index}`, at);
    },
    skip: (reader) => void reader.take(4, type),
    unhashable: 'Java hashes an enum constant by its identity',
    write(value, writer) {
      const index = typeof value === 'string' ? constants.indexOf(value) : -1;
      if (index < 0) return false;
      writer.writeI32(index);
      return true;
    },
  });
}

/** Sets a field whatever its name: that of the prototype is no exception. */
export function setField(object: Record<string, StateValue>, name: string, value: StateValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

const POJO_NULL = 1;
const POJO_EXACT = 2;
const POJO_SUBCLASS = 4;
const POJO_REGISTERED_SUBCLASS = 8;

/** A field of a POJO with its serializer. */
export interface PojoFieldSerializer {
  readonly name: string;
  readonly declaringClass: string | undefined;
  readonly serializer: ValueSerializer;
}

/** A subclass with its serializer. */
export interface PojoSubclass {
  readonly javaClass: string;
  readonly serializer: ValueSerializer;
}

/** What a snapshot says of a POJO. */
export interface PojoParts {
  readonly javaClass: string;
  /** In the order of the bytes. */
  readonly fields: readonly PojoFieldSerializer[];
  /** In the order of their tags. */
  readonly registered: readonly PojoSubclass[];
  readonly others: readonly PojoSubclass[];
}

/** See the file comment. One object for each POJO type. */
class PojoValues implements ValueSerializer {
  readonly type: string;
  readonly description: TypeDescription;
  readonly length = undefined;
  readonly undecodable: string | undefined;
  readonly unhashable: string;
  readonly unwritable: string | undefined;
  private readonly utf = new Utf8Slice();
  private readonly others: ReadonlyMap<string, ValueSerializer>;

  constructor(private readonly parts: PojoParts) {
    const { javaClass, fields, registered, others } = parts;
    const subclasses = [...registered, ...others];
    this.description = {
      kind: 'pojo',
      javaClass,
      fields: fields.map(({ name, declaringClass, serializer }) => ({
        name,
        declaringClass,
        type: serializer.description,
      })),
      subclasses: subclasses.map(({ javaClass: name, serializer }) => ({
        javaClass: name,
        type: serializer.description,
      })),
    };
    this.type = typeText(this.description);
    const all = [...fields, ...subclasses].map(({ serializer }) => serializer);
    this.undecodable = all.find(({ undecodable }) => undecodable !== undefined)?.undecodable;
    this.unhashable = `only ${javaClass} knows its hash codes`;
    this.unwritable = fields.find(({ serializer }) => serializer.unwritable !== undefined)?.serializer.unwritable;
    this.others = new Map(subclasses.map(({ javaClass: name, serializer }) => [name, serializer]));
  }

  read(reader: ByteReader, end?: number): StateValue {
    const flags = this.readFlags(reader);
    if ((flags & POJO_NULL) !== 0) return null;
    if ((flags & POJO_EXACT) !== 0) return this.readFields(reader, end);
    const start = reader.position;
    const at = reader.offset;
    const subclass = this.readSubclass(reader, flags);
    if (subclass.serializer === undefined) {
      if (end === undefined) throw new UndecodableValueError(at, subclass.javaClass);
      if (end < start) reader.fail(`a value of ${subclass.javaClass}`, 'the end of what holds it');
      const from = reader.position;
      reader.take(end - from, subclass.javaClass);
      return opaqueSubclass(subclass.javaClass, reader.buffer.toString('base64', from, end));
    }
    const value = subclass.serializer.read(reader, end);
    const fields = fieldsOf(value);
    if (fields === undefined) return value;
    return '@class' in fields || '@opaque' in fields ? fields : { '@class': subclass.javaClass, ...fields };
  }

  private readFields(reader: ByteReader, end: number | undefined): StateValue {
    const { fields } = this.parts;
    const object: Record<string, StateValue> = {};
    const last = fields.length - 1;
    for (let i = 0; i <= last; i++) {
      const { name, serializer } = fields[i] as PojoFieldSerializer;
      const isNull = readBoolean(reader, 'whether a field is null');
      setField(object, name, isNull ? null : serializer.read(reader, i === last ? end : undefined));
    }
    return object;
  }

  private readFlags(reader: ByteReader): number {
    const flags = reader.readU8('flags of a POJO');
    const known = flags & (POJO_NULL | POJO_EXACT | POJO_SUBCLASS | POJO_REGISTERED_SUBCLASS);
    if (known === 0 || known !== flags) reader.fail('flags of a POJO', `${flags}`, reader.offset - 1);
    return flags;
  }

  private readSubclass(reader: ByteReader, flags: number): Partial<PojoSubclass> & { readonly javaClass: string } {
    if ((flags & POJO_SUBCLASS) !== 0) {
      reader.readUtf('class of a POJO', this.utf);
      const javaClass = this.utf.text();
      const serializer = this.others.get(javaClass);
      return serializer === undefined ? { javaClass } : { javaClass, serializer };
    }
    const at = reader.offset;
    const tag = reader.readU8('tag of a registered subclass');
    const { registered } = this.parts;
    return registered[tag] ?? reader.fail(`tag of a subclass (below ${registered.length})`, `${tag}`, at);
  }

  skip(reader: ByteReader, end?: number): void {
    const flags = this.readFlags(reader);
    if ((flags & POJO_NULL) !== 0) return;
    if ((flags & POJO_EXACT) === 0) {
      reader.position--;
      this.read(reader, end);
      return;
    }
    const { fields } = this.parts;
    const last = fields.length - 1;
    for (let i = 0; i <= last; i++) {
      if (readBoolean(reader, 'whether a field is null')) continue;
      (fields[i] as PojoFieldSerializer).serializer.skip(reader, i === last ? end : undefined);
    }
  }

  hash(): never {
    throw new Error(`no hash code of ${this.type}: ${this.unhashable}`);
  }

  write(value: StateValue, writer: ByteWriter): void {
    if (value === null) {
      writer.writeI8(POJO_NULL);
      return;
    }
    const object = fieldsOf(value);
    const { fields } = this.parts;
    if (object === undefined || '@class' in object || Object.keys(object).some((name) => !this.has(name))) {
      failToWrite(this.type, value);
    }
    writer.writeI8(POJO_EXACT);
    for (const { name, serializer } of fields) {
      const field = object[name] ?? null;
      writer.writeI8(field === null ? 1 : 0);
      if (field !== null) serializer.write(field, writer);
    }
  }

  private has(name: string): boolean {
    return this.parts.fields.some((field) => field.name === name);
  }
}

function opaqueSubclass(javaClass: string, bytes: string): StateValue {
  return { '@class': javaClass, '@opaque': javaClass, serializer: 'PojoSerializer', bytes };
}

/** A POJO: an object with its fields; a subclass also tells `@class`. */
export function pojoSerializer(parts: PojoParts): ValueSerializer {
  return new PojoValues(parts);
}

const ROW_KINDS = ['+I', '-U', '+U', '-D'] as const;

/** `RowKind.shortString` of `RowKind.toByteValue`. */
export function rowKindText(kind: number): string | undefined {
  return ROW_KINDS[kind];
}

/** The number of a row kind by its short text; an object without one is an insertion. */
export function rowKindOf(value: StateValue | undefined): number {
  return value === undefined ? 0 : (ROW_KINDS as readonly StateValue[]).indexOf(value);
}

/** The fields of `{kind, fields}`, or of an array; undefined if it is neither, or of another length. */
export function rowParts(
  value: StateValue,
  length: number,
): { readonly kind: number; readonly fields: readonly StateValue[] } | undefined {
  const object = fieldsOf(value);
  const fields = object?.fields ?? value;
  const kind = rowKindOf(object?.kind);
  return Array.isArray(fields) && fields.length === length && kind >= 0 ? { kind, fields } : undefined;
}

/**
 * `Row`: a bit for each field that is null, then the others; as `{kind, fields}`.
 * @param withKind the bits begin with two that tell the kind of change
 */
export function rowSerializer(parts: readonly ValueSerializer[], withKind: boolean): ValueSerializer {
  const description: TypeDescription = { kind: 'row', parts: parts.map((part) => part.description) };
  const offset = withKind ? 2 : 0;
  const maskBytes = (offset + parts.length + 7) >> 3;
  const unhashable = unhashableRow(parts);
  const unwritable = parts.find((part) => part.unwritable !== undefined)?.unwritable;
  const bit = (reader: ByteReader, mask: number, at: number): boolean =>
    (((reader.buffer[mask + (at >> 3)] as number) << (at & 7)) & 0x80) !== 0;
  const kindIn = (reader: ByteReader, mask: number): number =>
    withKind ? (bit(reader, mask, 0) ? 1 : 0) + (bit(reader, mask, 1) ? 2 : 0) : 0;
  return makeSerializer({
    type: typeText(description),
    description,
    undecodable: parts.find((part) => part.undecodable !== undefined)?.undecodable,
    read(reader, end) {
      const mask = reader.take(maskBytes, 'null mask of a row');
      const fields: StateValue[] = [];
      for (const [i, part] of parts.entries()) {
        const last = i === parts.length - 1 ? end : undefined;
        fields.push(bit(reader, mask, offset + i) ? null : part.read(reader, last));
      }
      return { kind: ROW_KINDS[kindIn(reader, mask)] ?? '+I', fields };
    },
    skip(reader, end) {
      const mask = reader.take(maskBytes, 'null mask of a row');
      for (let i = 0; i < parts.length; i++) {
        if (bit(reader, mask, offset + i)) continue;
        (parts[i] as ValueSerializer).skip(reader, i === parts.length - 1 ? end : undefined);
      }
    },
    ...(unhashable === undefined
      ? {
          /** `RowUtils.deepHashCodeRow`: each field is hashed as an array of one. */
          hash(reader: ByteReader) {
            const mask = reader.take(maskBytes, 'null mask of a row');
            let hash = 1;
            for (const [i, part] of parts.entries()) {
              const code = bit(reader, mask, offset + i) ? 0 : 31 + part.hash(reader);
              hash = (Math.imul(31, hash) + code) | 0;
            }
            return (Math.imul(31, kindIn(reader, mask)) + hash) | 0;
          },
        }
      : { unhashable }),
    ...(unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            const row = rowParts(value, parts.length);
            if (row === undefined) return false;
            const mask = new Uint8Array(maskBytes);
            const set = (at: number): void => {
              mask[at >> 3] = (mask[at >> 3] as number) | (0x80 >> (at & 7));
            };
            if (withKind && (row.kind & 1) !== 0) set(0);
            if (withKind && (row.kind & 2) !== 0) set(1);
            for (const [i, field] of row.fields.entries()) if (field === null) set(offset + i);
            writer.writeBytes(mask);
            for (const [i, part] of parts.entries()) {
              const field = row.fields[i] ?? null;
              if (field !== null) part.write(field, writer);
            }
            return true;
          },
        }
      : { unwritable }),
  });
}

/** The kinds of types that `RowUtils` hashes by their own hash code. */
const HASHED_ALONE: ReadonlySet<TypeDescription['kind']> = new Set(['basic', 'tuple', 'row']);

/** Why a row cannot be hashed. */
function unhashableRow(parts: readonly ValueSerializer[]): string | undefined {
  for (const { type, description, unhashable } of parts) {
    if (unhashable !== undefined) return unhashable;
    if (!HASHED_ALONE.has(description.kind)) return `Flink hashes a ${type} within a Row by its elements`;
  }
  return undefined;
}
