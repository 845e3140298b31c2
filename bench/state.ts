/**
 * How long it takes to read a large state, beside real Flink: an incremental RocksDB checkpoint and a canonical savepoint of a
 * million keys with a kilobyte each. `CKPT_BENCH_STATE` is where they are, or are put (default `/tmp/ckpt-big`): making them
 * takes minutes. `CKPT_BENCH_KEYS` makes fewer keys.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flinkLabDirectory } from '../test/support/paths.js';
import { ckpt, type Measurement, measureBareNode, measureNode, report } from './support/measure.js';

const KEYS = Number(process.env.CKPT_BENCH_KEYS ?? 1_000_000);
const PAYLOAD_BYTES = 1000;
const OPERATOR = 'big';
/** The key of the record in the middle of a split. */
const KEY = `big-s1-k${Math.floor(KEYS / 8)}`;

/** What `test/flink-lab/bigstate` printed. */
interface BigState {
  readonly checkpoint: string;
  readonly savepoint: string;
  readonly keys: number;
  readonly payloadBytes: number;
}

/** What `test/flink-lab/countstate` prints. */
interface Counted {
  readonly rows: number;
  readonly payloadBytes: number;
  readonly milliseconds: number;
  readonly peakBytes: number;
}

/** `read --count` and `read --key`, Flink's SQL connector and State Processor API. */
export async function stateBench(): Promise<void> {
  const lab = flinkLabDirectory();
  if (lab === undefined || !existsSync(join(lab, 'bigstate')))
    throw new Error('there is no Maven project that runs Flink');
  const state = bigState(lab);
  const bare = await measureBareNode();
  report('node -e 0', bare);
  for (const [what, pointer] of [
    ['RocksDB checkpoint', state.checkpoint],
    ['canonical savepoint', state.savepoint],
  ] as const) {
    const rate = ({ milliseconds }: Measurement): string =>
      `${(state.payloadBytes / 1000 / milliseconds).toFixed(0)} MB/s`;
    const count = await measureNode(ckpt('read', pointer, OPERATOR, '--count'), { runs: 2 });
    report(`ckpt read --count, ${what}`, count, rate(count));
    const key = await measureNode(ckpt('read', pointer, OPERATOR, '--key', KEY), { runs: 3 });
    report(`ckpt read --key, ${what}`, key, `${(key.milliseconds - bare.milliseconds).toFixed(0)} ms over bare node`);
    for (const how of ['api', 'sql'] as const) {
      const name = how === 'sql' ? 'SQL connector' : 'State Processor API';
      const counted = countByFlink(lab, pointer, how);
      if (typeof counted === 'string') {
        console.log(`Flink's ${name}, ${what}: ${counted}`);
        continue;
      }
      if (counted.rows !== state.keys) throw new Error(`Flink found ${counted.rows} keys, not ${state.keys}`);
      const times = `${(counted.milliseconds / count.milliseconds).toFixed(1)} times that of ckpt`;
      report(`Flink's ${name}, ${what}, without JVM start`, counted, rate(counted), times);
    }
  }
}

function bigState(lab: string): BigState {
  const directory = join(process.env.CKPT_BENCH_STATE ?? '/tmp/ckpt-big', `${KEYS}x${PAYLOAD_BYTES}`);
  const description = join(directory, 'state.json');
  if (!existsSync(description)) {
    mkdirSync(directory, { recursive: true });
    console.log(`making ${directory}`);
    const args = ['--keys', `${KEYS}`, '--bytes', `${PAYLOAD_BYTES}`, '--out', join(directory, 'state')];
    writeFileSync(description, execFileSync(join(lab, 'bigstate'), args));
  }
  return JSON.parse(readFileSync(description, 'utf8'));
}

/** The beginning of the error if it cannot. */
function countByFlink(lab: string, pointer: string, how: 'api' | 'sql'): Counted | string {
  try {
    const output = execFileSync(join(lab, 'countstate'), ['--pointer', pointer, '--how', how], { stdio: 'pipe' });
    return JSON.parse(output.toString());
  } catch (error) {
    const { stderr = '' } = error as { stderr?: Buffer | string };
    return /Unsupported KeyedStateHandle type: [^\n]*/.exec(stderr.toString())?.[0] ?? stderr.toString().slice(0, 500);
  }
}
