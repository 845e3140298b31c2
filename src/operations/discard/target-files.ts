/** Every file that the checkpoints to be discarded name, once each, and the directories that file merging owns. */
import { CkptError, MetadataError, RefusedError } from '../../errors.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { FileKeys } from '../area/file-keys.js';
import { forEachReference, type KeyedReference } from '../area/references.js';
import { checkpointNumber, METADATA_FILE } from '../layout.js';
import { IdSets } from './id-sets.js';
import { presentMetadata, TOMBSTONE_SUFFIX } from './targets.js';
import type { DiscardTarget, FailedPointer, KeepReason } from './types.js';

/** What was seen at the place of a file, links not followed; `outside` was not looked at, `unknown` could not be. */
export type FileSight = 'file' | 'link' | 'directory' | 'other' | 'gone' | 'outside' | 'unknown';

/** What is to become of a file. */
export type Verdict = 'delete' | 'gone' | KeepReason;

/**
 * A file that one or more of the checkpoints name, with what is found out about it step by step. There may be a million, so
 * everything about one is in one object.
 */
export class TargetFile {
  /** Bytes as recorded, 0 if unknown. */
  recorded = 0;
  /** Parts of it may belong to others: several checkpoints write one file. */
  merged = false;
  /** A changelog names it. */
  changelog = false;
  /** Nothing names it: it lies in the directory of a checkpoint whose metadata is broken. */
  isGuess = false;
  /** The checkpoints that name it: a set of {@link TargetFiles.sets}. */
  targets = IdSets.EMPTY;
  /** Those others who name it: a set of the caller's. */
  users = IdSets.EMPTY;
  sight: FileSight = 'gone';
  /** Bytes as seen; as recorded where nobody looked. */
  size = 0;
  /** As seen, ms since the epoch. */
  modificationTime = 0;
  /** Names of the very file, as seen. */
  linkCount = 1;
  verdict: Verdict = 'gone';
  /** Place in `DiscardPlan.delete`. */
  index = -1;

  constructor(
    /** As it is first named. */
    readonly directory: string,
    readonly name: string,
    /** Key of its directory, see `FileKeys`. */
    readonly directoryKey: string,
  ) {}

  get path(): string {
    return `${this.directory}/${this.name}`;
  }

  /** What becomes free when it goes. */
  get bytes(): number {
    return this.linkCount > 1 ? 0 : this.size;
  }
}

/** A directory that the checkpoints say file merging owns. */
export interface TargetManagedDirectory {
  readonly path: string;
  targets: number;
  isUsed: boolean;
}

/** What {@link readTargets} has found. */
export class TargetFiles {
  readonly sets = new IdSets();
  /** In the order in which they are first named. */
  readonly files: TargetFile[] = [];
  readonly managed = new Map<string, TargetManagedDirectory>();
  private readonly byDirectory = new Map<string, Map<string, TargetFile>>();

  /** The file of these keys, if one of the checkpoints names it. */
  find(directoryKey: string, name: string): TargetFile | undefined {
    return this.byDirectory.get(directoryKey)?.get(name);
  }

  /** Notes a mention. */
  add(directoryKey: string, directory: string, name: string, target: number): TargetFile {
    let names = this.byDirectory.get(directoryKey);
    if (names === undefined) {
      names = new Map();
      this.byDirectory.set(directoryKey, names);
    }
    let file = names.get(name);
    if (file === undefined) {
      file = new TargetFile(directory, name, directoryKey);
      names.set(name, file);
      this.files.push(file);
    }
    file.targets = this.sets.add(file.targets, target);
    return file;
  }

  /** The files whose directory has this key. */
  inDirectory(directoryKey: string): Iterable<TargetFile> {
    return this.byDirectory.get(directoryKey)?.values() ?? [];
  }

  /** True if one of the checkpoints names a file of this name in this directory. */
  has(directoryKey: string, name: string): boolean {
    return this.find(directoryKey, name) !== undefined;
  }

  addManaged(key: string, path: string, target: number): void {
    const managed = this.managed.get(key) ?? { path, targets: IdSets.EMPTY, isUsed: false };
    this.managed.set(key, managed);
    managed.targets = this.sets.add(managed.targets, target);
  }
}

/** Options of {@link readTargets}. */
export interface ReadTargetsOptions {
  /** What to do with a `chk-N` whose metadata is broken: an error (the default), or everything in its own directory. */
  readonly unreadable?: 'fail' | 'own-directory' | undefined;
  /** Names of the plain files in the directory of a target. */
  readonly fileNames: (target: DiscardTarget) => Promise<readonly string[]>;
  readonly signal?: AbortSignal | undefined;
}

/** What the metadata of the checkpoints came to. */
export interface ReadTargets {
  readonly files: TargetFiles;
  /** Those that can be discarded; {@link TargetFile.targets} are places in this list. */
  readonly readable: readonly DiscardTarget[];
  /** Those whose metadata cannot be read. */
  readonly failed: readonly FailedPointer[];
}

/**
 * Reads the metadata of the checkpoints.
 * @throws RefusedError for a path with a `..`; the signal's reason
 */
export async function readTargets(
  fileSystems: FileSystems,
  targets: readonly DiscardTarget[],
  keys: FileKeys,
  options: ReadTargetsOptions,
): Promise<ReadTargets> {
  const files = new TargetFiles();
  const broken = new Map<DiscardTarget, unknown>();
  for (const [number, target] of targets.entries()) {
    try {
      await readTarget(
        fileSystems,
        target,
        keys,
        new MentionCollector(fileSystems, target, files, number),
        options.signal,
      );
    } catch (error) {
      if (!(error instanceof MetadataError)) throw error;
      broken.set(target, error);
    }
  }
  if (broken.size === 0) return { files, readable: targets, failed: [] };
  // Of metadata that breaks off nothing may be believed: once more, without it.
  const mayGo = ({ directory }: DiscardTarget): boolean =>
    options.unreadable === 'own-directory' && checkpointNumber(directory.name) !== undefined;
  const readable = targets.filter((target) => !broken.has(target) || mayGo(target));
  const failed = targets
    .filter((target) => !readable.includes(target))
    .map((target) => ({ given: target.given, error: broken.get(target) }));
  const again = new TargetFiles();
  for (const [number, target] of readable.entries()) {
    if (broken.has(target)) await addOwnDirectory(target, keys, again, number, options);
    else
      await readTarget(
        fileSystems,
        target,
        keys,
        new MentionCollector(fileSystems, target, again, number),
        options.signal,
      );
  }
  return { files: again, readable, failed };
}

async function readTarget(
  fileSystems: FileSystems,
  target: DiscardTarget,
  keys: FileKeys,
  collector: MentionCollector,
  signal: AbortSignal | undefined,
): Promise<void> {
  const metadataPath = presentMetadata(target);
  if (metadataPath === undefined) return;
  const source = await (await fileSystems.get(metadataPath)).open(metadataPath);
  try {
    const input = { source, location: metadataPath.toString(), directory: target.directory };
    await forEachReference(input, keys, collector, signal);
  } finally {
    await source.close();
  }
}

async function addOwnDirectory(
  target: DiscardTarget,
  keys: FileKeys,
  files: TargetFiles,
  number: number,
  options: ReadTargetsOptions,
): Promise<void> {
  const { key } = await keys.directory(target.directory.toString());
  for (const name of await options.fileNames(target)) {
    if (name === target.metadataPath.name || name === target.tombstonePath.name) continue;
    files.add(key, target.directory.toString(), name, number).isGuess = true;
  }
}

/** Notes what one metadata file names. */
class MentionCollector {
  private skipsNext = false;
  private readonly qualifiedNames = new Map<string, string>();

  constructor(
    private readonly fileSystems: FileSystems,
    private readonly target: DiscardTarget,
    private readonly files: TargetFiles,
    private readonly number: number,
  ) {}

  file({ directoryKey, name, reference, isLink }: KeyedReference): void {
    if (this.skipsNext) {
      // What a link leads to: the link goes, not that.
      this.skipsNext = false;
      return;
    }
    this.skipsNext = isLink;
    const { kind, climbs, changelog, size } = reference;
    if (climbs) throw this.crafted('a file by a path with ".."', reference.path);
    if (name === METADATA_FILE || name.endsWith(TOMBSTONE_SUFFIX))
      throw this.crafted('metadata as state', reference.path);
    const file = this.files.add(directoryKey, this.qualified(reference.directory), name, this.number);
    file.changelog ||= changelog;
    if (kind === 'segment') {
      file.merged = true;
      // Segments of one file add up to what is known of its length; any other mention says all of it.
      file.recorded += Math.max(size, 0);
    } else {
      file.recorded = Math.max(file.recorded, size);
    }
  }

  /** A path without a scheme means a local one. */
  private qualified(directory: string): string {
    const known = this.qualifiedNames.get(directory);
    if (known !== undefined) return known;
    const name = qualify(this.fileSystems, directory);
    this.qualifiedNames.set(directory, name);
    return name;
  }

  private crafted(what: string, path: string): RefusedError {
    const { directory } = this.target;
    return new RefusedError(
      `${directory}: its metadata names ${what}, which no Flink does (${path}); nothing was changed`,
      { pointer: directory.toString(), reason: 'crafted-path', path },
    );
  }

  managedDirectory(key: string, path: string): void {
    this.files.addManaged(key, this.qualified(path), this.number);
  }
}

function qualify(fileSystems: FileSystems, directory: string): string {
  try {
    return fileSystems.qualify(Path.parse(directory)).toString();
  } catch (error) {
    // No path at all: it lies outside of everything.
    if (error instanceof CkptError) return directory;
    throw error;
  }
}
