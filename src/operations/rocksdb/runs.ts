import { compareBytes } from '../../format/sst/block.js';
import type { ManifestTable } from '../../format/sst/manifest.js';
import { userKeyOf } from '../../format/sst/sorted-run.js';

/** Groups tables into runs whose keys do not overlap, in the order of their keys: each of level 0, and each further level. */
export function runsOf(tables: readonly ManifestTable[]): (readonly ManifestTable[])[] {
  const runs: (readonly ManifestTable[])[] = [];
  const levels = new Map<number, ManifestTable[]>();
  for (const table of tables) {
    if (table.level === 0) {
      runs.push([table]);
    } else {
      const level = levels.get(table.level);
      if (level) level.push(table);
      else levels.set(table.level, [table]);
    }
  }
  for (const level of levels.values()) runs.push(level.sort(compareFirstKeys));
  return runs;
}

function compareFirstKeys(a: ManifestTable, b: ManifestTable): number {
  const [one, other] = [userKeyOf(a.smallest), userKeyOf(b.smallest)];
  return compareBytes(one, one.length, other, other.length);
}
