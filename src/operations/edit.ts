/** Metadata surgery on a copy: operators renamed, dropped, kept; everything else stays byte for byte. */
import { OperatorNotFoundError, RefusedError, UsageError } from '../errors.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { operatorIdOfUid } from '../format/hash/operator-id.js';
import { visitMetadata } from '../format/metadata/read.js';
import { Since, Tag } from '../format/metadata/tags.js';
import {
  type KeyedHandleView,
  MetadataVisitor,
  type OperatorView,
  type StreamHandleView,
} from '../format/metadata/visitor.js';
import type { MetadataHeader, OperatorHead } from '../model/checkpoint-metadata.js';
import type { ChangeResult } from './change-result.js';
import { describeOperator, findOperator, type NamedOperator } from './find-operator.js';
import { type MetadataTarget, targetPath, writeMetadataTarget } from './metadata-target.js';
import { openMetadata, type ResolvedPointer } from './pointer.js';
import { type Rewriter, rewriteMetadata } from './rewrite.js';

/** What to change. Operators are named by id, unique beginning of an id, uid or name, as they are before all changes. */
export interface Edits {
  /** Gives an operator another uid, and the id that Flink makes of it. */
  readonly setUid: readonly { readonly old: string; readonly new: string }[];
  readonly setOperatorId: readonly { readonly old: string; readonly new: string }[];
  readonly drop: readonly string[];
  /** Drops all others; none means all are kept. */
  readonly keep: readonly string[];
  readonly setMaxParallelism: readonly { readonly operator: string; readonly value: number }[];
}

/** An operator that an edit changes. */
export interface EditedOperator {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
  readonly dropped: boolean;
  readonly newOperatorId: string;
  readonly newUid: string | null;
  readonly maxParallelism: number;
  readonly newMaxParallelism: number;
}

/** What was done. */
export interface EditResult extends ChangeResult {
  /** Those that changed or went. */
  readonly operators: readonly EditedOperator[];
}

/** The most that Flink allows. */
const UPPER_BOUND_MAX_PARALLELISM = 32_768;

interface KnownOperator extends NamedOperator {
  readonly parallelism: number;
  readonly maxParallelism: number;
  hasKeyedState: boolean;
  hasRelative: boolean;
}

/** What edits need to know of the operators before they begin. */
class OperatorCollector extends MetadataVisitor {
  version = 0;
  readonly operators: KnownOperator[] = [];

  override header(header: MetadataHeader): void {
    this.version = header.version;
  }

  override beginOperator(view: OperatorView): void {
    const { operatorId, parallelism, maxParallelism } = view;
    const uid = view.uid.text() || null;
    const name = view.name.text() || null;
    this.operators.push({
      operatorId,
      uid,
      name,
      parallelism,
      maxParallelism,
      hasKeyedState: false,
      hasRelative: false,
    });
  }

  override beginKeyedHandle(_view: KeyedHandleView): void {
    const operator = this.operators.at(-1);
    if (operator) operator.hasKeyedState = true;
  }

  override streamHandle(view: StreamHandleView): void {
    const operator = this.operators.at(-1);
    if (operator && view.tag === Tag.RelativeFile) operator.hasRelative = true;
  }
}

/** Edits that fit a metadata file, ready to be applied. */
export interface EditPlan {
  readonly operators: readonly EditedOperator[];
  /** True if what stays has handles that are relative to the directory. */
  readonly hasRelativeHandles: boolean;
  /** Makes a rewriter for one pass. */
  rewriter(): Rewriter;
}

/**
 * Checks edits against a metadata file.
 * @throws UsageError if they contradict each other; OperatorNotFoundError; RefusedError if two operators would have one id,
 *   or a max parallelism cannot be changed; the errors of reading metadata
 */
export async function planEdits(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  edits: Edits,
  signal?: AbortSignal,
): Promise<EditPlan> {
  const collector = new OperatorCollector();
  const source = await openMetadata(fileSystems, pointer);
  try {
    await visitMetadata(source, pointer.metadataPath.toString(), collector, { signal });
  } finally {
    await source.close();
  }
  const planner = new EditPlanner(collector.operators, collector.version);
  return planner.plan(edits);
}

class EditPlanner {
  private readonly edited: { -readonly [K in keyof EditedOperator]: EditedOperator[K] }[];
  private readonly renamed = new Set<number>();

  constructor(
    private readonly operators: readonly KnownOperator[],
    private readonly version: number,
  ) {
    this.edited = operators.map(({ operatorId, uid, name, maxParallelism }) => ({
      operatorId,
      uid,
      name,
      dropped: false,
      newOperatorId: operatorId,
      newUid: uid,
      maxParallelism,
      newMaxParallelism: maxParallelism,
    }));
  }

  plan(edits: Edits): EditPlan {
    this.dropAndKeep(edits);
    for (const { old, new: uid } of edits.setUid) this.setUid(old, uid);
    for (const { old, new: id } of edits.setOperatorId) this.setOperatorId(old, id);
    for (const { operator, value } of edits.setMaxParallelism) this.setMaxParallelism(operator, value);
    this.refuseCollisions();
    const { edited } = this;
    const changed = edited.filter(isChanged);
    if (changed.length === 0) throw new UsageError('no edit changes anything');
    return {
      operators: changed,
      hasRelativeHandles: this.operators.some(({ hasRelative }, i) => hasRelative && !edited[i]?.dropped),
      rewriter: () => rewriterOf(edited),
    };
  }

  private find(wanted: string): number {
    try {
      return findOperator(this.operators, wanted);
    } catch (error) {
      if (!(error instanceof OperatorNotFoundError)) throw error;
      throw new RefusedError(error.message, error.data, { cause: error });
    }
  }

  private entry(wanted: string): { index: number; edited: EditPlanner['edited'][number]; operator: KnownOperator } {
    const index = this.find(wanted);
    const edited = this.edited[index];
    const operator = this.operators[index];
    if (!edited || !operator) throw new Error('an operator was found where there is none');
    if (edited.dropped) throw new UsageError(`operator "${wanted}" is dropped and changed at once`);
    return { index, edited, operator };
  }

  private dropAndKeep({ drop, keep }: Edits): void {
    if (drop.length > 0 && keep.length > 0) throw new UsageError('--drop and --keep exclude each other');
    const dropped = new Set(drop.map((wanted) => this.find(wanted)));
    const kept = new Set(keep.map((wanted) => this.find(wanted)));
    this.edited.forEach((edited, index) => {
      edited.dropped = dropped.has(index) || (keep.length > 0 && !kept.has(index));
    });
  }

  private rename(wanted: string): EditPlanner['edited'][number] {
    const { index, edited } = this.entry(wanted);
    if (this.renamed.has(index)) throw new UsageError(`operator "${wanted}" gets two new ids`);
    this.renamed.add(index);
    return edited;
  }

  private setUid(wanted: string, uid: string): void {
    if (uid === '') throw new UsageError('a uid must not be empty');
    const edited = this.rename(wanted);
    edited.newOperatorId = operatorIdOfUid(uid);
    if (this.version >= Since.names) edited.newUid = uid;
  }

  private setOperatorId(wanted: string, id: string): void {
    if (!/^[0-9a-f]{32}$/i.test(id)) throw new UsageError(`"${id}" is not an operator id: 32 hex digits`);
    this.rename(wanted).newOperatorId = id.toLowerCase();
  }

  private setMaxParallelism(wanted: string, value: number): void {
    const { edited, operator } = this.entry(wanted);
    const who = describeOperator(operator);
    const refuse = (reason: string): never => {
      throw new RefusedError(`${who}: ${reason}`, { operatorId: operator.operatorId, maxParallelism: value });
    };
    if (operator.hasKeyedState)
      refuse('its keyed state is divided into key groups by its max parallelism, which cannot change');
    if (value < operator.parallelism)
      refuse(`the max parallelism cannot be below the parallelism ${operator.parallelism}`);
    if (value > UPPER_BOUND_MAX_PARALLELISM) refuse(`Flink allows ${UPPER_BOUND_MAX_PARALLELISM} at most`);
    edited.newMaxParallelism = value;
  }

  private refuseCollisions(): void {
    const byId = new Map<string, EditPlanner['edited'][number]>();
    for (const edited of this.edited) {
      if (edited.dropped) continue;
      const other = byId.get(edited.newOperatorId);
      // Two entries that had one id before are none of our making.
      if (other && (isChanged(other) || isChanged(edited)) && other.operatorId !== edited.operatorId) {
        throw new RefusedError(
          `${describeOperator(edited)} and ${describeOperator(other)} would both have the id ${edited.newOperatorId}`,
          { operatorId: edited.newOperatorId },
        );
      }
      byId.set(edited.newOperatorId, edited);
    }
  }
}

function isChanged(edited: EditedOperator): boolean {
  return (
    edited.dropped ||
    edited.newOperatorId !== edited.operatorId ||
    edited.newUid !== edited.uid ||
    edited.newMaxParallelism !== edited.maxParallelism
  );
}

function rewriterOf(edited: readonly EditedOperator[]): Rewriter {
  let next = 0;
  return {
    operator(head) {
      const edit = edited[next++];
      if (!edit) throw new Error('the metadata changed between two passes');
      return edit.dropped ? null : apply(head, edit);
    },
  };
}

function apply(head: OperatorHead, edit: EditedOperator): OperatorHead {
  if (!isChanged(edit)) return head;
  const changed = {
    ...head,
    operatorId: edit.newOperatorId,
    uid: edit.newUid,
    maxParallelism: edit.newMaxParallelism,
  };
  if (edit.newUid === edit.uid || !head.wire?.utf?.uid) return changed;
  const { uid: _old, ...utf } = head.wire.utf;
  return { ...changed, wire: { ...head.wire, utf } };
}

/**
 * Writes edited metadata to another file of the same directory.
 * @throws RefusedError if relative handles would end up in another directory; AlreadyExistsError; the errors of `planEdits`
 */
export async function editMetadata(
  fileSystems: FileSystems,
  pointer: ResolvedPointer,
  plan: EditPlan,
  target: MetadataTarget & { readonly kind: 'file' },
  signal?: AbortSignal,
): Promise<EditResult> {
  refuseOtherDirectory(pointer, plan, target.path);
  const source = await openMetadata(fileSystems, pointer);
  try {
    const { bytes } = await writeMetadataTarget(fileSystems, pointer, target, (writer) =>
      rewriteMetadata(source, pointer.metadataPath.toString(), writer, plan.rewriter(), signal),
    );
    return {
      source: pointer.directory.toString(),
      target: targetPath(pointer, target).toString(),
      files: 1,
      bytes,
      rewrittenHandles: 0,
      prefixes: [],
      verified: null,
      operators: plan.operators,
    };
  } finally {
    await source.close();
  }
}

function refuseOtherDirectory(pointer: ResolvedPointer, plan: EditPlan, target: Path): void {
  if (!plan.hasRelativeHandles || target.parent?.equals(pointer.directory)) return;
  throw new RefusedError(
    `some handles are relative to ${pointer.directory}: write the file there under another name, or use --copy`,
    { target: target.toString() },
  );
}
