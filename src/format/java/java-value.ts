/**
 * What a Java object stream says, as plain data. Nothing is instantiated: an object is its class, as described in the
 * stream, and the values of its fields.
 *
 * The values form a graph, not always a tree: something that the stream refers to twice is the same JavaScript object, and
 * objects can contain themselves. Whoever walks it must bound the walk.
 */

/** A field of a class as the stream declares it. */
export interface JavaFieldDescriptor {
  readonly name: string;
  /** `B` byte, `C` char, `D` double, `F` float, `I` int, `J` long, `S` short, `Z` boolean, `L` object, `[` array. */
  readonly typeCode: string;
  /** The declared type of an object or array in JVM notation, e.g. `Ljava/lang/String;`; null for primitives. */
  readonly type: string | null;
}

/** A class as the stream describes it. */
export interface JavaClassDescriptor {
  readonly kind: 'class-descriptor';
  /** Binary name, e.g. `java.util.Map$Entry` or `[I`; null for a dynamic proxy class. */
  readonly name: string | null;
  /** 0 for enums and proxies. */
  readonly serialVersionUID: bigint;
  /** `SC_*` bits; 0 for proxies. */
  readonly flags: number;
  /** Primitives first, each group sorted by name. */
  readonly fields: readonly JavaFieldDescriptor[];
  /** The interfaces of a proxy class; empty for others. */
  readonly interfaces: readonly string[];
  /** What the writer's `annotateClass` added; normally empty. */
  readonly annotations: readonly JavaContent[];
  /** The nearest serializable superclass. */
  readonly superclass: JavaClassDescriptor | null;
}

/** The part of an object that one class of its hierarchy declares. */
export interface JavaClassData {
  readonly descriptor: JavaClassDescriptor;
  /** One value for each of `descriptor.fields`, in that order. */
  readonly values: readonly JavaValue[];
  /** What the `writeObject` or `writeExternal` method of the class added: objects, and primitives as block data. */
  readonly annotations: readonly JavaContent[];
}

/** An object that is neither a string, an enum constant, an array nor a class. */
export interface JavaObject {
  readonly kind: 'object';
  readonly descriptor: JavaClassDescriptor;
  /** Superclasses first. Classes without fields and without a write method are left out. */
  readonly classData: readonly JavaClassData[];
}

/** An enum constant. */
export interface JavaEnum {
  readonly kind: 'enum';
  readonly descriptor: JavaClassDescriptor;
  /** The name of the constant. */
  readonly constant: string;
}

/** An array of anything but bytes. */
export interface JavaArray {
  readonly kind: 'array';
  readonly descriptor: JavaClassDescriptor;
  readonly elements: readonly JavaValue[];
}

/** A `byte[]`. */
export interface JavaByteArray {
  readonly kind: 'byte-array';
  readonly descriptor: JavaClassDescriptor;
  /** A view of the input, not a copy. */
  readonly bytes: Uint8Array;
}

/** A `java.lang.Class`. */
export interface JavaClass {
  readonly kind: 'class';
  readonly descriptor: JavaClassDescriptor;
}

/** Primitives that a write method wrote, with no hint of their types. Adjacent blocks of the stream are joined. */
export interface JavaBlockData {
  readonly kind: 'block-data';
  /** A copy. */
  readonly bytes: Uint8Array;
}

/**
 * A value of a field or an array, or a whole object. byte, short, int, float and double are numbers, long is a bigint, char
 * is a string of one UTF-16 unit.
 */
export type JavaValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JavaObject
  | JavaEnum
  | JavaArray
  | JavaByteArray
  | JavaClass
  | JavaClassDescriptor;

/** What write methods add to an object. */
export type JavaContent = JavaValue | JavaBlockData;

/** True for an object, and not a string, enum constant, array or class. */
export function isJavaObject(value: JavaContent | undefined): value is JavaObject {
  return typeof value === 'object' && value !== null && value.kind === 'object';
}

/** True for an enum constant. */
export function isJavaEnum(value: JavaContent | undefined): value is JavaEnum {
  return typeof value === 'object' && value !== null && value.kind === 'enum';
}

/**
 * The value of a field. Where several classes of the hierarchy declare one of that name, the most derived class wins.
 * @returns undefined if none does
 */
export function javaField(object: JavaObject, name: string): JavaValue | undefined {
  for (let i = object.classData.length - 1; i >= 0; i--) {
    const data = object.classData[i];
    const index = data?.descriptor.fields.findIndex((field) => field.name === name) ?? -1;
    if (index >= 0) return data?.values[index];
  }
  return undefined;
}
