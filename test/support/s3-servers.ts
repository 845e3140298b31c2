/** Two S3 servers for tests: moto, which takes any credentials, and versitygw, which checks every signature. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canRun, installOnce, runToEnd, startServer, type TestServer } from './server-process.js';

const MOTO = 'moto[server]>=5,<6';
const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';

/** Of both servers. */
export const TEST_CREDENTIALS = { accessKeyId: 'CKPTTESTKEY', secretAccessKey: 'ckpt-test-secret-0123456789' };

/** Why a server cannot be used on this machine; undefined if it can. */
export async function missingFor(server: 'moto' | 'versitygw'): Promise<string | undefined> {
  if (server === 'versitygw')
    return (await canRun('go', 'version')) ? undefined : 'there is no Go, which builds versitygw';
  return (await canRun('python3', '-m', 'venv', '--help'))
    ? undefined
    : 'there is no Python 3 with venv, which runs moto';
}

/** Everything is in memory. The first start installs it. */
export async function startMoto(): Promise<TestServer> {
  const directory = await installOnce('moto-5', async (venv) => {
    await runToEnd('python3', ['-m', 'venv', venv]);
    await runToEnd(join(venv, 'bin/python'), ['-m', 'pip', 'install', '-q', MOTO]);
  });
  return startServer(join(directory, 'bin/python'), (port) => [
    '-m',
    'moto.server',
    '-H',
    '127.0.0.1',
    '-p',
    String(port),
  ]);
}

/** Keeps objects as files of a temporary directory, `objects`, with one directory for each bucket. The first start builds it, which takes minutes. */
export async function startVersitygw(): Promise<TestServer & { readonly objects: string }> {
  const directory = await installOnce('versitygw-1.8.0', (bin) =>
    runToEnd('go', ['install', VERSITYGW], { GOBIN: bin }),
  );
  const data = await mkdtemp(join(tmpdir(), 'ckpt-versitygw-'));
  const [root, sidecar] = [join(data, 'objects'), join(data, 'metadata')];
  await Promise.all([mkdir(root), mkdir(sidecar)]);
  const server = await startServer(
    join(directory, 'versitygw'),
    (port) => ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', '--sidecar', sidecar, root],
    { ROOT_ACCESS_KEY: TEST_CREDENTIALS.accessKeyId, ROOT_SECRET_KEY: TEST_CREDENTIALS.secretAccessKey },
  );
  const stop = async () => {
    await server.stop();
    await rm(data, { recursive: true, force: true });
  };
  return { ...server, stop, objects: root };
}

/** Flink's options for such a server. */
export function optionsFor(endpoint: string): Map<string, string> {
  return new Map([
    ['s3.endpoint', endpoint],
    ['s3.access-key', TEST_CREDENTIALS.accessKeyId],
    ['s3.secret-key', TEST_CREDENTIALS.secretAccessKey],
    ['s3.region', 'us-east-1'],
  ]);
}

/** Makes an empty bucket. */
export async function makeBucket(endpoint: string, bucket: string): Promise<void> {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: TEST_CREDENTIALS });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
}
