/** What a serializer snapshot says of a type, in full: for `states`, and to declare it elsewhere. */

/** A type with everything in it. */
export type TypeDescription =
  /** One that Flink has a serializer of its own for; `name` is that of the Java class without package, e.g. `byte[]`. */
  | { readonly kind: 'basic'; readonly name: string }
  | { readonly kind: 'enum'; readonly javaClass: string; readonly constants: readonly string[] }
  | { readonly kind: 'list' | 'set' | 'array'; readonly name: string; readonly element: TypeDescription }
  | { readonly kind: 'map'; readonly name: string; readonly key: TypeDescription; readonly value: TypeDescription }
  | { readonly kind: 'tuple'; readonly javaClass: string; readonly parts: readonly TypeDescription[] }
  | {
      readonly kind: 'pojo';
      readonly javaClass: string;
      readonly fields: readonly PojoFieldType[];
      /** Subclasses that the job registered or that values had. */
      readonly subclasses: readonly { readonly javaClass: string; readonly type: TypeDescription }[];
    }
  /** `Row` of the DataStream API; its snapshot has no names. */
  | { readonly kind: 'row'; readonly parts: readonly TypeDescription[] }
  /** Anything else that is made of types: `Either`, `Ttl`, timers. */
  | { readonly kind: 'composite'; readonly name: string; readonly parts: readonly TypeDescription[] }
  | { readonly kind: 'avro'; readonly javaClass: string; readonly name: string; readonly schema: string | null }
  /** A row of Flink SQL. Names are known of nested rows only. */
  | { readonly kind: 'row-data'; readonly fields: readonly SqlField[] }
  /** Any other value of Flink SQL; `sqlType` as in SQL. */
  | { readonly kind: 'sql'; readonly sqlType: string }
  /** Of a class that only its own serializer, or Kryo, can read. */
  | { readonly kind: 'opaque'; readonly name: string; readonly javaClass: string; readonly serializer: string };

/** A field of a POJO. */
export interface PojoFieldType {
  readonly name: string;
  /** The class that declares it; undefined where the snapshot does not say. */
  readonly declaringClass: string | undefined;
  readonly type: TypeDescription;
}

/** A field of a row of Flink SQL. */
export interface SqlField {
  /** Undefined at the top: Flink does not store it. */
  readonly name: string | undefined;
  /** E.g. `DECIMAL(10, 2) NOT NULL`. */
  readonly sqlType: string;
}

/** The type as a line of text, e.g. `Map<String, Pojo com.example.Order>`. Fields of POJOs and rows of SQL are left out. */
export function typeText(type: TypeDescription): string {
  switch (type.kind) {
    case 'basic':
    case 'opaque':
    case 'avro':
      return type.name;
    case 'enum':
      return `Enum ${type.javaClass}`;
    case 'pojo':
      return `Pojo ${type.javaClass}`;
    case 'array':
      return `${typeText(type.element)}[]`;
    case 'list':
    case 'set':
      return generic(type.name, [type.element]);
    case 'map':
      return generic(type.name, [type.key, type.value]);
    case 'tuple':
      return generic(type.javaClass.slice(type.javaClass.lastIndexOf('.') + 1), type.parts);
    case 'row':
      return generic('Row', type.parts);
    case 'composite':
      return generic(type.name, type.parts);
    case 'row-data':
      return `ROW<${type.fields.map(({ name, sqlType }) => (name === undefined ? sqlType : `${name} ${sqlType}`)).join(', ')}>`;
    case 'sql':
      return type.sqlType;
  }
}

function generic(name: string, parts: readonly TypeDescription[]): string {
  return parts.length === 0 ? name : `${name}<${parts.map(typeText).join(', ')}>`;
}
