/** Servers for tests: installed into a cache that lasts, started on a free port of the loopback interface, stopped at the end. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A server that runs. */
export interface TestServer {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Where servers are installed: `$CKPT_CACHE`, else a directory for temporary files. */
export function cacheDirectory(): string {
  return process.env.CKPT_CACHE ?? join(tmpdir(), 'ckpt-servers');
}

/** True if the program is there and runs with these arguments. */
export async function canRun(program: string, ...args: readonly string[]): Promise<boolean> {
  try {
    await execute(program, args);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes a directory of the cache once, also if several test files ask for it at a time.
 * @param build fills the directory that it is given, which has another name until it is complete
 * @returns the directory
 */
export async function installOnce(name: string, build: (directory: string) => Promise<void>): Promise<string> {
  const directory = join(cacheDirectory(), name);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await build(unfinished);
    await rename(unfinished, directory).catch((error: unknown) => {
      // Another test file was quicker.
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return directory;
}

/** Runs a program to its end. @throws with the end of its output if it fails */
export async function runToEnd(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  await execute(program, args, { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * Starts a server and waits until it answers.
 * @param args its arguments, given the port
 */
export async function startServer(
  program: string,
  args: (port: number) => readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<TestServer> {
  const port = await freePort();
  const child = spawn(program, args(port), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (data: Buffer) => {
    output = (output + data.toString()).slice(-4000);
  });
  const stop = () => stopProcess(child);
  const emergency = () => child.kill('SIGKILL');
  process.once('exit', emergency);
  child.once('exit', () => process.removeListener('exit', emergency));
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
    if (await answers(port)) return { endpoint: `http://127.0.0.1:${port}`, stop };
    await sleep(100);
  }
  await stop();
  throw new Error(`${program} does not answer: ${output}`);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await exit;
  clearTimeout(timer);
}
