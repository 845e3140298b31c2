/** A real HDFS for tests: starts `test/servers/minidfs/minidfs`, talks to it, stops it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const SCRIPT = new URL('../servers/minidfs/minidfs', import.meta.url).pathname;

/** Why no HDFS can be started on this machine; undefined if one can. */
export function whyNoMiniDfs(): string | undefined {
  for (const [command, ...args] of [
    ['java', '-version'],
    ['mvn', '-version'],
  ] as const) {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) return `${command} is not there`;
    const major = command === 'java' ? Number(/version "(\d+)/.exec(stderr)?.[1]) : undefined;
    if (major !== undefined && major < 17) return `Java ${major} is too old, 17 is needed`;
  }
  return undefined;
}

/** A running HDFS. */
export class MiniDfs {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    process: ChildProcess,
    lines: AsyncIterator<string>,
    /** Ports of the name nodes. */
    readonly nameNodes: readonly { readonly http: number; readonly rpc: number }[],
  ) {
    this.#process = process;
    this.#lines = lines;
  }

  /** @param kind `ha`: two name nodes, the first of which is active */
  static async start(kind: 'single' | 'ha' = 'single'): Promise<MiniDfs> {
    const child = spawn(SCRIPT, kind === 'ha' ? ['ha'] : [], { stdio: ['pipe', 'pipe', 'pipe'] });
    const complaints: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) throw new Error(`minidfs did not start: ${complaints.join('').slice(-4000)}`);
    return new MiniDfs(child, lines, JSON.parse(first.value).nameNodes);
  }

  /** HTTP address of a name node. */
  http(index = 0): string {
    return `127.0.0.1:${this.nameNodes[index]?.http}`;
  }

  /** Address of a name node as an `hdfs` path has it. */
  rpc(index = 0): string {
    return `127.0.0.1:${this.nameNodes[index]?.rpc}`;
  }

  /** Asks for something that WebHDFS cannot do: see MiniDfs.java. */
  command(...words: readonly (string | number)[]): Promise<string> {
    const answer = this.#last.then(async () => {
      this.#process.stdin?.write(`${words.join('\t')}\n`);
      const { value = 'error\tit has ended' } = await this.#lines.next();
      const [verdict, text = ''] = String(value).split('\t');
      if (verdict !== 'ok') throw new Error(`${words.join(' ')}: ${text}`);
      return text;
    });
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await ended;
  }
}
