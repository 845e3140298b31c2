/** `java.util.UUID.fromString` as Flink uses it for backend identifiers, with its fallback for other strings. */
import { createHash } from 'node:crypto';

const PARTS = /^\+?([0-9a-f]+)-\+?([0-9a-f]+)-\+?([0-9a-f]+)-\+?([0-9a-f]+)-\+?([0-9a-f]+)$/i;
const WIDTHS = [8, 4, 4, 4, 12] as const;
const MAX_LENGTH = 36;
/** Java parses each component as a signed 64-bit number. */
const MAX_LONG = 2n ** 63n - 1n;

function format(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * The canonical UUID that Flink makes of a stored backend identifier: its own if it parses as one (short and over-long
 * components are widened and cut as Java does), else the name UUID (MD5, version 3) of its UTF-8 bytes.
 * Origin: Flink `MetadataV2V3SerializerBase`, Java `UUID.fromString` and `UUID.nameUUIDFromBytes`.
 */
export function backendUuid(identifier: string): string {
  const parts = identifier.length <= MAX_LENGTH ? PARTS.exec(identifier) : null;
  const values = parts?.slice(1).map((part) => BigInt(`0x${part}`));
  if (values?.every((value) => value <= MAX_LONG)) {
    return format(
      values
        .map((value, i) =>
          value
            .toString(16)
            .padStart(WIDTHS[i] ?? 0, '0')
            .slice(-(WIDTHS[i] ?? 0)),
        )
        .join(''),
    );
  }
  // Java encodes a lone surrogate as a question mark.
  const digest = createHash('md5')
    .update(identifier.replace(/\p{Surrogate}/gu, '?'), 'utf8')
    .digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x30;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return format(digest.toString('hex'));
}
