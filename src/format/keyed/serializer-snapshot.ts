/** What Flink stores of the serializers that wrote a state: `TypeSerializerSnapshot`, with everything nested in it. */

/** A serializer, as the class and the content of its snapshot tell. */
export interface SerializerSnapshot {
  /** Class of the snapshot, not of the serializer. */
  readonly className: string;
  /** Version of the content. */
  readonly version: number;
  readonly content: SnapshotContent;
}

/** One entry of a `LinkedOptionalMap`: Flink keeps the bytes of keys and values whose classes it no longer has. */
export interface OptionalMapEntry<K, V> {
  readonly name: string;
  /** Undefined where the writer had none. */
  readonly key: K | undefined;
  readonly value: V | undefined;
}

/** A field of a POJO, by the class that declares it. */
export interface PojoField {
  readonly declaringClass: string;
  readonly name: string;
}

/** What stands in a snapshot, by what its class is. */
export type SnapshotContent =
  /** A serializer without any configuration. */
  | { readonly kind: 'simple' }
  /** Made of other serializers. `outer` is what it says of itself, undecoded: little or nothing. */
  | {
      readonly kind: 'composite';
      readonly outerVersion: number;
      readonly outer: Uint8Array;
      readonly nested: readonly SerializerSnapshot[];
    }
  | { readonly kind: 'enum'; readonly enumClass: string; readonly constants: readonly string[] }
  /** Subclasses are named by their entries; their keys have no bytes. */
  | {
      readonly kind: 'pojo';
      readonly pojoClass: string;
      readonly fields: readonly OptionalMapEntry<PojoField, SerializerSnapshot>[];
      readonly registeredSubclasses: readonly OptionalMapEntry<Uint8Array, SerializerSnapshot>[];
      readonly otherSubclasses: readonly OptionalMapEntry<Uint8Array, SerializerSnapshot>[];
    }
  /** The three maps of Kryo's configuration, undecoded. */
  | {
      readonly kind: 'kryo';
      readonly typeClass: string;
      readonly registrations: readonly OptionalMapEntry<Uint8Array, Uint8Array>[];
      readonly defaultSerializers: readonly OptionalMapEntry<Uint8Array, Uint8Array>[];
      readonly defaultSerializerClasses: readonly OptionalMapEntry<Uint8Array, Uint8Array>[];
    }
  /** `schema` is JSON; null in the oldest form. */
  | { readonly kind: 'avro'; readonly recordClass: string; readonly schema: string | null }
  /** `fieldTypes` are Java object streams, each of a `LogicalType`. */
  | {
      readonly kind: 'row-data';
      readonly fieldTypes: readonly Uint8Array[];
      readonly nested: readonly SerializerSnapshot[];
    }
  /** An array or a map of SQL. `types` are Java object streams: of the element type, or of those of key and value. */
  | { readonly kind: 'sql-collection'; readonly types: readonly Uint8Array[] }
  | { readonly kind: 'timestamp'; readonly precision: number }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'type-class'; readonly typeClass: string }
  | { readonly kind: 'ttl-aware'; readonly ttl: boolean; readonly nested: SerializerSnapshot }
  /** Of a class that is not known here. Only where a frame tells how long it is. */
  | { readonly kind: 'unknown'; readonly bytes: Uint8Array };
