/** Makes the file systems of `hdfs`, `webhdfs` and `swebhdfs` paths from the configuration. */
import type { FileSystem } from '../file-system.js';
import { requestLimit } from '../request-limit.js';
import { StoreRequests } from '../requests.js';
import type { FileSystemSettings } from '../settings.js';
import { findCluster } from './addresses.js';
import { WebHdfsClient } from './client.js';
import type { HadoopConfiguration } from './hadoop-configuration.js';
import { loadHadoopConfiguration } from './hadoop-configuration.js';
import { findIdentity, simpleUser } from './identity.js';
import { NameNodes } from './name-nodes.js';
import { type CreationDefaults, HdfsStore } from './store.js';
import { WebHdfsFileSystem } from './web-hdfs.js';

const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * The file system of one scheme and authority. Reads the Hadoop configuration, and asks no server.
 * @throws UsageError if the configuration does not say where the name node is, or cannot be read
 */
export async function openWebHdfs(
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
): Promise<FileSystem> {
  const hadoop = await loadHadoopConfiguration(settings);
  const cluster = findCluster({ scheme, authority, hadoop, options: settings.configuration });
  const client = new WebHdfsClient({
    nameNodes: new NameNodes(cluster.bases),
    identity: await findIdentity(settings, cluster.services),
    requests: new StoreRequests({
      concurrency: requestLimit(settings, 'hdfs'),
      onRetry: settings.onRetry,
      interrupt: settings.interrupt,
    }),
    timeout: duration(hadoop.get('dfs.webhdfs.socket.read-timeout')),
  });
  const store = new HdfsStore(client, creationDefaults(hadoop));
  return new WebHdfsFileSystem(store, { scheme, authority, user: simpleUser(settings) });
}

function creationDefaults(hadoop: HadoopConfiguration): CreationDefaults {
  const mask = hadoop.get('fs.permissions.umask-mode');
  const bits = mask !== undefined && /^[0-7]{1,4}$/.test(mask) ? Number.parseInt(mask, 8) : undefined;
  const blockSize = hadoop.get('dfs.blocksize');
  return {
    filePermission: bits === undefined ? undefined : (0o666 & ~bits).toString(8),
    directoryPermission: bits === undefined ? undefined : (0o777 & ~bits).toString(8),
    replication: number(hadoop.get('dfs.replication')),
    // `128m` and the like are for Java clients, which know what it is in bytes.
    blockSize: blockSize === undefined ? undefined : sizeOf(blockSize),
  };
}

function number(value: string | undefined): string | undefined {
  return value !== undefined && /^\d+$/.test(value) ? value : undefined;
}

function sizeOf(value: string): string | undefined {
  const [, digits, unit = ''] = /^(\d+)([kmgt]?)$/i.exec(value) ?? [];
  return digits === undefined ? undefined : String(Number(digits) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' '));
}

function duration(value: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d+)\s*(ms|s|m|h)?$/.exec(value ?? '') ?? [];
  const milliseconds = Number(digits) * (UNITS.get(unit) ?? Number.NaN);
  return milliseconds > 0 ? milliseconds : undefined;
}
