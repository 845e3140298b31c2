/** Reads a whole metadata file into the model. For files of hundreds of MB use the streaming pass of `read.ts`. */
import type { RangedBytes } from '../../bytes/byte-reader.js';
import type {
  CheckpointMetadata,
  MasterState,
  MetadataHeader,
  OperatorHead,
  OperatorState,
  SubtaskEntry,
} from '../../model/checkpoint-metadata.js';
import { type ModelConsumer, ModelVisitor } from './model-visitor.js';
import { type VisitOptions, visitMetadata, visitMetadataBytes } from './read.js';

class Collector implements ModelConsumer {
  private start: MetadataHeader | undefined;
  private head: OperatorHead | undefined;
  private subtasks: SubtaskEntry[] = [];
  private block: Uint8Array | null = null;
  private readonly masterStates: MasterState[] = [];
  private readonly operatorStates: OperatorState[] = [];
  private readonly rest: Uint8Array[] = [];

  header(header: MetadataHeader): void {
    this.start = header;
  }
  masterState(state: MasterState): void {
    this.masterStates.push(state);
  }
  beginOperator(head: OperatorHead): void {
    this.head = head;
    this.subtasks = [];
  }
  subtask(entry: SubtaskEntry): void {
    this.subtasks.push(entry);
  }
  endOperator(): void {
    if (this.head) this.operatorStates.push({ ...this.head, subtasks: this.subtasks });
  }
  properties(block: Uint8Array): void {
    this.block = block;
  }
  trailing(bytes: Uint8Array): void {
    this.rest.push(bytes);
  }

  result(): CheckpointMetadata {
    if (!this.start) throw new Error('the decoder ended without a header');
    const { masterStates, operatorStates } = this;
    const trailingBytes = new Uint8Array(Buffer.concat(this.rest));
    return { ...this.start, masterStates, operatorStates, propertiesBlock: this.block, trailingBytes };
  }
}

/**
 * Parses the bytes of a metadata file.
 * @param location names the file in errors
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError
 */
export function parseMetadata(bytes: Uint8Array, location = 'metadata'): CheckpointMetadata {
  const collector = new Collector();
  visitMetadataBytes(bytes, location, new ModelVisitor(collector));
  return collector.result();
}

/**
 * Loads a metadata file.
 * @param location names the file in errors
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError; the errors of `source`
 */
export async function loadMetadata(
  source: RangedBytes,
  location: string,
  options?: VisitOptions,
): Promise<CheckpointMetadata> {
  const collector = new Collector();
  await visitMetadata(source, location, new ModelVisitor(collector), options);
  return collector.result();
}
