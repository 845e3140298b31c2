/** Where a command is to write. */
import { InvalidPathError, UsageError } from '../errors.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';

/** The path that `--out` names. @throws UsageError if it is none */
export function outputPath(fileSystems: FileSystems, out: string): Path {
  try {
    return fileSystems.qualify(Path.parse(out));
  } catch (error) {
    if (error instanceof InvalidPathError) throw new UsageError(`--out: ${error.message}`, error.data);
    throw error;
  }
}
