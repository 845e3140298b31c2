/** Goes through the operators of a metadata file one by one, with all pieces of state of each. */
import type { RangedBytes } from '../../bytes/byte-reader.js';
import type { Path } from '../../filesystem/path.js';
import { type ModelConsumer, ModelVisitor } from '../../format/metadata/model-visitor.js';
import { visitMetadata } from '../../format/metadata/read.js';
import { Since } from '../../format/metadata/tags.js';
import type { MetadataHeader, OperatorHead, SubtaskEntry } from '../../model/checkpoint-metadata.js';
import { findOperator } from '../find-operator.js';
import { piecesOf, type SubtaskPieces } from './pieces.js';

/** An operator with what its subtasks have, by their indexes. Empty names are absent. */
export interface OperatorPieces {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly finished: boolean;
  /** Of the operator's coordinator, for a source that of its enumerator; undefined if there is none. */
  readonly coordinatorState: Uint8Array | undefined;
  readonly subtasks: readonly SubtaskPieces[];
}

/** The metadata to go through. */
export interface MetadataInput {
  readonly source: RangedBytes;
  readonly metadataPath: Path;
  /** Directory of the metadata file. */
  readonly directory: Path;
}

/**
 * Calls `work` for each operator, one after the other, in the order of the file. Only one of them is in memory, and what the
 * window of the file holds of others.
 * @param wanted id, unique beginning of an id, uid or name of the only one to go to
 * @throws OperatorNotFoundError; the errors of reading metadata; what `work` throws
 */
export async function forEachOperator(
  input: MetadataInput,
  wanted: string | undefined,
  work: (operator: OperatorPieces) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const location = input.metadataPath.toString();
  const index = wanted === undefined ? undefined : findOperator(await operatorHeads(input, signal), wanted);
  const collector = new Collector(input.directory, index);
  const onPause = async (): Promise<void> => {
    for (let next = collector.ready.shift(); next; next = collector.ready.shift()) await work(next);
  };
  await visitMetadata(input.source, location, new ModelVisitor(collector), { signal, onPause });
  await onPause();
}

async function operatorHeads(
  { source, metadataPath }: MetadataInput,
  signal: AbortSignal | undefined,
): Promise<OperatorHead[]> {
  const heads: OperatorHead[] = [];
  const consumer: ModelConsumer = { beginOperator: (head) => void heads.push(head) };
  await visitMetadata(source, metadataPath.toString(), new ModelVisitor(consumer), { signal });
  return heads;
}

class Collector implements ModelConsumer {
  readonly ready: OperatorPieces[] = [];
  private head: OperatorHead | undefined;
  private index = -1;
  private version = 0;
  /** Of an index that occurs twice Flink keeps the last. */
  private readonly subtasks = new Map<number, SubtaskEntry>();

  constructor(
    private readonly own: Path,
    private readonly wanted: number | undefined,
  ) {}

  header({ version }: MetadataHeader): void {
    this.version = version;
  }

  beginOperator(head: OperatorHead): void {
    this.index++;
    this.subtasks.clear();
    this.head = this.wanted === undefined || this.wanted === this.index ? head : undefined;
  }

  subtask(entry: SubtaskEntry): void {
    if (this.head) this.subtasks.set(entry.index, entry);
  }

  endOperator(): void {
    const { head, own } = this;
    if (!head) return;
    const { operatorId, uid, name, parallelism, maxParallelism, finished, coordinatorState } = head;
    const subtasks = [...this.subtasks.values()].sort((a, b) => a.index - b.index);
    this.ready.push({
      operatorId,
      uid: uid || null,
      name: name || null,
      parallelism,
      maxParallelism,
      finished,
      coordinatorState: coordinatorState?.bytes,
      subtasks: subtasks.map((entry) =>
        piecesOf(entry, { own, maxParallelism, hasNames: this.version >= Since.names }),
      ),
    });
  }
}
