import type { GcEntry, GcGroup } from './types.js';

/** Sums files up by directory and kind, those with the most bytes first. */
export function sumUp(entries: Iterable<GcEntry>): GcGroup[] {
  const groups = new Map<string, { path: string; kind: GcEntry['kind']; files: number; bytes: number }>();
  for (const { directory, kind, bytes } of entries) {
    const path = directory.toString();
    const key = `${kind} ${path}`;
    const group = groups.get(key) ?? { path, kind, files: 0, bytes: 0 };
    groups.set(key, group);
    group.files++;
    group.bytes += bytes;
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes || b.files - a.files || (a.path < b.path ? -1 : 1));
}
