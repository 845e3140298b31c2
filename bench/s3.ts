/**
 * `gc`, `verify` and `discard` on a local S3 server: how many requests they make and how long they take, beside a plain listing
 * by the SDK of the same objects in the same run. The server is versitygw, on files of this machine; it takes most of the time.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultProxy, startFaultProxy } from '../test/support/fault-proxy.js';
import { keyGroups, metadata, operator, operatorId, relativeFile, subtask } from '../test/support/made-metadata.js';
import { keysBelow, plainClient } from '../test/support/s3-cases.js';
import { makeBucket, missingFor, optionsFor, startVersitygw } from '../test/support/s3-servers.js';
import { ckpt, measureBareNode, measureNode, ratio, report } from './support/measure.js';

const BUCKET = 'bench';
const JOB = '4f1a2b3c4d5e6f708192a3b4c5d6e7f8';
const SUBTASKS = 1000;

/** Needs Go, which builds the server once. */
export async function s3Bench(): Promise<void> {
  const missing = await missingFor('versitygw');
  if (missing !== undefined) {
    console.log(`  skipped: ${missing}`);
    return;
  }
  const server = await startVersitygw();
  const proxy = await startFaultProxy(server.endpoint);
  try {
    await makeBucket(server.endpoint, BUCKET);
    const bare = await measureBareNode();
    report('node -e 0', bare);
    await bench(proxy, server.objects, 'gc', 100_000, 10, ['--min-age', '0s']);
    await bench(proxy, server.objects, 'verify', 10_000, 1, []);
    await bench(proxy, server.objects, 'discard', 10_000, 1, ['--yes', '--job-stopped', '--json']);
  } finally {
    await proxy.stop();
    await server.stop();
  }
}

/** One command, once: what it changes cannot be measured again. */
async function bench(
  proxy: FaultProxy,
  objects: string,
  command: 'gc' | 'verify' | 'discard',
  files: number,
  checkpoints: number,
  more: readonly string[],
): Promise<void> {
  makeTree(join(objects, BUCKET, command), files, checkpoints);
  const client = await plainClient(proxy.endpoint);
  const start = performance.now();
  proxy.requests.length = 0;
  const keys = await keysBelow(client, BUCKET, `${command}/`);
  const listing = performance.now() - start;
  client.destroy();
  report(`SDK listing of ${keys.length} keys`, { milliseconds: listing, peakBytes: undefined }, requestsOf(proxy));

  const pointer = `s3://${BUCKET}/${command}${command === 'gc' ? '' : `/${JOB}/chk-1`}`;
  const options = [...optionsFor(proxy.endpoint)].flatMap(([key, value]) => ['-D', `${key}=${value}`]);
  const before = (): void => {
    makeTree(join(objects, BUCKET, command), command === 'discard' ? files : 0, checkpoints);
    proxy.requests.length = 0;
  };
  const measured = await measureNode(ckpt(command, pointer, ...more, ...options), { runs: 1, before });
  const compared = ratio(measured.milliseconds, listing, 'the listing');
  report(`ckpt ${command}, ${files} files, ${checkpoints} checkpoints`, measured, requestsOf(proxy), compared);
  rmSync(join(objects, BUCKET, command), { recursive: true, force: true });
}

/** Requests since the last reset, by method. */
function requestsOf(proxy: FaultProxy): string {
  const counts = new Map<string, number>();
  for (const { method, url } of proxy.requests) {
    const name = url.includes('list-type=2') ? 'LIST' : url.includes('?delete') ? 'DELETE of many' : method;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return `${proxy.requests.length} requests (${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')})`;
}

/** Checkpoints with so many files in all in their own directories; 0: leaves what is there. */
function makeTree(tree: string, files: number, checkpoints: number): void {
  if (files === 0) return;
  rmSync(tree, { recursive: true, force: true });
  const each = files / checkpoints;
  for (let checkpoint = 1; checkpoint <= checkpoints; checkpoint++) {
    const directory = join(tree, JOB, `chk-${checkpoint}`);
    mkdirSync(directory, { recursive: true });
    const names = Array.from(
      { length: each },
      (_, index) => `0a1b2c3d-2c3d-4e5f-8a9b-${index.toString(16).padStart(12, '0')}`,
    );
    for (const name of names) writeFileSync(join(directory, name), 'x'.repeat(100));
    writeFileSync(join(directory, '_metadata'), metadata({ operatorStates: operatorsOf(names) }));
  }
}

function operatorsOf(names: readonly string[]) {
  const operators = [];
  for (let start = 0; start < names.length; start += SUBTASKS) {
    const some = names.slice(start, start + SUBTASKS);
    const subtasks = some.map((name, index) =>
      subtask({ index, managedKeyedState: keyGroups(relativeFile(name, 100), 2 * index) }),
    );
    const shape = { parallelism: some.length, maxParallelism: 2 * SUBTASKS, subtasks };
    operators.push(operator({ operatorId: operatorId(start + 1), ...shape }));
  }
  return operators;
}
