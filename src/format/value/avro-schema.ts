/** Avro schemas in JSON (Avro specification 1.12, "Schema Declaration"), as far as they decide what the bytes are. */

/** A type of a schema. A record may contain itself. */
export type AvroType =
  | { readonly kind: 'null' | 'boolean' | 'float' | 'double' | 'bytes' | 'string' }
  | { readonly kind: 'int' | 'long'; readonly logicalType: string | undefined }
  | { readonly kind: 'fixed'; readonly name: string; readonly size: number }
  | { readonly kind: 'enum'; readonly name: string; readonly symbols: readonly string[] }
  | { readonly kind: 'array'; readonly items: AvroType }
  | { readonly kind: 'map'; readonly values: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | { readonly kind: 'record'; readonly name: string; readonly fields: readonly AvroField[] };

/** A field of a record. */
export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
}

const MAX_DEPTH = 200;

/** The type that a schema declares; undefined if it is no schema. */
export function parseAvroSchema(json: string): { readonly type: AvroType } | undefined {
  let schema: unknown;
  try {
    schema = JSON.parse(json);
  } catch {
    return undefined;
  }
  const type = new SchemaParser().typeOf(schema, '', 0);
  return type === undefined ? undefined : { type };
}

type Json = { readonly [name: string]: unknown };

/** Keeps the named types met so far. */
class SchemaParser {
  private readonly named = new Map<string, AvroType>();

  /** Undefined if there is something in it that is not known. */
  typeOf(schema: unknown, namespace: string, depth: number): AvroType | undefined {
    if (depth > MAX_DEPTH) return undefined;
    if (typeof schema === 'string') return this.byName(schema, namespace, undefined);
    if (Array.isArray(schema)) {
      const branches = schema.map((branch) => this.typeOf(branch, namespace, depth + 1));
      return branches.every((branch) => branch !== undefined) ? { kind: 'union', branches } : undefined;
    }
    return typeof schema === 'object' && schema !== null ? this.declared(schema as Json, namespace, depth) : undefined;
  }

  private byName(name: string, namespace: string, logicalType: string | undefined): AvroType | undefined {
    switch (name) {
      case 'null':
      case 'boolean':
      case 'float':
      case 'double':
      case 'bytes':
      case 'string':
        return { kind: name };
      case 'int':
      case 'long':
        return { kind: name, logicalType };
      default:
        return this.named.get(fullName(name, namespace)) ?? this.named.get(name);
    }
  }

  private declared(schema: Json, namespace: string, depth: number): AvroType | undefined {
    const { type } = schema;
    const logicalType = typeof schema.logicalType === 'string' ? schema.logicalType : undefined;
    switch (type) {
      case 'array': {
        const items = this.typeOf(schema.items, namespace, depth + 1);
        return items && { kind: 'array', items };
      }
      case 'map': {
        const values = this.typeOf(schema.values, namespace, depth + 1);
        return values && { kind: 'map', values };
      }
      case 'record':
      case 'error':
      case 'enum':
      case 'fixed':
        return this.declareNamed(schema, type, namespace, depth);
      default:
        return typeof type === 'string'
          ? this.byName(type, namespace, logicalType)
          : this.typeOf(type, namespace, depth + 1);
    }
  }

  private declareNamed(schema: Json, type: string, namespace: string, depth: number): AvroType | undefined {
    if (typeof schema.name !== 'string') return undefined;
    const own = typeof schema.namespace === 'string' ? schema.namespace : namespace;
    const name = fullName(schema.name, own);
    if (type === 'enum') {
      const { symbols } = schema;
      if (!Array.isArray(symbols)) return undefined;
      return this.remember(name, { kind: 'enum', name, symbols: symbols.map(String) });
    }
    if (type === 'fixed') {
      const size = Number(schema.size);
      return Number.isSafeInteger(size) && size >= 0 ? this.remember(name, { kind: 'fixed', name, size }) : undefined;
    }
    const fields: AvroField[] = [];
    // Before its fields are known: they may name it.
    const record = this.remember(name, { kind: 'record', name, fields });
    if (!Array.isArray(schema.fields)) return undefined;
    const inner = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '';
    for (const field of schema.fields as readonly Json[]) {
      const fieldType = this.typeOf(field?.type, inner, depth + 1);
      if (fieldType === undefined || typeof field.name !== 'string') return undefined;
      fields.push({ name: field.name, type: fieldType });
    }
    return record;
  }

  private remember(name: string, type: AvroType): AvroType {
    this.named.set(name, type);
    return type;
  }
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}
