/** Lists that Java's object streams hold, and numbers and texts of objects. */
import {
  isJavaEnum,
  isJavaObject,
  type JavaContent,
  type JavaObject,
  type JavaValue,
  javaField,
} from '../../java/java-value.js';

/** Wrappers inside each other: unmodifiable lists of unmodifiable lists. */
const MAX_WRAPPERS = 10;

/** The elements of a list of any of the usual classes; undefined if it is something else. */
export function javaList(value: JavaValue | undefined): readonly JavaValue[] | undefined {
  let list = value;
  for (let depth = 0; depth < MAX_WRAPPERS; depth++) {
    if (!isJavaObject(list)) return undefined;
    const inner = javaField(list, 'list') ?? javaField(list, 'c');
    if (inner === undefined || inner === null) return elementsOf(list);
    list = inner;
  }
  return undefined;
}

function elementsOf(list: JavaObject): readonly JavaValue[] | undefined {
  const single = javaField(list, 'element');
  if (single !== undefined) return [single];
  const array = javaField(list, 'a');
  if (typeof array === 'object' && array?.kind === 'array') return array.elements;
  const annotations = list.classData.flatMap((data) => data.annotations);
  const values = annotations.filter(isValue);
  // Lists write their size or capacity before the elements; other classes write other things.
  return annotations.length > values.length || list.classData.length > 0 ? values : undefined;
}

function isValue(content: JavaContent): content is JavaValue {
  return typeof content !== 'object' || content === null || content.kind !== 'block-data';
}

/** The constant's name, if the field is an enum. */
export function enumField(object: JavaObject, name: string): string | undefined {
  const value = javaField(object, name);
  return isJavaEnum(value) ? value.constant : undefined;
}

/** A whole number out of a field. */
export function intField(object: JavaObject, name: string): number | undefined {
  const value = javaField(object, name);
  return typeof value === 'number' ? value : undefined;
}

/** A text out of a field. */
export function textField(object: JavaObject, name: string): string | undefined {
  const value = javaField(object, name);
  return typeof value === 'string' ? value : undefined;
}
