/** The directories below which a command may delete, and what lies in them. */
import type { Path } from '../../filesystem/path.js';
import { Path as FlinkPath } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';

/** See the file comment. */
export class Area {
  private constructor(
    /** As they are named, qualified. */
    readonly roots: readonly Path[],
    private readonly real: readonly Path[],
    private readonly aliases: readonly (readonly string[])[],
  ) {}

  /**
   * @param roots qualified
   * @param aliases groups of schemes that the user says are the same store
   * @throws the errors of resolving a root that cannot be looked at
   */
  static async of(
    fileSystems: FileSystems,
    roots: readonly Path[],
    aliases: readonly (readonly string[])[] = [],
  ): Promise<Area> {
    const real: Path[] = [];
    for (const root of roots) real.push(await (await fileSystems.get(root)).resolveLinks(root));
    return new Area(roots, real, aliases);
  }

  /** True if the path, as it is named, lies in the area. */
  contains(path: Path): boolean {
    return this.roots.some((root) => this.below(path, root));
  }

  /** True if the path, with all links resolved, lies in the area. */
  containsReal(path: Path): boolean {
    return this.real.some((root) => this.below(path, root));
  }

  /**
   * True if a directory lies in the area or the area in it.
   * @param path as it is named
   * @param real with all links resolved
   */
  overlaps(path: Path, real: Path): boolean {
    return (
      this.contains(path) ||
      this.containsReal(real) ||
      this.roots.some((root) => root.startsWith(path)) ||
      this.real.some((root) => root.startsWith(real))
    );
  }

  private below(path: Path, root: Path): boolean {
    if (path.startsWith(root)) return true;
    const group = this.aliases.find(
      (schemes) => schemes.includes(path.scheme ?? '') && schemes.includes(root.scheme ?? ''),
    );
    return group !== undefined && FlinkPath.verbatim({ ...parts(path), scheme: root.scheme }).startsWith(root);
  }
}

function parts(path: Path): { authority: string | undefined; path: string } {
  return { authority: path.authority, path: path.path };
}
