/** The corpus cases that real Flink left in a bucket, put into another one, with the markers of their directories. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { corpusDirectory } from './paths.js';
import { TEST_CREDENTIALS } from './s3-servers.js';

/** Where the cases are; undefined without the corpus. */
export function s3CasesDirectory(): string | undefined {
  const corpus = corpusDirectory();
  const directory = corpus === undefined ? undefined : join(corpus, 's3');
  return directory !== undefined && existsSync(directory) ? directory : undefined;
}

/** A bare client, for setting up and for looking at what is there. */
export async function plainClient(endpoint: string): Promise<S3Client> {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: TEST_CREDENTIALS });
}

/** Puts a case into its bucket. @returns the keys */
export async function uploadCase(client: S3Client, bucket: string, name: string): Promise<string[]> {
  const { PutObjectCommand } = await import('@aws-sdk/client-s3');
  const directory = join(s3CasesDirectory() ?? '', name);
  const root = join(directory, 'objects', 'flink-lab');
  const keys: string[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const key = relative(root, file).split(sep).join('/');
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: await readFile(file) }));
    keys.push(key);
  }
  const markers = await readFile(join(directory, 'directory-markers.txt'), 'utf8');
  for (const key of markers.split('\n').filter((line) => line !== '')) {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: new Uint8Array() }));
    keys.push(key);
  }
  return keys.sort();
}

/** All keys below a prefix, in order. */
export async function keysBelow(client: S3Client, bucket: string, prefix = ''): Promise<string[]> {
  const { paginateListObjectsV2 } = await import('@aws-sdk/client-s3');
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
    for (const { Key } of Contents) if (Key !== undefined) keys.push(Key);
  }
  return keys.sort();
}
