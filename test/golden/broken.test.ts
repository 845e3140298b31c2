import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CkptError, MetadataError } from '../../src/errors.js';
import { loadMetadata, parseMetadata } from '../../src/format/metadata/model-reader.js';
import { dumpText, type Json, slowSourceOf } from '../support/metadata-cycle.js';
import { fixturesDirectory } from '../support/paths.js';

const root = join(fixturesDirectory(), 'broken');
const defects = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

async function errorOf(read: () => unknown): Promise<unknown> {
  try {
    await read();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('broken metadata', () => {
  it('comes in many kinds', () => {
    expect(defects.length).toBeGreaterThan(25);
  });

  it.each(defects)('%s', async (defect) => {
    const bytes = new Uint8Array(readFileSync(join(root, defect, '_metadata')));
    const expected: Json = JSON.parse(readFileSync(join(root, defect, 'error.json'), 'utf8'));
    const ways = [
      () => parseMetadata(bytes, '/x/_metadata'),
      () => loadMetadata(slowSourceOf(bytes), '/x/_metadata'),
      () => dumpText(bytes).then(() => undefined),
    ];
    for (const [i, way] of ways.entries()) {
      const error = await errorOf(way);
      expect(error).toBeInstanceOf(MetadataError);
      if (!(error instanceof CkptError)) return;
      const { location, supported, ...data } = error.data as Json;
      expect({ code: error.code, ...data }).toEqual(expected);
      expect(error.message.startsWith(`${i < 2 ? '/x/_metadata' : 'metadata'}: `)).toBe(true);
      expect(error.message).toContain(expected.found ?? `version ${expected.version}`);
    }
  });
});
