/** Parts of an operator's state that fit into memory one at a time: by key groups, and where one is too large by hashes. */
import type { KeyGroups } from '../state/pieces.js';

/** State that one pass reads of each side, in bytes of its files. They hold it compressed, and the smallest entries take some ten bytes. */
const PASS_BYTES = 48 * 1024 * 1024;

/** What one pass looks at. */
export interface Pass {
  /** Undefined: all. */
  readonly keyGroups: KeyGroups | undefined;
  /** Of the entries there those whose hash leaves this remainder when it is divided by {@link Pass.slices}. */
  readonly slice: number;
  readonly slices: number;
}

/** Entries that are in no key group, or whose key groups are not the same on both sides. */
export function* passesBySlices(bytes: number, passBytes = PASS_BYTES): Generator<Pass, void, undefined> {
  const slices = Math.max(1, Math.ceil(bytes / passBytes));
  for (let slice = 0; slice < slices; slice++) yield { keyGroups: undefined, slice, slices };
}

/**
 * Passes over keyed state, in the order of the key groups.
 * @param bytes of the larger side
 */
export function* passesByKeyGroups(
  bytes: number,
  maxParallelism: number,
  passBytes = PASS_BYTES,
): Generator<Pass, void, undefined> {
  const parts = Math.max(1, Math.ceil(bytes / passBytes));
  const groups = Math.max(1, Math.floor(maxParallelism / parts));
  const slices = Math.max(1, Math.ceil(((bytes / maxParallelism) * groups) / passBytes));
  for (let first = 0; first < maxParallelism; first += groups) {
    const keyGroups = { first, last: Math.min(first + groups, maxParallelism) - 1 };
    for (let slice = 0; slice < slices; slice++) yield { keyGroups, slice, slices };
  }
}
