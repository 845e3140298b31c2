/** Whether metadata is of a checkpoint or a savepoint, from its last bytes alone. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { RangedBytes } from '../../bytes/byte-reader.js';
import { readCheckpointProperties } from '../../format/java/properties.js';
import type { ListEntry } from './entry.js';

/** The properties end the file; they take less than half of this. */
const TAIL_BYTES = 4096;
const FIRST_VERSION_WITH_PROPERTIES = 4;
/** How the object stream of the properties begins: magic number, version, object, class. */
const START = Buffer.from('aced00057372', 'hex');

/**
 * The kind by the properties; `unknown` where the version stores none, or they are not understood.
 * @throws the errors of the source
 */
export async function loadKind(source: RangedBytes, version: number, signal?: AbortSignal): Promise<ListEntry['kind']> {
  if (version < FIRST_VERSION_WITH_PROPERTIES) return 'unknown';
  const length = Math.min(source.size, TAIL_BYTES);
  const tail = Buffer.alloc(length);
  await source.readInto(tail, 0, source.size - length, source.size, signal);
  const start = tail.lastIndexOf(START);
  if (start < 0) return 'unknown';
  try {
    const { properties, unknown } = readCheckpointProperties(tail, start);
    const type = properties?.checkpointType ?? unknown?.known.checkpointType;
    if (!type) return 'unknown';
    return type.kind === 'SavepointType' ? 'savepoint' : 'checkpoint';
  } catch (error) {
    if (!(error instanceof ByteFormatError)) throw error;
    // Bytes that only look like properties: the header is sound, so this is no reason to call the file broken.
    return 'unknown';
  }
}
