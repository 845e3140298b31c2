/** What Flink's options say about Aliyun OSS, which is spoken to by its S3-compatible endpoint. */
import { positive, type S3Options } from './s3-options.js';

const PUBLIC_HOST = /^(?:s3\.)?oss-([a-z0-9-]+?)(-internal)?\.aliyuncs\.com$/;

/**
 * Reads `fs.oss.endpoint`, `fs.oss.accessKeyId`, `fs.oss.accessKeySecret` and `fs.oss.securityToken`, else the variables
 * `OSS_ENDPOINT`, `OSS_ACCESS_KEY_ID`, `OSS_ACCESS_KEY_SECRET` and `OSS_SESSION_TOKEN`. A public endpoint of the OSS protocol
 * is replaced by the one of the same region for S3.
 * @throws Error without an endpoint, or for a value that makes no sense
 */
export function readOssOptions(
  configuration: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
  bucket: string,
): S3Options {
  const get = (key: string, variable?: string): string | undefined =>
    configuration.get(`fs.oss.bucket.${bucket}.${key}`)?.trim() ||
    configuration.get(`fs.oss.${key}`)?.trim() ||
    (variable === undefined ? undefined : environment[variable]) ||
    undefined;
  const given = get('endpoint', 'OSS_ENDPOINT');
  if (given === undefined) throw new Error('fs.oss.endpoint is not set, nor is OSS_ENDPOINT');
  const isTls = get('connection.secure.enabled') !== 'false';
  const url = new URL(/^https?:\/\//i.test(given) ? given : `${isTls ? 'https' : 'http'}://${given}`);
  const [, region] = PUBLIC_HOST.exec(url.hostname) ?? [];
  if (region !== undefined && !url.hostname.startsWith('s3.')) url.hostname = `s3.${url.hostname}`;
  const accessKeyId = get('accessKeyId', 'OSS_ACCESS_KEY_ID');
  const secretAccessKey = get('accessKeySecret', 'OSS_ACCESS_KEY_SECRET');
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error('of fs.oss.accessKeyId and fs.oss.accessKeySecret only one is set');
  }
  return {
    endpoint: url.origin,
    region: get('region', 'OSS_REGION') ?? region ?? 'cn-hangzhou',
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? 'anonymous'
        : { accessKeyId, secretAccessKey, sessionToken: get('securityToken', 'OSS_SESSION_TOKEN') },
    profile: undefined,
    // OSS takes no requests with the bucket in the path; a test server on this machine takes no others.
    isPathStyle: /^[\d.]+$|^[^.]+$/.test(url.hostname),
    isRequesterPays: false,
    encryption: undefined,
    certificates: undefined,
    skipsVerification: false,
    connections: positive('fs.oss.connection.maximum', get('connection.maximum')),
    timeout: 60_000,
    ignored: [],
  };
}
