/**
 * The errors of `ckpt`: one class for each situation that a caller could handle. `code` is stable, the message is for
 * people, `data` holds what the message was made from.
 */

/**
 * What a failure means for the caller, wherever it comes from: `usage` wrong options or arguments, `unresolved` a pointer
 * or directory that cannot be found or opened, `unreadable` metadata that is there and cannot be read, `refused` not done
 * for safety, `failed` something that could not be done on the way, `interrupted` stopped on request.
 */
export type ErrorCategory = 'usage' | 'unresolved' | 'unreadable' | 'refused' | 'failed' | 'interrupted';

/** Base class of every expected failure. Anything else that is thrown is a bug of ours. */
export abstract class CkptError extends Error {
  /** Stable, upper-case identifier of the situation; never changes between releases. */
  abstract readonly code: string;
  /** What the failure means, where the code alone does not say (see `cli/exit-code.ts`). */
  declare readonly category?: ErrorCategory;
  /** The facts behind the message, JSON-ready. */
  abstract readonly data: Readonly<Record<string, unknown>>;
  /** Further failures that happened after this one, in order (Flink's suppressed exceptions). */
  readonly suppressed: Error[] = [];

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Options or arguments that make no sense. Exit code 2. */
export class UsageError extends CkptError {
  readonly code = 'USAGE';
  constructor(
    message: string,
    readonly data: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A path string that Flink's `Path` does not accept. */
export class InvalidPathError extends CkptError {
  readonly code = 'INVALID_PATH';
  readonly data: { readonly path: string; readonly reason: string };
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`"${path}" is not a valid path: ${reason}`, options);
    this.data = { path, reason };
  }
}

/** No file system is known for the scheme of a path. */
export class UnknownSchemeError extends CkptError {
  readonly code = 'UNKNOWN_SCHEME';
  readonly data: { readonly path: string; readonly scheme: string; readonly known: readonly string[] };
  constructor(path: string, scheme: string, known: readonly string[], options?: ErrorOptions) {
    super(`${path}: no file system for the scheme "${scheme}"; known: ${known.join(', ')}`, options);
    this.data = { path, scheme, known };
  }
}

/** The scheme of a path needs a package that is not installed: the SDKs of some stores are optional. */
export class MissingPackageError extends CkptError {
  readonly code = 'MISSING_PACKAGE';
  override readonly category = 'usage';
  readonly data: { readonly scheme: string; readonly package: string; readonly install: string };
  /** @param install the command that mends it */
  constructor(scheme: string, packageName: string, install: string, options?: ErrorOptions) {
    super(`${scheme}: needs the package ${packageName}, which is not installed; run: ${install}`, options);
    this.data = { scheme, package: packageName, install };
  }
}

/** What the failures of a file system operation take besides a cause. */
export interface FileSystemErrorOptions extends ErrorOptions {
  /** Where the path was looked up, if that has another name than the path (`--map`). Part of the message and of `data`. */
  readonly lookedUpAt?: string;
}

/** Base class of the failures of a file system operation on one path. */
export abstract class FileSystemError extends CkptError {
  readonly data: { readonly path: string; readonly [key: string]: unknown };
  constructor(path: string, message: string, options?: FileSystemErrorOptions, more: Record<string, unknown> = {}) {
    const { lookedUpAt } = options ?? {};
    // Every message of this family begins with its path.
    super(
      lookedUpAt === undefined ? message : `${path} (looked up at ${lookedUpAt})${message.slice(path.length)}`,
      options,
    );
    this.data = { path, ...more, ...(lookedUpAt !== undefined && { lookedUpAt }) };
  }
}

/** There is no file or directory at the path. */
export class NotFoundError extends FileSystemError {
  readonly code = 'NOT_FOUND';
  constructor(path: string, options?: FileSystemErrorOptions) {
    super(path, `${path}: no such file or directory`, options);
  }
}

/** The store refuses access to the path. */
export class PermissionError extends FileSystemError {
  readonly code = 'PERMISSION_DENIED';
  constructor(path: string, options?: FileSystemErrorOptions) {
    super(path, `${path}: permission denied`, options);
  }
}

/** Something that must not exist already does. */
export class AlreadyExistsError extends FileSystemError {
  readonly code = 'ALREADY_EXISTS';
  constructor(path: string, options?: FileSystemErrorOptions) {
    super(path, `${path}: already exists`, options);
  }
}

/** A directory was expected and the path is something else, or the other way round. */
export class WrongFileTypeError extends FileSystemError {
  readonly code = 'WRONG_FILE_TYPE';
  constructor(path: string, expected: 'file' | 'directory', options?: FileSystemErrorOptions) {
    super(path, `${path}: is not a ${expected}`, options, { expected });
  }
}

/** A directory that was to be removed still has entries. */
export class DirectoryNotEmptyError extends FileSystemError {
  readonly code = 'DIRECTORY_NOT_EMPTY';
  constructor(path: string, options?: FileSystemErrorOptions) {
    super(path, `${path}: directory is not empty`, options);
  }
}

/** Any other failure of the store: an I/O error, a full disk, a lost connection. `cause` holds the original. */
export class IoError extends FileSystemError {
  readonly code = 'IO_ERROR';
  constructor(path: string, action: string, options?: FileSystemErrorOptions) {
    const cause = options?.cause;
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    super(path, `${path}: ${action} failed${reason}`, options, { action });
  }
}

/** The operation is one that this store cannot do. */
export class UnsupportedOperationError extends FileSystemError {
  readonly code = 'UNSUPPORTED_OPERATION';
  constructor(path: string, what: string, options?: FileSystemErrorOptions) {
    super(path, `${path}: ${what} is not supported here`, options, { what });
  }
}

/** Not done, because doing it could destroy something: no confirmation, a crafted path, a tree that changed. Nothing was changed. */
export class RefusedError extends CkptError {
  readonly code = 'REFUSED';
  constructor(
    message: string,
    readonly data: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Stopped at a safe point because the user or the system asked for it. */
export class InterruptedError extends CkptError {
  readonly code = 'INTERRUPTED';
  readonly data: { readonly signal: 'SIGINT' | 'SIGTERM' };
  constructor(signal: 'SIGINT' | 'SIGTERM', options?: ErrorOptions) {
    super(signal === 'SIGINT' ? 'interrupted' : 'terminated', options);
    this.data = { signal };
  }
}

/** Base class: there is a file where metadata should be, but it cannot be read as such. */
export abstract class MetadataError extends CkptError {
  override readonly category: ErrorCategory = 'unreadable';
}

/** The file is no Flink metadata file at all. */
export class NotMetadataError extends MetadataError {
  readonly code = 'NOT_FLINK_METADATA';
  readonly data: { readonly location: string; readonly size: number; readonly found: string };
  constructor(location: string, size: number, found: string, options?: ErrorOptions) {
    super(`${location}: ${found}, not a Flink metadata file`, options);
    this.data = { location, size, found };
  }
}

/** A metadata file in a format version that this library does not read. */
export class UnsupportedVersionError extends MetadataError {
  readonly code = 'UNSUPPORTED_VERSION';
  readonly data: { readonly location: string; readonly version: number; readonly supported: readonly number[] };
  constructor(location: string, version: number, supported: readonly number[], hint: string, options?: ErrorOptions) {
    super(`${location}: metadata version ${version} is not supported: ${hint}`, options);
    this.data = { location, version, supported };
  }
}

/** A metadata file that breaks its format: cut off, overwritten, or made up. */
export class CorruptMetadataError extends MetadataError {
  readonly code = 'CORRUPT_METADATA';
  constructor(
    readonly data: {
      readonly location: string;
      /** Where the field starts that is wrong, bytes from the start of the file. */
      readonly offset: number;
      /** Which record it belongs to, e.g. `operator 3 / subtask 1 / managed keyed state / shared file 7`. */
      readonly record: string;
      /** What should be there. */
      readonly expected: string;
      /** What is there. */
      readonly found: string;
    },
    options?: ErrorOptions,
  ) {
    super(
      `${data.location}: corrupt metadata at byte ${data.offset} (${data.record}): expected ${data.expected}, found ${data.found}`,
      options,
    );
  }
}

/** A file of state that breaks its format: cut off, overwritten, or made up. */
export class CorruptStateError extends CkptError {
  readonly code = 'CORRUPT_STATE';
  constructor(
    readonly data: {
      readonly location: string;
      /** Where it is wrong: bytes from the start of the file, or of the segment if it is one of a merged file. */
      readonly offset: number;
      readonly expected: string;
      readonly found: string;
    },
    options?: ErrorOptions,
  ) {
    super(
      `${data.location}: corrupt state at byte ${data.offset}: expected ${data.expected}, found ${data.found}`,
      options,
    );
  }
}

/** A file of state in a form that this library does not read, though nothing tells that it is wrong. */
export class UnknownStateFormatError extends CkptError {
  readonly code = 'UNKNOWN_STATE_FORMAT';
  readonly data: { readonly location: string; readonly offset: number; readonly form: string };
  constructor(location: string, offset: number, form: string, options?: ErrorOptions) {
    super(`${location}: ${form} at byte ${offset}, which is not read here`, options);
    this.data = { location, offset, form };
  }
}

/** A model that no metadata file can hold: a string too long, a handle that its version does not have. Nothing was written. */
export class UnwritableMetadataError extends MetadataError {
  readonly code = 'UNWRITABLE_METADATA';
  override readonly category = 'refused';
  readonly data: { readonly record: string; readonly reason: string };
  constructor(record: string, reason: string, options?: ErrorOptions) {
    super(`${record}: cannot be written: ${reason}`, options);
    this.data = { record, reason };
  }
}

/** A metadata document (as `dump` prints it) that is no such document, or contradicts itself. */
export class InvalidDocumentError extends MetadataError {
  readonly code = 'INVALID_DOCUMENT';
  readonly data: { readonly field: string; readonly reason: string };
  /** @param field which value, e.g. `operatorStates[3].subtasks[1].wire.duration` */
  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`${field === '' ? 'the document' : field}: ${reason}`, options);
    this.data = { field, reason };
  }
}

/** A pointer at which nothing is, or nothing that could be a checkpoint. */
export class PointerNotFoundError extends CkptError {
  readonly code = 'NOT_FOUND';
  override readonly category = 'unresolved';
  readonly data: { readonly pointer: string; readonly nearby: readonly string[]; readonly lookedUpAt?: string };
  /** @param nearby pointers that exist and may have been meant, the likeliest first */
  constructor(
    pointer: string,
    reason: string,
    nearby: readonly string[],
    options?: ErrorOptions & { lookedUpAt?: string },
  ) {
    super(`${pointer}: ${reason}`, options);
    this.data = { pointer, nearby, ...(options?.lookedUpAt !== undefined && { lookedUpAt: options.lookedUpAt }) };
  }
}

/** A directory without a metadata file: not a checkpoint, or not any more, or not yet. */
export class NoMetadataError extends CkptError {
  readonly code = 'NO_METADATA';
  override readonly category = 'unresolved';
  readonly data: { readonly pointer: string; readonly nearby: readonly string[]; readonly halfDiscarded: boolean };
  constructor(
    pointer: string,
    reason: string,
    more: { readonly nearby?: readonly string[]; readonly halfDiscarded?: boolean } = {},
    options?: ErrorOptions,
  ) {
    super(`${pointer}: ${reason}`, options);
    this.data = { pointer, nearby: more.nearby ?? [], halfDiscarded: more.halfDiscarded ?? false };
  }
}

/** `--latest` found no complete checkpoint or savepoint. */
export class NoCheckpointError extends CkptError {
  readonly code = 'NO_CHECKPOINT';
  override readonly category = 'unresolved';
  readonly data: { readonly root: string };
  constructor(root: string, reason: string, options?: ErrorOptions) {
    super(`${root}: ${reason}`, options);
    this.data = { root };
  }
}

/** No operator of the metadata, or more than one, is what the user named. */
export class OperatorNotFoundError extends CkptError {
  readonly code = 'OPERATOR_NOT_FOUND';
  override readonly category = 'usage';
  readonly data: { readonly operator: string; readonly nearby: readonly string[] };
  constructor(operator: string, reason: string, nearby: readonly string[], options?: ErrorOptions) {
    super(`operator "${operator}": ${reason}`, options);
    this.data = { operator, nearby };
  }
}

/** No operator that was read has a state of this name. */
export class StateNotFoundError extends CkptError {
  readonly code = 'STATE_NOT_FOUND';
  override readonly category = 'usage';
  readonly data: { readonly state: string; readonly states: readonly string[] };
  constructor(state: string, states: readonly string[], options?: ErrorOptions) {
    super(`no state "${state}"; there are ${states.join(', ')}`, options);
    this.data = { state, states };
  }
}

/** A reference to a storage location that is none, or a path that no reference can hold. */
export class InvalidLocationReferenceError extends CkptError {
  readonly code = 'INVALID_LOCATION_REFERENCE';
  readonly data: { readonly reference: string; readonly reason: string };
  /** @param reference in text form: hex digits, or `(default)` */
  constructor(reference: string, reason: string, options?: ErrorOptions) {
    super(`location reference ${reference}: ${reason}`, options);
    this.data = { reference, reason };
  }
}

/** Something was to be written to, or taken from, a stream that was closed before. */
export class StreamClosedError extends CkptError {
  readonly code = 'STREAM_CLOSED';
  readonly data: { readonly stream: string };
  constructor(stream: string, options?: ErrorOptions) {
    super(`${stream}: the stream has already been closed`, options);
    this.data = { stream };
  }
}

/** A piece of state is too large to be kept in memory and metadata. */
export class StateTooLargeError extends CkptError {
  readonly code = 'STATE_TOO_LARGE';
  readonly data: { readonly size: number; readonly maxStateSize: number };
  constructor(size: number, maxStateSize: number, alternative: string, options?: ErrorOptions) {
    super(`the state has ${size} bytes, kept in memory are at most ${maxStateSize}; ${alternative}`, options);
    this.data = { size, maxStateSize };
  }
}

/** No directory for a savepoint could be made, at whatever name. `cause` is the latest failure, `suppressed` the others. */
export class SavepointDirectoryError extends CkptError {
  readonly code = 'SAVEPOINT_DIRECTORY';
  readonly data: { readonly base: string; readonly attempts: number };
  constructor(base: string, attempts: number, options?: ErrorOptions) {
    super(`${base}: no savepoint directory could be made there in ${attempts} attempts`, options);
    this.data = { base, attempts };
  }
}

/** Something was asked of an object that it cannot do in the state it is in: a mistake of the program that asks. */
export class IllegalStateError extends CkptError {
  readonly code = 'ILLEGAL_STATE';
  constructor(
    message: string,
    readonly data: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A checkpoint was given up before it was complete (Flink's `CheckpointException`). */
export class CheckpointAbortedError extends CkptError {
  readonly code = 'CHECKPOINT_ABORTED';
  readonly data: { readonly checkpointId: bigint; readonly reason: string };
  constructor(checkpointId: bigint, reason: string, options?: ErrorOptions) {
    super(`checkpoint ${checkpointId} was aborted: ${reason}`, options);
    this.data = { checkpointId, reason };
  }
}

/** What was thrown, as an error: anything may be thrown. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The failures that happened after an error and were attached to it, in order. */
export function suppressedOf(error: Error): readonly Error[] {
  return 'suppressed' in error && Array.isArray(error.suppressed) ? error.suppressed : [];
}

/**
 * Adds a failure to an earlier one: the first failure of several steps that all run is the one to throw, the later ones are
 * attached to it. Flink's `ExceptionUtils.firstOrSuppressed`.
 * @returns the earlier failure if there is one, else the new one; one object is never attached to itself
 */
export function firstOrSuppressed(error: Error, previous: Error | undefined): Error {
  if (previous === undefined || previous === error) return error;
  if ('suppressed' in previous && Array.isArray(previous.suppressed)) previous.suppressed.push(error);
  else Object.assign(previous, { suppressed: [error] });
  return previous;
}
