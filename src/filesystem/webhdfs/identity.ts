/** Who asks: a delegation token, else a simple user name, and a password for a gateway. */
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { asError, UsageError } from '../../errors.js';
import type { FileSystemSettings } from '../settings.js';
import type { Identity } from './client.js';
import type { HadoopToken } from './token-file.js';
import { encodeToken, parseTokenFile } from './token-file.js';

/** What tokens can be for: those of the name node, however they were got. */
const KINDS = new Set(['HDFS_DELEGATION_TOKEN', 'WEBHDFS delegation', 'SWEBHDFS delegation']);

/**
 * Who asks a cluster.
 * @param services names of the cluster, as its tokens may have them
 * @throws UsageError if a token file cannot be read or none of its tokens is for this cluster
 */
export async function findIdentity(settings: FileSystemSettings, services: readonly string[]): Promise<Identity> {
  const { configuration, environment = {} } = settings;
  const token = await findToken(settings, services);
  const username = configuration.get('ckpt.hdfs.username');
  const password = configuration.get('ckpt.hdfs.password') ?? environment.CKPT_HDFS_PASSWORD;
  const isBasic = username !== undefined && password !== undefined;
  const basic = isBasic ? Buffer.from(`${username}:${password}`, 'utf8').toString('base64') : undefined;
  const proxied = environment.HADOOP_PROXY_USER;
  // A gateway knows by the password who it is.
  const user = isBasic ? undefined : simpleUser(settings);
  return {
    parameters:
      token === undefined
        ? { ...(user !== undefined && { 'user.name': user }), ...(proxied && { doas: proxied }) }
        : { delegation: token },
    headers: basic === undefined ? {} : { authorization: `Basic ${basic}` },
    secrets: [token, token === undefined ? undefined : encodeURIComponent(token), password, basic].filter(
      (secret): secret is string => secret !== undefined && secret !== '',
    ),
  };
}

/** The user that Hadoop would take without Kerberos; undefined if this process has no name. */
export function simpleUser({ configuration, environment = {} }: FileSystemSettings): string | undefined {
  return configuration.get('ckpt.hdfs.user') || environment.HADOOP_USER_NAME || systemUser();
}

function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that has no entry.
    return undefined;
  }
}

async function findToken(settings: FileSystemSettings, services: readonly string[]): Promise<string | undefined> {
  const { configuration, environment = {} } = settings;
  const given = configuration.get('ckpt.hdfs.token') || environment.CKPT_HDFS_TOKEN;
  if (given) return given.trim();
  const file = configuration.get('ckpt.hdfs.token-file') || environment.HADOOP_TOKEN_FILE_LOCATION;
  if (!file) return undefined;
  const candidates = parseTokenFile(await readTokens(file), file).filter(({ kind }) => KINDS.has(kind));
  const token = await choose(candidates, services);
  if (token !== undefined) return encodeToken(token);
  const others =
    candidates.length === 0 ? 'none for HDFS' : `tokens for ${candidates.map((t) => t.service).join(', ')}`;
  const message = `${file}: it has ${others}, and none for ${services[0]}`;
  // Of one cluster among several that is no mistake: the others may need no token.
  settings.warn?.(message);
  return undefined;
}

async function readTokens(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(
      `${file}: the token file cannot be read: ${asError(error).message}`,
      { path: file },
      { cause: error },
    );
  }
}

/** The token whose service is the name or an address of the cluster: no other cluster must ever see it. */
async function choose(tokens: readonly HadoopToken[], services: readonly string[]): Promise<HadoopToken | undefined> {
  const names = new Set(services.flatMap((service) => [service, withoutPort(service)]));
  const matches = (token: HadoopToken, among: ReadonlySet<string>) => among.has(nameOf(token));
  const named = tokens.find((token) => matches(token, names)) ?? tokens.find((t) => names.has(withoutPort(nameOf(t))));
  if (named !== undefined) return named;
  // Tokens have the address of their host, unless Hadoop was told not to.
  const addresses = new Set((await Promise.all(services.map(addressesOf))).flat());
  return tokens.find((token) => addresses.has(withoutPort(nameOf(token))));
}

function nameOf({ service }: HadoopToken): string {
  return service.replace(/^ha-(?:s?web)?hdfs:/, '');
}

function withoutPort(service: string): string {
  return service.replace(/:\d+$/, '');
}

async function addressesOf(service: string): Promise<string[]> {
  try {
    return (await lookup(withoutPort(service), { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
