import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLines } from '../../../src/cli/input.js';
import { InterruptedError } from '../../../src/errors.js';

async function lines(chunks: readonly (string | Uint8Array)[]): Promise<string[]> {
  const stream = Readable.from(chunks, { objectMode: true });
  const result: string[] = [];
  for await (const line of readLines(stream, new AbortController().signal)) result.push(line);
  return result;
}

it.each([
  [[], []],
  [['a'], ['a']],
  [['a\n'], ['a']],
  [['a\r\nb\r\n'], ['a', 'b']],
  [['a\n\nb'], ['a', '', 'b']],
  [
    ['a', 'b\nc', '', 'd'],
    ['ab', 'cd'],
  ],
  [['\ufeffa'], ['\ufeffa']],
])('%j has the lines %j', async (chunks, expected) => {
  expect(await lines(chunks)).toEqual(expected);
});

it('does not depend on where the chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', '窓', '😀', '\n') }),
      fc.integer({ min: 1, max: 7 }),
      async (text, size) => {
        const bytes = new TextEncoder().encode(text);
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        expect(await lines(chunks)).toEqual(await lines([text]));
      },
    ),
  );
});

it('refuses what is no text', async () => {
  await expect(lines([Uint8Array.of(0x61, 0xff)])).rejects.toThrow('not UTF-8');
  await expect(lines([Uint8Array.of(0xe7, 0xaa)])).rejects.toThrow('not UTF-8');
});

it('waits no longer once it is interrupted', async () => {
  const controller = new AbortController();
  const stream = new PassThrough();
  stream.write('a\nb');
  const seen: string[] = [];
  const reading = (async () => {
    for await (const line of readLines(stream, controller.signal)) {
      seen.push(line);
      controller.abort(new InterruptedError('SIGINT'));
    }
  })();
  await expect(reading).rejects.toThrow(InterruptedError);
  expect(seen).toEqual(['a']);
  await expect(readLines(new PassThrough(), controller.signal).next()).rejects.toThrow(InterruptedError);
});
