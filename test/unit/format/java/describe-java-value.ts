import type { JavaContent, JavaObject, JavaValue } from '../../../../src/format/java/java-value.js';
import { javaField } from '../../../../src/format/java/java-value.js';

/** The description that fixtures/java-object-streams/GenerateStreams.java makes of the Java object, made of what was read. */
export function describeJavaValue(value: JavaValue): unknown {
  return new Describer().describe(value);
}

class Describer {
  private readonly numbers = new Map<object, number>();

  describe(value: JavaContent): unknown {
    if (value === null) return null;
    if (typeof value === 'string') return `s${value}`;
    if (typeof value !== 'object') throw new Error(`a bare ${typeof value}`);
    if (value.kind === 'block-data') return `b${Buffer.from(value.bytes).toString('hex')}`;
    if (value.kind === 'enum') return `e${value.descriptor.name}.${value.constant}`;
    if (value.kind === 'class') return `c${value.descriptor.name}`;
    if (value.kind === 'class-descriptor') return `d${value.name}`;
    const number = this.numbers.get(value);
    if (number !== undefined) return { ref: number };
    this.numbers.set(value, this.numbers.size);
    if (value.kind === 'byte-array') {
      return { array: value.descriptor.name, items: [...new Int8Array(value.bytes)].map((byte) => `B${byte}`) };
    }
    if (value.kind === 'object') return this.describeObject(value);
    const typeCode = value.descriptor.name?.[1] ?? '';
    return { array: value.descriptor.name, items: value.elements.map((item) => this.describeTyped(item, typeCode)) };
  }

  private describeObject(object: JavaObject): unknown {
    const { name, interfaces } = object.descriptor;
    if (name === null) return { proxy: interfaces, handler: this.describe(javaField(object, 'h') ?? null) };
    if (name.startsWith('java.util.')) {
      // A comparator comes as a field, sizes as block data: neither is an item.
      const items = object.classData.flatMap(({ annotations }) => annotations).filter((item) => !isBlockData(item));
      return { collection: name, items: items.map((item) => this.describe(item)) };
    }
    const fields: Record<string, unknown> = {};
    const extra: unknown[] = [];
    for (const { descriptor, values, annotations } of object.classData) {
      const simpleName = descriptor.name?.replace(/^.*[.$]/, '');
      descriptor.fields.forEach((field, i) => {
        fields[`${simpleName}.${field.name}`] = this.describeTyped(values[i] ?? null, field.typeCode);
      });
      extra.push(...annotations.map((item) => this.describe(item)));
    }
    return { object: name, fields, extra };
  }

  private describeTyped(value: JavaValue, typeCode: string): unknown {
    switch (typeCode) {
      case 'L':
      case '[':
        return this.describe(value);
      case 'D':
        return `D${floatBits(value, 8)}`;
      case 'F':
        return `F${floatBits(value, 4)}`;
      case 'C':
        return `C${typeof value === 'string' && value.length === 1 ? value.charCodeAt(0) : 'not one unit'}`;
      case 'J':
        return `J${typeof value === 'bigint' ? value : 'not a bigint'}`;
      case 'Z':
        return `Z${typeof value === 'boolean' ? value : 'not a boolean'}`;
      default:
        return `${typeCode}${typeof value === 'number' ? value : 'not a number'}`;
    }
  }
}

function isBlockData(value: JavaContent): boolean {
  return typeof value === 'object' && value?.kind === 'block-data';
}

function floatBits(value: JavaValue, bytes: 4 | 8): string {
  if (typeof value !== 'number') return 'not a number';
  const view = new DataView(new ArrayBuffer(bytes));
  if (bytes === 8) view.setFloat64(0, value);
  else view.setFloat32(0, value);
  return (bytes === 8 ? view.getBigUint64(0) : view.getUint32(0)).toString(16);
}
