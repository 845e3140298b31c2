/** Real Flink writes checkpoints into a bucket, `ckpt` copies them to another one, and real Flink restores from there. */
import { join } from 'node:path';
import { CreateBucketCommand, DeleteObjectCommand } from '@aws-sdk/client-s3';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { flinkLab } from '../support/flink-lab.js';
import type { RestoreRequest, RestoreVerdict } from '../support/flink-restore.js';
import { runCkpt } from '../support/run-ckpt.js';
import { keysBelow, plainClient, s3CasesDirectory, uploadCase } from '../support/s3-cases.js';
import { missingFor, optionsFor, startMoto } from '../support/s3-servers.js';

const MINUTES = 60_000;
const JOB = { case: 'rocksdb-incremental', seed: 0 } as const;

/** As `restoreAll`, with S3. */
async function restoreOnS3(endpoint: string, requests: readonly RestoreRequest[]): Promise<RestoreVerdict[]> {
  const { stdout, stderr } = await execa('timeout', ['--kill-after=10', '480', join(flinkLab(), 'restore-batch')], {
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    env: { FLINK_LAB_S3_ENDPOINT: endpoint },
    reject: false,
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== requests.length) throw new Error(`Flink answered ${lines.length} requests: ${stderr}`);
  return lines.map((line) => JSON.parse(line));
}

const missing = s3CasesDirectory() === undefined ? 'there is no corpus' : await missingFor('moto');

it.skipIf(missing !== undefined)(
  `real Flink restores what it wrote into a bucket and ckpt copied to another one${missing === undefined ? '' : `, skipped: ${missing}`}`,
  async () => {
    const server = await startMoto();
    const client = await plainClient(server.endpoint);
    try {
      for (const Bucket of ['flink-lab', 'other']) await client.send(new CreateBucketCommand({ Bucket }));
      await uploadCase(client, 'flink-lab', 'incremental');
      const from = 's3://flink-lab/incremental/7a9572fdb2560555e785fbfdd9f60d5b/chk-2';
      const [written] = await restoreOnS3(server.endpoint, [
        { ...JOB, id: 'written', from, thenCheckpoint: 's3://flink-lab/written' },
      ]);
      expect({ error: written?.error, failures: written?.failures, ok: written?.ok }).toMatchObject({ ok: true });
      const pointers = written?.pointers ?? [];
      expect(pointers.length).toBe(2);

      const options = [...optionsFor(server.endpoint)].flatMap(([key, value]) => ['-D', `${key}=${value}`]);
      const targets: string[] = [];
      for (const [index, pointer] of [from, ...pointers].entries()) {
        const target = `s3://other/copies/copy-${index}`;
        const { exitCode, stderr } = await runCkpt(['copy', pointer, target, '--verify', ...options]);
        expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
        targets.push(target);
      }
      // Nothing is left where Flink wrote it.
      for (const Key of await keysBelow(client, 'flink-lab')) {
        await client.send(new DeleteObjectCommand({ Bucket: 'flink-lab', Key }));
      }
      const verdicts = await restoreOnS3(
        server.endpoint,
        targets.map((target) => ({ ...JOB, id: target, from: target })),
      );
      expect(verdicts.map(({ ok, error, failures }) => ({ ok, error, failures }))).toEqual(
        targets.map(() => expect.objectContaining({ ok: true })),
      );
    } finally {
      client.destroy();
      await server.stop();
    }
  },
  12 * MINUTES,
);
