import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { writeMetadata } from '../../src/format/metadata/metadata-encoder.js';
import { loadMetadata, parseMetadata } from '../../src/format/metadata/model-reader.js';
import { inspectMetadata } from '../../src/operations/inspect.js';
import { anyMetadata } from '../support/metadata-arbitraries.js';
import {
  assembleDocument,
  assembleText,
  DIRECTORY,
  dumpText,
  expectSame,
  expectSameBytes,
  type Json,
  slowSourceOf,
  withKeys,
} from '../support/metadata-cycle.js';

describe('any metadata', () => {
  it('is the same after writing and reading', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(anyMetadata, async (model) => {
        const bytes = writeMetadata(model);
        const read = parseMetadata(bytes);
        // A file of version 3 without anything that an older layout has in another form is of the newest.
        expect(['current', model.layout]).toContain(read.layout);
        // Cloning takes away prototypes, which generated objects have in another way.
        if (read.layout === model.layout) expectSame(structuredClone(read), structuredClone(model));
        expectSameBytes(writeMetadata(read), bytes);
        expectSame(await loadMetadata(slowSourceOf(bytes), 'metadata'), read);
      }),
      { numRuns: 1000 },
    );
  });

  it('is the same after it was a document', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(anyMetadata, fc.integer({ min: 1, max: 50 }), async (model, chunkBytes) => {
        const bytes = writeMetadata(model);
        const text = await dumpText(bytes);
        expectSameBytes(await assembleText(text, chunkBytes), bytes);
        const pretty = await dumpText(bytes, { pretty: true });
        expectSame(JSON.parse(pretty), JSON.parse(text));
        const shuffled = withKeys(JSON.parse(text), (keys) => keys.sort().reverse());
        expectSameBytes(await assembleDocument(shuffled), bytes);
      }),
      { numRuns: 1000 },
    );
  });

  it('is as large to inspect as it is to dump', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(anyMetadata, async (model) => {
        const bytes = writeMetadata(model);
        const document: Json = JSON.parse(await dumpText(bytes));
        const directory = Path.parse(DIRECTORY);
        const result = await inspectMetadata({
          source: slowSourceOf(bytes),
          metadataPath: directory.child('_metadata'),
          directory,
          modificationTime: 0,
        });
        expect(sizesOf(result)).toEqual(sizesOf(document));
        expect(result.operatorStates.map(sizesOf)).toEqual(document.operatorStates.map(sizesOf));
        expect(result.operatorStates.map(({ subtasks }) => subtasks)).toEqual(
          document.operatorStates.map(({ subtasks }: Json) => subtasks.length),
        );
      }),
      { numRuns: 500 },
    );
  });

  const sizesOf = ({ stateSize, checkpointedSize }: Json): Json => [stateSize, checkpointedSize];
});
