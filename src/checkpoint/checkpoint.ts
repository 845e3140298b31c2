/** What pending and completed checkpoints have in common: Flink's `Checkpoint`. */
import { asError, firstOrSuppressed } from '../errors.js';
import { forEachConcurrently } from '../filesystem/limit.js';
import type { DiscardContext, StateHandle } from './discard-handle.js';
import { discardState } from './discard-handle.js';

/** How a checkpoint is discarded in parallel. */
export interface DiscardAsyncOptions {
  /** How many deletions run at once; default as in `filesystem/limit.ts`. */
  readonly concurrency?: number;
}

/** Discards a checkpoint that was marked for it. */
export interface DiscardObject {
  /** One step after another, in an order that leaves no checkpoint that could be restored by halves. */
  discard(): Promise<void>;
  /** State and metadata all at once, and the location when all of it is done: Flink's parallel mode, its default since 1.19. */
  discardAsync(options?: DiscardAsyncOptions): Promise<void>;
}

/** Discards nothing. */
export const NOOP_DISCARD_OBJECT: DiscardObject = {
  discard: async () => undefined,
  discardAsync: async () => undefined,
};

/** A checkpoint, pending or completed. */
export interface Checkpoint {
  readonly checkpointId: bigint;
  /** To be called first; the object that it gives does the work, any time later. */
  markAsDiscarded(): DiscardObject;
}

/**
 * Discards handles, several at once. All are tried.
 * @returns the first failure in the order of the handles, the others as its suppressed ones; undefined if there is none
 */
export async function discardConcurrently(
  handles: readonly StateHandle[],
  context: DiscardContext,
  options: DiscardAsyncOptions = {},
): Promise<Error | undefined> {
  const failures = new Map<number, Error>();
  await forEachConcurrently(
    handles.entries(),
    async ([index, handle]) => {
      try {
        await discardState(handle, context);
      } catch (error) {
        failures.set(index, asError(error));
      }
    },
    options,
  );
  const inOrder = [...failures].sort(([a], [b]) => a - b).map(([, failure]) => failure);
  return inOrder.reduce<Error | undefined>((first, failure) => firstOrSuppressed(failure, first), undefined);
}
