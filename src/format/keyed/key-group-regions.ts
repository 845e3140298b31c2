/** Which bytes of a file belong to which key group, from the offsets in the metadata. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';

/** The bytes of a key group: [start, end). */
export interface KeyGroupRegion {
  readonly keyGroup: number;
  readonly start: number;
  readonly end: number;
}

/** What {@link keyGroupRegions} takes. */
export interface KeyGroupOffsets {
  readonly firstKeyGroup: number;
  /** One for each key group, in order. */
  readonly offsets: ArrayLike<number>;
  /** What stands in place of the offset of a key group without data: 0 in the unified form, -1 in raw state. */
  readonly absent?: number;
  /** Bytes of the file. */
  readonly size: number;
}

/**
 * The key groups that have data, in the order of the file; each ends where the next one starts. Offsets must not go down,
 * which Flink's do not: key groups are written one after the other.
 * @throws ByteFormatError if they do, or lie outside the file
 */
export function* keyGroupRegions(input: KeyGroupOffsets): Generator<KeyGroupRegion, void, void> {
  const { firstKeyGroup, offsets, absent, size } = input;
  let current: { readonly keyGroup: number; readonly start: number } | undefined;
  for (let i = 0; i < offsets.length; i++) {
    const start = offsets[i] as number;
    if (start === absent) continue;
    const keyGroup = firstKeyGroup + i;
    if (start < 0 || start > size) {
      throw new ByteFormatError(size, `an offset of key group ${keyGroup} within the ${size} bytes`, `${start}`);
    }
    if (current !== undefined) {
      if (start < current.start) {
        throw new ByteFormatError(start, `an offset of key group ${keyGroup} from ${current.start} on`, `${start}`);
      }
      yield { ...current, end: start };
    }
    current = { keyGroup, start };
  }
  if (current !== undefined) yield { ...current, end: size };
}

/** The lowest offset that is one: where the header ends. Undefined if no key group has data. */
export function firstOffset({ offsets, absent }: Pick<KeyGroupOffsets, 'offsets' | 'absent'>): number | undefined {
  let first: number | undefined;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i] as number;
    if (offset !== absent && (first === undefined || offset < first)) first = offset;
  }
  return first;
}
