/**
 * Reads Java object streams (Java Object Serialization Specification, chapter 6) without knowing any of the classes.
 * `_metadata` files end in one, and Flink keeps SQL types, TTL settings and high-availability pointers in this form.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type {
  JavaArray,
  JavaByteArray,
  JavaClassData,
  JavaClassDescriptor,
  JavaContent,
  JavaEnum,
  JavaFieldDescriptor,
  JavaObject,
  JavaValue,
} from './java-value.js';
import {
  SC_BLOCK_DATA,
  SC_EXTERNALIZABLE,
  SC_WRITE_METHOD,
  STREAM_MAGIC,
  STREAM_VERSION,
  TC_ARRAY,
  TC_BLOCKDATA,
  TC_BLOCKDATALONG,
  TC_CLASS,
  TC_CLASSDESC,
  TC_ENDBLOCKDATA,
  TC_ENUM,
  TC_LONGSTRING,
  TC_NULL,
  TC_OBJECT,
  TC_PROXYCLASSDESC,
  TC_REFERENCE,
  TC_RESET,
  TC_STRING,
} from './stream-constants.js';
import { describeTag, isReferenceType, quote, StreamInput, VALUE_BYTES } from './stream-input.js';

/** The first object of a stream, and where it ends. */
export interface JavaObjectStream {
  readonly value: JavaValue;
  /** Index of the first byte after the object. */
  readonly end: number;
}

/**
 * Deepest nesting of objects, arrays and class descriptors that is read; deeper input is refused. The reader is recursive:
 * Node's stack of about 1 MB holds more than three times as many levels.
 */
export const MAX_JAVA_NESTING = 500;

/** The shortest field: type code, length of an empty name. */
const MIN_FIELD_BYTES = 3;

/** Most classes and objects have no annotations. */
const NOTHING: readonly never[] = [];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The classes of a hierarchy that have bytes in each object, from the most derived one up; null if none has. Kept apart from
 * the descriptors so that a hostile tower of empty classes costs nothing for each object.
 */
type Layout = { readonly descriptor: JavaClassDescriptor; readonly above: Layout; readonly size: number } | null;

/**
 * Reads the first object of the stream that starts at `start`, with its header. Takes time and memory in proportion to the
 * bytes read, whatever they are. `byte[]` values are views of `bytes`.
 *
 * A class with a `writeObject` method that does not write its fields first cannot be told from one that does; Java's own
 * reader fails on such classes too where it does not have them.
 *
 * @throws ByteFormatError (offset relative to `bytes`) if this is no object stream, ends early, nests deeper than
 * {@link MAX_JAVA_NESTING}, has more than a million parts, or holds an externalizable object of protocol version 1, which has
 * no recognizable end
 */
export function readJavaObject(bytes: Uint8Array, start = 0): JavaObjectStream {
  return new JavaObjectStreamReader(new StreamInput(bytes, start)).read();
}

class JavaObjectStreamReader {
  /** The class descriptors that have been read to their end. Others cannot be used yet. */
  private readonly layouts = new Map<JavaClassDescriptor, Layout>();
  private readonly reader: ByteReader;

  constructor(private readonly input: StreamInput) {
    this.reader = input.reader;
  }

  read(): JavaObjectStream {
    this.expectNumber(STREAM_MAGIC, 'the magic number 0xaced of a Java object stream');
    this.expectNumber(STREAM_VERSION, 'the version 5 of a Java object stream');
    // A reset forgets all handles. Java writes and accepts it between two objects only, and here nothing precedes it.
    while (this.input.peek('a Java object') === TC_RESET) this.reader.position++;
    const value = this.readValue(0);
    return { value, end: this.reader.position };
  }

  private expectNumber(expected: number, reading: string): void {
    const offset = this.reader.offset;
    const found = this.input.readU16(reading);
    if (found !== expected) this.reader.fail(reading, `0x${found.toString(16).padStart(4, '0')}`, offset);
  }

  private readValue(depth: number): JavaValue {
    const { reader } = this;
    const offset = reader.offset;
    if (depth > MAX_JAVA_NESTING) this.failDepth();
    const tag = reader.readU8('a Java object');
    switch (tag) {
      case TC_NULL:
        return null;
      case TC_REFERENCE:
        return this.input.readReference('a reference to an object');
      case TC_STRING:
      case TC_LONGSTRING:
        return this.input.readNewString(tag);
      case TC_OBJECT:
        return this.readNewObject(depth);
      case TC_ENUM:
        return this.readNewEnum(depth);
      case TC_ARRAY:
        return this.readNewArray(depth);
      case TC_CLASS: {
        const descriptor = this.readClassOf('a class', depth);
        return this.input.register({ kind: 'class', descriptor });
      }
      case TC_CLASSDESC:
      case TC_PROXYCLASSDESC:
        return this.readNewClassDescriptor(tag, depth);
      default:
        return reader.fail('a Java object', describeTag(tag), offset);
    }
  }

  private failDepth(): never {
    return this.reader.fail('a Java object', `nesting deeper than ${MAX_JAVA_NESTING} levels`);
  }

  /** The class of something, which cannot be absent. */
  private readClassOf(reading: string, depth: number): JavaClassDescriptor {
    const offset = this.reader.offset;
    return this.readClassDescriptor(depth + 1) ?? this.reader.fail(reading, 'none', offset);
  }

  private readClassDescriptor(depth: number): JavaClassDescriptor | null {
    const reading = 'a class descriptor';
    if (depth > MAX_JAVA_NESTING) this.failDepth();
    const offset = this.reader.offset;
    const tag = this.reader.readU8(reading);
    if (tag === TC_NULL) return null;
    if (tag === TC_CLASSDESC || tag === TC_PROXYCLASSDESC) return this.readNewClassDescriptor(tag, depth);
    if (tag !== TC_REFERENCE) return this.reader.fail(reading, describeTag(tag), offset);
    const value = this.input.readReference(reading);
    if (typeof value === 'string' || value.kind !== 'class-descriptor') {
      return this.reader.fail(reading, 'a reference to something else', offset);
    }
    if (!this.layouts.has(value)) this.reader.fail(reading, 'a reference to one that is not complete yet', offset);
    return value;
  }

  private readNewClassDescriptor(tag: number, depth: number): JavaClassDescriptor {
    const isProxy = tag === TC_PROXYCLASSDESC;
    const descriptor: Mutable<JavaClassDescriptor> = {
      kind: 'class-descriptor',
      name: isProxy ? null : this.input.readUtf('a class name'),
      serialVersionUID: isProxy ? 0n : this.reader.readBigInt64('a serialVersionUID'),
      flags: 0,
      fields: NOTHING,
      interfaces: NOTHING,
      annotations: NOTHING,
      superclass: null,
    };
    this.input.register(descriptor);
    if (isProxy) {
      descriptor.interfaces = this.readInterfaces();
    } else {
      descriptor.flags = this.reader.readU8('the flags of a class');
      descriptor.fields = this.readFieldDescriptors();
    }
    descriptor.annotations = this.readAnnotations(depth);
    descriptor.superclass = this.readClassDescriptor(depth + 1);
    this.layouts.set(descriptor, this.layoutOf(descriptor));
    return descriptor;
  }

  private layoutOf(descriptor: JavaClassDescriptor): Layout {
    const { superclass } = descriptor;
    const above = superclass === null ? null : (this.layouts.get(superclass) ?? null);
    if (descriptor.fields.length === 0 && (descriptor.flags & SC_WRITE_METHOD) === 0) return above;
    return { descriptor, above, size: (above?.size ?? 0) + 1 };
  }

  private readInterfaces(): readonly string[] {
    const count = this.reader.readCount('the number of interfaces of a proxy class', 2);
    const names: string[] = [];
    for (let i = 0; i < count; i++) names.push(this.input.readUtf('an interface name'));
    return names;
  }

  private readFieldDescriptors(): readonly JavaFieldDescriptor[] {
    const { reader } = this;
    const start = reader.offset;
    const count = this.input.readU16('the number of fields of a class');
    if (count * MIN_FIELD_BYTES > reader.remaining) {
      reader.fail('the number of fields of a class', `${count} where ${reader.remaining} bytes remain`, start);
    }
    if (count === 0) return NOTHING;
    const fields: JavaFieldDescriptor[] = [];
    let objects = false;
    for (let i = 0; i < count; i++) {
      const offset = reader.offset;
      const typeCode = String.fromCharCode(reader.readU8('the type of a field'));
      const isObject = isReferenceType(typeCode);
      if (VALUE_BYTES[typeCode] === undefined) reader.fail('the type of a field', quote(typeCode), offset);
      if (objects && !isObject) reader.fail('a field of an object type', 'a primitive after it', offset);
      objects = isObject;
      const name = this.input.readUtf('the name of a field');
      fields.push({ name, typeCode, type: isObject ? this.input.readString('the type of a field') : null });
    }
    return fields;
  }

  /** Everything up to the end mark, which is consumed. */
  private readAnnotations(depth: number): readonly JavaContent[] {
    let contents: JavaContent[] | undefined;
    for (;;) {
      const tag = this.input.peek('a Java object or the end of an annotation');
      if (tag === TC_ENDBLOCKDATA) {
        this.reader.position++;
        return contents ?? NOTHING;
      }
      contents ??= [];
      if (tag === TC_BLOCKDATA || tag === TC_BLOCKDATALONG) {
        const bytes = this.input.readBlocks();
        if (bytes.length > 0) contents.push({ kind: 'block-data', bytes });
      } else {
        contents.push(this.readValue(depth + 1));
      }
    }
  }

  private readNewObject(depth: number): JavaObject {
    const offset = this.reader.offset;
    const descriptor = this.readClassOf('the class of an object', depth);
    const object: Mutable<JavaObject> = { kind: 'object', descriptor, classData: NOTHING };
    this.input.register(object);
    if ((descriptor.flags & SC_EXTERNALIZABLE) !== 0) {
      if ((descriptor.flags & SC_BLOCK_DATA) === 0) {
        this.reader.fail('an object with a recognizable end', 'an externalizable one of protocol version 1', offset);
      }
      object.classData = [{ descriptor, values: NOTHING, annotations: this.readAnnotations(depth) }];
      return object;
    }
    const classData: JavaClassData[] = [];
    object.classData = classData;
    for (const owner of this.classesWithData(descriptor)) {
      const values: JavaValue[] = [];
      for (const { typeCode } of owner.fields) {
        values.push(isReferenceType(typeCode) ? this.readValue(depth + 1) : this.input.readPrimitive(typeCode));
      }
      const hasMore = (owner.flags & SC_WRITE_METHOD) !== 0;
      classData.push({ descriptor: owner, values, annotations: hasMore ? this.readAnnotations(depth) : NOTHING });
    }
    return object;
  }

  /** Superclasses first. */
  private classesWithData(descriptor: JavaClassDescriptor): readonly JavaClassDescriptor[] {
    const { reader } = this;
    const layout = this.layouts.get(descriptor) ?? null;
    if (layout === null) return NOTHING;
    if (layout.size > reader.remaining) {
      reader.fail('the fields of an object', `${layout.size} classes where ${reader.remaining} bytes remain`);
    }
    const descriptors: JavaClassDescriptor[] = [];
    for (let at: Layout = layout; at !== null; at = at.above) descriptors.push(at.descriptor);
    return descriptors.reverse();
  }

  private readNewEnum(depth: number): JavaEnum {
    const descriptor = this.readClassOf('the class of an enum constant', depth);
    const value: Mutable<JavaEnum> = { kind: 'enum', descriptor, constant: '' };
    // Takes its number before its name does.
    this.input.register(value);
    value.constant = this.input.readString('the name of an enum constant');
    return value;
  }

  private readNewArray(depth: number): JavaArray | JavaByteArray {
    const { reader } = this;
    const offset = reader.offset;
    const descriptor = this.readClassOf('the class of an array', depth);
    const typeCode = descriptor.name?.[0] === '[' ? descriptor.name[1] : undefined;
    const size = typeCode === undefined ? undefined : VALUE_BYTES[typeCode];
    if (typeCode === undefined || size === undefined) {
      return reader.fail('the class of an array', quote(descriptor.name ?? 'a proxy class'), offset);
    }
    if (typeCode === 'B') {
      const bytes: Mutable<JavaByteArray> = { kind: 'byte-array', descriptor, bytes: this.input.bytes.subarray(0, 0) };
      this.input.register(bytes);
      const start = reader.take(reader.readCount('the length of an array', 1), 'the bytes of an array');
      bytes.bytes = this.input.bytes.subarray(start, reader.position);
      return bytes;
    }
    const elements: JavaValue[] = [];
    const array = this.input.register<JavaArray>({ kind: 'array', descriptor, elements });
    const count = reader.readCount('the length of an array', size);
    const isReference = isReferenceType(typeCode);
    for (let i = 0; i < count; i++) {
      elements.push(isReference ? this.readValue(depth + 1) : this.input.readPrimitive(typeCode));
    }
    return array;
  }
}
