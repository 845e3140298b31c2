/** `--map OLD=NEW`: what goes by a name OLD is looked up at NEW. Names only, no I/O. */
import { InvalidPathError, UsageError } from '../errors.js';
import { Path } from './path.js';

/** One pair; both qualified, neither with a slash at its end. */
interface Rule {
  readonly old: Path;
  readonly new: Path;
}

/**
 * An immutable set of path prefixes and their replacements. A prefix is a whole path: scheme and authority belong to it,
 * and `/a` is none of `/ab`. The longest one counts, once: what it gives is not mapped again.
 */
export class PathMapping {
  static readonly none = new PathMapping([]);
  /** Longest OLD first. */
  readonly #rules: readonly Rule[];

  private constructor(rules: readonly Rule[]) {
    this.#rules = [...rules].sort((a, b) => lengthOf(b.old) - lengthOf(a.old));
  }

  /**
   * Reads arguments of the form `OLD=NEW`. `\=` is a `=` within a path.
   * @param qualify makes a path of a user absolute: `FileSystems.qualify`
   * @throws UsageError if an argument has no unescaped `=` or several, a side is no path, or one OLD has two NEWs
   */
  static parse(args: readonly string[], qualify: (path: Path) => Path): PathMapping {
    const rules: Rule[] = [];
    for (const argument of args) {
      const rule = parseRule(argument, qualify);
      const other = rules.find(({ old }) => old.equals(rule.old));
      if (other !== undefined && !other.new.equals(rule.new)) {
        throw new UsageError(`${argument}: ${rule.old} is mapped to ${other.new} already`, { argument });
      }
      if (other === undefined) rules.push(rule);
    }
    return new PathMapping(rules);
  }

  /** True if nothing is mapped. */
  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** Where a qualified path is to be looked up: the path itself if no OLD fits. */
  toReal(named: Path): Path {
    for (const rule of this.#rules) {
      const rest = named.relativeTo(rule.old);
      if (rest !== undefined) return join(rule.new, rest);
    }
    return named;
  }

  /**
   * The name of what lies at a qualified path, the other way round: the one of the longest NEW. A path below no NEW is its
   * own name. Undefined if nothing that is looked up gets there (another place is looked up under its name).
   */
  toNamed(real: Path): Path | undefined {
    const candidates = this.#rules
      .filter((rule) => real.startsWith(rule.new))
      .sort((a, b) => lengthOf(b.new) - lengthOf(a.new))
      .map((rule) => join(rule.old, real.relativeTo(rule.new) ?? ''));
    return [...candidates, real].find((named) => this.toReal(named).equals(real));
  }
}

function parseRule(argument: string, qualify: (path: Path) => Path): Rule {
  const sides = argument.split(/(?<!\\)=/);
  const [old, replacement] = sides.map((side) => side.replaceAll('\\=', '='));
  if (sides.length !== 2 || !old || !replacement) {
    throw new UsageError(`"${argument}" is not OLD=NEW; a "=" within a path is written "\\="`, { argument });
  }
  try {
    return { old: trim(qualify(Path.parse(old))), new: trim(qualify(Path.parse(replacement))) };
  } catch (error) {
    if (!(error instanceof InvalidPathError)) throw error;
    throw new UsageError(`"${argument}" is not OLD=NEW: ${error.message}`, { argument }, { cause: error });
  }
}

/** `s3://b/` and `s3://b` are one prefix. */
function trim(path: Path): Path {
  return path.path === '/' && path.authority !== undefined
    ? Path.verbatim({ scheme: path.scheme, authority: path.authority, path: '' })
    : path;
}

/** Not by `Path.child`: names come verbatim from a listing or out of metadata. */
function join(directory: Path, rest: string): Path {
  if (rest === '') return directory;
  const front = directory.path.endsWith('/') ? directory.path : `${directory.path}/`;
  return Path.verbatim({ scheme: directory.scheme, authority: directory.authority, path: front + rest });
}

function lengthOf(path: Path): number {
  return path.path === '/' ? 0 : path.path.length;
}
