import { describe, expect, it } from 'vitest';
import {
  AlreadyExistsError,
  InvalidPathError,
  IoError,
  NotFoundError,
  PermissionError,
} from '../../../../src/errors.js';
import type { FileSystem } from '../../../../src/filesystem/file-system.js';
import { openGcsFileSystem } from '../../../../src/filesystem/gcs/gcs.js';
import { Path } from '../../../../src/filesystem/path.js';
import type { RetriedRequest } from '../../../../src/filesystem/requests.js';
import type { FileSystemSettings } from '../../../../src/filesystem/settings.js';
import { FakeGcs, refuse } from '../../../support/fake-gcs.js';
import { type Script, scriptedServer } from '../../../support/scripted-server.js';
import { readFile, treeOf } from '../../../support/stores.js';

const ROOT = Path.parse('gs://bucket/dir');

async function open(script: Script, more: Partial<FileSystemSettings> = {}): Promise<FileSystem> {
  const { endpoint } = await scriptedServer(script);
  const environment = { STORAGE_EMULATOR_HOST: endpoint };
  return openGcsFileSystem({ configuration: new Map(), environment, ...more }, 'gs', 'bucket');
}

describe('a bucket on bad days', () => {
  it('is read and written as on good ones, with every failure told', async () => {
    const fake = new FakeGcs();
    const retried: RetriedRequest[] = [];
    let requests = 0;
    // Refused before it is done, cut while it is answered, done without an answer.
    const system = await open(
      async (request) => {
        requests += 1;
        if (requests % 7 === 1) return refuse(503, 'backendError', 'later');
        const answer = await fake.answer(request);
        if (requests % 7 === 3) return { ...answer, cutAfter: 1 };
        return requests % 7 === 5 ? undefined : answer;
      },
      { onRetry: (each) => retried.push(each) },
    );
    const names = Array.from({ length: 6 }, (_, index) => `file-${index}`);
    for (const name of names) await system.createExclusive(ROOT.child(name), Buffer.from(`contents of ${name}`));
    expect(await treeOf(system, ROOT)).toEqual([...names].sort());
    for (const name of names) {
      expect(Buffer.from(await readFile(system, ROOT.child(name))).toString()).toBe(`contents of ${name}`);
    }
    await expect(system.createExclusive(ROOT.child('file-3'), Buffer.from('x'))).rejects.toThrow(AlreadyExistsError);
    expect(await system.deleteFiles(ROOT, names)).toEqual(names.map(() => true));
    expect(fake.objects.size).toBe(0);
    expect(retried.length).toBeGreaterThan(requests / 7);
    for (const { request, reason } of retried) {
      expect(request).toMatch(/^(?:HEAD|LIST|GET|PUT|DELETE)(?: \d+ of)? gs:\/\/bucket\//);
      expect(reason).not.toBe('');
    }
  });

  it('knows a large file for its own although the answer was lost when it was put together', async () => {
    const fake = new FakeGcs();
    let isLost = false;
    const system = await open(async (request) => {
      const answer = await fake.answer(request);
      if (!request.path.endsWith('/compose') || isLost) return answer;
      isLost = true;
      return undefined;
    });
    const bytes = Buffer.alloc(9 * 1024 * 1024, 'abcdefg');
    const writer = await system.createAtomic(ROOT.child('big'), { size: bytes.length });
    await writer.write(bytes);
    await writer.commit();
    expect([...fake.objects.keys()]).toEqual(['dir/big']);
    expect(fake.objects.get('dir/big')?.bytes.equals(bytes)).toBe(true);
  });

  it('gives up in the end, with the last reason', async () => {
    const system = await open(() => refuse(429, 'rateLimitExceeded', 'too much'));
    await expect(system.open(ROOT)).rejects.toThrow(/429 too much/);
    await expect(system.open(ROOT)).rejects.toThrow(IoError);
  }, 60_000);
});

it('says what is missing and what is not allowed', async () => {
  const fake = new FakeGcs();
  const missing = await open((request) =>
    fake.answer({ ...request, path: request.path.replace('/bucket/', '/missing/') }),
  );
  await expect(missing.getFileStatus(ROOT)).rejects.toThrow(NotFoundError);
  const denied = await open(() => refuse(403, 'forbidden', 'x does not have storage.objects.get access'));
  await expect(denied.getFileStatus(ROOT)).rejects.toThrow(PermissionError);
  await expect(openGcsFileSystem({ configuration: new Map() }, 'gs', undefined)).rejects.toThrow(InvalidPathError);
});

it('has credentials from a file, and says so where they are none', async () => {
  const configuration = new Map([['google.cloud.auth.service.account.json.keyfile', '/no/such/key.json']]);
  const system = await openGcsFileSystem({ configuration }, 'gs', 'bucket');
  const error: unknown = await system.getFileStatus(ROOT).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PermissionError);
  expect(String((error as Error).cause)).toMatch(/no access token: .*\/no\/such\/key\.json/);
});
