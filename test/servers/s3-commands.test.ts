/** Every command on `s3://`, by the binary, with the cases that real Flink left in a bucket. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCkpt } from '../support/run-ckpt.js';
import { keysBelow, plainClient, s3CasesDirectory, uploadCase } from '../support/s3-cases.js';
import { missingFor, startMoto, startVersitygw, TEST_CREDENTIALS } from '../support/s3-servers.js';
import type { TestServer } from '../support/server-process.js';
import { tempDirectory } from '../support/temp.js';

const INSTALL_MILLISECONDS = 600_000;
const CASES = {
  incremental: {
    root: 'incremental',
    job: '7a9572fdb2560555e785fbfdd9f60d5b',
    latest: 'savepoint-7a9572-1814e0ecc20a',
  },
  entropy: { root: 'entropy', job: '9281534d2f9e3cb1de1f30849eecf310', latest: 'savepoint-928153-610f29ee1cff' },
  'no-subdirectory': {
    root: 'no-subdirectory',
    job: '5f4dc3b60b8a6ff38b5b41c2baf94827',
    latest: 'savepoint-5f4dc3-4c545f480c04',
  },
} as const;

/** The cases live in the bucket of their metadata: copies elsewhere would need `--map`. */
const BUCKET = 'flink-lab';

for (const [name, start] of [
  ['moto', startMoto],
  ['versitygw', startVersitygw],
] as const) {
  const cases = s3CasesDirectory();
  const missing = cases === undefined ? 'there is no corpus' : await missingFor(name);
  describe.skipIf(missing !== undefined)(
    `ckpt on ${name}${missing === undefined ? '' : `, skipped: ${missing}`}`,
    () => {
      let server: TestServer;
      let client: S3Client;
      const ckpt = async (...args: readonly string[]) => {
        const { accessKeyId, secretAccessKey } = TEST_CREDENTIALS;
        const env = {
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
          AWS_REGION: 'us-east-1',
          AWS_EC2_METADATA_DISABLED: 'true',
        };
        const result = await runCkpt([...args, '-D', `s3.endpoint=${server.endpoint}`], { env });
        expect(result.stdout + result.stderr).not.toContain(secretAccessKey);
        return result;
      };
      const json = async (...args: readonly string[]) => {
        const { stdout, stderr, exitCode } = await ckpt(...args, '--json');
        return { stderr, exitCode, document: JSON.parse(stdout) };
      };

      beforeAll(async () => {
        server = await start();
        client = await plainClient(server.endpoint);
        for (const bucket of [BUCKET, 'other']) await client.send(new CreateBucketCommand({ Bucket: bucket }));
        for (const each of Object.keys(CASES)) await uploadCase(client, BUCKET, each);
      }, INSTALL_MILLISECONDS);
      afterAll(async () => {
        client.destroy();
        await server.stop();
      });

      // moto is slow: one case there, and what changes things.
      const chosen = Object.entries(CASES).filter(([label]) => name === 'versitygw' || label === 'incremental');
      for (const [label, { root, job, latest }] of chosen) {
        const at = `s3://${BUCKET}/${root}`;
        const pointers = async () =>
          JSON.parse(await readFile(join(cases ?? '', label, 'case.json'), 'utf8')).pointers as {
            readonly uri: string;
            readonly oracle: string;
            readonly kind: string;
          }[];

        it(`reads ${label} as real Flink does, and changes nothing`, async () => {
          const before = await keysBelow(client, BUCKET, `${root}/`);
          const known = await pointers();
          const { document, exitCode } = await json('list', at);
          expect(exitCode).toBe(0);
          const complete = document.entries.filter(({ status }: { status: string }) => status === 'complete');
          expect(complete.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(
            known.map(({ uri }) => uri).sort(),
          );
          for (const { uri, oracle } of known) {
            const dump = await json('dump', uri);
            const expected = JSON.parse(await readFile(join(cases ?? '', label, oracle), 'utf8'));
            expect(dump.document.checkpointId).toBe(expected.checkpointId);
            expect(dump.document.operatorStates.length).toBe(expected.operatorStates.length);
            expect((await json('inspect', uri)).document.metadataPath).toBe(`${uri}/_metadata`);
          }
          const verified = await json('verify', '--deep', at);
          expect(verified.document).toMatchObject({ ok: true });
          expect(verified.document.pointers.length).toBe(known.length);
          expect((await json('resolve', '--latest', '--job', job, at)).exitCode).toBe(0);
          const garbage = await json('gc', at, '--min-age', '0s');
          expect(garbage.document).toMatchObject({ unreferenced: [], totals: { files: 0 } });
          expect(await keysBelow(client, BUCKET, `${root}/`)).toEqual(before);
        });

        it(`copies ${label} to another bucket, to this machine and back, and makes savepoints of it`, async () => {
          const local = await tempDirectory();
          for (const { uri } of await pointers()) {
            const name = uri.slice(uri.lastIndexOf('/') + 1);
            const elsewhere = `s3://other/${label}/${name}`;
            expect((await json('copy', uri, elsewhere, '--verify')).document).toMatchObject({ verified: true });
            expect((await json('copy', elsewhere, `${local}/${name}`, '--verify')).exitCode).toBe(0);
            expect(
              (await json('copy', `${local}/${name}`, `s3://other/${label}/back/${name}`, '--verify')).exitCode,
            ).toBe(0);
            expect((await json('verify', '--deep', `s3://other/${label}/back/${name}`)).document.ok).toBe(true);
            const sameContents = await json('diff', elsewhere, `s3://other/${label}/back/${name}`);
            expect(sameContents.document).toMatchObject({ changed: [], added: [], removed: [] });
          }
          const empty = await json(
            'savepoint',
            '--job-id',
            job,
            '--target-directory',
            `s3://other/${label}/savepoints`,
          );
          expect(empty.document.savepointDirectory).toMatch(new RegExp(`savepoint-${job.slice(0, 6)}-[0-9a-f]{12}$`));
          const key = empty.document.savepointDirectory.slice('s3://other/'.length);
          expect(await keysBelow(client, 'other', key)).toEqual([`${key}/`]);
          const full = await json(
            'savepoint',
            '--from',
            `${at}/${latest}`,
            '--target-directory',
            `s3://other/${label}/full`,
          );
          expect(full.exitCode).toBe(0);
          expect((await json('verify', full.document.savepointDirectory)).document.ok).toBe(true);
        });
      }

      it('discards what no other checkpoint uses, and what is left is whole', async () => {
        const { root, job } = CASES.incremental;
        const at = `s3://${BUCKET}/${root}`;
        const directory = `${root}/${job}/chk-1`;
        const dry = await json('discard', `s3://${BUCKET}/${directory}`, '--dry-run');
        expect(await keysBelow(client, BUCKET, `${directory}/`)).toContain(`${directory}/_metadata`);
        const done = await json('discard', `s3://${BUCKET}/${directory}`, '--yes');
        expect(done).toMatchObject({ exitCode: 0, document: { done: true, error: null } });
        expect(done.document.deletedFiles).toBe(
          dry.document.plan.delete.filter(({ step }: { step: string }) => step !== 'location').length,
        );
        expect(await keysBelow(client, BUCKET, `${directory}/`)).toEqual([]);
        expect((await json('verify', '--deep', at)).document).toMatchObject({ ok: true });
        expect((await json('gc', at, '--min-age', '0s')).document.totals.files).toBe(0);
        const again = await json('discard', `s3://${BUCKET}/${directory}`, '--yes');
        expect(again.exitCode).toBe(3);
        const rest = await json('discard', `s3://${BUCKET}/${root}/${job}/chk-2`, '--yes', '--job-stopped');
        expect(rest.exitCode).toBe(0);
        expect(await keysBelow(client, BUCKET, `${root}/${job}/shared/`)).toEqual([]);
        expect(await keysBelow(client, BUCKET, `${root}/.ckpt-lock`)).toEqual([]);
      });

      it('finds and deletes garbage, several pages of it', async () => {
        const { root } = CASES['no-subdirectory'];
        const { PutObjectCommand } = await import('@aws-sdk/client-s3');
        const names = Array.from({ length: 1100 }, (_, index) => `${root}/shared/garbage-${index}`);
        for (let start = 0; start < names.length; start += 50) {
          await Promise.all(
            names
              .slice(start, start + 50)
              .map((Key) => client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: new Uint8Array(3) }))),
          );
        }
        const before = await keysBelow(client, BUCKET, `${root}/`);
        const { document, exitCode } = await json(
          'gc',
          `s3://${BUCKET}/${root}`,
          '--delete',
          '--yes',
          '--min-age',
          '0s',
        );
        expect(exitCode).toBe(0);
        expect(document).toMatchObject({ deletedFiles: 1100, deletedBytes: 3300, failed: [] });
        expect(await keysBelow(client, BUCKET, `${root}/`)).toEqual(before.filter((key) => !names.includes(key)));
        expect((await json('verify', `s3://${BUCKET}/${root}`)).document.ok).toBe(true);
      });

      it('takes the marker of entropy out of paths, and deletes the data if it may', async () => {
        const { root, job } = CASES.entropy;
        const marked = `s3://${BUCKET}/${root}/_entropy_/checkpoints/${job}/chk-1`;
        const key = ['-D', 's3.entropy.key=_entropy_'];
        const metadata = `s3://${BUCKET}/${root}/checkpoints/${job}/chk-1/_metadata`;
        expect((await json('resolve', marked, ...key)).document.metadataPath).toBe(metadata);
        expect((await json('resolve', marked)).exitCode).toBe(3);
        const inside = await json(
          'discard',
          marked,
          '--yes',
          '--job-stopped',
          '--root',
          `s3://${BUCKET}/${root}`,
          ...key,
        );
        expect(inside).toMatchObject({ exitCode: 0, document: { done: true, deletedFiles: 17 } });
        const left = await keysBelow(client, BUCKET, `${root}/`);
        expect(left.filter((each) => !each.endsWith('/') && !each.startsWith(`${root}/savepoint-`))).toEqual([]);
      });

      it('says what is wrong with a bucket, a key, a region, and exits with 3', async () => {
        const gone = await ckpt('list', 's3://no-such-bucket/x');
        expect(gone).toMatchObject({ exitCode: 3, stdout: '' });
        expect(gone.stderr).toContain('s3://no-such-bucket/x: no such file or directory');
        expect(gone.stderr).toContain('NoSuchBucket');
        expect(await ckpt('inspect', `s3://${BUCKET}/nothing/here`)).toMatchObject({ exitCode: 3 });
        expect(await ckpt('list', 's3:/nothing')).toMatchObject({ exitCode: 3 });
        expect(await ckpt('list', `s3://${BUCKET}`, '-D', 's3.access-key=x')).toMatchObject({ exitCode: 2 });
      });
    },
  );
}
