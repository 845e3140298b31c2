/** Opens pieces of state and checks their contents, each once, however many handles of however many checkpoints name it. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { CkptError, NotFoundError } from '../../errors.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { type StateBytes, stateInMemory } from '../state/state-bytes.js';
import { openStateFile } from '../state/state-source.js';
import { checkChangelogOffset, checkChannels, walkChangelogFile, walkChannelFile } from './check-frames.js';
import { checkKeyed, checkKeyedMeta } from './check-keyed.js';
import { checkLocalFile } from './check-local-file.js';
import { checkOperator, checkRaw } from './check-operator.js';
import { type FrameMap, FrameMaps } from './frame-map.js';
import { type CheckResult, SOUND, type StateSource, type StateTask } from './state-task.js';

/** Each holds two chunks of a file, or a block of one. */
const CONCURRENT_FILES = 4;
/** Places of frames that are kept in memory, 16 bytes each. */
const MAX_FRAMES = 4_000_000;

const ALL_SOUND: Promise<CheckResult> = Promise.resolve(SOUND);

type FileSource = Extract<StateSource, { kind: 'file' }>;

/** See the file comment. One instance for a whole run. */
export class DeepChecks {
  /** Results of whole files by their number, of other pieces by more than that. */
  private readonly results = new Map<number | string, Promise<CheckResult>>();
  private readonly frames = new FrameMaps(MAX_FRAMES);

  constructor(private readonly fileSystems: FileSystems) {}

  /**
   * Checks pieces, several at once.
   * @param onResult told of each, in no particular order
   * @throws the signal's reason
   */
  async checkAll(
    tasks: readonly StateTask[],
    onResult: (task: StateTask, result: CheckResult) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    await forEachConcurrently(
      tasks,
      async (task) => {
        onResult(task, await this.check(task, signal));
      },
      { concurrency: CONCURRENT_FILES, signal },
    );
    signal?.throwIfAborted();
  }

  private async check(task: StateTask, signal: AbortSignal | undefined): Promise<CheckResult> {
    const { source, form } = task;
    if (form.kind === 'unknown') return { kind: 'unjudged', what: form.what };
    if (form.kind === 'channel' || form.kind === 'changelog') return this.checkFramed(task, signal);
    if (source.kind === 'inline') return judged(() => checkPiece(stateInMemory(source.bytes), form), 0, signal);
    const key = keyOf(source, form);
    const known = this.results.get(key);
    if (known !== undefined) return known;
    const result = judged(
      () => this.withFile(source, signal, (bytes) => checkPiece(bytes, form)),
      source.start,
      signal,
    );
    this.results.set(key, result);
    try {
      // What is sound takes the same few bytes for all of a million files.
      if ((await result).kind === 'sound') this.results.set(key, ALL_SOUND);
    } catch (error) {
      this.results.delete(key);
      throw error;
    }
    return result;
  }

  private checkFramed(task: StateTask, signal: AbortSignal | undefined): Promise<CheckResult> {
    const { source, form } = task;
    const start = source.kind === 'file' ? source.start : 0;
    return judged(
      async () => {
        const walk = form.kind === 'channel' ? walkChannelFile : walkChangelogFile;
        let map: FrameMap;
        if (source.kind === 'file') {
          const key = `${form.kind} ${source.number} ${source.start} ${source.length}`;
          map = await this.frames.of(key, (into) => this.withFile(source, signal, (bytes) => walk(bytes, into)));
        } else {
          map = await new FrameMaps(MAX_FRAMES).of('', (into) => walk(stateInMemory(source.bytes), into));
        }
        if (form.kind === 'channel') return checkChannels(map, form.channels, form.size);
        return form.kind === 'changelog' ? checkChangelogOffset(map, form.offset) : SOUND;
      },
      start,
      signal,
    );
  }

  private async withFile<T>(
    source: FileSource,
    signal: AbortSignal | undefined,
    work: (bytes: StateBytes) => Promise<T>,
  ): Promise<T> {
    const { bytes, close } = await openStateFile(this.fileSystems, source, signal);
    try {
      return await work(bytes);
    } finally {
      await close();
    }
  }
}

async function checkPiece(bytes: StateBytes, form: StateTask['form']): Promise<CheckResult> {
  switch (form.kind) {
    case 'keyed':
      return checkKeyed(bytes, form);
    case 'keyed-meta':
      return checkKeyedMeta(bytes);
    case 'local':
      return checkLocalFile(bytes, form.name);
    case 'operator':
      return checkOperator(bytes, form.offsets);
    case 'raw':
      return checkRaw(bytes, form.offsets);
    case 'channel':
    case 'changelog':
    case 'unknown':
      return SOUND;
  }
}

/**
 * Turns what a check throws into its result.
 * @param start of the piece in its file, for offsets
 * @throws the signal's reason; what is no expected failure
 */
async function judged(
  check: () => Promise<CheckResult>,
  start: number,
  signal: AbortSignal | undefined,
): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ByteFormatError) {
      const segment = start === 0 ? '' : ` (byte ${error.offset} of the segment)`;
      return {
        kind: 'corrupt',
        expected: `${error.reading} at byte ${error.offset + start}${segment}`,
        found: error.found,
      };
    }
    if (error instanceof UnknownFormatError) return { kind: 'unjudged', what: `states in ${error.what}` };
    if (error instanceof NotFoundError) return { kind: 'unreadable', reason: 'it vanished while it was checked' };
    if (error instanceof CkptError) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

/** Two handles that say the same of the same bytes have one key. */
function keyOf(source: FileSource, form: StateTask['form']): number | string {
  if (form.kind === 'local' && source.length < 0) return source.number;
  const offsets = 'offsets' in form ? hashOf(form.offsets) : '';
  return `${source.number} ${source.start} ${source.length} ${form.kind} ${offsets}`;
}

function hashOf(offsets: Float64Array): string {
  let hash = offsets.length;
  for (const offset of offsets) hash = (Math.imul(hash, 31) + (offset % 0x7fffffff)) | 0;
  return `${offsets.length} ${hash}`;
}
