/**
 * The last part of a `_metadata` file, from version 4 on: `CheckpointProperties` as a Java object stream. Fields are found by
 * name, so that one more or one less in another Flink does no harm.
 * Origin: Flink `MetadataV4Serializer`; the bytes are the same from 1.16 to 2.3.
 */
import {
  type CheckpointProperties,
  POST_CHECKPOINT_ACTIONS,
  SAVEPOINT_FORMAT_TYPES,
  SHARING_FILES_STRATEGIES,
  type SnapshotType,
} from '../../model/checkpoint-properties.js';
import { isJavaEnum, isJavaObject, type JavaObject, type JavaValue, javaField } from './java-value.js';
import { readJavaObject } from './object-stream.js';
import { type WritableObject, writeJavaObject } from './object-writer.js';
import { quote } from './stream-input.js';

/** What the block holds. */
export interface CheckpointPropertiesBlock {
  /** Null if Flink wrote null (the State Processor API does); undefined if something in it is not known, see `unknown`. */
  readonly properties: CheckpointProperties | null | undefined;
  /** Index of the first byte after the block. */
  readonly end: number;
  /** Set exactly if `properties` is undefined. */
  readonly unknown: UnknownCheckpointProperties | undefined;
}

/** Properties of which not everything could be understood. */
export interface UnknownCheckpointProperties {
  /** What is missing or unknown, for people. */
  readonly reason: string;
  /** What was understood. */
  readonly known: Partial<CheckpointProperties>;
}

const PACKAGE = 'org.apache.flink.runtime.checkpoint';
const PROPERTIES_CLASS = `${PACKAGE}.CheckpointProperties`;
const SNAPSHOT_TYPE = `${PACKAGE}.SnapshotType`;
const CHECKPOINT_TYPE_CLASS = `${PACKAGE}.CheckpointType`;
const SAVEPOINT_TYPE_CLASS = `${PACKAGE}.SavepointType`;

/** `CheckpointProperties` declares its serialVersionUID; those of the two types are what Java derives from the classes. */
const PROPERTIES_UID = 2n;
const CHECKPOINT_TYPE_UID = -0x2921_b0fc_fa51_e2c6n;
const SAVEPOINT_TYPE_UID = -0x5f78_2cf7_5ba7_eb48n;

/** In the order of the stream. */
const FLAGS = [
  'discardCancelled',
  'discardFailed',
  'discardFinished',
  'discardSubsumed',
  'discardSuspended',
  'forced',
  'unclaimed',
] as const;

/**
 * Reads the block that starts at `start`. Content that is not known is no error: the file is whole, only its last part says
 * nothing to us.
 * @throws ByteFormatError (offset relative to `bytes`) if there is no whole Java object stream
 */
export function readCheckpointProperties(bytes: Uint8Array, start: number): CheckpointPropertiesBlock {
  const { value, end } = readJavaObject(bytes, start);
  if (value === null) return { properties: null, end, unknown: undefined };
  const problems: string[] = [];
  const known: Partial<CheckpointProperties> = isJavaObject(value)
    ? decodeProperties(value, problems)
    : note(problems, `${describe(value)} in place of ${PROPERTIES_CLASS}`, {});
  return problems.length === 0 && isComplete(known)
    ? { properties: known, end, unknown: undefined }
    : { properties: undefined, end, unknown: { reason: problems.join('; '), known } };
}

function decodeProperties(object: JavaObject, problems: string[]): Partial<CheckpointProperties> {
  if (object.descriptor.name !== PROPERTIES_CLASS) return note(problems, `unknown class ${describe(object)}`, {});
  const flags: Partial<Record<(typeof FLAGS)[number], boolean>> = {};
  for (const name of FLAGS) {
    const value = javaField(object, name);
    if (typeof value === 'boolean') flags[name] = value;
    else problems.push(`${name} is ${describe(value)}`);
  }
  const checkpointType = decodeSnapshotType(javaField(object, 'checkpointType'), problems);
  return checkpointType === undefined ? flags : { ...flags, checkpointType };
}

function decodeSnapshotType(value: JavaValue | undefined, problems: string[]): SnapshotType | undefined {
  const reading = 'checkpointType';
  if (!isJavaObject(value)) return note(problems, `${reading} is ${describe(value)}`, undefined);
  const nameField = javaField(value, 'name');
  const name =
    typeof nameField === 'string' ? nameField : note(problems, `${reading}.name is ${describe(nameField)}`, undefined);
  switch (value.descriptor.name) {
    case CHECKPOINT_TYPE_CLASS: {
      const sharingFilesStrategy = decodeEnum(value, 'sharingFilesStrategy', SHARING_FILES_STRATEGIES, problems);
      if (name === undefined || sharingFilesStrategy === undefined) return undefined;
      return { kind: 'CheckpointType', name, sharingFilesStrategy };
    }
    case SAVEPOINT_TYPE_CLASS: {
      const formatType = decodeEnum(value, 'formatType', SAVEPOINT_FORMAT_TYPES, problems);
      const postCheckpointAction = decodeEnum(value, 'postCheckpointAction', POST_CHECKPOINT_ACTIONS, problems);
      if (name === undefined || formatType === undefined || postCheckpointAction === undefined) return undefined;
      return { kind: 'SavepointType', name, sharingFilesStrategy: 'NO_SHARING', formatType, postCheckpointAction };
    }
    default:
      return note(problems, `${reading} is of the unknown class ${describe(value)}`, undefined);
  }
}

function decodeEnum<T extends string>(
  object: JavaObject,
  field: string,
  constants: readonly T[],
  problems: string[],
): T | undefined {
  const value = javaField(object, field);
  const constant = isJavaEnum(value) ? constants.find((known) => known === value.constant) : undefined;
  return constant ?? note(problems, `checkpointType.${field} is ${describe(value)}`, undefined);
}

function note<T>(problems: string[], problem: string, result: T): T {
  problems.push(problem);
  return result;
}

function isComplete(known: Partial<CheckpointProperties>): known is CheckpointProperties {
  return known.checkpointType !== undefined && FLAGS.every((name) => known[name] !== undefined);
}

function describe(value: JavaValue | undefined): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name = (value.kind === 'class-descriptor' ? value.name : value.descriptor.name) ?? 'a proxy class';
  return quote(value.kind === 'enum' ? `${name}.${value.constant}` : name);
}

/** The block as Flink 1.16 to 2.3 write it, byte for byte. */
export function writeCheckpointProperties(properties: CheckpointProperties | null): Uint8Array {
  if (properties === null) return writeJavaObject(null);
  return writeJavaObject({
    className: PROPERTIES_CLASS,
    serialVersionUID: PROPERTIES_UID,
    fields: [
      ...FLAGS.map((name) => ({ name, kind: 'boolean', value: properties[name] }) as const),
      {
        name: 'checkpointType',
        kind: 'object',
        type: SNAPSHOT_TYPE,
        value: encodeSnapshotType(properties.checkpointType),
      },
    ],
  });
}

function encodeSnapshotType(type: SnapshotType): WritableObject {
  if (type.kind === 'CheckpointType') {
    return {
      className: CHECKPOINT_TYPE_CLASS,
      serialVersionUID: CHECKPOINT_TYPE_UID,
      fields: [
        { name: 'name', kind: 'string', value: type.name },
        {
          name: 'sharingFilesStrategy',
          kind: 'enum',
          enumName: `${SNAPSHOT_TYPE}$SharingFilesStrategy`,
          value: type.sharingFilesStrategy,
        },
      ],
    };
  }
  return {
    className: SAVEPOINT_TYPE_CLASS,
    serialVersionUID: SAVEPOINT_TYPE_UID,
    fields: [
      {
        name: 'formatType',
        kind: 'enum',
        enumName: 'org.apache.flink.core.execution.SavepointFormatType',
        value: type.formatType,
      },
      { name: 'name', kind: 'string', value: type.name },
      {
        name: 'postCheckpointAction',
        kind: 'enum',
        enumName: `${SAVEPOINT_TYPE_CLASS}$PostCheckpointAction`,
        value: type.postCheckpointAction,
      },
    ],
  };
}
