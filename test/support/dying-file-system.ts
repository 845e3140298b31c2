/** File systems that kill the process, or fail, at one of their changes: for tests of what an interrupted run leaves. */
import { constants, readFileSync, writeFileSync } from 'node:fs';
import type { AtomicWriter, FileSystem } from '../../src/filesystem/file-system.js';
import type { Path } from '../../src/filesystem/path.js';
import type { FileSystems } from '../../src/filesystem/registry.js';

/** Told before each change, with what it will change; what it throws is what the change rejects with. */
export type OnChange = (operation: string, path: Path, from?: Path) => void;

const CHANGES = ['makeDirectory', 'createExclusive', 'deleteFile', 'deleteDirectory', 'deleteFiles'] as const;

/** Lays a watch over file systems. */
export function watching(systems: FileSystems, onChange: OnChange): FileSystems {
  const made = new Map<FileSystem, FileSystem>();
  return {
    schemes: systems.schemes,
    qualify: (path) => systems.qualify(path),
    lookUp: (path) => systems.lookUp(path),
    nameOf: (path) => systems.nameOf(path),
    async get(path) {
      const inner = await systems.get(path);
      const known = made.get(inner) ?? watch(inner, onChange);
      made.set(inner, known);
      return known;
    },
  };
}

function watch(inner: FileSystem, onChange: OnChange): FileSystem {
  return new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = (...args: unknown[]): unknown => Reflect.apply(value, target, args);
      if ((CHANGES as readonly unknown[]).includes(name)) {
        return async (path: Path, ...rest: unknown[]) => {
          // Without a name to delete it changes nothing.
          if (name !== 'deleteFiles' || (rest[0] as unknown[]).length > 0) onChange(String(name), path);
          return call(path, ...rest);
        };
      }
      if (name === 'copyFile' || name === 'rename') {
        return async (from: Path, to: Path, ...rest: unknown[]) => {
          onChange(name, to, from);
          return call(from, to, ...rest);
        };
      }
      if (name === 'createAtomic') {
        return async (path: Path, ...rest: unknown[]) => {
          onChange('createAtomic', path);
          return watchWriter((await call(path, ...rest)) as AtomicWriter, path, onChange);
        };
      }
      return call;
    },
  });
}

function watchWriter(writer: AtomicWriter, path: Path, onChange: OnChange): AtomicWriter {
  return {
    get position() {
      return writer.position;
    },
    async write(chunk) {
      onChange('write', path);
      await writer.write(chunk);
    },
    async patch(position, bytes) {
      onChange('patch', path);
      await writer.patch(position, bytes);
    },
    async commit() {
      onChange('commit', path);
      await writer.commit();
    },
    abort: () => writer.abort(),
  };
}

/** Kills this process at the n-th change (from 1 on); a file that was about to be copied is left half. */
export function dyingAt(n: number): OnChange {
  let count = 0;
  return (operation, path, from) => {
    count++;
    if (count < n) return;
    if (operation === 'copyFile' && from) {
      // Without a trace in the source, as the copy itself.
      const bytes = readFileSync(from.path, { flag: constants.O_RDONLY | (constants.O_NOATIME ?? 0) } as never);
      writeFileSync(path.path, bytes.subarray(0, Math.floor(bytes.length / 2)));
    }
    process.kill(process.pid, 'SIGKILL');
    // The signal may take a moment: nothing more may happen in it.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  };
}
