import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IoError, NotFoundError, PermissionError, UnsupportedOperationError, UsageError } from '../../../src/errors.js';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import type { RetriedRequest } from '../../../src/filesystem/requests.js';
import { findCluster } from '../../../src/filesystem/webhdfs/addresses.js';
import { HadoopConfiguration, loadHadoopConfiguration } from '../../../src/filesystem/webhdfs/hadoop-configuration.js';
import { encodeToken, parseTokenFile } from '../../../src/filesystem/webhdfs/token-file.js';
import { collect, pattern, writeFile as put, readAll } from '../../contract/file-system.contract.js';
import { FakeWebHdfs, type Fault, type SeenRequest } from '../../support/fake-web-hdfs.js';
import { tempDirectory } from '../../support/temp.js';

const none = new HadoopConfiguration(new Map());

function basesOf(path: string, values: Record<string, string> = {}, options: Record<string, string> = {}) {
  const { scheme = '', authority } = Path.parse(path);
  const hadoop = new HadoopConfiguration(new Map(Object.entries(values)));
  return findCluster({ scheme, authority, hadoop, options: new Map(Object.entries(options)) }).bases;
}

const HA = {
  'fs.defaultFS': 'hdfs://ns',
  'dfs.nameservices': 'ns, other',
  'dfs.ha.namenodes.ns': 'nn1,nn2',
  'dfs.namenode.rpc-address.ns.nn1': 'a:8020',
  'dfs.namenode.rpc-address.ns.nn2': 'b:8020',
  'dfs.namenode.http-address.ns.nn1': 'a:9870',
  'dfs.namenode.http-address.ns.nn2': '0.0.0.0:9999',
  'dfs.namenode.https-address.ns.nn1': 'a:9871',
  'dfs.namenode.https-address.ns.nn2': 'b:9871',
  'dfs.namenode.http-address.other': 'c:9870',
};

describe('the addresses of name nodes', () => {
  it('come from the configuration of a name service', () => {
    const both = ['http://a:9870/webhdfs/v1', 'http://b:9999/webhdfs/v1'];
    expect(basesOf('hdfs://ns/x', HA)).toEqual(both);
    expect(basesOf('hdfs:///x', HA)).toEqual(both);
    expect(basesOf('webhdfs://ns/x', HA)).toEqual(both);
    expect(basesOf('hdfs://other/x', HA)).toEqual(['http://c:9870/webhdfs/v1']);
    expect(basesOf('swebhdfs://ns/x', HA)).toEqual(['https://a:9871/webhdfs/v1', 'https://b:9871/webhdfs/v1']);
    expect(basesOf('hdfs://ns/x', { ...HA, 'dfs.http.policy': 'HTTPS_ONLY' })[1]).toBe('https://b:9871/webhdfs/v1');
  });

  it('come from the name node that has the address of the path, else from the default ports', () => {
    expect(basesOf('hdfs://b:8020/x', HA)).toEqual(['http://b:9999/webhdfs/v1']);
    expect(basesOf('hdfs://b/x', HA)).toEqual(['http://b:9999/webhdfs/v1']);
    expect(basesOf('hdfs://d:8020/x', HA)).toEqual(['http://d:9870/webhdfs/v1', 'http://d:50070/webhdfs/v1']);
    expect(basesOf('webhdfs://d:1234/x')).toEqual(['http://d:1234/webhdfs/v1']);
    expect(basesOf('swebhdfs://d/x')[0]).toBe('https://d:9871/webhdfs/v1');
    const single = { 'fs.defaultFS': 'hdfs://d:8020', 'dfs.namenode.http-address': '0.0.0.0:777' };
    expect(basesOf('hdfs://d:8020/x', single)).toEqual(['http://d:777/webhdfs/v1']);
  });

  it('come from an option first, for one cluster or all', () => {
    const options = {
      'ckpt.hdfs.http-address': 'https://knox:8443/gateway/default/webhdfs/v1/',
      'ckpt.hdfs.http-address.ns': 'x:1,y:2',
    };
    expect(basesOf('hdfs://other/x', HA, options)).toEqual(['https://knox:8443/gateway/default/webhdfs/v1']);
    expect(basesOf('hdfs://ns/x', HA, options)).toEqual(['http://x:1/webhdfs/v1', 'http://y:2/webhdfs/v1']);
  });

  it('are missing with a word on what to do', () => {
    expect(() => basesOf('hdfs:///x')).toThrow(/HADOOP_CONF_DIR.*fs\.defaultFS/);
    expect(() => basesOf('hdfs://ns/x', { 'dfs.nameservices': 'ns' })).toThrow(/dfs\.namenode\.http-address/);
    expect(() => basesOf('hdfs://ns/x', {}, { 'ckpt.hdfs.http-address': 'http://me:secret@x' })).toThrow(UsageError);
    try {
      basesOf('hdfs://ns/x', {}, { 'ckpt.hdfs.http-address': 'http://me:secret@x' });
    } catch (error) {
      expect(String(error)).not.toContain('secret');
    }
  });
});

describe('the Hadoop configuration', () => {
  const site = (properties: string) => `<?xml version="1.0"?><configuration>${properties}</configuration>`;
  const property = (name: string, value: string, more = '') =>
    `<property><name>${name}</name><value>${value}</value>${more}</property>`;

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are Hadoop's own
  it('is read from the directories of Flink, the later ones winning but over what is final', async () => {
    const directory = await tempDirectory();
    await mkdir(join(directory, 'home/etc/hadoop'), { recursive: true });
    await mkdir(join(directory, 'conf'));
    await writeFile(
      join(directory, 'home/etc/hadoop/core-site.xml'),
      site(property('a', 'home') + property('b', 'home', '<final>true</final>') + property('only', ' 007 ')),
    );
    await writeFile(
      join(directory, 'conf/hdfs-site.xml'),
      site(property('a', 'conf-${only}-${env.WHERE}-${env.NOT:-x}-${unknown}') + property('b', 'conf')),
    );
    const hadoop = await loadHadoopConfiguration({
      configuration: new Map([
        ['flink.hadoop.c', 'flink'],
        ['dfs.replication', '2'],
        ['s3.endpoint', 'none of ours'],
      ]),
      environment: { HADOOP_HOME: join(directory, 'home'), HADOOP_CONF_DIR: join(directory, 'conf'), WHERE: 'here' },
    });
    expect(hadoop.get('a')).toBe('conf-007-here-x-${unknown}');
    expect(['b', 'c', 'only', 'dfs.replication', 's3.endpoint'].map((name) => hadoop.get(name))).toEqual([
      'home',
      'flink',
      '007',
      '2',
      undefined,
    ]);
    expect(hadoop.files.length).toBe(2);
  });

  it('refuses what is no such file, without a word of its contents', async () => {
    for (const text of ['<configuration><property>secret', '<other>secret</other>', 'secret']) {
      const directory = await tempDirectory();
      await writeFile(join(directory, 'core-site.xml'), text);
      const settings = { configuration: new Map(), environment: { HADOOP_CONF_DIR: directory } };
      const error = await loadHadoopConfiguration(settings).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UsageError);
      expect(String(error)).toContain('core-site.xml');
      expect(String(error)).not.toContain('secret');
    }
  });

  it('gives up on variables that lead to themselves', () => {
    expect(
      new HadoopConfiguration(
        new Map([
          ['a', '${b}'],
          ['b', '${a}'],
        ]),
      ).get('a'),
    ).toMatch(/^\$\{[ab]\}$/);
    expect(none.get('a')).toBeUndefined();
  });

  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are Hadoop's own
  it('names the --map options of a mount table of viewfs', async () => {
    const systems = createFileSystems({
      configuration: new Map([['fs.viewfs.mounttable.c.link./data', 'hdfs://ns/data']]),
    });
    const error = await systems.get(Path.parse('viewfs://c/data/x')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnsupportedOperationError);
    expect(String(error)).toContain('--map viewfs://c/data=hdfs://ns/data');
  });
});

describe('a token file', () => {
  const token = { identifier: pattern(200), password: pattern(20), kind: 'HDFS_DELEGATION_TOKEN', service: 'a:8020' };

  /** A file as `Credentials.writeTokenStorageFile` has it. The encoding of a token alone is checked with real Hadoop. */
  function fileOf(...tokens: (typeof token)[]): Uint8Array {
    const parts = tokens.map((each) =>
      Buffer.concat([Buffer.of(1, 0x61), Buffer.from(encodeToken(each), 'base64url')]),
    );
    return Buffer.concat([Buffer.from('HDTS'), Buffer.of(0, tokens.length), ...parts, Buffer.of(0)]);
  }

  it('gives its tokens', () => {
    const long = { ...token, identifier: pattern(70_000), service: 'ha-hdfs:ns' };
    expect(parseTokenFile(new Uint8Array(fileOf(token, long)), 'f')).toEqual([token, long]);
  });

  it('is refused at the byte that is wrong, whatever is cut or changed', () => {
    const whole = fileOf(token, token);
    expect(() => parseTokenFile(Buffer.from('HDTX\0'), 'my.token')).toThrow(/my\.token.*at byte 0/);
    fc.assert(
      fc.property(fc.nat(whole.byteLength - 1), fc.nat(255), fc.boolean(), (at, byte, isCut) => {
        const bytes = Buffer.from(isCut ? whole.subarray(0, at) : whole);
        if (!isCut) bytes[at] = byte;
        try {
          parseTokenFile(bytes, 'f');
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
    for (let length = 0; length < whole.byteLength - 1; length++) {
      expect(() => parseTokenFile(whole.subarray(0, length), 'f')).toThrow(UsageError);
    }
  });
});

describe('HDFS that misbehaves', () => {
  const root = Path.parse('hdfs://ns/dir');
  const SECRET = 'sEcReT+tOkEn/99';

  interface Client {
    readonly server: FakeWebHdfs;
    readonly fs: FileSystem;
    readonly retried: RetriedRequest[];
  }

  async function connect(
    options: Record<string, string> = {},
    fault?: (r: SeenRequest) => Fault | undefined,
  ): Promise<Client> {
    const server = await FakeWebHdfs.forTest({ ...(fault !== undefined && { fault }) });
    const retried: RetriedRequest[] = [];
    const systems = createFileSystems({
      configuration: new Map(Object.entries({ 'ckpt.hdfs.http-address': server.address, ...options })),
      onRetry: (each) => retried.push(each),
    });
    return { server, fs: await systems.get(root), retried };
  }

  /** The first requests for an operation go wrong. */
  function first(op: string, count: number, fault: Fault, node?: SeenRequest['node']) {
    let left = count;
    return (request: SeenRequest) =>
      request.op === op && (node === undefined || request.node === node) && left-- > 0 ? fault : undefined;
  }

  it('is asked again after a burst of 503, a break and an answer that is cut', async () => {
    for (const fault of [
      { kind: 'answer', status: 503 },
      { kind: 'reset' },
      { kind: 'cut', bytes: 5 },
      {
        kind: 'answer',
        status: 403,
        exception: 'StandbyException',
        message: 'Operation category READ is not supported',
      },
    ] as const) {
      const { server, fs, retried } = await connect();
      await put(fs, root.child('file'), pattern(1000));
      server.fault = first('OPEN', 2, fault, fault.kind === 'cut' ? 'data' : 'name');
      expect(Buffer.compare(await readAll(fs, root.child('file')), pattern(1000))).toBe(0);
      expect(retried.map(({ request }) => request)).toEqual(Array(2).fill(`OPEN ${root.child('file')}`));
    }
  });

  it('is not asked again where that is no use', async () => {
    const { server, fs, retried } = await connect();
    await put(fs, root.child('file'), 'x');
    for (const [exception, type] of [
      ['AccessControlException', PermissionError],
      ['InvalidToken', PermissionError],
      ['NSQuotaExceededException', IoError],
      ['FileNotFoundException', NotFoundError],
    ] as const) {
      server.fault = () => ({ kind: 'answer', status: 403, exception, message: 'first line\n\tat org.java.Stack' });
      const error = await fs.getFileStatus(root.child('file')).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(type);
      expect(String((error as Error).cause)).not.toContain('org.java');
    }
    expect(retried).toEqual([]);
  });

  it('does not make a file missing by an answer of something else', async () => {
    const { server, fs } = await connect();
    server.fault = () => ({ kind: 'answer', status: 404 });
    await expect(fs.getFileStatus(root)).rejects.toThrow(IoError);
    await expect(fs.deleteFile(root.child('file'))).rejects.toThrow(IoError);
    expect(await fs.getFileStatuses(root, ['a'])).toEqual([expect.any(IoError)]);
  });

  it('judges a rename, a deletion and an upload whose answer was lost by what is there', async () => {
    const { server, fs } = await connect();
    await put(fs, root.child('a'), 'one');
    server.fault = first('RENAME', 1, { kind: 'lost' });
    await fs.rename(root.child('a'), root.child('b'));
    server.fault = first('DELETE', 1, { kind: 'lost' });
    expect(await fs.deleteFile(root.child('b'))).toBe(true);
    server.fault = first('CREATE', 1, { kind: 'lost' }, 'data');
    await put(fs, root.child('c'), 'three');
    server.fault = undefined;
    expect((await collect(fs.list(root))).map(({ name }) => name)).toEqual(['c']);
  });

  it('does not delete the file that came after the one whose deletion got lost', async () => {
    const { server, fs } = await connect();
    await put(fs, root.child('a'), 'one');
    let isLost = false;
    server.fault = ({ op }) => {
      if (op === 'GETFILESTATUS' && isLost) server.replace('/dir/a', Buffer.from('theirs'));
      if (op !== 'DELETE' || isLost) return undefined;
      isLost = true;
      return { kind: 'lost' };
    };
    expect(await fs.deleteFile(root.child('a'))).toBe(true);
    server.fault = undefined;
    expect(Buffer.from(await readAll(fs, root.child('a'))).toString()).toBe('theirs');
  });

  it('notices that another file has taken the place of the one that is read', async () => {
    const { server, fs } = await connect();
    await put(fs, root.child('a'), pattern(100));
    const source = await fs.open(root.child('a'));
    expect((await source.read(0, 10)).byteLength).toBe(10);
    server.replace('/dir/a', pattern(200));
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await expect(source.read(0, 10)).rejects.toThrow(/another file has taken its place/);
  });

  it('goes to the name node that is active', async () => {
    const standby = await FakeWebHdfs.forTest({
      fault: () => ({ kind: 'answer', status: 403, exception: 'StandbyException', message: 'state standby' }),
    });
    const active = await FakeWebHdfs.forTest();
    const gone = await FakeWebHdfs.start();
    const goneAddress = gone.address;
    await gone.close();
    const addresses = [goneAddress, standby.address, active.address].join(',');
    const { fs, retried } = await connect({ 'ckpt.hdfs.http-address': addresses });
    await put(fs, root.child('a'), 'x');
    expect((await fs.getFileStatus(root.child('a'))).size).toBe(1);
    expect([retried.length, standby.seen.length]).toEqual([0, 1]);
  });

  it('tells no token, password or query, whatever goes wrong', async () => {
    const messages: string[] = [];
    for (const fault of [
      { kind: 'answer', status: 401 },
      { kind: 'answer', status: 403, exception: 'InvalidToken', message: `token (delegation=${SECRET}) is expired` },
      { kind: 'answer', status: 500, exception: 'RuntimeException', message: `http://x/?delegation=${SECRET}&op=1` },
      { kind: 'answer', status: 503, message: SECRET },
      { kind: 'reset' },
      { kind: 'redirect', location: `ftp://x/?delegation=${SECRET}` },
    ] as const) {
      const { fs, retried } = await connect({ 'ckpt.hdfs.token': SECRET }, ({ op }) =>
        op === 'OPEN' ? undefined : fault,
      );
      const error = await fs.getFileStatus(root).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      for (let each: unknown = error; each instanceof Error; each = each.cause)
        messages.push(String(each), each.stack ?? '');
      messages.push(JSON.stringify([error, retried]));
    }
    const text = messages.join('\n');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(encodeURIComponent(SECRET));
    expect(text).toContain('fetchdt');
  }, 120_000);

  it('gives a password to the gateway alone, and a token without a user name', async () => {
    const elsewhere = await FakeWebHdfs.forTest();
    const { server, fs } = await connect({ 'ckpt.hdfs.username': 'me', 'ckpt.hdfs.password': 'secret' });
    await put(fs, root.child('a'), 'x');
    expect(
      server.seen
        .filter(({ node }) => node === 'name')
        .every(({ headers }) => headers.authorization?.startsWith('Basic ')),
    ).toBe(true);
    const data = server.seen.filter(({ node }) => node === 'data');
    expect(data.map(({ headers }) => headers.authorization)).toEqual(data.map(() => undefined));
    expect(elsewhere.seen).toEqual([]);
    const other = await connect({ 'ckpt.hdfs.token': SECRET });
    await other.fs.getFileStatus(Path.parse('hdfs://ns/'));
    expect(Object.fromEntries(other.server.seen[0]?.query ?? [])).toEqual({ op: 'GETFILESTATUS', delegation: SECRET });
  });

  it('stops waiting when it is told to', async () => {
    const { server, fs } = await connect();
    await put(fs, root.child('a'), pattern(10));
    const source = await fs.open(root.child('a'));
    server.fault = () => ({ kind: 'silence', milliseconds: 30_000 });
    const stop = new AbortController();
    const reading = source.read(0, 10, stop.signal);
    setTimeout(() => stop.abort(new Error('enough')), 100);
    await expect(reading).rejects.toThrow('enough');
  });
});
