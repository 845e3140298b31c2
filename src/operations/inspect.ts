/** What is in a checkpoint, at a glance: sizes, directories, operators. Reads the metadata alone, in bounded memory. */
import type { RangedBytes } from '../bytes/byte-reader.js';
import type { Path } from '../filesystem/path.js';
import { classifyUid, type UidVerdict } from '../format/hash/uid-verdict.js';
import { visitMetadata } from '../format/metadata/read.js';
import type { Int64Words } from '../format/metadata/visitor.js';

import type { DirectoryUse } from './directory-table.js';
import { propertiesParts } from './document/properties-document.js';
import { type DocumentObject, type DocumentValue, int64 } from './document/values.js';
import type {
  Bytes,
  DirectoryRole,
  InspectedOperator,
  InspectResult,
  Relocatable,
  SubtaskSize,
} from './inspect-result.js';
import { InspectVisitor, type OperatorFacts } from './inspect-visitor.js';
import { isWithin, jobIdOf, roleOf } from './layout.js';
import { isLess, type OperatorSizes, type OperatorSummary, operatorSizes } from './size-summary.js';

/** A metadata file to inspect. */
export interface InspectInput {
  readonly source: RangedBytes;
  /** Where the metadata is; names it in errors. */
  readonly metadataPath: Path;
  /** Its directory, the external pointer. */
  readonly directory: Path;
  /** Milliseconds since the epoch. */
  readonly modificationTime: number;
}

/** Releases that write each version. */
const FLINK_VERSIONS: Readonly<Record<number, string>> = {
  2: '1.3 – 1.10',
  3: '1.11 – 1.15',
  4: '1.16 – 1.20',
  5: '2.0',
  6: '2.1 – 2.3',
};

/**
 * Inspects a metadata file. Opens no state file.
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError; the errors of the source
 */
export async function inspectMetadata(input: InspectInput, signal?: AbortSignal): Promise<InspectResult> {
  const { source, directory, metadataPath } = input;
  const visitor = new InspectVisitor(directory, source.size);
  await visitMetadata(source, metadataPath.toString(), visitor, { signal });
  const { metadata } = visitor;
  const allIds = visitor.operators.map(({ operatorId }) => operatorId);
  const sizes = visitor.operators.map(operatorSizes);
  const operatorStates = visitor.operators.map((operator, i) => {
    const verdict = classifyUid({ ...operator, version: metadata.version, allIds });
    return inspectedOperator(
      operator,
      sizes[i] ?? operatorSizes(operator),
      visitor.facts(i),
      metadata.version,
      verdict,
    );
  });
  const total = (pick: 'stateSize' | 'checkpointedSize'): Bytes =>
    int64(
      BigInt.asIntN(
        64,
        sizes.reduce((sum, size) => sum + size[pick], 0n),
      ),
    );
  const { properties } = propertiesParts(visitor.propertiesBlock);
  const snapshot = snapshotKind(properties, visitor.canonical);
  return {
    pointer: directory.toString(),
    metadataPath: metadataPath.toString(),
    metadataSize: source.size,
    time: new Date(input.modificationTime).toISOString(),
    jobId: jobIdOf(directory),
    version: metadata.version,
    flinkVersions: FLINK_VERSIONS[metadata.version] ?? 'unknown',
    checkpointId: int64(metadata.checkpointId),
    ...snapshot,
    // A native savepoint has handles of the same form, but shares nothing.
    incremental: visitor.incremental && snapshot.kind !== 'savepoint',
    unaligned: visitor.unaligned,
    changelog: visitor.changelog,
    fileMerging: visitor.fileMerging,
    ...directoriesOf(visitor, directory),
    stateSize: total('stateSize'),
    checkpointedSize: total('checkpointedSize'),
    inlineBytes: visitor.inlineBytes,
    fileBytes: visitor.table.directories.reduce((sum, { bytes }) => sum + bytes, 0),
    files: visitor.files,
    properties,
    masterStates: visitor.masterStates,
    operatorStates,
    trailingBytes: visitor.trailingBytes,
  };
}

/** A canonical keyed handle proves a savepoint even where nothing else tells. */
function snapshotKind(properties: DocumentValue, canonical: boolean): Pick<InspectResult, 'kind' | 'formatType'> {
  const type = (properties as DocumentObject | null)?.checkpointType as DocumentObject | undefined;
  if (type?.savepoint === true)
    return { kind: 'savepoint', formatType: type.formatType === 'NATIVE' ? 'NATIVE' : 'CANONICAL' };
  if (type?.savepoint === false) return { kind: 'checkpoint', formatType: null };
  return canonical ? { kind: 'savepoint', formatType: 'CANONICAL' } : { kind: 'unknown', formatType: null };
}

function directoriesOf(visitor: InspectVisitor, own: Path): Pick<InspectResult, 'directories' | 'relocatable'> {
  const used = visitor.table.directories.filter(({ files, absolute }) => files > 0 || absolute);
  const directories = used
    .map(({ path, files, bytes, changelog }) => ({
      uri: path.endsWith(':') ? `${path}/` : path,
      role: roleOf(path, own, changelog),
      files,
      bytes,
    }))
    .sort((a, b) => ROLE_ORDER.indexOf(a.role) - ROLE_ORDER.indexOf(b.role) || (a.uri < b.uri ? -1 : 1));
  return { directories, relocatable: relocatableOf(used, own) };
}

/** A relative path may lead out of the directory as well (`../x`): then a copy of it alone would miss a file. */
function relocatableOf(used: readonly DirectoryUse[], own: Path): Relocatable {
  if (used.length === 0) return 'inline';
  if (!used.every(({ path }) => isWithin(path, own))) return 'foreign';
  return used.some(({ absolute }) => absolute) ? 'absolute-inside' : 'relative';
}

const ROLE_ORDER: readonly DirectoryRole[] = ['exclusive', 'shared', 'taskowned', 'changelog', 'foreign'];

function inspectedOperator(
  operator: OperatorSummary,
  sizes: OperatorSizes,
  facts: OperatorFacts,
  version: number,
  uidVerdict: UidVerdict,
): InspectedOperator {
  const subtasks = [...operator.subtasks.values()];
  const running = subtasks.filter(({ finished }) => !finished);
  const extreme = (better: (a: Int64Words, b: Int64Words) => boolean): SubtaskSize | null => {
    const [first, ...rest] = running;
    if (!first) return null;
    const best = rest.reduce((a, b) => (better(b.stateSize, a.stateSize) ? b : a), first);
    return { index: best.index, bytes: int64(best.stateSize.toBigInt()) };
  };
  return {
    operatorId: operator.operatorId,
    uid: operator.uid,
    name: operator.name,
    parallelism: operator.parallelism,
    maxParallelism: operator.maxParallelism,
    finished: operator.finished,
    stateSize: int64(sizes.stateSize),
    checkpointedSize: int64(sizes.checkpointedSize),
    keyedStateSize: int64(sizes.keyedStateSize),
    operatorStateSize: int64(sizes.operatorStateSize),
    channelStateSize: int64(sizes.channelStateSize),
    coordinatorStateSize: int64(operator.coordinatorStateSize),
    backend: facts.backend(version),
    files: facts.files,
    subtasks: subtasks.length,
    finishedSubtasks: subtasks.length - running.length,
    largestSubtask: extreme((a, b) => isLess(b, a)),
    smallestSubtask: extreme(isLess),
    uidVerdict,
    hasState: facts.hasState,
  };
}
