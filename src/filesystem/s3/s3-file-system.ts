/** File systems of S3 and Aliyun OSS, by the options of Flink. */
import { asError, InvalidPathError, IoError, UsageError } from '../../errors.js';
import type { FileSystem } from '../file-system.js';
import { ObjectStoreFileSystem } from '../object-store/object-store-file-system.js';

import { requestLimit } from '../request-limit.js';
import { StoreRequests } from '../requests.js';
import type { FileSystemSettings } from '../settings.js';
import { entropyKeyOf } from './entropy.js';
import { readOssOptions } from './oss-options.js';
import { S3Sender } from './s3-client.js';
import { sanitize } from './s3-errors.js';
import { S3ObjectStore } from './s3-object-store.js';
import { readS3Options, type S3Options } from './s3-options.js';

/**
 * The file system of a bucket. No request is made.
 * @throws InvalidPathError without a bucket; UsageError if the options make no sense; IoError
 */
export async function openS3FileSystem(
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
): Promise<FileSystem> {
  return open(settings, scheme, authority, readS3Options);
}

/** As {@link openS3FileSystem}, for OSS. */
export async function openOssFileSystem(
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
): Promise<FileSystem> {
  return open(settings, scheme, authority, readOssOptions, 'x-oss-forbid-overwrite');
}

async function open(
  settings: FileSystemSettings,
  scheme: string,
  authority: string | undefined,
  readOptions: typeof readS3Options,
  forbidOverwriteHeader?: string,
): Promise<FileSystem> {
  if (authority === undefined) throw new InvalidPathError(`${scheme}:/`, 'it names no bucket');
  const bucket = authority;
  const root = `${scheme}://${bucket}`;
  const options = usable(root, () => readOptions(settings.configuration, settings.environment ?? {}, bucket));
  const concurrency = usable(root, () => concurrencyOf(settings, scheme, options));
  try {
    for (const ignored of options.ignored) settings.warn?.(`${root}: ${ignored}`);
    if (options.skipsVerification) settings.warn?.(`${root}: certificates are not checked, as asked for`);
    const sender = await S3Sender.open({ options, bucket, connections: concurrency, forbidOverwriteHeader });
    return new ObjectStoreFileSystem({
      scheme,
      authority,
      store: new S3ObjectStore(sender, { bucket, options }),
      requests: new StoreRequests({ concurrency, onRetry: settings.onRetry, interrupt: settings.interrupt }),
      hidden: scheme === 'oss' ? undefined : entropyKeyOf(settings.configuration),
      openOther: (other) => open({ ...settings, warn: undefined }, scheme, other, readOptions, forbidOverwriteHeader),
      warn: settings.warn,
    });
  } catch (error) {
    throw new IoError(root, 'opening the store', { cause: new Error(sanitize(asError(error).message)) });
  }
}

function usable<T>(root: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${root}: ${asError(error).message}`, { store: root });
  }
}

/** What the user asked for, else the default within what Flink's options allow. */
function concurrencyOf(settings: FileSystemSettings, scheme: string, { connections }: S3Options): number {
  const limit = requestLimit(settings, scheme);
  return settings.requests === undefined ? Math.min(limit, connections ?? limit) : limit;
}
