/** What a verification comes to. */
import { type CkptError, CorruptMetadataError } from '../../errors.js';

/** What can be wrong with a file. */
export type FaultKind = 'missing' | 'too-short' | 'too-long' | 'segment-outside-file' | 'unreadable' | 'corrupt';

/** Something wrong with a file, for one subtask that needs it. */
export interface VerifyFault {
  readonly fault: FaultKind;
  /** As the metadata names it, qualified. */
  readonly path: string;
  /** Where it was looked up; differs from `path` only if it is mapped. */
  readonly lookedUpAt: string;
  /** Null for the metadata file itself. */
  readonly operatorId: string | null;
  /** Its name, else its uid; null if neither is stored. */
  readonly operatorName: string | null;
  /** Null for state of the coordinator. */
  readonly subtask: number | null;
  /** What should be there: bytes, or for `corrupt` a description. */
  readonly expected: number | string | null;
  readonly found: number | string | null;
  /** Another place where a file of this name lies; null if none is known. */
  readonly foundAt: string | null;
}

/** How much was looked at. */
export interface VerifyCounts {
  /** Distinct files looked at. */
  readonly files: number;
  /** Their bytes. */
  readonly bytes: number;
  /** Those of the files whose length is recorded nowhere: only that they exist was checked. */
  readonly unknownSizes: number;
  /** Merged files: behind the last segment of one there may be anything. */
  readonly mergedFiles: number;
  /** Pieces of state whose contents were opened: files, segments of merged ones, inline bytes. 0 unless that was asked for. */
  readonly opened: number;
}

/** The state of one checkpoint. */
export interface CheckpointVerification extends VerifyCounts {
  readonly pointer: string;
  readonly metadataPath: string;
  readonly ok: boolean;
  readonly warnings: readonly string[];
  /** Why the metadata itself cannot be read; null if it can. */
  readonly error: CkptError | null;
  readonly faults: readonly VerifyFault[];
}

/** Counts of nothing. */
const NO_COUNTS: VerifyCounts = { files: 0, bytes: 0, unknownSizes: 0, mergedFiles: 0, opened: 0 };

/** The result for metadata that could not be read at all. */
export function failedVerification(
  pointer: string,
  metadataPath: string,
  lookedUpAt: string,
  error: CkptError,
): CheckpointVerification {
  const fault = error instanceof CorruptMetadataError ? 'corrupt' : 'unreadable';
  return {
    ...NO_COUNTS,
    pointer,
    metadataPath,
    ok: false,
    warnings: [],
    error,
    faults: [
      {
        fault,
        path: metadataPath,
        lookedUpAt,
        operatorId: null,
        operatorName: null,
        subtask: null,
        expected: null,
        found: error.message,
        foundAt: null,
      },
    ],
  };
}
