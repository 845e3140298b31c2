import { describe, expect, it } from 'vitest';
import { RefusedError } from '../../../src/errors.js';
import { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import { checkTarget } from '../../../src/operations/copy/copy.js';
import type { ResolvedPointer } from '../../../src/operations/pointer.js';

const SCHEMES = ['s3', 's3a', 'hdfs', 'webhdfs', 'abfss', 'wasb'];
const systems = createFileSystems(
  { configuration: new Map() },
  new Map(SCHEMES.map((scheme) => [scheme, async () => new MemoryFileSystem({ kind: 'object-store', scheme })])),
);
const check = (source: string, target: string) =>
  checkTarget(systems, { directory: Path.parse(source) } as ResolvedPointer, Path.parse(target));

describe('the target of a copy', () => {
  it.each([
    ['s3://bucket/job/chk-1', 's3a://bucket/job/chk-1/copy'],
    ['s3a://bucket/job/chk-1', 's3://bucket/job'],
    ['hdfs://name:8020/job/chk-1', 'webhdfs://name:9870/job/chk-1/copy'],
    ['abfss://box@account.dfs.example/job', 'wasb://box@account.blob.example/job/copy'],
  ])('may not lie in the source, however the store is spelt: %s to %s', async (source, target) => {
    await expect(check(source, target)).rejects.toBeInstanceOf(RefusedError);
  });

  it.each([
    ['s3://bucket/job/chk-1', 's3a://other/job/chk-1/copy'],
    ['s3://bucket/job/chk-1', 's3a://bucket/job/chk-10'],
    ['hdfs://a/job', 'hdfs://b/job'],
  ])('may lie apart: %s to %s', async (source, target) => {
    await expect(check(source, target)).resolves.toBeUndefined();
  });
});
