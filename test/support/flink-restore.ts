import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { CorpusPointer } from './corpus.js';
import { flinkLab } from './flink-lab.js';

/** How many seconds a JVM may take to start (and Maven to build), and for each restore. */
const PATIENCE = { start: 240, restore: 60 };

/** Corpus cases stand where Flink wrote them, below `/tmp/flink`: {@link restoreAll} makes one that nobody else sees. */
export const canRestore = process.platform === 'linux' && process.getuid?.() === 0;

/** Who owns what a job is restored from. The changelog backend cannot restore in `NO_CLAIM` mode. */
export type ClaimMode = 'NO_CLAIM' | 'CLAIM' | 'LEGACY';

/** A restore by real Flink. `test/flink-lab/README.md` says more about the fields. */
export interface RestoreRequest {
  /** Comes back in the verdict, and names the checkpoints of this restore for later ones. */
  readonly id: string;
  /** The case whose job is started. */
  readonly case: string;
  /** Checkpoint, savepoint or metadata file. `@ID` is the last checkpoint that restore ID left, `@ID#1` the first. */
  readonly from: string;
  readonly seed?: number;
  /** As many subtasks as the case has, if not given. */
  readonly parallelism?: number;
  /** `NO_CLAIM` if not given. */
  readonly claimMode?: ClaimMode;
  /** Old uid to the uid that the operator of the restored job has. */
  readonly renameUids?: Readonly<Record<string, string>>;
  readonly allowNonRestored?: boolean;
  /** State is known to be gone: the checks that begin with one of these must fail, all others pass. */
  readonly lost?: readonly string[];
  /** Directory in which the restored job leaves two checkpoints. */
  readonly thenCheckpoint?: string;
  /** How many checkpoints the restored job keeps, claimed ones included; 10 if not given. */
  readonly retained?: number;
  /** Trees that are deleted before the restore. */
  readonly remove?: readonly string[];
  /** Trees that are copied before the restore, after the deletions: from where, to where. */
  readonly place?: Readonly<Record<string, string>>;
}

/** What became of a {@link RestoreRequest}. */
export interface RestoreVerdict {
  readonly id: string;
  /** Whether Flink restored it and every state value was right. */
  readonly ok: boolean;
  /** Flink's innermost error. Absent if the job ran. */
  readonly error?: string;
  readonly checksPassed?: number;
  /** The first twenty wrong values. */
  readonly failures?: readonly string[];
  /** How often checks failed that were announced as {@link RestoreRequest.lost}. */
  readonly lost?: Readonly<Record<string, number>>;
  /** The checkpoints that the restored job left. */
  readonly pointers?: readonly string[];
}

/**
 * Lets real Flink restore one after the other, all in one JVM, which sees a `/tmp/flink` of its own.
 * @param release the Flink release, which must be one that can read the pointers
 * @returns the verdicts, in the order of the requests
 * @throws an error if the JVM did not answer every request
 */
export async function restoreAll(release: string, requests: readonly RestoreRequest[]): Promise<RestoreVerdict[]> {
  const limit = PATIENCE.start + PATIENCE.restore * requests.length;
  // timeout(1) leads a process group of its own, and ends all of it.
  const command = ['--kill-after=10', `${limit}`, join(flinkLab(), 'restore-batch'), '--flink', release];
  // The exit code says no more than the answers.
  const { stdout, stderr } = await execa('timeout', command, {
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    env: { FLINK_LAB_PRIVATE: '1' },
    maxBuffer: 256 * 1024 * 1024,
    reject: false,
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== requests.length) {
    throw new Error(`Flink ${release} answered ${lines.length} of ${requests.length} restores: ${stderr}`);
  }
  return lines.map((line) => JSON.parse(line));
}

/** The restore of a pointer of a case as Flink left it: put back to where it was written. */
export function restoreInPlace({ case: { directory, mapping }, externalPointer }: CorpusPointer): RestoreRequest {
  const original = mapping.uri.replace(/^file:/, '');
  return { ...jobOf(directory), id: externalPointer, from: externalPointer, place: { [directory]: original } };
}

/** The job of a case, and the mode in which it can be restored. */
export function jobOf(caseDirectory: string): Pick<RestoreRequest, 'case' | 'seed' | 'claimMode'> {
  const json = JSON.parse(readFileSync(join(caseDirectory, 'case.json'), 'utf8'));
  const {
    case: name,
    seed,
    settings,
  } = json as {
    readonly case: string;
    readonly seed: number;
    readonly settings: Readonly<Record<string, string>>;
  };
  return { case: name, seed, claimMode: settings['state.changelog.enabled'] === 'true' ? 'CLAIM' : 'NO_CLAIM' };
}
