/**
 * Writes Java object streams, as far as {@link writeCheckpointProperties} needs them: the bytes are those of
 * `java.io.ObjectOutputStream`.
 */
import { encodeModifiedUtf8, MAX_UTF_BYTES } from '../../bytes/modified-utf8.js';
import {
  BASE_HANDLE,
  SC_ENUM,
  SC_SERIALIZABLE,
  STREAM_MAGIC,
  STREAM_VERSION,
  TC_CLASSDESC,
  TC_ENDBLOCKDATA,
  TC_ENUM,
  TC_LONGSTRING,
  TC_NULL,
  TC_OBJECT,
  TC_REFERENCE,
  TC_STRING,
} from './stream-constants.js';

/** A field of an object to be written: a boolean, a string, an enum constant or another object. */
export type WritableField =
  | { readonly name: string; readonly kind: 'boolean'; readonly value: boolean }
  | { readonly name: string; readonly kind: 'string'; readonly value: string }
  | { readonly name: string; readonly kind: 'enum'; readonly enumName: string; readonly value: string }
  | { readonly name: string; readonly kind: 'object'; readonly type: string; readonly value: WritableObject };

/** An object of a class without a serializable superclass and without a write method. */
export interface WritableObject {
  readonly className: string;
  readonly serialVersionUID: bigint;
  /** In Java's order: booleans first, then the others, each group sorted by name. */
  readonly fields: readonly WritableField[];
}

/** The stream that holds one object, or null. */
export function writeJavaObject(object: WritableObject | null): Uint8Array {
  const writer = new JavaObjectWriter();
  writer.writeHeader();
  if (object === null) writer.writeNull();
  else writer.writeObject(object);
  return writer.toBytes();
}

class JavaObjectWriter {
  private readonly bytes: number[] = [];
  private handles = 0;
  private readonly classHandles = new Map<string, number>();
  /** Type strings refer to an earlier one. Names of enum constants never do, and the strings of fields are all distinct. */
  private readonly typeHandles = new Map<string, number>();

  toBytes(): Uint8Array {
    return Uint8Array.from(this.bytes);
  }

  writeHeader(): void {
    this.writeU16(STREAM_MAGIC);
    this.writeU16(STREAM_VERSION);
  }

  writeNull(): void {
    this.bytes.push(TC_NULL);
  }

  writeObject(object: WritableObject): void {
    this.bytes.push(TC_OBJECT);
    this.writeClass(object);
    this.handles++;
    for (const field of object.fields) this.writeValue(field);
  }

  private writeClass(object: WritableObject): void {
    if (this.writeReference(this.classHandles, object.className)) return;
    this.startClass(object.className, object.serialVersionUID, SC_SERIALIZABLE, object.fields.length);
    for (const field of object.fields) {
      this.bytes.push(field.kind === 'boolean' ? 0x5a : 0x4c);
      this.writeUtf(field.name);
      if (field.kind === 'boolean') continue;
      const type = jvmType(field);
      if (!this.writeReference(this.typeHandles, type)) this.writeString(type);
    }
    this.bytes.push(TC_ENDBLOCKDATA);
    this.writeNull();
  }

  private writeEnumClass(name: string): void {
    if (this.writeReference(this.classHandles, name)) return;
    this.startClass(name, 0n, SC_SERIALIZABLE | SC_ENUM, 0);
    this.bytes.push(TC_ENDBLOCKDATA);
    if (this.writeReference(this.classHandles, 'java.lang.Enum')) return;
    this.startClass('java.lang.Enum', 0n, SC_SERIALIZABLE | SC_ENUM, 0);
    this.bytes.push(TC_ENDBLOCKDATA);
    this.writeNull();
  }

  private startClass(name: string, serialVersionUID: bigint, flags: number, fields: number): void {
    this.bytes.push(TC_CLASSDESC);
    this.handles++;
    this.writeUtf(name);
    this.writeU64(serialVersionUID);
    this.bytes.push(flags);
    this.writeU16(fields);
  }

  private writeValue(field: WritableField): void {
    switch (field.kind) {
      case 'boolean':
        this.bytes.push(field.value ? 1 : 0);
        return;
      case 'string':
        this.writeString(field.value);
        return;
      case 'enum':
        this.bytes.push(TC_ENUM);
        this.writeEnumClass(field.enumName);
        this.handles++;
        this.writeString(field.value);
        return;
      case 'object':
        this.writeObject(field.value);
        return;
    }
  }

  /** Writes a reference to what has this name, or else notes that the caller writes it next. */
  private writeReference(known: Map<string, number>, name: string): boolean {
    const handle = known.get(name);
    if (handle === undefined) {
      known.set(name, this.handles);
      return false;
    }
    this.bytes.push(TC_REFERENCE);
    const number = BASE_HANDLE + handle;
    this.writeU16(number >>> 16);
    this.writeU16(number & 0xffff);
    return true;
  }

  private writeString(text: string): void {
    this.handles++;
    const encoded = encodeModifiedUtf8(text);
    if (encoded.length > MAX_UTF_BYTES) {
      this.bytes.push(TC_LONGSTRING);
      this.writeU64(BigInt(encoded.length));
    } else {
      this.bytes.push(TC_STRING);
      this.writeU16(encoded.length);
    }
    for (const byte of encoded) this.bytes.push(byte);
  }

  private writeUtf(text: string): void {
    const encoded = encodeModifiedUtf8(text);
    this.writeU16(encoded.length);
    for (const byte of encoded) this.bytes.push(byte);
  }

  private writeU16(value: number): void {
    this.bytes.push((value >> 8) & 0xff, value & 0xff);
  }

  private writeU64(value: bigint): void {
    for (let shift = 56n; shift >= 0n; shift -= 8n) this.bytes.push(Number((value >> shift) & 0xffn));
  }
}

function jvmType(field: Exclude<WritableField, { readonly kind: 'boolean' }>): string {
  if (field.kind === 'string') return 'Ljava/lang/String;';
  return `L${(field.kind === 'enum' ? field.enumName : field.type).replaceAll('.', '/')};`;
}
