import { describe, expect, it } from 'vitest';
import { IoError } from '../../../src/errors.js';
import type { ByteSource } from '../../../src/filesystem/file-system.js';
import type { DeletionResult } from '../../../src/filesystem/limit.js';
import { deleteFiles, forEachConcurrently, readChunks } from '../../../src/filesystem/limit.js';
import { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('forEachConcurrently', () => {
  it('works on every item, as many at once as allowed', async () => {
    let running = 0;
    let most = 0;
    const seen: number[] = [];
    const isComplete = await forEachConcurrently(
      numbers(100),
      async (item) => {
        running += 1;
        most = Math.max(most, running);
        await tick();
        seen.push(item);
        running -= 1;
      },
      { concurrency: 7 },
    );
    expect(isComplete).toBe(true);
    expect(seen.sort((a, b) => a - b)).toEqual(numbers(100));
    expect(most).toBe(7);
  });

  it('takes items only when there is room for them', async () => {
    let taken = 0;
    let done = 0;
    let lead = 0;
    async function* source() {
      for (const item of numbers(1000)) {
        taken += 1;
        yield item;
      }
    }
    await forEachConcurrently(
      source(),
      async () => {
        lead = Math.max(lead, taken - done);
        await tick();
        done += 1;
      },
      { concurrency: 4 },
    );
    expect(done).toBe(1000);
    expect(lead).toBeLessThanOrEqual(5);
  });

  it('does nothing for nothing', async () => {
    expect(await forEachConcurrently([], () => Promise.reject(new Error('called')))).toBe(true);
  });

  it.each([
    ['the work', 3, undefined],
    ['the source', undefined, 3],
  ])('rejects with the first error of %s when nothing runs any more', async (_, badItem, badStep) => {
    let running = 0;
    let isClosed = false;
    async function* source() {
      try {
        for (const item of numbers(1000)) {
          if (item === badStep) throw new Error('broken');
          yield item;
        }
      } finally {
        isClosed = true;
      }
    }
    const work = forEachConcurrently(
      source(),
      async (item) => {
        running += 1;
        await tick();
        running -= 1;
        if (item === badItem) throw new Error('broken');
      },
      { concurrency: 5 },
    );
    await expect(work).rejects.toThrow('broken');
    expect(running).toBe(0);
    expect(isClosed).toBe(true);
  });

  it('stops at a signal when nothing runs any more, and closes the source', async () => {
    const controller = new AbortController();
    let started = 0;
    let finished = 0;
    let isClosed = false;
    async function* source() {
      try {
        yield* numbers(1000);
      } finally {
        isClosed = true;
      }
    }
    const isComplete = await forEachConcurrently(
      source(),
      async (item) => {
        started += 1;
        if (item === 20) controller.abort();
        await tick();
        finished += 1;
      },
      { concurrency: 5, signal: controller.signal },
    );
    expect(isComplete).toBe(false);
    expect(started).toBe(finished);
    expect(started).toBeLessThan(30);
    expect(isClosed).toBe(true);
  });

  it('is complete if the signal comes while the last items are worked on', async () => {
    const controller = new AbortController();
    const isComplete = await forEachConcurrently(
      numbers(3),
      async (item) => {
        await tick();
        if (item === 2) controller.abort();
      },
      { concurrency: 10, signal: controller.signal },
    );
    expect(isComplete).toBe(true);
  });

  it('does not begin with an aborted signal', async () => {
    const work = () => Promise.reject(new Error('called'));
    expect(await forEachConcurrently(numbers(3), work, { signal: AbortSignal.abort() })).toBe(false);
  });
});

describe('deleteFiles', () => {
  const path = (index: number) => Path.parse(`memory:/dir/f${index}`);

  it('goes on after failures and tells of each file', async () => {
    const failure = new IoError(path(3).toString(), 'delete', { cause: new Error('disk on fire') });
    const fs = new MemoryFileSystem({
      failures: (operation, { name }) => (operation === 'deleteFile' && name.endsWith('3') ? failure : undefined),
    });
    for (const index of numbers(30)) fs.put(path(index), 'x');
    const results: DeletionResult[] = [];
    const counts = await deleteFiles(fs, numbers(40).map(path), {
      concurrency: 4,
      onResult: (result) => void results.push(result),
    });
    expect(counts).toEqual({ deleted: 27, missing: 9, failed: 4, isComplete: true });
    expect(results.length).toBe(40);
    expect(results.filter(({ outcome }) => outcome === 'failed').map((result) => result.path.name)).toEqual(
      expect.arrayContaining(['f3', 'f13', 'f23', 'f33']),
    );
    expect(results.find(({ outcome }) => outcome === 'failed')).toMatchObject({ error: failure });
    expect([...fs.snapshot().keys()]).toEqual([13, 23, 3].map((index) => path(index).toString()));
  });

  it('stops at a signal and says so', async () => {
    const controller = new AbortController();
    const fs = new MemoryFileSystem();
    for (const index of numbers(100)) fs.put(path(index), 'x');
    const counts = await deleteFiles(fs, numbers(100).map(path), {
      concurrency: 4,
      signal: controller.signal,
      onResult: ({ path: { name } }) => (name === 'f10' ? controller.abort() : undefined),
    });
    expect(counts.isComplete).toBe(false);
    expect(fs.snapshot().size).toBe(100 - counts.deleted);
    expect(counts.deleted).toBeGreaterThan(10);
    expect(counts.deleted).toBeLessThan(20);
  });
});

describe('readChunks', () => {
  /** Bytes 0, 1, 2, …, counting what is read and when. */
  function sourceOf(size: number, log: string[] = []): ByteSource {
    const readInto: ByteSource['readInto'] = async (target, offset, start, end, signal) => {
      log.push(`read ${start}-${end}`);
      await tick();
      signal?.throwIfAborted();
      if (end > size) throw new IoError('x', 'read');
      for (let index = start; index < end; index++) target[offset + index - start] = index & 0xff;
      log.push(`done ${start}-${end}`);
    };
    return {
      size,
      readInto,
      read: () => Promise.reject(new Error('not needed')),
      close: async () => void log.push('closed'),
    };
  }
  const collect = async (chunks: AsyncIterable<Uint8Array>) => {
    const parts: number[][] = [];
    for await (const chunk of chunks) parts.push([...chunk]);
    return parts;
  };

  it('gives the range in chunks', async () => {
    expect(await collect(readChunks(sourceOf(10), { chunkBytes: 4 }))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [8, 9],
    ]);
    expect(await collect(readChunks(sourceOf(10), { start: 3, end: 7, chunkBytes: 2 }))).toEqual([
      [3, 4],
      [5, 6],
    ]);
    expect(await collect(readChunks(sourceOf(10), { chunkBytes: 100 }))).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
    expect(await collect(readChunks(sourceOf(10), { start: 10 }))).toEqual([]);
    expect(await collect(readChunks(sourceOf(0)))).toEqual([]);
  });

  it('reads one chunk ahead, and no more', async () => {
    const log: string[] = [];
    const chunks = readChunks(sourceOf(10, log), { chunkBytes: 2 });
    await chunks.next();
    await tick();
    await tick();
    expect(log).toEqual(['read 0-2', 'done 0-2', 'read 2-4', 'done 2-4']);
    await chunks.return(undefined);
  });

  it('uses two buffers in turn', async () => {
    const buffers = new Set<ArrayBufferLike>();
    for await (const chunk of readChunks(sourceOf(100), { chunkBytes: 7 })) buffers.add(chunk.buffer);
    expect(buffers.size).toBe(2);
  });

  it('waits for what it has begun when it is left early', async () => {
    const log: string[] = [];
    const source = sourceOf(10, log);
    for await (const _ of readChunks(source, { chunkBytes: 2 })) break;
    await source.close();
    expect(log.at(-1)).toBe('closed');
    expect(log).toContain('done 2-4');
  });

  it('rejects with what the source says, after the chunks before it', async () => {
    const seen: number[][] = [];
    const work = async () => {
      for await (const chunk of readChunks(sourceOf(5), { end: 8, chunkBytes: 2 })) seen.push([...chunk]);
    };
    await expect(work()).rejects.toThrow(IoError);
    expect(seen).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  it('stops with the reason of the signal', async () => {
    const reason = new Error('enough');
    const chunks = readChunks(sourceOf(10), { chunkBytes: 2, signal: AbortSignal.abort(reason) });
    await expect(collect(chunks)).rejects.toBe(reason);
  });

  it('refuses what is no range', async () => {
    await expect(collect(readChunks(sourceOf(10), { start: 5, end: 4 }))).rejects.toThrow(RangeError);
    await expect(collect(readChunks(sourceOf(10), { chunkBytes: 0 }))).rejects.toThrow(RangeError);
  });
});
