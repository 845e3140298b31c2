/** Names that somebody may have meant. */
import { distance } from 'fastest-levenshtein';

/** Differences that count as a slip of the pen: three letters, or a third of a short name. */
const MAX_DISTANCE = 3;
const MAX_PART = 1 / 3;

/** Letters and digits alone: `savepoint ab12` and `Savepoint-AB12` are the same slip. */
const bare = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** Those of the names that are like the wanted one, the likest first, `limit` at most. */
export function nearestNames(wanted: string, names: readonly string[], limit = 5): string[] {
  const goal = bare(wanted);
  const allowed = Math.max(1, Math.min(MAX_DISTANCE, Math.floor(goal.length * MAX_PART)));
  return names
    .map((name) => ({ name, far: goal === '' ? Infinity : distance(goal, bare(name)) }))
    .filter(({ name, far }) => far <= allowed || (goal.length >= 3 && bare(name).includes(goal)))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}
