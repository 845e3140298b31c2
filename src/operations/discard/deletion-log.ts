/** The log of what was deleted: one JSON object a line, appended to a local file as it happens. */
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { IoError } from '../../errors.js';

/** What a line of the log says. */
export interface DeletionRecord {
  readonly action: 'tombstone' | 'deleted' | 'moved' | 'directory';
  readonly path: string;
  /** What became free. */
  readonly bytes: number;
}

/** Takes records. */
export interface DeletionLog {
  /** @throws IoError if they cannot be written */
  append(records: readonly DeletionRecord[]): void;
  /** Idempotent. */
  close(): void;
}

/**
 * Opens a log; what is in the file stays.
 * @param path native
 * @throws IoError
 */
export function openDeletionLog(path: string): DeletionLog {
  let file: number | undefined;
  const failing = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new IoError(path, 'writing the log', { cause: error });
    }
  };
  file = failing(() => openSync(path, 'a'));
  return {
    append(records) {
      const descriptor = file;
      if (records.length === 0 || descriptor === undefined) return;
      const time = new Date().toISOString();
      const lines = records.map((record) => `${JSON.stringify({ time, ...record })}\n`).join('');
      // At once, so that a kill in between cannot lose what has been done before.
      failing(() => appendFileSync(descriptor, lines));
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
