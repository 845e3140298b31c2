/**
 * A process for tests to kill: `tsx write-atomically.ts <hang | loop | limit> <path>`.
 *
 * `hang` writes a file but never commits it; `loop` replaces it again and again, each time with 200,000 times one letter;
 * `limit` writes a megabyte and prints the code of the error that it gets. All print a line when there is something to see.
 */
import { CkptError } from '../../src/errors.js';
import { LocalFileSystem } from '../../src/filesystem/local.js';
import { Path } from '../../src/filesystem/path.js';

const [mode, name = ''] = process.argv.slice(2);
const path = Path.parse(`file:${name}`);
const fileSystem = new LocalFileSystem();
const say = (line: string) => process.stdout.write(`${line}\n`);

async function write(letter: string): Promise<void> {
  const writer = await fileSystem.createAtomic(path, { overwrite: true });
  for (let count = 0; count < 10; count++) await writer.write(Buffer.alloc(20_000, letter));
  await writer.patch(0, Buffer.from(letter));
  if (mode === 'hang') {
    say('written');
    setInterval(() => undefined, 60_000);
    return;
  }
  await writer.commit();
}

async function writeTooMuch(): Promise<string> {
  const writer = await fileSystem.createAtomic(path);
  const results = await Promise.allSettled([writer.write(Buffer.alloc(1_000_000)), writer.commit()]);
  return results
    .map((result) => (result.status === 'rejected' && result.reason instanceof CkptError ? result.reason.code : 'done'))
    .join(' ');
}

if (mode === 'hang') {
  await write('x');
} else if (mode === 'limit') {
  say(await writeTooMuch());
} else {
  for (let round = 0; ; round++) {
    await write(String.fromCharCode(97 + (round % 26)));
    if (round === 0) say('written');
  }
}
