/** Writes metadata anew while it streams by, with some of it changed; what is not changed comes out byte for byte. */
import type { RangedBytes } from '../bytes/byte-reader.js';
import { MetadataEncoder } from '../format/metadata/metadata-encoder.js';
import { type ModelConsumer, ModelVisitor } from '../format/metadata/model-visitor.js';
import { visitMetadata } from '../format/metadata/read.js';
import { Since } from '../format/metadata/tags.js';
import type { MasterState, MetadataHeader, OperatorHead, SubtaskEntry } from '../model/checkpoint-metadata.js';
import type { PatchableSink } from './assemble.js';

/** What to change; a method that is absent or returns its argument changes nothing. */
export interface Rewriter {
  /** Null drops the operator with all its subtasks. */
  operator?(head: OperatorHead): OperatorHead | null;
  subtask?(entry: SubtaskEntry, head: OperatorHead): SubtaskEntry;
  /** The properties block of version 4 and later. */
  properties?(block: Uint8Array): Uint8Array;
}

/** What was written. */
export interface RewriteResult {
  readonly bytes: number;
  readonly operators: number;
  readonly droppedOperators: number;
}

/** Bytes encoded before they are handed on. */
const STEP = 256 * 1024;

class RewritingConsumer implements ModelConsumer {
  readonly encoder = new MetadataEncoder();
  operators = 0;
  dropped = 0;
  private readonly masterStates: MasterState[] = [];
  private readonly trailingPieces: Uint8Array[] = [];
  private metadata: MetadataHeader | undefined;
  private block: Uint8Array | null = null;
  private head: OperatorHead | null = null;

  constructor(private readonly rewriter: Rewriter) {}

  header(header: MetadataHeader): void {
    this.metadata = header;
    this.encoder.header(header);
  }

  masterState(state: MasterState): void {
    this.masterStates.push(state);
  }

  operatorCount(): void {
    this.encoder.masterStates(this.masterStates);
    this.encoder.operators(undefined);
  }

  beginOperator(head: OperatorHead): void {
    this.head = this.rewriter.operator ? this.rewriter.operator(head) : head;
    if (!this.head) {
      this.dropped++;
      return;
    }
    this.operators++;
    this.encoder.beginOperator(this.head);
  }

  subtask(entry: SubtaskEntry): void {
    if (this.head) this.encoder.subtask(this.rewriter.subtask?.(entry, this.head) ?? entry);
  }

  endOperator(): void {
    if (this.head) this.encoder.endOperator();
  }

  properties(block: Uint8Array): void {
    this.block = this.rewriter.properties?.(block) ?? block;
  }

  trailing(bytes: Uint8Array): void {
    this.trailingPieces.push(bytes);
  }

  finish(): void {
    const { encoder, metadata } = this;
    encoder.operatorsEnd();
    encoder.properties(metadata && metadata.version >= Since.properties ? this.block : null);
    for (const piece of this.trailingPieces) encoder.trailing(piece);
  }
}

/**
 * Rewrites a metadata file into a sink, streamed.
 * @param location names the file in errors
 * @throws the errors of reading metadata; UnwritableMetadataError if the format cannot hold what the rewriter makes, before
 *   the sink is complete; what the rewriter and the sink throw
 */
export async function rewriteMetadata(
  source: RangedBytes,
  location: string,
  sink: PatchableSink,
  rewriter: Rewriter,
  signal?: AbortSignal,
): Promise<RewriteResult> {
  const consumer = new RewritingConsumer(rewriter);
  const { encoder } = consumer;
  const flush = async (least: number): Promise<void> => {
    if (encoder.out.pending > least) await sink.write(encoder.out.drain());
  };
  await visitMetadata(source, location, new ModelVisitor(consumer), { signal, onPause: () => flush(STEP) });
  consumer.finish();
  await flush(0);
  for (const { position, bytes } of encoder.out.patches) await sink.patch(position, bytes);
  return { bytes: encoder.out.position, operators: consumer.operators, droppedOperators: consumer.dropped };
}
