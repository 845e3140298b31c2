import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Makes a named pipe, which blocks whoever opens it. */
export async function makePipe(path: string): Promise<void> {
  await run('mkfifo', [path]);
}
