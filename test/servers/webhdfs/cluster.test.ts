import { mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IoError, NotFoundError, PermissionError } from '../../../src/errors.js';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import type { RetriedRequest } from '../../../src/filesystem/requests.js';
import { findCluster } from '../../../src/filesystem/webhdfs/addresses.js';
import { loadHadoopConfiguration } from '../../../src/filesystem/webhdfs/hadoop-configuration.js';
import { findIdentity } from '../../../src/filesystem/webhdfs/identity.js';
import { collect, pattern, writeFile as put, readAll } from '../../contract/file-system.contract.js';
import { MiniDfs, whyNoMiniDfs } from '../../support/minidfs.js';
import { tempDirectory } from '../../support/temp.js';

const reason = whyNoMiniDfs();

describe.skipIf(reason !== undefined)(`a real HDFS${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let server: MiniDfs;
  const retried: RetriedRequest[] = [];

  beforeAll(async () => {
    server = await MiniDfs.start('ha');
  }, 600_000);
  afterAll(() => server?.stop());

  /** A configuration directory as an administrator of the cluster hands it out. */
  async function configurationDirectory(): Promise<string> {
    const directory = join(await tempDirectory(), 'hadoop');
    await mkdir(directory);
    const site = (properties: Record<string, string>) => {
      const each = Object.entries(properties).map(
        ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
      );
      return `<?xml version="1.0"?>\n<configuration>${each.join('\n')}</configuration>`;
    };
    await writeFile(join(directory, 'core-site.xml'), site({ 'fs.defaultFS': 'hdfs://flinkns' }));
    await writeFile(
      join(directory, 'hdfs-site.xml'),
      site({
        'dfs.nameservices': 'flinkns',
        'dfs.ha.namenodes.flinkns': 'nn0,nn1',
        'dfs.namenode.rpc-address.flinkns.nn0': server.rpc(0),
        'dfs.namenode.rpc-address.flinkns.nn1': server.rpc(1),
        'dfs.namenode.http-address.flinkns.nn0': server.http(0),
        'dfs.namenode.http-address.flinkns.nn1': server.http(1),
      }),
    );
    return directory;
  }

  async function connect(path: Path, environment: Record<string, string> = {}): Promise<FileSystem> {
    const systems = createFileSystems({
      configuration: new Map(),
      environment: { HADOOP_CONF_DIR: await configurationDirectory(), HADOOP_USER_NAME: 'flink', ...environment },
      onRetry: (each) => retried.push(each),
    });
    return systems.get(path);
  }

  it('is found by its name service, and followed to the name node that takes over', async () => {
    for (const root of ['hdfs://flinkns/ha', 'hdfs:///ha', `hdfs://${server.rpc(0)}/ha`].map((text) =>
      Path.parse(text),
    )) {
      const fs = await connect(root);
      const isNamed = root.authority?.includes(':') !== true;
      await put(fs, root.child('before'), pattern(1000));
      if (isNamed) {
        await server.command('active', 1);
        await put(fs, root.child('after'), pattern(2000));
        expect(Buffer.compare(await readAll(fs, root.child('before')), pattern(1000))).toBe(0);
        await server.command('active', 0);
      }
      expect((await fs.getFileStatus(root.child('before'))).size).toBe(1000);
      await Promise.all((await collect(fs.list(root))).map(({ name }) => fs.deleteFile(root.entry(name))));
    }
  }, 120_000);

  it('waits for the end of a safe mode', async () => {
    const root = Path.parse('hdfs://flinkns/safe');
    const fs = await connect(root);
    await put(fs, root.child('file'), 'x');
    await server.command('safemode', 'enter');
    retried.length = 0;
    const deleting = fs.deleteFile(root.child('file'));
    while (retried.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await server.command('safemode', 'leave');
    expect(await deleting).toBe(true);
    expect(retried[0]?.request).toBe(`DELETE ${root.child('file')}`);
  }, 120_000);

  it('finds in a token file, of either format, what the name node takes for a token', async () => {
    const user = userInfo().username;
    for (const format of ['writable', 'protobuf', 'hdfs-only']) {
      const file = join(await tempDirectory(), 'my.token');
      const token = await server.command('token', file, format);
      const configuration = new Map<string, string>();
      const environment = { HADOOP_CONF_DIR: await configurationDirectory(), HADOOP_TOKEN_FILE_LOCATION: file };
      const hadoop = await loadHadoopConfiguration({ configuration, environment });
      const { services } = findCluster({ scheme: 'hdfs', authority: 'flinkns', hadoop, options: configuration });
      const { parameters, secrets } = await findIdentity({ configuration, environment }, services);
      expect(parameters).toEqual({ delegation: token });
      expect(secrets).toContain(token);
      expect(await server.command('verify', token)).toBe(user);
      await server.command('cancel', token);
      await expect(server.command('verify', token)).rejects.toThrow();

      const warnings: string[] = [];
      const warn = (message: string) => warnings.push(message);
      expect((await findIdentity({ configuration, environment, warn }, ['elsewhere:8020'])).parameters).toEqual({
        'user.name': user,
      });
      expect(warnings).toEqual([expect.stringContaining(file)]);
    }
  }, 120_000);

  it('refuses what a user may not do, and what is above a quota', async () => {
    const root = Path.parse('hdfs://flinkns/mine');
    const fs = await connect(root);
    const other = await connect(root, { HADOOP_USER_NAME: 'other' });
    await put(fs, root.child('file'), 'x');
    await server.command('chmod', root.path, '700');
    await expect(other.getFileStatus(root.child('file'))).rejects.toThrow(PermissionError);
    await expect(other.deleteFile(root.child('file'))).rejects.toThrow(PermissionError);
    await expect(collect(other.list(root))).rejects.toThrow(PermissionError);
    // Also with more bytes than a connection takes before the refusal comes.
    const writer = await other.createAtomic(Path.parse('hdfs://flinkns/mine-too'));
    await writer.abort();
    await server.command('chmod', root.path, '755');
    const large = await other.createAtomic(root.child('large'));
    await large.write(pattern(20_000_000));
    await expect(large.commit()).rejects.toThrow(PermissionError);
    await server.command('quota', root.path, 2);
    const error = await put(fs, root.child('second'), 'x').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IoError);
    expect(String((error as Error).cause)).toMatch(/quota/i);
    expect(String(error)).not.toContain('\n');
    expect((await collect(fs.list(root))).map(({ name }) => name)).toEqual(['file']);
  }, 120_000);

  it('shows snapshots by their paths, and changes none', async () => {
    const root = Path.parse('hdfs://flinkns/snapped');
    const fs = await connect(root);
    await put(fs, root.child('file'), 'old');
    await server.command('snapshot', root.path, 's1');
    await fs.deleteFile(root.child('file'));
    const kept = root.child('.snapshot/s1/file');
    expect(Buffer.from(await readAll(fs, kept)).toString()).toBe('old');
    await expect(fs.deleteFile(kept)).rejects.toThrow(IoError);
    expect(await collect(fs.list(root))).toEqual([]);
    await expect(fs.getFileStatus(root.child('file'))).rejects.toThrow(NotFoundError);
  }, 120_000);

  it('has what was written, as another client reads it', async () => {
    const root = Path.parse('hdfs://flinkns/bytes');
    const fs = await connect(root);
    const writer = await fs.createAtomic(root.child('file'));
    for (let count = 0; count < 50; count++) await writer.write(pattern(200_000));
    await writer.patch(3_999_990, Buffer.from('across two pieces'));
    await writer.commit();
    const expected = Buffer.concat(Array.from({ length: 50 }, () => pattern(200_000)));
    expected.write('across two pieces', 3_999_990);
    const hex = await server.command('contents', root.child('file').path);
    expect(Buffer.compare(Buffer.from(hex, 'hex'), expected)).toBe(0);
  }, 120_000);
});
