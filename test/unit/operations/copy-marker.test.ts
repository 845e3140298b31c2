import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { COPY_MARKER, canContinue, holdMarker, isBeingCopied } from '../../../src/operations/copy/marker.js';
import { listCheckpoints } from '../../../src/operations/list/list.js';
import { checkpointAt } from '../../support/made-metadata.js';
import { tempDirectory } from '../../support/temp.js';

const fileSystems = createFileSystems({ configuration: new Map() });
const identity = { source: 'file:/x/_metadata', checkpointId: '1', metadataSize: 10, changes: '' };
const HOUR = 3_600_000;

async function directory(): Promise<Path> {
  return Path.parse(`file:${await tempDirectory()}`);
}

describe('the marker of a copy', () => {
  it('is held by one run only, which another one may follow', async () => {
    const at = await directory();
    const now = () => Date.now();
    const first = await holdMarker(fileSystems, at, identity, now);
    await expect(holdMarker(fileSystems, at, identity, now)).rejects.toThrow('another process');
    expect(await isBeingCopied(fileSystems, at, Date.now())).toBe(true);
    expect(await canContinue(fileSystems, at, identity, Date.now())).toBe(false);
    await first.release();
    expect(await isBeingCopied(fileSystems, at, Date.now())).toBe(false);
    expect(await canContinue(fileSystems, at, identity, Date.now())).toBe(true);
    const second = await holdMarker(fileSystems, at, identity, now);
    await expect(first.check()).rejects.toThrow('another run has taken over');
    await second.check();
    await second.remove();
    expect(await isBeingCopied(fileSystems, at, Date.now())).toBe(false);
  });

  it('lets one of two go on that take it over at once', async () => {
    const at = await directory();
    await (await holdMarker(fileSystems, at, identity, () => Date.now())).release();
    const results = await Promise.allSettled([1, 2].map(() => holdMarker(fileSystems, at, identity, () => Date.now())));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const result of results) if (result.status === 'fulfilled') await result.value.remove();
  });

  it.each([
    [{ source: 'file:/y/_metadata' }, 'a copy of file:/y/_metadata was begun'],
    [{ checkpointId: '2' }, 'was begun in'],
    [{ metadataSize: 11 }, 'was begun in'],
    [{ changes: 'savepoint' }, 'with other changes'],
  ])('refuses one of another copy: %j', async (other, message) => {
    const at = await directory();
    await (await holdMarker(fileSystems, at, { ...identity, ...other }, () => Date.now())).release();
    await expect(holdMarker(fileSystems, at, identity, () => Date.now())).rejects.toThrow(message);
  });

  it('of another machine counts for some minutes', async () => {
    const at = await directory();
    const marker = { ...identity, run: 'r', host: `${hostname()}-other`, pid: 1, refreshed: new Date().toISOString() };
    await writeFile(join(at.path, COPY_MARKER), JSON.stringify(marker));
    expect(await isBeingCopied(fileSystems, at, Date.now())).toBe(true);
    expect(await isBeingCopied(fileSystems, at, Date.now() + HOUR)).toBe(false);
    await expect(holdMarker(fileSystems, at, identity, () => Date.now())).rejects.toThrow('another process');
  });

  it.each(['', '{}', 'null', '[1]', '{"source":1}', 'x'.repeat(70_000)])('refuses what is no marker', async (text) => {
    const at = await directory();
    await writeFile(join(at.path, COPY_MARKER), text);
    await expect(holdMarker(fileSystems, at, identity, () => Date.now())).rejects.toThrow('is no marker');
  });
});

describe('list, where a copy goes on', () => {
  it('shows the directory as in progress, whatever it is called', async () => {
    const root = await directory();
    await checkpointAt(join(root.path, 'whole'));
    const at = root.child('backup');
    const marker = await holdMarker(fileSystems, at, identity, () => Date.now());
    const later = { now: Date.now(), minAge: -1 };
    const list = async () =>
      (await listCheckpoints(fileSystems, [root], later)).entries.map(({ pointer, status }) => [pointer, status]);
    expect(await list()).toContainEqual([at.toString(), 'in-progress']);
    await marker.release();
    expect(await list()).toContainEqual([at.toString(), 'incomplete']);
    await marker.remove();
    expect(await list()).toEqual([[`${root}/whole`, 'complete']]);
  });
});
