/** All files that a metadata file names, under the keys by which files are compared; streamed, in bounded memory. */
import type { RangedBytes } from '../../bytes/byte-reader.js';
import type { Path } from '../../filesystem/path.js';
import { visitMetadata } from '../../format/metadata/read.js';
import type { OperatorView } from '../../format/metadata/visitor.js';
import { type FileReference, ReferenceVisitor } from '../file-references.js';
import type { DirectoryKey, FileKeys } from './file-keys.js';

/** A mention of a file with its key. The objects are reused: copy what is to be kept. */
export interface KeyedReference {
  /** Key of the directory, see {@link FileKeys}. */
  readonly directoryKey: string;
  readonly name: string;
  readonly reference: FileReference;
  /** True if the file is a link: the same mention is reported once more then, under the key of what it leads to. */
  readonly isLink: boolean;
}

/** An operator of a metadata file. */
export interface OperatorMention {
  readonly operatorId: string;
  /** Null where absent or empty. */
  readonly uid: string | null;
  readonly name: string | null;
}

/** What {@link forEachReference} reports. Calls come in the order of the file, except that those of new directories wait. */
export interface ReferenceConsumer {
  /** Each mention of a file; for a link to a file a second time under the key of what it leads to. */
  file(reference: KeyedReference): void;
  /** A directory that file merging claims as its own: its key and its name. */
  managedDirectory?(key: string, path: string): void;
  /** Each operator. */
  operator?(operator: OperatorMention): void;
}

class KeyingVisitor extends ReferenceVisitor {
  private readonly keys = new Map<string, DirectoryKey>();
  private waiting: FileReference[] = [];
  private readonly unknown = new Set<string>();
  private readonly managed = new Set<string>();

  constructor(
    own: Path,
    private readonly consumer: ReferenceConsumer,
  ) {
    super(own);
  }

  protected reference(reference: FileReference): void {
    const key = this.keys.get(reference.directory);
    if (key) {
      this.tell(key, reference);
      return;
    }
    this.unknown.add(reference.directory);
    this.waiting.push({ ...reference });
  }

  protected override managedDirectory(path: string): void {
    this.managed.add(path);
  }

  override beginOperator(view: OperatorView): void {
    super.beginOperator(view);
    this.consumer.operator?.({
      operatorId: view.operatorId,
      uid: view.uid.text() || null,
      name: view.name.text() || null,
    });
  }

  private tell(key: DirectoryKey, reference: FileReference): void {
    const { name } = reference;
    const link = key.links.size === 0 ? undefined : key.links.get(name);
    this.consumer.file({ directoryKey: key.key, name, reference, isLink: link !== undefined });
    if (link) this.consumer.file({ directoryKey: link.directory, name: link.name, reference, isLink: false });
  }

  /** Looks up the directories that turned up since the last call. */
  async settle(keys: FileKeys): Promise<void> {
    for (const directory of this.unknown) this.keys.set(directory, await keys.directory(directory));
    this.unknown.clear();
    const { waiting } = this;
    this.waiting = [];
    for (const reference of waiting) {
      const key = this.keys.get(reference.directory);
      if (key) this.tell(key, reference);
    }
    for (const path of this.managed) this.consumer.managedDirectory?.((await keys.directory(path)).key, path);
    this.managed.clear();
  }
}

/** A metadata file that was opened. */
export interface ReferenceSource {
  readonly source: RangedBytes;
  /** Names the file in errors. */
  readonly location: string;
  /** The directory that relative handles are relative to. */
  readonly directory: Path;
}

/**
 * Reports every file that a metadata file names.
 * @throws NotMetadataError, UnsupportedVersionError, CorruptMetadataError, then nothing may be concluded from what was
 *   reported so far; the errors of the source
 */
export async function forEachReference(
  input: ReferenceSource,
  keys: FileKeys,
  consumer: ReferenceConsumer,
  signal?: AbortSignal,
): Promise<void> {
  const visitor = new KeyingVisitor(input.directory, consumer);
  await visitMetadata(input.source, input.location, visitor, { signal, onPause: () => visitor.settle(keys) });
}
