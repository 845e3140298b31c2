/**
 * What tasks are told about where a checkpoint goes.
 * Layout: nothing for the default, else magic `05 5F 3F 18` and the path in UTF-8, without its length.
 * Origin: Flink `CheckpointStorageLocationReference`, `AbstractFsCheckpointStorageAccess.encodePathAsReference`.
 */
import { InvalidLocationReferenceError, InvalidPathError } from '../errors.js';
import { Path } from '../filesystem/path.js';

const MAGIC = Uint8Array.of(0x05, 0x5f, 0x3f, 0x18);

/** Bytes that a storage understands and nobody else; none for the default place of a checkpoint. */
export class CheckpointStorageLocationReference {
  /** `chk-<n>` in the directory of the job. */
  static readonly default = new CheckpointStorageLocationReference(undefined);

  readonly #bytes: Uint8Array | undefined;

  private constructor(bytes: Uint8Array | undefined) {
    this.#bytes = bytes;
  }

  /**
   * A reference of these bytes, which are copied.
   * @throws InvalidLocationReferenceError if there are none
   */
  static of(bytes: Uint8Array): CheckpointStorageLocationReference {
    if (bytes.length === 0) throw new InvalidLocationReferenceError('of no bytes', 'only the default has none');
    return new CheckpointStorageLocationReference(copyOf(bytes));
  }

  get isDefault(): boolean {
    return this.#bytes === undefined;
  }

  /** A copy of the bytes; empty for the default. */
  get bytes(): Uint8Array {
    return copyOf(this.#bytes ?? []);
  }

  equals(other: CheckpointStorageLocationReference): boolean {
    return this.toString() === other.toString();
  }

  /** `(default)`, or all bytes in hex digits. */
  toString(): string {
    return this.#bytes === undefined ? '(default)' : Buffer.from(this.#bytes).toString('hex');
  }
}

/** Not by `slice`: that of a `Buffer` shares its memory. */
function copyOf(bytes: ArrayLike<number>): Uint8Array {
  return new Uint8Array(bytes);
}

/**
 * The reference to a directory.
 * @throws InvalidLocationReferenceError for a path that is no text (a local name of other bytes than UTF-8)
 */
export function encodePathAsReference(path: Path): CheckpointStorageLocationReference {
  const text = path.toString();
  const encoded = Buffer.from(text, 'utf8');
  // Half a character would become U+FFFD, and the reference one to another directory.
  if (encoded.toString('utf8') !== text) throw new InvalidLocationReferenceError(`to "${text}"`, 'the path is no text');
  return CheckpointStorageLocationReference.of(Buffer.concat([MAGIC, encoded]));
}

/**
 * The directory that a reference means.
 * @throws InvalidLocationReferenceError for the default one, for one that is too short, has another magic number, or holds
 *   no path
 */
export function decodePathFromReference(reference: CheckpointStorageLocationReference): Path {
  const refuse = (reason: string, options?: ErrorOptions) =>
    new InvalidLocationReferenceError(reference.toString(), reason, options);
  if (reference.isDefault) throw refuse('the default reference names no path');
  const { bytes } = reference;
  if (bytes.length <= MAGIC.length) {
    throw refuse(`too short: ${bytes.length} bytes, ${MAGIC.length} of magic number and a path were expected`);
  }
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) throw refuse('it starts with the wrong magic number');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(MAGIC.length));
    return Path.parse(text);
  } catch (error) {
    if (!(error instanceof InvalidPathError || error instanceof TypeError)) throw error;
    throw refuse('it cannot be decoded to a path', { cause: error });
  }
}
