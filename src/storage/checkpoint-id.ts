/** Numbers of checkpoints. */
import { UsageError } from '../errors.js';

const MAX_LONG = 0x7fff_ffff_ffff_ffffn;

/** @throws UsageError unless a checkpoint can have this number */
export function checkCheckpointId(checkpointId: bigint): void {
  if (checkpointId >= 0n && checkpointId <= MAX_LONG) return;
  throw new UsageError(`${checkpointId} is no checkpoint id: it must be from 0 to ${MAX_LONG}`, { checkpointId });
}
