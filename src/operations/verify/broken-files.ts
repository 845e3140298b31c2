/** The same faults the other way round: file by file, with the checkpoints that need it. */
import type { CheckpointVerification, FaultKind } from './result.js';

/** A file with faults. */
export interface BrokenFile {
  readonly path: string;
  readonly lookedUpAt: string;
  readonly foundAt: string | null;
  readonly faults: readonly FaultKind[];
  /** The checkpoints that it breaks. */
  readonly pointers: readonly string[];
}

/** All files with faults, those that break the most checkpoints first. */
export function brokenFiles(results: readonly CheckpointVerification[]): BrokenFile[] {
  const files = new Map<string, BrokenFile & { readonly faults: FaultKind[]; readonly pointers: string[] }>();
  for (const { pointer, faults } of results) {
    for (const { fault, path, lookedUpAt, foundAt } of faults) {
      const file = files.get(path) ?? { path, lookedUpAt, foundAt, faults: [], pointers: [] };
      files.set(path, file);
      if (!file.faults.includes(fault)) file.faults.push(fault);
      // The faults of one checkpoint come together.
      if (file.pointers[file.pointers.length - 1] !== pointer) file.pointers.push(pointer);
    }
  }
  return [...files.values()].sort((a, b) => b.pointers.length - a.pointers.length || (a.path < b.path ? -1 : 1));
}
