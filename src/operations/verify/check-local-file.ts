/** Checks RocksDB's own files, by what their names say they are. ForSt has the same. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { checkTable, type TableCheck } from '../../format/sst/check-table.js';
import { LogRecords } from '../../format/sst/log-records.js';
import { UnknownFormatError } from '../../format/unknown-format-error.js';
import { pushAll, type StateBytes } from '../state/state-bytes.js';
import { type CheckResult, SOUND } from './state-task.js';

const LONGEST_CURRENT = 4096;

/**
 * Checks a file that the database calls `name`.
 * @throws ByteFormatError; the errors of reading
 */
export async function checkLocalFile(bytes: StateBytes, name: string): Promise<CheckResult> {
  if (name.endsWith('.sst')) return checkSst(bytes);
  if (/^MANIFEST-\d+$/.test(name) || name.endsWith('.log')) {
    await pushAll(bytes, 0, bytes.size, new LogRecords());
    return SOUND;
  }
  if (name === 'CURRENT') return checkCurrent(bytes);
  if (/^OPTIONS-\d+$/.test(name)) return checkOptions(bytes);
  return { kind: 'unjudged', what: 'database files of a kind that is not known' };
}

async function checkSst(bytes: StateBytes): Promise<CheckResult> {
  const pass = checkTable(bytes.size);
  let result: TableCheck;
  try {
    let step = pass.next();
    while (!step.done) step = pass.next(await bytes.read(step.value.start, step.value.end));
    result = step.value;
  } catch (error) {
    if (!(error instanceof UnknownFormatError)) throw error;
    return { kind: 'unjudged', what: `database tables: each is ${error.what}` };
  }
  if (result.uncheckedBlocks > 0) {
    return { kind: 'unjudged', what: 'database tables with blocks without a checksum, or huge ones' };
  }
  if (result.unusedBytes > 0) return { kind: 'unjudged', what: 'database tables with bytes that belong to no block' };
  return SOUND;
}

async function checkCurrent(bytes: StateBytes): Promise<CheckResult> {
  const text = Buffer.from(await bytes.read(0, Math.min(bytes.size, LONGEST_CURRENT))).toString('latin1');
  if (!/^MANIFEST-\d+\n$/.test(text)) {
    throw new ByteFormatError(0, 'the name of a manifest and a line end', `${bytes.size} other bytes`);
  }
  return SOUND;
}

/** The options are text without any checksum: a look at the beginning is all there is. */
async function checkOptions(bytes: StateBytes): Promise<CheckResult> {
  const text = Buffer.from(await bytes.read(0, Math.min(bytes.size, LONGEST_CURRENT))).toString('latin1');
  if (!/^(?:#[^\n]*\n|\s)*\[Version\]/.test(text)) throw new ByteFormatError(0, 'options of a database', 'other bytes');
  return SOUND;
}
