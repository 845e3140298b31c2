/**
 * Reads serializer snapshots. A snapshot has no length, so its class must be known to get past it; inside optional maps a
 * frame tells. Origin: Flink `TypeSerializerSnapshot.readVersionedSnapshot`, `NestedSerializersSnapshotDelegate`,
 * `LinkedOptionalMapSerializer`, and the snapshot classes named below.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader, copyBytes, Utf8Slice } from '../../bytes/byte-reader.js';
import { readJavaObject } from '../java/object-stream.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import type { OptionalMapEntry, PojoField, SerializerSnapshot, SnapshotContent } from './serializer-snapshot.js';
import { isSimpleSnapshot } from './simple-snapshots.js';

/** The version that Flink puts before every snapshot that is not nested in another one. */
const VERSIONED = 2;
const COMPOSITE_MAGIC = 911108;
const NESTED_MAGIC = 1333245;
const NESTED_VERSION = 1;
/** In front of every optional map. */
const OPTIONAL_MAP_MAGIC = 0x000004f2c69a3d70n;
/** Snapshots inside each other; Flink writes as many levels as a type has. */
const MAX_DEPTH = 200;
/** The least that an element of a list of snapshots takes: an empty class name and a version. */
const LEAST_SNAPSHOT_BYTES = 6;

/** See the file comment. The reader's window must hold everything up to where the header ends. */
export class SnapshotReader {
  private readonly utf = new Utf8Slice();
  private depth = 0;

  constructor(private readonly reader: ByteReader) {}

  /**
   * A snapshot with the version that Flink puts before it.
   * @throws ByteFormatError; UnknownFormatError where only its class would know how long it is
   */
  readVersioned(): SerializerSnapshot {
    const version = this.reader.readI32('version of a serializer snapshot');
    if (version !== VERSIONED) {
      this.reader.fail(`a serializer snapshot in form ${VERSIONED}`, `form ${version}`, this.reader.offset - 4);
    }
    return this.readPlain();
  }

  /** A snapshot without the version: class, version of the content, content. @throws as {@link readVersioned} */
  readPlain(): SerializerSnapshot {
    return this.readNested();
  }

  readText(reading: string): string {
    this.reader.readUtf(reading, this.utf);
    return this.utf.text();
  }

  /** A snapshot as it stands inside others: class, version, content. */
  private readNested(): SerializerSnapshot {
    const { reader } = this;
    if (++this.depth > MAX_DEPTH) reader.fail('a serializer snapshot', `more than ${MAX_DEPTH} inside each other`);
    const className = this.readText('class of a serializer snapshot');
    const version = reader.readI32('version of a serializer snapshot');
    const content = this.readContent(className, version);
    this.depth--;
    return { className, version, content };
  }

  private readContent(className: string, version: number): SnapshotContent {
    const name = className.slice(Math.max(className.lastIndexOf('.'), className.lastIndexOf('$')) + 1);
    switch (name) {
      case 'EnumSerializerSnapshot':
        if (version === 3) return this.readEnum();
        break;
      case 'PojoSerializerSnapshot':
        if (version === 2) return this.readPojo();
        break;
      case 'KryoSerializerSnapshot':
        if (version === 2) return this.readKryo();
        break;
      case 'AvroSerializerSnapshot':
        return this.readAvro(className, version);
      case 'RowDataSerializerSnapshot':
        if (version === 3) return this.readRowData();
        break;
      case 'DecimalSerializerSnapshot':
        if (version === 3) return this.readDecimal();
        break;
      case 'TimestampDataSerializerSnapshot':
        if (version === 1) return { kind: 'timestamp', precision: this.reader.readI32('precision') };
        break;
      case 'ArrayDataSerializerSnapshot':
        if (version === 3) return this.readSqlCollection(1);
        break;
      case 'MapDataSerializerSnapshot':
        if (version === 3) return this.readSqlCollection(2);
        break;
      case 'ValueSerializerSnapshot':
      case 'CopyableValueSerializerSnapshot':
      case 'WritableSerializerSnapshot':
        if (version === 2) return { kind: 'type-class', typeClass: this.readText('class of a type') };
        break;
      case 'TtlAwareSerializerSnapshot':
        if (version === 1) {
          const ttl = this.reader.readU8('whether there is time to live') !== 0;
          return { kind: 'ttl-aware', ttl, nested: this.readNested() };
        }
        break;
      default:
    }
    if (isSimpleSnapshot(className)) {
      if (version === 3) return { kind: 'simple' };
      if (version === 2) {
        this.readText('class of a serializer');
        return { kind: 'simple' };
      }
    }
    return this.readComposite(className, version);
  }

  /**
   * All snapshots that extend `CompositeTypeSerializerSnapshot` begin alike, whatever class they are. What they say of
   * themselves comes next, without a length; the magic number of the nested block ends it.
   */
  private readComposite(className: string, version: number): SnapshotContent {
    const { reader } = this;
    const unknown = () => unknownSnapshot(className, version, reader.offset);
    if (version !== 3 || reader.remaining < 12) throw unknown();
    const { buffer, position } = reader;
    if (buffer.readInt32BE(position) !== COMPOSITE_MAGIC) throw unknown();
    const end = buffer.indexOf(NESTED_MAGIC_BYTES, position + 8);
    if (end < 0 || end >= position + reader.remaining) throw unknown();
    reader.position += 4;
    const outerVersion = reader.readI32('version of a composite snapshot');
    const outer = copyBytes(buffer, reader.position, end);
    reader.position = end;
    return { kind: 'composite', outerVersion, outer, nested: this.readNestedBlock() };
  }

  private readNestedBlock(): SerializerSnapshot[] {
    const { reader } = this;
    const magic = reader.readI32('magic number of nested serializers');
    if (magic !== NESTED_MAGIC) {
      reader.fail(`the magic number ${NESTED_MAGIC} of nested serializers`, `${magic}`, reader.offset - 4);
    }
    const version = reader.readI32('version of nested serializers');
    if (version !== NESTED_VERSION) reader.fail('nested serializers in version 1', `${version}`, reader.offset - 4);
    const count = reader.readCount('number of nested serializers', LEAST_SNAPSHOT_BYTES);
    const nested: SerializerSnapshot[] = [];
    for (let i = 0; i < count; i++) nested.push(this.readNested());
    return nested;
  }

  private readEnum(): SnapshotContent {
    const enumClass = this.readText('class of an enum');
    const count = this.reader.readCount('number of enum constants', 2);
    const constants: string[] = [];
    for (let i = 0; i < count; i++) constants.push(this.readText('name of an enum constant'));
    return { kind: 'enum', enumClass, constants };
  }

  private readDecimal(): SnapshotContent {
    return { kind: 'decimal', precision: this.reader.readI32('precision'), scale: this.reader.readI32('scale') };
  }

  private readAvro(className: string, version: number): SnapshotContent {
    switch (version) {
      case 1:
        return { kind: 'avro', recordClass: '', schema: this.readText('Avro schema') };
      case 2: {
        const recordClass = this.readText('class of an Avro record');
        return { kind: 'avro', recordClass, schema: this.readText('Avro schema') };
      }
      case 3: {
        const recordClass = this.readFlinkString('class of an Avro record');
        return { kind: 'avro', recordClass, schema: this.readFlinkString('Avro schema') };
      }
      default:
        throw unknownSnapshot(className, version, this.reader.offset);
    }
  }

  /** A string as `StringValue` writes it: its length plus one, then each UTF-16 unit, all as numbers of 7 bits a byte. */
  private readFlinkString(reading: string): string {
    const { reader } = this;
    const at = reader.offset;
    const number = (): number => {
      let value = 0;
      for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
        const byte = reader.readU8(reading);
        value += (byte & 0x7f) * scale;
        if (byte < 0x80) return value;
      }
      return reader.fail(reading, 'a number without an end', at);
    };
    const length = Math.max(0, number() - 1);
    if (length > reader.remaining)
      reader.fail(reading, `${length} characters where ${reader.remaining} bytes remain`, at);
    const units = new Uint16Array(length);
    for (let i = 0; i < length; i++) units[i] = number();
    return Buffer.from(units.buffer).toString('utf16le');
  }

  private readRowData(): SnapshotContent {
    const { reader } = this;
    const count = reader.readCount('number of row fields', 5);
    const fieldTypes: Uint8Array[] = [];
    for (let i = 0; i < count; i++) fieldTypes.push(this.readJavaStream());
    return { kind: 'row-data', fieldTypes, nested: this.readNestedBlock() };
  }

  /** One or two types, and as many serializers, which follow from them. */
  private readSqlCollection(count: 1 | 2): SnapshotContent {
    const types: Uint8Array[] = [];
    for (let i = 0; i < count; i++) types.push(this.readJavaStream());
    for (let i = 0; i < count; i++) this.readJavaStream();
    return { kind: 'sql-collection', types };
  }

  /** A Java object stream of one object, undecoded. */
  private readJavaStream(): Uint8Array {
    const { reader } = this;
    const start = reader.position;
    const { end } = readJavaObject(reader.buffer, start);
    reader.position = end;
    return copyBytes(reader.buffer, start, end);
  }

  private readPojo(): SnapshotContent {
    const pojoClass = this.readText('class of a POJO');
    const snapshot = (frame: ByteReader): SerializerSnapshot => this.readFramed(frame);
    return {
      kind: 'pojo',
      pojoClass,
      fields: this.readOptionalMap(
        'number of POJO fields',
        (frame): PojoField => {
          const text = new SnapshotReader(frame);
          return { declaringClass: text.readText('declaring class'), name: text.readText('name of a field') };
        },
        snapshot,
      ),
      registeredSubclasses: this.readOptionalMap('number of registered subclasses', rawFrame, snapshot),
      otherSubclasses: this.readOptionalMap('number of other subclasses', rawFrame, snapshot),
    };
  }

  private readKryo(): SnapshotContent {
    const typeClass = this.readText('class of a type');
    return {
      kind: 'kryo',
      typeClass,
      registrations: this.readOptionalMap('number of Kryo registrations', rawFrame, rawFrame),
      defaultSerializers: this.readOptionalMap('number of default serializers', rawFrame, rawFrame),
      defaultSerializerClasses: this.readOptionalMap('number of default serializer classes', rawFrame, rawFrame),
    };
  }

  /** A snapshot that a frame holds: one of an unknown class is kept as bytes. */
  private readFramed(frame: ByteReader): SerializerSnapshot {
    const inner = new SnapshotReader(frame);
    inner.depth = this.depth;
    const className = inner.readText('class of a serializer snapshot');
    const version = frame.readI32('version of a serializer snapshot');
    const start = frame.position;
    try {
      frame.position = 0;
      return inner.readNested();
    } catch (error) {
      if (!(error instanceof UnknownFormatError)) throw error;
      return {
        className,
        version,
        content: { kind: 'unknown', bytes: copyBytes(frame.buffer, start, frame.buffer.length) },
      };
    }
  }

  private readOptionalMap<K, V>(
    reading: string,
    readKey: (frame: ByteReader) => K,
    readValue: (frame: ByteReader) => V,
  ): OptionalMapEntry<K, V>[] {
    const { reader } = this;
    const magic = reader.readBigInt64('an optional map');
    if (magic !== OPTIONAL_MAP_MAGIC) {
      reader.fail(
        'the magic number of an optional map',
        `0x${BigInt.asUintN(64, magic).toString(16)}`,
        reader.offset - 8,
      );
    }
    const count = reader.readCount(reading, 4);
    const entries: OptionalMapEntry<K, V>[] = [];
    for (let i = 0; i < count; i++) {
      const name = this.readText('name of a key');
      const key = this.readFrame(readKey);
      entries.push({ name, key, value: this.readFrame(readValue) });
    }
    return entries;
  }

  private readFrame<T>(read: (frame: ByteReader) => T): T | undefined {
    const { reader } = this;
    if (reader.readU8('whether there is a frame') === 0) return undefined;
    const length = reader.readCount('length of a frame', 1);
    const offset = reader.offset;
    const start = reader.take(length, 'a frame');
    try {
      return read(ByteReader.over(reader.buffer.subarray(start, start + length)));
    } catch (error) {
      if (!(error instanceof ByteFormatError)) throw error;
      throw new ByteFormatError(offset + error.offset, error.reading, error.found);
    }
  }
}

const NESTED_MAGIC_BYTES = Buffer.from([NESTED_MAGIC >>> 24, NESTED_MAGIC >>> 16, NESTED_MAGIC >>> 8, NESTED_MAGIC]);

function rawFrame(frame: ByteReader): Uint8Array {
  return copyBytes(frame.buffer, 0, frame.buffer.length);
}

function unknownSnapshot(className: string, version: number, offset: number): UnknownFormatError {
  return new UnknownFormatError(offset, `the serializer snapshot ${className} in version ${version}`);
}
