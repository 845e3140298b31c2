/**
 * State that goes to files, unless it is small.
 * Origin: Flink `FsCheckpointStreamFactory`. Unlike there, a file appears only when it is complete. Entropy is never put into
 * paths.
 */
import { randomUUID } from 'node:crypto';
import { StreamClosedError, UsageError } from '../errors.js';
import type { AtomicWriter, FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { CheckpointedStateScope } from '../model/state-handles.js';
import type { CheckpointStateOutputStream, CheckpointStreamFactory, WrittenStateHandle } from './checkpoint-storage.js';

/** State of at most so many bytes becomes part of the metadata, unless something else is asked for: 20 KiB. */
export const DEFAULT_FILE_STATE_SIZE_THRESHOLD = 20 * 1024;
/** The highest threshold that may be asked for: 1 MiB. */
export const MAX_FILE_STATE_SIZE_THRESHOLD = 1024 * 1024;
/** Bytes that a stream collects before it writes, unless something else is asked for or the threshold is higher: 4 KiB. */
export const DEFAULT_WRITE_BUFFER_SIZE = 4 * 1024;

/** How state becomes files. */
export interface FileStateSettings {
  /** State of at most so many bytes becomes part of the metadata; default 20 KiB, at most 1 MiB. */
  readonly fileStateSizeThreshold?: number;
  /** Bytes that a stream collects before it writes; default 4 KiB. The threshold counts if it is higher. */
  readonly writeBufferSize?: number;
}

/**
 * The settings with all defaults filled in.
 * @throws UsageError if one of them is negative, no whole number, or too high
 */
export function checkFileStateSettings(settings: FileStateSettings): Required<FileStateSettings> {
  const { fileStateSizeThreshold = DEFAULT_FILE_STATE_SIZE_THRESHOLD, writeBufferSize = DEFAULT_WRITE_BUFFER_SIZE } =
    settings;
  const check = (name: string, value: number, max: number) => {
    if (Number.isSafeInteger(value) && value >= 0 && value <= max) return;
    throw new UsageError(`${name} is ${value}, it must be a number of bytes from 0 to ${max}`, { [name]: value });
  };
  check('fileStateSizeThreshold', fileStateSizeThreshold, MAX_FILE_STATE_SIZE_THRESHOLD);
  check('writeBufferSize', writeBufferSize, 0x7fff_ffff);
  return { fileStateSizeThreshold, writeBufferSize };
}

/** Opens streams into the directories of one checkpoint. They need not exist yet. */
export class FsCheckpointStreamFactory implements CheckpointStreamFactory {
  readonly #settings: Required<FileStateSettings>;

  /**
   * @param checkpointDirectory for files that only this checkpoint uses; they get relative handles
   * @param sharedStateDirectory for files that others may use; they get absolute handles, with the path as it is here
   * @throws UsageError for impossible settings
   */
  constructor(
    readonly fileSystem: FileSystem,
    readonly checkpointDirectory: Path,
    readonly sharedStateDirectory: Path,
    settings: FileStateSettings = {},
  ) {
    this.#settings = checkFileStateSettings(settings);
  }

  async createCheckpointStateOutputStream(scope: CheckpointedStateScope): Promise<FsCheckpointStateOutputStream> {
    return scope === 'EXCLUSIVE'
      ? new FsCheckpointStateOutputStream(this.fileSystem, this.checkpointDirectory, 'relative', this.#settings)
      : new FsCheckpointStateOutputStream(this.fileSystem, this.sharedStateDirectory, 'absolute', this.#settings);
  }

  toString(): string {
    return `File Stream Factory @ ${this.checkpointDirectory}`;
  }
}

interface StateFile {
  readonly name: string;
  /** Not qualified: as the handle will have it. */
  readonly path: Path;
  readonly writer: AtomicWriter;
}

/** Collects state; a file is started when it outgrows the buffer, or in the end if it is larger than the threshold. */
export class FsCheckpointStateOutputStream implements CheckpointStateOutputStream {
  readonly #threshold: number;
  readonly #buffer: Uint8Array;
  #buffered = 0;
  #file: StateFile | undefined;
  #isClosed = false;

  /**
   * @param directory of the file, whose name will be a random UUID
   * @param handle whether the handle is relative to the directory or names it
   * @throws UsageError for impossible settings
   */
  constructor(
    private readonly fileSystem: FileSystem,
    private readonly directory: Path,
    private readonly handle: 'relative' | 'absolute',
    settings: FileStateSettings = {},
  ) {
    const { fileStateSizeThreshold, writeBufferSize } = checkFileStateSettings(settings);
    this.#threshold = fileStateSizeThreshold;
    this.#buffer = new Uint8Array(Math.max(writeBufferSize, fileStateSizeThreshold));
  }

  get position(): number {
    return this.#buffered + (this.#file?.writer.position ?? 0);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    if (this.#buffered + chunk.byteLength > this.#buffer.byteLength) {
      const { writer } = await this.#flushToFile();
      if (chunk.byteLength >= this.#buffer.byteLength) return writer.write(chunk);
    }
    this.#buffer.set(chunk, this.#buffered);
    this.#buffered += chunk.byteLength;
  }

  async flush(): Promise<void> {
    this.#checkOpen();
    if (this.#file !== undefined || this.#buffered > this.#threshold) await this.#flushToFile();
  }

  async closeAndGetHandle(): Promise<WrittenStateHandle | null> {
    this.#checkOpen();
    if (this.#file === undefined && this.#buffered === 0) return null;
    if (this.#file === undefined && this.#buffered <= this.#threshold) {
      this.#isClosed = true;
      const handleName = this.directory.child(randomUUID()).toString();
      return { type: 'ByteStreamStateHandle', handleName, bytes: this.#buffer.slice(0, this.#buffered) };
    }
    try {
      const file = await this.#flushToFile();
      this.#isClosed = true;
      await file.writer.commit();
      return this.#handleOf(file);
    } catch (error) {
      this.#isClosed = true;
      await this.#file?.writer.abort();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file?.writer.abort();
  }

  #handleOf({ name, path, writer }: StateFile): WrittenStateHandle {
    const stateSize = BigInt(writer.position);
    return this.handle === 'relative'
      ? { type: 'RelativeFileStateHandle', relativePath: name, stateSize }
      : { type: 'FileStateHandle', filePath: path.toString(), stateSize };
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StreamClosedError(`state in ${this.directory}`);
  }

  /** Starts the file if there is none yet, and writes what is buffered to it. */
  async #flushToFile(): Promise<StateFile> {
    this.#file ??= await this.#createFile();
    const { writer } = this.#file;
    if (this.#isClosed) {
      // Closed by somebody who could not wait until the file was there.
      await writer.abort();
      this.#checkOpen();
    }
    const bytes = this.#buffer.subarray(0, this.#buffered);
    this.#buffered = 0;
    if (bytes.byteLength > 0) await writer.write(bytes);
    return this.#file;
  }

  async #createFile(): Promise<StateFile> {
    const name = randomUUID();
    const path = this.directory.child(name);
    return { name, path, writer: await this.fileSystem.createAtomic(this.fileSystem.qualify(path)) };
  }
}
