/**
 * A program of its own, so that it can run with a small heap: puts impossible numbers at every place of a metadata file and
 * reads the result in every way. Prints how many files it read. Arguments: paths of metadata files.
 */
import { readFileSync } from 'node:fs';
import { MetadataError } from '../../src/errors.js';
import { Path } from '../../src/filesystem/path.js';
import { loadMetadata, parseMetadata } from '../../src/format/metadata/model-reader.js';
import { dumpMetadata } from '../../src/operations/dump.js';
import { inspectMetadata } from '../../src/operations/inspect.js';

const NUMBERS = [0x7fffffff, 0x10000000, 0x00ffffff, -1];
/** A place in so many is also read in the ways that take longer. */
const SLOW = 16;

function sourceOf(bytes: Uint8Array): Parameters<typeof loadMetadata>[0] {
  return {
    size: bytes.length,
    async readInto(target, offset, start, end) {
      target.set(bytes.subarray(start, end), offset);
    },
  };
}

/** True if the bytes were read, false if they were refused as they should. */
async function isRead(read: () => unknown): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof MetadataError) return false;
    throw error;
  }
}

const directory = Path.parse('file:/checkpoints/job/chk-7');
let read = 0;
let refused = 0;
for (const path of process.argv.slice(2)) {
  const sound = readFileSync(path);
  for (let at = 8; at + 4 <= sound.length; at++) {
    for (const number of NUMBERS) {
      const bytes = new Uint8Array(sound);
      new DataView(bytes.buffer).setInt32(at, number);
      const source = sourceOf(bytes);
      const ways: (() => unknown)[] = [() => parseMetadata(bytes)];
      if (at % SLOW === 0) {
        const input = { source, location: 'metadata', externalPointer: directory.toString(), directory };
        ways.push(
          () => loadMetadata(source, 'metadata'),
          () => dumpMetadata(input, async () => {}),
          () => inspectMetadata({ source, metadataPath: directory.child('_metadata'), directory, modificationTime: 0 }),
        );
      }
      const answers: boolean[] = [];
      for (const way of ways) answers.push(await isRead(way));
      if (answers.some((answer) => answer !== answers[0])) throw new Error(`not of one mind about ${number} at ${at}`);
      if (answers[0]) read++;
      else refused++;
    }
  }
}
process.stdout.write(`${JSON.stringify({ read, refused })}\n`);
