/** Small trees of checkpoints in memory, for tests of what deletes them. */
import type { MemoryFileSystemOptions } from '../../src/filesystem/memory.js';
import { MemoryFileSystem } from '../../src/filesystem/memory.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import type { SegmentFileStateHandle, StreamStateHandle } from '../../src/model/state-handles.js';
import { executePlan } from '../../src/operations/discard/execute.js';
import { type PlanOptions, planDiscard } from '../../src/operations/discard/plan.js';
import { resolveTargets, type TargetOptions } from '../../src/operations/discard/targets.js';
import type { DiscardPlan, DiscardResult } from '../../src/operations/discard/types.js';
import { file, incremental, metadata, operator, relativeFile, subtask } from './made-metadata.js';

/** A job id. */
export const JOB = '4f1a2b3c4d5e6f708192a3b4c5d6e7f8';
/** Another one. */
export const OTHER_JOB = 'aaaabbbbccccddddeeeeffff00001111';

/** Metadata that names these files: a plain name is one of the own directory, anything else an absolute path. */
export function metadataNaming(names: readonly (string | StreamStateHandle)[], checkpointId = 1n): Uint8Array {
  const handles = names.map((name) => (typeof name === 'string' ? handleOf(name) : name));
  return metadata({
    checkpointId,
    operatorStates: [operator({ subtasks: [subtask({ managedKeyedState: incremental(handles) })] })],
  });
}

function handleOf(name: string): StreamStateHandle {
  return name.includes('/') ? file(name, 4) : relativeFile(name, 4);
}

/** A part of a merged file. */
export function segment(filePath: string, startPos = 0, size = 2): SegmentFileStateHandle {
  const at = { startPos: BigInt(startPos), stateSize: BigInt(size) };
  return { type: 'SegmentFileStateHandle', filePath, ...at, scope: 'SHARED', logicalFileId: `${filePath} ${startPos}` };
}

/** A file system in memory with a root `memory:/root`, and what is needed to discard there. */
export class DiscardTree {
  readonly memory: MemoryFileSystem;
  readonly fileSystems: FileSystems;
  readonly root: string;

  constructor(options: MemoryFileSystemOptions = {}) {
    this.memory = new MemoryFileSystem({ clock: () => 0, ...options });
    const { scheme } = this.memory;
    this.root = this.memory.kind === 'object-store' ? `${scheme}://bucket/root` : `${scheme}:/root`;
    const loaders = new Map([[scheme, async () => this.memory]]);
    this.fileSystems = createFileSystems({ configuration: new Map() }, loaders);
  }

  /** An absolute path below the root. */
  at(relative: string): string {
    return `${this.root}/${relative}`;
  }

  path(relative: string): Path {
    return Path.parse(this.at(relative));
  }

  put(relative: string, contents: Uint8Array | string = 'data', time?: number): string {
    this.memory.put(this.path(relative), contents, time);
    return this.at(relative);
  }

  /** A checkpoint with the files it names that are not there yet; `named` as for {@link metadataNaming}. */
  async checkpoint(relative: string, named: readonly (string | StreamStateHandle)[], id?: bigint): Promise<string> {
    await this.memory.makeDirectory(this.path(relative));
    for (const handle of named) {
      const name = typeof handle === 'string' ? handle : pathOf(handle);
      const path = name.includes('/') ? Path.parse(name) : this.path(relative).entry(name);
      const isOurs = path.scheme === this.memory.scheme && !this.files().includes(path.toString());
      if (isOurs) this.memory.put(path, 'data');
    }
    const number = /chk-(\d+)$/.exec(relative)?.[1];
    this.put(`${relative}/_metadata`, metadataNaming(named, id ?? BigInt(number ?? 1)));
    return this.at(relative);
  }

  /** Every file, by its path. */
  files(): string[] {
    return [...this.memory.snapshot().keys()];
  }

  /** Every file, by its path below the root. */
  names(): string[] {
    return this.files().map((path) => path.slice(this.root.length + 1));
  }

  async exists(relative: string): Promise<boolean> {
    return this.memory.getFileStatus(this.path(relative)).then(
      () => true,
      () => false,
    );
  }

  async plan(pointers: readonly string[], options: PlanOptions & TargetOptions = {}): Promise<DiscardPlan> {
    const targets = await resolveTargets(
      this.fileSystems,
      pointers.map((pointer) => (pointer.includes(':') ? pointer : this.at(pointer))),
      options,
    );
    return planDiscard(this.fileSystems, targets, { job: 'stopped', ...options });
  }

  async discard(pointers: readonly string[], options: PlanOptions & TargetOptions = {}): Promise<DiscardResult> {
    return executePlan(this.fileSystems, await this.plan(pointers, options), { signal: options.signal });
  }
}

function pathOf(handle: StreamStateHandle): string {
  if (handle.type === 'FileStateHandle' || handle.type === 'SegmentFileStateHandle') return handle.filePath;
  if (handle.type === 'RelativeFileStateHandle') return handle.relativePath;
  throw new Error(`${handle.type} names no file`);
}
