import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../src/bytes/byte-format-error.js';
import { HeapParser } from '../../../src/format/entries/heap-parser.js';
import { keyedState } from '../../../src/format/entries/named-state.js';
import type { SerializerSnapshot } from '../../../src/format/keyed/serializer-snapshot.js';
import { keyedRows } from '../../../src/operations/state/keyed-rows.js';
import { parseRegion } from '../../../src/operations/state/parse-region.js';
import type { StateBytes } from '../../../src/operations/state/state-bytes.js';

const MEBIBYTE = 1024 * 1024;
const HEAD_BYTES = 10;
const ENTRY_BYTES = 16;

const simple = (name: string): SerializerSnapshot => ({
  className: `org.apache.flink.api.common.typeutils.base.${name}Serializer$${name}SerializerSnapshot`,
  version: 3,
  content: { kind: 'simple' },
});
const STATE = keyedState(
  {
    name: 'count',
    kind: 'keyed-value',
    options: new Map([['KEYED_STATE_TYPE', 'VALUE']]),
    serializers: new Map([
      ['NAMESPACE_SERIALIZER', simple('Int')],
      ['VALUE_SERIALIZER', simple('Long')],
    ]),
  },
  simple('Int'),
);

/** A key group of so many entries, made while it is read; each chunk in the same buffer. */
function keyGroupOf(entries: number, claimed = entries): StateBytes {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeInt32BE(7, 0);
  head.writeInt32BE(claimed, 6);
  const chunk = Buffer.alloc(MEBIBYTE, 1);
  return {
    size: HEAD_BYTES + entries * ENTRY_BYTES,
    read: async () => head,
    async *chunks() {
      yield head;
      for (let left = entries * ENTRY_BYTES; left > 0; left -= MEBIBYTE)
        yield chunk.subarray(0, Math.min(left, MEBIBYTE));
    },
  };
}

async function countRows(bytes: StateBytes, onBatch: () => void = () => {}): Promise<number> {
  const region = { bytes, start: 0, end: bytes.size, compression: 'no' } as const;
  const batches = parseRegion(region, new HeapParser(7, [STATE]));
  let rows = 0;
  for await (const some of keyedRows(batches, { subtask: 0, wants: () => 'values', onEntry: () => {} })) {
    rows += some.length;
    onBatch();
  }
  return rows;
}

describe('a key group of any size', () => {
  it('is read through a window that does not grow with it', async () => {
    const peakOf = async (entries: number): Promise<number> => {
      const before = process.memoryUsage().arrayBuffers;
      let peak = 0;
      const rows = await countRows(keyGroupOf(entries), () => {
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
      });
      expect(rows).toBe(entries);
      return peak;
    };
    await peakOf(1000);
    expect(await peakOf(40 * (MEBIBYTE / ENTRY_BYTES))).toBeLessThan(12 * MEBIBYTE);
  });

  it('that ends before its last entry is told by the offset of that entry', async () => {
    const failure = await countRows(keyGroupOf(100_000, 100_001)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ByteFormatError);
    expect(failure).toMatchObject({ offset: HEAD_BYTES + 100_000 * ENTRY_BYTES, found: 'the end of the file' });
  });

  it('that goes on behind its last entry is told, too', async () => {
    const failure = await countRows(keyGroupOf(100_000, 99_999)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ offset: HEAD_BYTES + 99_999 * ENTRY_BYTES, found: 'more bytes' });
  });
});
