import { describe, expect, it } from 'vitest';
import { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { storeClock } from '../../../src/operations/store-clock.js';

const HOUR = 3_600_000;

/** A store whose clock is that much ahead. */
function store(scheme: string, offset: number): readonly [string, () => Promise<MemoryFileSystem>] {
  return [scheme, async () => new MemoryFileSystem({ scheme, clock: () => Date.now() + offset })];
}

const systems = createFileSystems(
  { configuration: new Map() },
  new Map([store('ahead', HOUR), store('behind', -2 * HOUR)]),
);
const at = (...paths: string[]) =>
  storeClock(
    systems,
    paths.map((path) => Path.parse(path)),
    () => 10 * HOUR,
  );

describe('storeClock', () => {
  it('goes by the clock of the store', async () => {
    expect(Math.round((await at('ahead:/a'))() / HOUR)).toBe(11);
    expect(Math.round((await at('behind:/a'))() / HOUR)).toBe(8);
    expect((await at('file:/a'))()).toBe(10 * HOUR);
    expect((await at())()).toBe(10 * HOUR);
  });

  it('goes by the one that is furthest behind, so that nothing is taken for older than it is', async () => {
    expect(Math.round((await at('ahead:/a', 'file:/b', 'behind:/c'))() / HOUR)).toBe(8);
  });

  it('leaves errors of a store to those who use it', async () => {
    expect((await at('unknown://x/a'))()).toBe(10 * HOUR);
  });
});
