/** Compares every mention of a file in a metadata file with the look at it. */
import type { FileReference } from '../file-references.js';
import type { FileLook, FileLooks, FileName, FilePlaces } from './file-looks.js';
import type { VerifyFault } from './result.js';

/** Who a fault is told of. */
export interface Subject {
  readonly operatorId: string;
  readonly operatorName: string | null;
  /** -1 for state of the coordinator. */
  readonly subtask: number;
}

/** A mention of a file that waits until the file was looked at. */
export interface Mention extends Subject {
  readonly number: number;
  readonly file: FileName;
  readonly path: string;
  readonly expectation: Expectation;
}

/** What one mention of a file says about its length. */
export type Expectation =
  | { readonly rule: 'exact'; readonly bytes: number }
  | { readonly rule: 'segment'; readonly start: number; readonly bytes: number }
  | { readonly rule: 'changelog'; readonly bytes: number }
  | { readonly rule: 'any' };

type Verdict = Pick<VerifyFault, 'fault' | 'expected' | 'found'>;

/** What a mention says about the length of its file. */
export function expectationOf(reference: FileReference): Expectation {
  const { kind, size, startPos } = reference;
  if (kind === 'segment') return { rule: 'segment', start: startPos, bytes: size };
  if (size < 0) return { rule: 'any' };
  return { rule: reference.changelog ? 'changelog' : 'exact', bytes: size };
}

/** Collects faults, each once for an operator and subtask, and counts what was looked at. */
export class ReferenceCheck {
  readonly faults: VerifyFault[] = [];
  bytes = 0;
  unknownSizes = 0;
  mergedFiles = 0;
  /** Compressed changelog files. */
  compressedChangelogs = 0;
  private toldSubject = '';
  private readonly told = new Set<string | number>();
  private readonly seen = new Set<number>();
  private readonly ofWrongLength = new Set<number>();
  /** Files of which the mention with this rule was counted. */
  private readonly counted = new Set<number>();

  constructor(private readonly looks: FileLooks) {}

  /** Distinct files so far. */
  get files(): number {
    return this.seen.size;
  }

  /** True if some mention of the file says another length than it has. */
  hasLengthFault(number: number): boolean {
    return this.ofWrongLength.has(number);
  }

  /** Looks at the files and judges every mention. */
  async judgeAll(mentions: readonly Mention[], signal?: AbortSignal): Promise<void> {
    const files = new Map<number, FileName>();
    for (const { number, file } of mentions) if (!files.has(number)) files.set(number, file);
    await this.looks.lookAt(files, signal);
    for (const mention of mentions) {
      const look = this.looks.get(mention.number);
      this.count(mention, look);
      const verdict = judge(mention, look);
      if (verdict !== 'odd-changelog') {
        if (verdict) {
          this.ofWrongLength.add(mention.number);
          this.tell(mention, verdict);
        }
        continue;
      }
      const flag = await this.looks.firstByte(mention.number, mention.file);
      if (flag !== undefined && flag !== 0) this.countOnce(mention.number, 'compressedChangelogs');
      else if (mention.expectation.rule === 'changelog' && look.kind === 'file') {
        this.ofWrongLength.add(mention.number);
        this.tell(mention, lengthFault(mention.expectation.bytes + 1, look.size));
      }
    }
  }

  /** Adds a fault of a file, unless it was told of this subtask before. */
  tell(mention: Subject & { readonly number: number; readonly path: string }, verdict: Verdict): void {
    const { number, path, operatorId, subtask } = mention;
    const subject = `${operatorId} ${subtask}`;
    // What a subtask needs comes together: nothing need be known of those before.
    if (subject !== this.toldSubject) this.told.clear();
    this.toldSubject = subject;
    // A file that is not there is one fault, however many of its segments are needed.
    const key = verdict.fault === 'missing' ? number : `${number} ${verdict.fault} ${verdict.expected}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.add(mention, verdict, this.looks.placesOf(number, path));
  }

  /** Adds a fault whatever was told before. */
  add({ operatorId, operatorName, subtask }: Subject, verdict: Verdict, { path, lookedUpAt }: FilePlaces): void {
    this.faults.push({
      fault: verdict.fault,
      path,
      lookedUpAt,
      operatorId,
      operatorName,
      subtask: subtask < 0 ? null : subtask,
      expected: verdict.expected,
      found: verdict.found,
      foundAt: null,
    });
  }

  private count({ number, expectation }: Mention, look: FileLook): void {
    if (!this.seen.has(number)) {
      this.seen.add(number);
      if (look.kind === 'file') this.bytes += look.size;
    }
    if (expectation.rule === 'any') this.countOnce(number, 'unknownSizes');
    if (expectation.rule === 'segment') this.countOnce(number, 'mergedFiles');
  }

  private countOnce(number: number, counter: 'unknownSizes' | 'mergedFiles' | 'compressedChangelogs'): void {
    if (this.counted.has(number)) return;
    this.counted.add(number);
    this[counter]++;
  }
}

function judge({ expectation }: Mention, look: FileLook): Verdict | 'odd-changelog' | undefined {
  const bytes = wantedBytes(expectation);
  if (look.kind === 'missing') return { fault: 'missing', expected: bytes, found: null };
  if (look.kind === 'unreadable') return { fault: 'unreadable', expected: bytes, found: look.reason };
  const { size } = look;
  switch (expectation.rule) {
    case 'exact':
      return size === expectation.bytes ? undefined : lengthFault(expectation.bytes, size);
    case 'segment': {
      const end = expectation.start + expectation.bytes;
      const sound = expectation.start >= 0 && expectation.bytes >= 0 && end <= size;
      return sound ? undefined : { fault: 'segment-outside-file', expected: end, found: size };
    }
    case 'changelog':
      // The recorded size is that before compression, without the byte in front that tells whether there is any.
      return size === expectation.bytes + 1 ? undefined : 'odd-changelog';
    case 'any':
      return undefined;
  }
}

function wantedBytes(expectation: Expectation): number | null {
  switch (expectation.rule) {
    case 'exact':
      return expectation.bytes;
    case 'changelog':
      return expectation.bytes + 1;
    case 'segment':
    case 'any':
      return null;
  }
}

function lengthFault(expected: number, found: number): Verdict {
  return { fault: found < expected ? 'too-short' : 'too-long', expected, found };
}
