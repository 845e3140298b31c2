/** Changes of path prefixes in metadata: scheme and authority belong to the prefix, and only whole names count. */
import { UsageError } from '../errors.js';
import { Path } from '../filesystem/path.js';
import type { HandleMapper } from '../model/map-handles.js';
import type {
  FileMergingOperatorStreamStateHandle,
  OperatorStateHandle,
  StreamStateHandle,
} from '../model/state-handles.js';

/** One change, and how often it was made. */
export interface PrefixChange {
  readonly old: Path;
  readonly new: Path;
  /** Handles changed; a merged operator handle counts for each of its paths. */
  handles: number;
}

/** Applies changes to handles, counting. The longest old prefix that fits is the one that counts. */
export class PrefixChanges implements HandleMapper {
  readonly changes: readonly PrefixChange[];
  /** Absolute paths that no prefix fits. */
  unmatched = 0;
  /** Relative handles, which no prefix can fit. */
  relative = 0;
  private readonly longestFirst: readonly PrefixChange[];

  /**
   * @param pairs qualified
   * @throws UsageError if there is none, or one old prefix has two new ones
   */
  constructor(pairs: readonly { readonly old: Path; readonly new: Path }[]) {
    if (pairs.length === 0) throw new UsageError('at least one OLD=NEW is needed');
    this.changes = pairs.map((pair) => ({ ...pair, handles: 0 }));
    const seen = new Set<string>();
    for (const { old } of this.changes) {
      if (seen.has(old.toString())) throw new UsageError(`${old} is given twice`);
      seen.add(old.toString());
    }
    this.longestFirst = [...this.changes].sort((a, b) => b.old.toString().length - a.old.toString().length);
  }

  /** Handles changed in all. */
  get handles(): number {
    return this.changes.reduce((sum, change) => sum + change.handles, 0);
  }

  /** The new form of a stored path, or the same string. */
  private path(stored: string): string {
    let path: Path;
    try {
      path = Path.parse(stored);
    } catch {
      this.unmatched++;
      return stored;
    }
    const qualified = path.scheme === undefined && path.isAbsolute ? Path.parse(`file:${path}`) : path;
    for (const change of this.longestFirst) {
      const rest = qualified.relativeTo(change.old);
      if (rest === undefined) continue;
      change.handles++;
      if (rest === '') return change.new.toString();
      // What follows stays letter by letter, also where it is not in the form that Flink gives paths.
      const old = trimmed(change.old);
      const tail = stored.startsWith(`${old}/`) ? stored.slice(old.length) : `/${rest}`;
      return `${trimmed(change.new)}${tail}`;
    }
    this.unmatched++;
    return stored;
  }

  stream(handle: StreamStateHandle): StreamStateHandle {
    switch (handle.type) {
      case 'FileStateHandle':
      case 'SegmentFileStateHandle': {
        const filePath = this.path(handle.filePath);
        return filePath === handle.filePath ? handle : { ...withoutRaw(handle, 'filePath'), filePath };
      }
      case 'RelativeFileStateHandle':
        this.relative++;
        return handle;
      default:
        return handle;
    }
  }

  operator(handle: OperatorStateHandle): OperatorStateHandle {
    if (handle.type === 'OperatorStreamStateHandle') return handle;
    const taskOwnedDirectory = this.path(handle.taskOwnedDirectory);
    const sharedDirectory = this.path(handle.sharedDirectory);
    if (taskOwnedDirectory === handle.taskOwnedDirectory && sharedDirectory === handle.sharedDirectory) return handle;
    let changed: FileMergingOperatorStreamStateHandle = handle;
    if (taskOwnedDirectory !== handle.taskOwnedDirectory) changed = withoutRaw(changed, 'taskOwnedDirectory');
    if (sharedDirectory !== handle.sharedDirectory) changed = withoutRaw(changed, 'sharedDirectory');
    return { ...changed, taskOwnedDirectory, sharedDirectory };
  }
}

function trimmed(path: Path): string {
  const text = path.toString();
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

/** Without the raw bytes of a string that is about to change: they were those of the old one. */
function withoutRaw<T extends { readonly wire?: { readonly utf?: Readonly<Record<string, Uint8Array>> } }>(
  handle: T,
  field: string,
): T {
  const utf = handle.wire?.utf;
  if (!utf || !Object.hasOwn(utf, field)) return handle;
  const { [field]: _dropped, ...rest } = utf;
  return { ...handle, wire: { ...handle.wire, utf: rest } };
}
