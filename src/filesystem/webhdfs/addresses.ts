/** From the scheme and the authority of a path to the HTTP addresses of its name nodes. */
import { UsageError } from '../../errors.js';
import type { HadoopConfiguration } from './hadoop-configuration.js';

/** Ports of the web server of a name node: Hadoop 3, then Hadoop 2. */
const HTTP_PORTS = [9870, 50070];
const HTTPS_PORTS = [9871, 50470];
const BASE_PATH = '/webhdfs/v1';
/** Option of this program: addresses that win over all configuration; with `.AUTHORITY` behind it for that one alone. */
export const ADDRESS_OPTION = 'ckpt.hdfs.http-address';

/** What is to be found. */
export interface AddressQuestion {
  /** `hdfs`, `webhdfs` or `swebhdfs`. */
  readonly scheme: string;
  /** Host and port, or a name service; undefined: that of `fs.defaultFS`. */
  readonly authority: string | undefined;
  readonly hadoop: HadoopConfiguration;
  /** Flink's options. */
  readonly options: ReadonlyMap<string, string>;
}

/** What is known of the cluster of a path. */
export interface Cluster {
  /** Base URLs of its name nodes or of its gateway, the likeliest first. */
  readonly bases: readonly string[];
  /** What a delegation token for it may name as its service: name service, host and port. */
  readonly services: readonly string[];
}

/**
 * Finds the name nodes. No I/O.
 * @throws UsageError if nothing says where they are, or an option is no address
 */
export function findCluster(question: AddressQuestion): Cluster {
  const authority = question.authority ?? defaultAuthority(question);
  const { options, hadoop } = question;
  const given = options.get(`${ADDRESS_OPTION}.${authority}`) ?? options.get(ADDRESS_OPTION);
  const isSecure = question.scheme === 'swebhdfs' || hadoop.get('dfs.http.policy')?.toUpperCase() === 'HTTPS_ONLY';
  if (given !== undefined) {
    const bases = given.split(',').map((address) => baseOf(address.trim(), isSecure));
    return { bases, services: [authority, ...bases.map((base) => new URL(base).host)] };
  }
  const nodes = nameNodesOf(authority, question);
  const bases = [...new Set(nodes.flatMap((node) => basesOf(node, question, isSecure)))];
  return {
    bases,
    services: [authority, ...nodes.flatMap(({ rpc }) => rpc ?? []), ...bases.map((b) => new URL(b).host)],
  };
}

function defaultAuthority({ scheme, hadoop }: AddressQuestion): string {
  const fallback = hadoop.get('fs.defaultFS');
  const [, found, authority] = /^([a-z]+):\/\/([^/]+)\/?/.exec(fallback ?? '') ?? [];
  if (authority !== undefined && found !== undefined && ['hdfs', 'webhdfs', 'swebhdfs'].includes(found))
    return authority;
  const where =
    hadoop.files.length === 0
      ? 'no core-site.xml was found (HADOOP_CONF_DIR, HADOOP_HOME)'
      : `fs.defaultFS is ${fallback === undefined ? 'not set' : `"${fallback}"`} in ${hadoop.files.join(', ')}`;
  throw new UsageError(`${scheme}:/// needs a host: ${where}; write ${scheme}://HOST/… or set -D fs.defaultFS`);
}

interface NameNode {
  readonly host: string | undefined;
  readonly http: string | undefined;
  readonly https: string | undefined;
  readonly rpc: string | undefined;
  /** The address in the path is that of the web server. */
  readonly isWeb?: boolean;
}

function nameNodesOf(authority: string, { scheme, hadoop }: AddressQuestion): NameNode[] {
  const ids = hadoop.list(`dfs.ha.namenodes.${authority}`);
  const isService = ids.length > 0 || serviceNames(hadoop).includes(authority);
  if (isService) {
    const suffixes = ids.length === 0 ? [`.${authority}`] : ids.map((id) => `.${authority}.${id}`);
    return suffixes.map((suffix) => configured(hadoop, suffix));
  }
  if (scheme !== 'hdfs') return [{ host: authority, http: undefined, https: undefined, rpc: undefined, isWeb: true }];
  const known = rpcSuffixes(hadoop).map((suffix) => configured(hadoop, suffix));
  const same = known.find(({ rpc }) => rpc !== undefined && withPort(rpc) === withPort(authority));
  if (same !== undefined) return [same];
  const isDefault = /^[a-z]+:\/\/([^/]+)/.exec(hadoop.get('fs.defaultFS') ?? '')?.[1] === authority;
  const host = hostOf(authority);
  const plain = configured(hadoop, '');
  return [
    { host, rpc: authority, http: isDefault ? plain.http : undefined, https: isDefault ? plain.https : undefined },
  ];
}

function configured(hadoop: HadoopConfiguration, suffix: string): NameNode {
  const rpc = hadoop.get(`dfs.namenode.rpc-address${suffix}`);
  return {
    host: rpc === undefined ? undefined : hostOf(rpc),
    http: hadoop.get(`dfs.namenode.http-address${suffix}`),
    https: hadoop.get(`dfs.namenode.https-address${suffix}`),
    rpc,
  };
}

function serviceNames(hadoop: HadoopConfiguration): readonly string[] {
  return [...hadoop.list('dfs.nameservices'), ...hadoop.list('dfs.internal.nameservices')];
}

function rpcSuffixes(hadoop: HadoopConfiguration): string[] {
  return [
    '',
    ...serviceNames(hadoop).flatMap((service) => {
      const ids = hadoop.list(`dfs.ha.namenodes.${service}`);
      return [`.${service}`, ...ids.map((id) => `.${service}.${id}`)];
    }),
  ];
}

function basesOf(node: NameNode, { authority, hadoop }: AddressQuestion, isSecure: boolean): string[] {
  const address = isSecure ? node.https : node.http;
  if (address !== undefined) {
    // A server that listens on all addresses is not one that can be called by that name.
    const host = /^(?:0\.0\.0\.0|\[::\]|)(?=:|$)/.test(address) ? node.host : hostOf(address);
    if (host !== undefined)
      return [baseOf(`${host}:${portOf(address) ?? (isSecure ? HTTPS_PORTS : HTTP_PORTS)[0]}`, isSecure)];
  }
  if (node.host === undefined) {
    const option = `dfs.namenode.${isSecure ? 'https' : 'http'}-address`;
    const where = hadoop.files.length === 0 ? 'the configuration' : hadoop.files.join(', ');
    throw new UsageError(`${where}: the name service ${authority ?? ''} has no ${option}; or set -D ${ADDRESS_OPTION}`);
  }
  const port = node.isWeb === true ? portOf(node.host) : undefined;
  if (port !== undefined) return [baseOf(node.host, isSecure)];
  return (isSecure ? HTTPS_PORTS : HTTP_PORTS).map((standard) =>
    baseOf(`${hostOf(node.host ?? '')}:${standard}`, isSecure),
  );
}

/** `host`, `host:port`, or a URL whose path, if it has one, takes the place of `/webhdfs/v1`. */
function baseOf(address: string, isSecure: boolean): string {
  const text = /^https?:\/\//.test(address) ? address : `${isSecure ? 'https' : 'http'}://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') throw new UsageError(`"${address}" is no address of a name node`);
  if (url.username !== '' || url.password !== '') {
    // Not repeated: it would tell the password.
    throw new UsageError(`the address of a name node has a user in it: use ckpt.hdfs.username and ckpt.hdfs.password`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin + (path === '' ? BASE_PATH : path);
}

function hostOf(address: string): string {
  return address.replace(/:\d+$/, '');
}

function portOf(address: string): string | undefined {
  return /:(\d+)$/.exec(address)?.[1];
}

function withPort(rpc: string): string {
  return portOf(rpc) === undefined ? `${rpc}:8020` : rpc;
}
