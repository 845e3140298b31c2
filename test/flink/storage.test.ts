import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems } from '../../src/filesystem/registry.js';
import type { CheckpointedStateScope } from '../../src/model/state-handles.js';
import type {
  CheckpointStateOutputStream,
  CheckpointStorage,
  CheckpointStorageLocation,
  CheckpointStreamFactory,
  CompletedCheckpointStorageLocation,
  WrittenStateHandle,
} from '../../src/storage/checkpoint-storage.js';
import { FsCheckpointStorage } from '../../src/storage/fs-storage.js';
import { CheckpointStorageLocationReference, decodePathFromReference } from '../../src/storage/location-reference.js';
import { MemoryBackendCheckpointStorage } from '../../src/storage/memory-storage.js';
import { resolveCheckpointPointer } from '../../src/storage/resolve.js';
import { runWithFlink } from '../support/flink-lab.js';
import { repoRoot } from '../support/paths.js';
import { treeOf } from '../support/stores.js';
import { tempDirectory } from '../support/temp.js';

const PROGRAM = join(repoRoot(), 'test/flink/java/StorageCalls.java');
const JOB = 'ac2b9833d8854441eaabf09eca054206';
const LIMIT = 100;
const SCOPES = ['EXCLUSIVE', 'SHARED'] as const;

const hexOf = (text: string) => Buffer.from(text).toString('hex');
const REFERENCES = [
  '05',
  '055f3f18',
  '01020304',
  '0102030405',
  '055f3f1961',
  `055f3f18${hexOf('file:/a')}`,
  `055f3f18${hexOf('/a//b/../c/')}`,
  `055f3f18${hexOf('s3://bucket/ü\u{1f600}')}`,
  `055f3f18${hexOf('::')}`,
];

const fileSystems = createFileSystems({ configuration: new Map() });

/** The calls of `StorageCalls.java`, on our storages. */
class Calls {
  readonly lines: string[] = [];
  #root = '';
  #part = '';

  async all(directory: string, pointers: readonly string[]): Promise<void> {
    for (const createSubdirectory of [true, false]) {
      this.#begin(`${directory}/files-${createSubdirectory}`, `files ${createSubdirectory}`);
      const options = { fileSystems, jobId: JOB, createSubdirectory, fileStateSizeThreshold: LIMIT };
      const checkpointDirectory = this.#path('cp');
      const savepointDirectory = createSubdirectory ? this.#path('sp') : undefined;
      await this.#storage(new FsCheckpointStorage({ ...options, checkpointDirectory, savepointDirectory }));
    }
    for (const kind of ['files', 'nothing']) {
      this.#begin(`${directory}/memory-${kind}`, `memory ${kind}`);
      const options = { fileSystems, jobId: JOB, maxStateSize: LIMIT, savepointDirectory: this.#path('sp') };
      const checkpointDirectory = kind === 'files' ? this.#path('cp') : undefined;
      await this.#storage(new MemoryBackendCheckpointStorage({ ...options, checkpointDirectory }));
    }
    this.#part = 'reference';
    for (const hex of REFERENCES) {
      await this.#call(hex, async () =>
        decodePathFromReference(CheckpointStorageLocationReference.of(Buffer.from(hex, 'hex'))),
      );
    }
    this.#part = 'pointer';
    for (const pointer of pointers) {
      await this.#call(pointer, async () => {
        const { externalPointer, metadataHandle } = await resolveCheckpointPointer(fileSystems, pointer);
        return `${externalPointer} ${describe(metadataHandle)}`;
      });
    }
  }

  async #storage(storage: CheckpointStorage): Promise<void> {
    await this.#call('highly available', async () => storage.supportsHighlyAvailableStorage());
    await this.#call('default', async () => storage.hasDefaultSavepointLocation());
    await this.#call('base', () => storage.initializeBaseLocations());
    for (const id of [0n, 7n, 7n, 0x7fff_ffff_ffff_ffffn, -1n]) {
      await this.#call(
        `checkpoint ${id}`,
        async () => (await storage.initializeLocationForCheckpoint(id)).locationReference,
      );
    }
    await this.#location(storage, 8n, await storage.initializeLocationForCheckpoint(8n));
    await this.#call('owned', async () => write(await storage.createTaskOwnedStateStream(), 3));
    await this.#call('owned large', async () => write(await storage.createTaskOwnedStateStream(), LIMIT + 1));
    const failed = await storage.initializeLocationForCheckpoint(9n);
    await this.#call('state of a failed one', () => writeTo(failed, 'EXCLUSIVE', 5000));
    await this.#call('failure', () => failed.disposeOnFailure());
    await this.#call('failure again', () => failed.disposeOnFailure());
    for (const target of [`file:${this.#root}/given/deep`, `${this.#root}/plain`, '', 'nosuch://a/b']) {
      await this.#call(`savepoint at ${target}`, async () =>
        textOf((await storage.initializeLocationForSavepoint(1n, target)).locationReference),
      );
    }
    await this.#call('savepoint', async () =>
      textOf((await storage.initializeLocationForSavepoint(1n)).locationReference),
    );
    const savepoint = await storage.initializeLocationForSavepoint(2n, `file:${this.#root}/filled`);
    await this.#location(storage, 2n, savepoint);
  }

  async #location(storage: CheckpointStorage, id: bigint, location: CheckpointStorageLocation): Promise<void> {
    const streams = await storage.resolveCheckpointStorageLocation(id, location.locationReference);
    for (const scope of SCOPES) {
      for (const size of [-1, 0, 1, LIMIT, LIMIT + 1, 5000]) {
        await this.#call(`${scope} ${size}`, () => writeTo(streams, scope, size));
      }
      await this.#call(`${scope} dropped`, async () => {
        const stream = await streams.createCheckpointStateOutputStream(scope);
        await stream.write(new Uint8Array(5000));
        await stream.close();
        return describe(await stream.closeAndGetHandle());
      });
      await this.#call(`${scope} twice`, async () => {
        const stream = await streams.createCheckpointStateOutputStream(scope);
        await stream.write(new Uint8Array(1));
        await stream.closeAndGetHandle();
        return describe(await stream.closeAndGetHandle());
      });
      await this.#call(`${scope} nothing twice`, async () => {
        const stream = await streams.createCheckpointStateOutputStream(scope);
        await stream.closeAndGetHandle();
        return describe(await stream.closeAndGetHandle());
      });
    }
    await this.#call('metadata dropped', async () => {
      const stream = await location.createMetadataOutputStream();
      await stream.write(new Uint8Array(3));
      await stream.close();
      return stream.closeAndFinalizeCheckpoint();
    });
    let completed: CompletedCheckpointStorageLocation | undefined;
    await this.#call('metadata', async () => {
      const stream = await location.createMetadataOutputStream();
      await stream.write(new Uint8Array(3));
      completed = await stream.closeAndFinalizeCheckpoint();
      return `${completed.externalPointer} ${describe(completed.metadataHandle)}`;
    });
    await this.#call('metadata again', async () => {
      const stream = await location.createMetadataOutputStream();
      return (await stream.closeAndFinalizeCheckpoint()).externalPointer;
    });
    await this.#call('dispose', async () => completed?.disposeStorageLocation());
    await this.#call('dispose of everything', async () => {
      await location.disposeOnFailure();
      await completed?.disposeStorageLocation();
    });
  }

  #begin(root: string, part: string): void {
    this.#root = root;
    this.#part = part;
  }

  #path(name: string): Path {
    return Path.parse(`file:${this.#root}/${name}`);
  }

  async #call(name: string, call: () => Promise<unknown>): Promise<void> {
    const result = await call().then(
      (value) => String(value ?? null),
      () => 'error',
    );
    const root = Path.parse(`file:${this.#root}`);
    const names = await treeOf(await fileSystems.get(root), root);
    this.lines.push([`${this.#part}, ${name}`, result, ...names].join('\t'));
  }
}

const writeTo = async (streams: CheckpointStreamFactory, scope: CheckpointedStateScope, size: number) =>
  write(await streams.createCheckpointStateOutputStream(scope), size);

async function write(stream: CheckpointStateOutputStream, size: number): Promise<string> {
  if (size >= 0) await stream.write(new Uint8Array(size));
  return describe(await stream.closeAndGetHandle());
}

function describe(handle: WrittenStateHandle | null): string {
  switch (handle?.type) {
    case undefined:
      return 'null';
    case 'RelativeFileStateHandle':
      return `relative ${handle.relativePath} ${handle.stateSize}`;
    case 'FileStateHandle':
      return `file ${handle.filePath} ${handle.stateSize}`;
    case 'ByteStreamStateHandle':
      return `bytes ${handle.handleName} ${handle.bytes.length}`;
  }
}

function textOf(reference: CheckpointStorageLocationReference): string {
  if (reference.isDefault) return String(reference);
  return String(reference).slice(0, 8) + Buffer.from(reference.bytes).subarray(4).toString();
}

/**
 * Without what differs between two runs: the place, and random names (equal ones in results stay equal). And without what
 * Flink's metadata streams leave behind when they are dropped, as ours leave nothing.
 */
function normalize(lines: readonly string[], directory: string): string[] {
  const numbers = new Map<string, string>();
  const stable = (name: string) => {
    if (!numbers.has(name)) numbers.set(name, `<${numbers.size}>`);
    return numbers.get(name) ?? '';
  };
  const random = /(?<=savepoint-ac2b98-)[0-9a-f]{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return lines.map((line) => {
    const [call = '', result = '', ...tree] = line.replaceAll(directory, '<directory>').split('\t');
    const names = tree.filter((name) => name !== '' && !name.includes('._metadata.inprogress.'));
    // Numbered in the order of the results; in the tree alone their order is random.
    return [call, result.replace(random, stable), ...names.map((name) => name.replace(random, '<name>')).sort()].join(
      '\t',
    );
  });
}

it('the same calls give the same results and the same directories as with real Flink', async () => {
  const given = await tempDirectory();
  await mkdir(join(given, 'chk 1', 'empty'), { recursive: true });
  await mkdir(join(given, 'odd', '_metadata'), { recursive: true });
  for (const name of ['_metadata', 'other']) await writeFile(join(given, 'chk 1', name), name);
  const pointers = [
    `${given}/chk 1`,
    `${given}/chk 1/`,
    `${given}//chk 1///_metadata`,
    `${given}/x/../chk 1`,
    `${given}/chk 1/other`,
    `file:${given}/chk 1`,
    `file://${given}/chk 1`,
    `file:///${given}/chk 1`,
    `${given}/chk%201`,
    `${given}/chk 1/empty`,
    `${given}/chk-2`,
    `file://host${given}/chk 1`,
    `FILE:${given}/chk 1`,
    'nosuch://bucket/chk-1',
    '::',
    ' ',
    '<checkpoint-not-externally-addressable>',
  ];
  const [own, flinks] = [await tempDirectory(), await tempDirectory()];
  const calls = new Calls();
  await calls.all(own, pointers);
  const theirs = await runWithFlink(PROGRAM, [flinks, REFERENCES.join(','), ...pointers]);
  expect(theirs.length).toBeGreaterThan(200);
  expect(normalize(calls.lines, own)).toEqual(normalize(theirs, flinks));
}, 120_000);
