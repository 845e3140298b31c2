import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Spool } from '../../../src/filesystem/spool.js';

const bytes = Uint8Array.from({ length: 10_000 }, (_, i) => (i * 31) & 0xff);

async function read(spool: Spool, start: number, end: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of spool.read(start, end)) pieces.push(Uint8Array.from(piece));
  return new Uint8Array(Buffer.concat(pieces));
}

describe.each([0, 100, 5_000, 1_000_000])('a spool that keeps %i bytes in memory', (memoryLimit) => {
  it('gives back any range of what was appended', async () => {
    const spool = new Spool(memoryLimit);
    try {
      for (let at = 0; at < bytes.length; at += 777) await spool.append(bytes.slice(at, at + 777));
      expect(spool.size).toBe(bytes.length);
      for (const [start, end] of [
        [0, bytes.length],
        [0, 0],
        [bytes.length, bytes.length],
        [1, 2],
        [776, 778],
        [4_990, 5_010],
        [9_999, 10_000],
      ] as const) {
        expect(await read(spool, start, end)).toEqual(bytes.slice(start, end));
      }
      await spool.append(Uint8Array.of(1, 2, 3));
      expect(await read(spool, 9_998, 10_003)).toEqual(Uint8Array.of(...bytes.slice(9_998), 1, 2, 3));
    } finally {
      await spool.close();
    }
  });

  it('starts again when it is cleared', async () => {
    const spool = new Spool(memoryLimit);
    try {
      await spool.append(bytes.slice());
      spool.clear();
      expect(spool.size).toBe(0);
      await spool.append(Uint8Array.of(9, 8));
      await spool.append(Uint8Array.of(7));
      expect(spool.size).toBe(3);
      expect(await read(spool, 0, 3)).toEqual(Uint8Array.of(9, 8, 7));
    } finally {
      await spool.close();
    }
  });
});

it('leaves no file with a name behind, not even while it is open', async () => {
  const named = async (): Promise<string[]> =>
    (await readdir(tmpdir())).filter((name) => /^ckpt-[0-9a-f]{8}-/.test(name));
  const before = new Set(await named());
  const spool = new Spool(0);
  await spool.append(bytes.slice());
  expect((await named()).filter((name) => !before.has(name))).toEqual([]);
  await spool.close();
  await spool.close();
});
