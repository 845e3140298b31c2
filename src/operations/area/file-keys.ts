/**
 * Whether two names mean one file. A file is a directory's key and a name in it; the key of a local directory is its device
 * and inode, so that links and mounts lead to one key, and that of any other store is its URI without what is known to
 * make no difference.
 */
import { CkptError } from '../../errors.js';
import type { FileSystem } from '../../filesystem/file-system.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';

/** Schemes that reach one store, by the name they are compared under. */
const SAME_STORE: Readonly<Record<string, string>> = {
  s3a: 's3',
  s3n: 's3',
  s3p: 's3',
  abfss: 'abfs',
  wasb: 'abfs',
  wasbs: 'abfs',
  webhdfs: 'hdfs',
  swebhdfs: 'hdfs',
};

/** What {@link FileKeys.directory} knows of a directory. */
export interface DirectoryKey {
  readonly key: string;
  /** False for a directory that does not exist: its key is then made of the nearest one that does. */
  readonly exists: boolean;
  /** Identity of the directory within its store; undefined if it has none, or is not there. */
  readonly identity: string | undefined;
  /** Files in it that are links to files: name to where they lead. */
  readonly links: ReadonlyMap<string, { readonly directory: string; readonly name: string }>;
}

interface KeyOfDirectory {
  readonly key: string;
  readonly identity: string | undefined;
  /** Undefined if there is none. */
  readonly directory: Path | undefined;
}

const NO_LINKS: DirectoryKey['links'] = new Map();

/** Finds keys and keeps them. One instance for one view of the stores: make a new one to look again. */
export class FileKeys {
  private readonly known = new Map<string, Promise<DirectoryKey>>();
  private readonly keys = new Map<string, Promise<KeyOfDirectory>>();
  private readonly listed = new Map<string, readonly string[]>();

  constructor(private readonly fileSystems: FileSystems) {}

  /**
   * Spares the listing of a directory, of which may be a million files: it has been listed.
   * @param directory by the very name that it will be asked for
   * @param links the names in it that are links to files
   */
  learn(directory: string, links: readonly string[]): void {
    this.listed.set(directory, links);
  }

  /** The key of a directory, given as it is named anywhere. Never fails: what cannot be looked at has its name for a key. */
  directory(path: string): Promise<DirectoryKey> {
    const known = this.known.get(path);
    if (known !== undefined) return known;
    const found = this.find(path);
    this.known.set(path, found);
    return found;
  }

  /** The key of a file as one string. */
  async file(path: Path): Promise<string> {
    const { parent } = path;
    if (!parent) return nameKey(path.toString());
    const { key, links } = await this.directory(parent.toString());
    const link = links.get(path.name);
    return link ? fileKey(link.directory, link.name) : fileKey(key, path.name);
  }

  private async find(text: string): Promise<DirectoryKey> {
    const { key, identity, directory } = await this.keyOf(text);
    const links = directory ? await this.linksIn(directory) : NO_LINKS;
    return { key, exists: directory !== undefined, identity, links };
  }

  /** The key alone: links may lead into their own directory, and from one directory to another and back. */
  private keyOf(text: string): Promise<KeyOfDirectory> {
    const known = this.keys.get(text);
    if (known !== undefined) return known;
    const found = this.findKey(text);
    this.keys.set(text, found);
    return found;
  }

  private async findKey(text: string): Promise<KeyOfDirectory> {
    let named: Path;
    let path: Path;
    try {
      named = Path.parse(text);
      path = this.fileSystems.lookUp(named);
    } catch {
      return { key: nameKey(text), identity: undefined, directory: undefined };
    }
    try {
      const fileSystem = await this.fileSystems.get(named);
      const status = await fileSystem.getFileStatus(named);
      if (status.type !== 'directory')
        return { key: nameKey(path.toString()), identity: undefined, directory: undefined };
      const key = status.identity === undefined ? nameKey(path.toString()) : `${path.scheme}#${status.identity}`;
      return { key, identity: status.identity, directory: named };
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
      return { key: await this.keyOfMissing(path), identity: undefined, directory: undefined };
    }
  }

  /** By the nearest directory that exists, if the store tells what that is, and the names below it; else by its name. */
  private async keyOfMissing(path: Path): Promise<string> {
    return (await this.keyBelowExisting(path)) ?? nameKey(path.toString());
  }

  private async keyBelowExisting(path: Path): Promise<string | undefined> {
    const { parent } = path;
    if (!parent || parent.equals(path)) return undefined;
    try {
      const { identity } = await (await this.fileSystems.get(parent)).getFileStatus(parent);
      return identity === undefined ? undefined : `${parent.scheme}#${identity}/${path.name}`;
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
      const above = await this.keyBelowExisting(parent);
      return above === undefined ? undefined : `${above}/${path.name}`;
    }
  }

  private async linksIn(directory: Path): Promise<DirectoryKey['links']> {
    const links = new Map<string, { directory: string; name: string }>();
    const fileSystem = await this.fileSystems.get(directory);
    if (fileSystem.kind !== 'file-system') return NO_LINKS;
    for (const name of await this.linkNames(fileSystem, directory)) {
      try {
        const target = await fileSystem.resolveLinks(directory.entry(name));
        if (target.parent)
          links.set(name, { directory: (await this.keyOf(target.parent.toString())).key, name: target.name });
      } catch (error) {
        // The link is gone, or what it leads to; the others count all the same.
        if (!(error instanceof CkptError)) throw error;
      }
    }
    return links.size === 0 ? NO_LINKS : links;
  }

  private async linkNames(fileSystem: FileSystem, directory: Path): Promise<readonly string[]> {
    const known = this.listed.get(directory.toString());
    if (known) return known;
    const links: string[] = [];
    try {
      for await (const entries of fileSystem.list(directory)) {
        for (const { name, isLink, type } of entries) if (isLink && type === 'file') links.push(name);
      }
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
    }
    return links;
  }
}

/** One string for a directory's key and a name. */
export function fileKey(directory: string, name: string): string {
  return `${directory}/${name}`;
}

/** A path by the name under which it is compared: two that are surely in one store, spelt differently, become equal. */
export function comparedPath(path: Path): Path {
  const { scheme, authority } = comparedStore(path.scheme ?? 'file', path.authority ?? '');
  return Path.verbatim({ scheme, authority: authority === '' ? undefined : authority, path: path.path });
}

/** A URI with what makes no difference taken away. */
function nameKey(uri: string): string {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/]*))?(.*)$/.exec(uri);
  if (!match) return uri;
  const { scheme, authority } = comparedStore(match[1] ?? '', match[2] ?? '');
  return `${scheme}://${authority}${match[3] ?? ''}`;
}

/** What makes no difference: the scheme's spelling, the port of a name node, the account's host. */
function comparedStore(given: string, authority: string): { readonly scheme: string; readonly authority: string } {
  const scheme = SAME_STORE[given] ?? given;
  if (scheme === 'hdfs') return { scheme, authority: authority.replace(/:\d+$/, '') };
  if (scheme === 'abfs') return { scheme, authority: authority.replace(/\.(?:blob|dfs)\./, '.') };
  return { scheme, authority };
}
