import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.js';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import type { FileSystems } from '../../../src/filesystem/registry.js';
import { SNAPPY_STREAM_HEADER } from '../../../src/format/compress/snappy-framing.js';
import { crc32c, maskCrc32c } from '../../../src/format/hash/crc32c.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import { DeepChecks } from '../../../src/operations/verify/deep-checks.js';
import { FileLooks } from '../../../src/operations/verify/file-looks.js';
import { readArgument } from '../../../src/operations/verify/targets.js';
import { verifyAll } from '../../../src/operations/verify/verify-all.js';
import { verifyCheckpoint } from '../../../src/operations/verify.js';
import { i32, join, utf } from '../../support/byte-builder.js';
import * as make from '../../support/metadata-builder.js';
import { type MemoryStore, memoryStore, writeFile } from '../../support/stores.js';

const CHECKPOINT = 'memory:/root/job/chk-7';
const OPERATOR = '00112233445566778899aabbccddeeff';

/** A store with these files, `_metadata` of one operator with these subtasks among them. */
async function storeWith(
  subtasks: readonly Uint8Array[],
  files: Readonly<Record<string, string | Uint8Array>> = {},
  trailing = new Uint8Array(),
): Promise<MemoryStore> {
  const store = memoryStore();
  const operators = [make.operator(6, { name: 'Window', parallelism: 2000, maxParallelism: 32768, subtasks })];
  await writeFile(store.memory, Path.parse(`${CHECKPOINT}/_metadata`), make.metadataFile(6, { operators, trailing }));
  for (const [path, contents] of Object.entries(files)) await writeFile(store.memory, Path.parse(path), contents);
  return store;
}

async function verify({ fileSystems }: MemoryStore, deep?: DeepChecks) {
  return verifyCheckpoint(fileSystems, await resolvePointer(fileSystems, CHECKPOINT), { deep });
}

const keyed = (handle: Uint8Array, index = 0): Uint8Array =>
  make.subtask(6, {
    index,
    managedKeyed: make.incrementalV2({
      meta: make.inline('meta', new Uint8Array(0)),
      shared: [make.localFile('000001.sst', handle)],
    }),
  });

/** The store, with every look at a file and every opened file counted. */
function counting({ fileSystems }: MemoryStore): {
  readonly fileSystems: FileSystems;
  readonly looks: string[];
  readonly opened: string[];
} {
  const looks: string[] = [];
  const opened: string[] = [];
  const counted = (fileSystem: FileSystem): FileSystem =>
    new Proxy(fileSystem, {
      get(target, property: keyof FileSystem) {
        const value = target[property];
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (property === 'getFileStatus') looks.push(String(args[0]));
          if (property === 'getFileStatuses') for (const name of args[1] as string[]) looks.push(`${args[0]}/${name}`);
          if (property === 'open') opened.push(String(args[0]));
          return Reflect.apply(value, target, args);
        };
      },
    });
  return {
    looks,
    opened,
    fileSystems: new Proxy(fileSystems, {
      get(target, property: keyof FileSystems) {
        if (property === 'get') return async (path: Path) => counted(await target.get(path));
        const value = target[property];
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
  };
}

describe('a file that 1,000 handles name', () => {
  const SHARED = 'memory:/root/job/shared/a';
  const subtasks = Array.from({ length: 1000 }, (_, index) => keyed(make.file(SHARED, 3), index));

  it('is looked at once, and missing for each of them', async () => {
    const store = await storeWith(subtasks);
    const { fileSystems, looks, opened } = counting(store);
    const resolved = await resolvePointer(fileSystems, CHECKPOINT);
    looks.length = 0;
    const result = await verifyCheckpoint(fileSystems, resolved);
    expect(looks).toEqual([SHARED]);
    expect(opened).toEqual([`${CHECKPOINT}/_metadata`]);
    expect(result).toMatchObject({ ok: false, files: 1 });
    expect(result.faults.map(({ subtask }) => subtask)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
    expect(result.faults[9]).toEqual({
      fault: 'missing',
      path: SHARED,
      lookedUpAt: SHARED,
      operatorId: OPERATOR,
      operatorName: 'Window',
      subtask: 9,
      expected: 3,
      found: null,
      foundAt: null,
    });
  });

  it('is opened once with --deep, over all checkpoints of a root', async () => {
    const store = await storeWith(subtasks, { [SHARED]: 'abc' });
    const other = make.metadataFile(6, { operators: [make.operator(6, { subtasks: subtasks.slice(0, 4) })] });
    await writeFile(store.memory, Path.parse('memory:/root/job/chk-8/_metadata'), other);
    const { fileSystems, looks, opened } = counting(store);
    const root = await readArgument(fileSystems, 'memory:/root');
    const result = await verifyAll(fileSystems, [root], { deep: true });
    expect(looks.filter((path) => path === SHARED)).toHaveLength(1);
    expect(opened.filter((path) => path === SHARED)).toHaveLength(1);
    expect(result.pointers.map(({ faults }) => faults.length)).toEqual([1000, 4]);
    expect(result.brokenFiles).toMatchObject([
      { path: SHARED, faults: ['corrupt'], pointers: [CHECKPOINT, 'memory:/root/job/chk-8'] },
    ]);
  });

  it('is looked at once by two verifications at the same time', async () => {
    const store = await storeWith(subtasks, { [SHARED]: 'abc' });
    const { fileSystems, looks } = counting(store);
    const resolved = await resolvePointer(fileSystems, CHECKPOINT);
    looks.length = 0;
    const shared = new FileLooks(fileSystems);
    await Promise.all([1, 2, 3].map(() => verifyCheckpoint(fileSystems, resolved, { looks: shared })));
    expect(looks).toEqual([SHARED]);
  });
});

describe('what has no length to compare', () => {
  it('a file of size -1: its existence is checked, and a warning says so', async () => {
    const store = await storeWith([keyed(make.file('memory:/x/unknown', -1))], { 'memory:/x/unknown': 'anything' });
    expect(await verify(store)).toMatchObject({
      ok: true,
      unknownSizes: 1,
      warnings: ['one file has no recorded length: only that it exists was checked'],
    });
    expect(await verify(await storeWith([keyed(make.file('memory:/x/unknown', -1))]))).toMatchObject({
      ok: false,
      faults: [{ fault: 'missing', expected: null }],
    });
  });

  it('a compressed changelog file: a warning says so', async () => {
    const subtask = (size: number): Uint8Array =>
      make.subtask(6, {
        managedKeyed: make.changelogV2({
          nonMaterialized: [make.changelogFilesV2({ files: [[0, make.file('memory:/x/log', size)]], size })],
        }),
      });
    const compressed = await storeWith([subtask(5000)], { 'memory:/x/log': join(Buffer.of(1), new Uint8Array(40)) });
    expect(await verify(compressed)).toMatchObject({
      ok: true,
      warnings: ['one changelog file is compressed: its length is recorded nowhere'],
    });
    const plain = await storeWith([subtask(5000)], { 'memory:/x/log': new Uint8Array(40) });
    expect(await verify(plain)).toMatchObject({
      ok: false,
      warnings: [],
      faults: [{ fault: 'too-short', expected: 5001, found: 40 }],
    });
  });

  it('compressed changelog files are opened with --deep', async () => {
    const set = join(i32(1), i32(1), i32(-1), i32(3), new Uint8Array(3));
    const subtask = make.subtask(6, {
      managedKeyed: make.changelogV2({
        nonMaterialized: [
          make.changelogFilesV2({
            files: [
              [0, make.file('memory:/x/log', 2 * set.length)],
              [set.length, make.file('memory:/x/log', 2 * set.length)],
            ],
            size: 2 * set.length,
          }),
        ],
      }),
    });
    const data = join(set, set);
    const frames = join(Buffer.of(1), SNAPPY_STREAM_HEADER, plainChunk(data));
    const sound = await storeWith([subtask], { 'memory:/x/log': frames });
    expect(await verify(sound, new DeepChecks(sound.fileSystems))).toMatchObject({ ok: true, opened: 2 });
    const damaged = Uint8Array.from(frames);
    damaged[frames.length - 1] = 1;
    const broken = await storeWith([subtask], { 'memory:/x/log': damaged });
    expect(await verify(broken, new DeepChecks(broken.fileSystems))).toMatchObject({
      ok: false,
      faults: [{ fault: 'corrupt', expected: expect.stringContaining('a snappy chunk with checksum') }],
    });
  });
});

/** A chunk of uncompressed data. */
function plainChunk(data: Uint8Array): Uint8Array {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(maskCrc32c(crc32c(data)));
  const length = data.length + 4;
  return join(Buffer.of(1, length & 0xff, length >> 8, 0), checksum, data);
}

describe('what is told besides', () => {
  it('bytes behind the end of the metadata are a warning', async () => {
    const store = await storeWith([], {}, Uint8Array.of(1, 2, 3));
    expect(await verify(store)).toMatchObject({
      ok: true,
      files: 0,
      warnings: ['3 bytes behind the end of the metadata, which Flink ignores'],
    });
  });

  it('a path with .. is a warning', async () => {
    const store = await storeWith([keyed(make.relative('../shared/b', 1))], { 'memory:/root/job/shared/b': 'x' });
    expect(await verify(store)).toMatchObject({
      ok: true,
      warnings: ['one path in the metadata has a "..", which no Flink writes'],
    });
  });

  it('a directory in place of a file is unreadable, and so is a path that none can be', async () => {
    const store = await storeWith([keyed(make.file('memory:/x', 1), 0), keyed(make.file('nowhere:/y', 1), 1)], {
      'memory:/x/inside': 'x',
    });
    expect((await verify(store)).faults).toMatchObject([
      { fault: 'unreadable', path: 'memory:/x', found: 'a directory' },
      { fault: 'unreadable', path: 'nowhere:/y', found: expect.stringContaining('no file system for the scheme') },
    ]);
  });

  it('a segment outside its file, also one with a negative start', async () => {
    const segments = [
      make.segment('memory:/x/merged', 5, 6, 1, 'a'),
      make.segment('memory:/x/merged', -1, 2, 1, 'b'),
      make.segment('memory:/x/merged', 4, 6, 1, 'c'),
    ];
    const store = await storeWith(
      segments.map((handle, index) => keyed(handle, index)),
      { 'memory:/x/merged': '0123456789' },
    );
    const { faults, mergedFiles } = await verify(store);
    expect(mergedFiles).toBe(1);
    expect(faults).toMatchObject([
      { fault: 'segment-outside-file', subtask: 0, expected: 11, found: 10 },
      { fault: 'segment-outside-file', subtask: 1 },
    ]);
  });

  it('what --deep cannot judge is a warning: unknown serializers, versions and database files', async () => {
    const header = (snapshot: string): Uint8Array =>
      join(i32(6), Buffer.of(0), i32(2), utf(snapshot), i32(77), Buffer.from('whatever it is'));
    const subtask = (index: number, meta: Uint8Array, name: string): Uint8Array =>
      make.subtask(6, {
        index,
        managedKeyed: make.incrementalV2({
          meta: make.inline('meta', meta),
          private: [make.localFile(name, make.inline('file', Buffer.from('x')))],
        }),
      });
    const store = await storeWith([
      subtask(0, header('com.example.OwnSnapshot'), 'IDENTITY'),
      subtask(1, i32(7), 'IDENTITY'),
    ]);
    expect(await verify(store, new DeepChecks(store.fileSystems))).toMatchObject({
      ok: true,
      opened: 4,
      warnings: [
        'not judged: 1 × headers of keyed state with the serializer snapshot com.example.OwnSnapshot in version 77',
        'not judged: 2 × database files of a kind that is not known',
        'not judged: 1 × states in version 7 of state files',
      ],
    });
  });

  it('damaged inline bytes are a fault of the metadata file', async () => {
    const meta = join(i32(6), Buffer.of(9));
    const subtask = make.subtask(6, { managedKeyed: make.incrementalV2({ meta: make.inline('file:/x/y', meta) }) });
    const store = await storeWith([subtask]);
    expect((await verify(store, new DeepChecks(store.fileSystems))).faults).toMatchObject([
      {
        fault: 'corrupt',
        path: `${CHECKPOINT}/_metadata`,
        expected: 'whether key groups are compressed (0 or 1) at byte 4 (inline bytes file:/x/y)',
        found: '9',
      },
    ]);
  });
});

describe('an abort', () => {
  it('ends the verification with its reason, wherever it comes', async () => {
    const subtasks = Array.from({ length: 40 }, (_, index) => keyed(make.file(`memory:/x/${index}`, 3), index));
    const files = Object.fromEntries(subtasks.map((_, index) => [`memory:/x/${index}`, 'abc']));
    const store = await storeWith(subtasks, files);
    for (let calls = 0; ; calls++) {
      const controller = new AbortController();
      let left = calls;
      const fileSystems = interrupting(store.fileSystems, () => {
        if (left-- === 0) controller.abort(new InterruptedError('SIGINT'));
      });
      const run = async () => {
        const root = await readArgument(fileSystems, 'memory:/root', { signal: controller.signal });
        return verifyAll(fileSystems, [root], { deep: true, signal: controller.signal });
      };
      const result = await run().catch((error: unknown) => error);
      if (left >= 0) {
        expect(result).toMatchObject({ ok: false });
        expect(calls).toBeGreaterThan(40);
        return;
      }
      expect(result).toBe(controller.signal.reason);
    }
  });
});

describe('a running job', () => {
  it('may discard a checkpoint meanwhile: then nothing is broken, and that is told', async () => {
    const store = await storeWith([keyed(make.file('memory:/x/gone', 3))]);
    const root = await readArgument(store.fileSystems, 'memory:/root');
    let calls = 0;
    const fileSystems = interrupting(store.fileSystems, () => {
      // The first call opens the metadata, the second looks at the file.
      if (++calls === 2) void store.memory.deleteFile(Path.parse(`${CHECKPOINT}/_metadata`));
    });
    expect(await verifyAll(fileSystems, [root])).toMatchObject({
      ok: true,
      pointers: [],
      roots: [{ checkpoints: 0, whole: 0, vanished: [CHECKPOINT] }],
    });
  });

  it('is no excuse for a pointer that was given itself', async () => {
    const store = await storeWith([]);
    const pointer = await readArgument(store.fileSystems, CHECKPOINT);
    await store.memory.deleteFile(Path.parse(`${CHECKPOINT}/_metadata`));
    expect(await verifyAll(store.fileSystems, [pointer])).toMatchObject({
      ok: false,
      pointers: [{ pointer: CHECKPOINT, error: { code: 'NOT_FOUND' } }],
    });
  });
});

/** File systems that tell of each call, and then do it. */
function interrupting(fileSystems: FileSystems, onCall: () => void): FileSystems {
  const watched = (fileSystem: FileSystem): FileSystem =>
    new Proxy(fileSystem, {
      get(target, property: keyof FileSystem) {
        const value = target[property];
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          onCall();
          return Reflect.apply(value, target, args);
        };
      },
    });
  return new Proxy(fileSystems, {
    get(target, property: keyof FileSystems) {
      if (property === 'get') return async (path: Path) => watched(await target.get(path));
      const value = target[property];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
